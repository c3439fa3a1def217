//! Benchmark of `bosun serve`: memory, the first page, lists over many runs, the delay of streams, idle connections.
//! The server is the real binary in a process of its own; models are scripts. Each figure has a target, and a missed
//! target fails the benchmark. `server --binary PATH [--only NAME]`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod first_page;
mod live_runs;
mod many_runs;
mod sockets;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use testkit::client::Client;
use testkit::served::{Served, Site};

const FREE_PORT: &str = "127.0.0.1:0";

/// The memory limit of an idle server, in MB.
const IDLE: f64 = 30.0;

/// The parts that can be measured separately.
const PARTS: [&str; 4] = ["idle", "stored", "watchers", "sockets"];

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (binary, only) = match words.as_slice() {
        ["--binary", binary] => (PathBuf::from(binary), None),
        ["--binary", binary, "--only", part] => (PathBuf::from(binary), Some(*part)),
        _ => bail!("usage: server --binary PATH [--only {}]", PARTS.join("|")),
    };
    ensure!(only.is_none_or(|part| PARTS.contains(&part)), "the parts are {}", PARTS.join(", "));
    let wanted = |part: &str| only.is_none_or(|only| only == part);
    tokio::runtime::Runtime::new()?.block_on(measure(&binary, &wanted))
}

async fn measure(binary: &Path, wanted: &dyn Fn(&str) -> bool) -> anyhow::Result<ExitCode> {
    let mut figures = Figures::default();
    if wanted("idle") {
        idle(binary, &mut figures).await.context("an idle server")?;
    }
    if wanted("stored") {
        Box::pin(many_runs::measure(binary, &mut figures)).await.context("many stored runs")?;
    }
    if wanted("watchers") {
        live_runs::measure(binary, &mut figures).await.context("watchers of live runs")?;
    }
    if wanted("sockets") {
        sockets::measure(binary, &mut figures).await.context("idle WebSockets")?;
    }
    Ok(if figures.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Memory after the first requests, and the first page.
async fn idle(binary: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let Ready { served, client, site } = Ready::start(binary, &[]).await?;
    let runs = client.get("/api/v1/runs").await?;
    ensure!(runs.status == 200, "{}", runs.text());
    figures.judge("memory of an idle server", megabytes(served.memory()?), "MB", IDLE);
    first_page::measure(&site, &served, figures).await
}

/// A server with one project, and a client with all rights.
struct Ready {
    served: Served,
    client: Client,
    site: Site,
}

impl Ready {
    async fn start(binary: &Path, more: &[&str]) -> io::Result<Self> {
        let site = Site::new(binary)?;
        site.project("harbor").await?;
        Self::on(site, more).await
    }

    async fn on(site: Site, more: &[&str]) -> io::Result<Self> {
        let token = site.admin("ann").await?;
        let served = site.serve(FREE_PORT, more).await?;
        let client = served.client().with_token(&token);
        Ok(Self { served, client, site })
    }
}

/// Prints figures, and remembers whether a target was missed.
#[derive(Default)]
struct Figures {
    missed: bool,
}

impl Figures {
    /// A figure that must stay below its target.
    fn judge(&mut self, what: &str, value: f64, unit: &str, most: f64) {
        let met = value < most;
        self.missed |= !met;
        let verdict = if met { "ok" } else { "MISSED" };
        println!("{what:<56} {value:9.1} {unit:<3} target {most:>4} {unit:<3} {verdict}");
    }

    /// A figure without a target.
    fn show(&self, what: &str, value: f64, unit: &str) {
        println!("{what:<56} {value:9.1} {unit}");
    }
}

fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1024.0
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// The value that this share of all values does not exceed.
fn percentile(values: &mut [f64], share: f64) -> anyhow::Result<f64> {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list"
    )]
    let place = (values.len() as f64 * share).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().context("nothing was measured")
}
