//! Lists and single runs over a journal with ten thousand stored runs, half of them open; nothing is driven. Times are
//! measured by a client that opens a new connection for each request.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use runtime::store::SqliteJournal;
use runtime::{Bosun, Config};
use testkit::client::Client;
use testkit::served::Site;
use testkit::stored::{sample_events, short_run, store_short_runs};

use super::{Figures, Ready, megabytes, millis, percentile};

const RUNS: u64 = 10_000;
const REQUESTS: u64 = 600;
/// The time limit of a request, in milliseconds.
const MOST: f64 = 20.0;

pub(super) async fn measure(binary: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let site = Site::new(binary)?;
    site.project("harbor").await?;
    let start = Instant::now();
    fill(&site).await?;
    println!("{RUNS} runs were stored in {:.1} s", start.elapsed().as_secs_f64());
    let Ready { served, client, site: _site } = Ready::on(site, &["--no-resume"]).await?;
    let start = Instant::now();
    let page = asked(&client, "/runs").await?;
    figures.show("the first list after the start", millis(start.elapsed()), "ms");
    let next = page["next"].as_str().context("a second page")?.to_owned();
    let lists = [
        "/runs".to_owned(),
        "/runs?state=open".to_owned(),
        "/runs?state=failed&project=harbor".to_owned(),
        "/runs?q=r_04".to_owned(),
        format!("/runs?cursor={next}"),
    ];
    let path = |n: u64| lists[usize::try_from(n).unwrap_or(0) % lists.len()].clone();
    timed(&client, "list", path, figures).await?;
    let path = |n: u64| format!("/runs/{}", short_run(n * (RUNS / REQUESTS)));
    timed(&client, "show", path, figures).await?;
    figures.show("memory of the server after that", megabytes(served.memory()?), "MB");
    Ok(())
}

async fn fill(site: &Site) -> anyhow::Result<()> {
    std::fs::create_dir_all(site.home())?;
    let journal = SqliteJournal::open(&site.home().join("journal.db")).await?;
    let events = sample_events(&journal).await?;
    store_short_runs(&journal, RUNS, &events).await?;
    let bosun = Bosun::new(Config::new(Arc::new(journal), site.home()));
    bosun.fill_in_summaries().await?;
    Ok(())
}

/// Times many requests, one after the other.
async fn timed(
    client: &Client,
    what: &str,
    path: impl Fn(u64) -> String,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    let mut times = Vec::new();
    for n in 0..REQUESTS {
        let start = Instant::now();
        asked(client, &path(n)).await?;
        times.push(millis(start.elapsed()));
    }
    figures.show(
        &format!("{what}, {RUNS} stored runs, median"),
        percentile(&mut times, 0.5)?,
        "ms",
    );
    let name = format!("{what}, {RUNS} stored runs, p99 of {REQUESTS}");
    figures.judge(&name, percentile(&mut times, 0.99)?, "ms", MOST);
    Ok(())
}

async fn asked(client: &Client, path: &str) -> anyhow::Result<serde_json::Value> {
    let reply = client.get(&format!("/api/v1{path}")).await?;
    ensure!(reply.status == 200, "{path}: {}", reply.text());
    Ok(reply.json())
}
