//! A week of a server in minutes: scripted runs through the API in several projects, some with a question that is
//! answered, some cancelled, some paused and resumed, while the server is restarted repeatedly, by a stop request and
//! by force. At the end every accepted run must exist exactly once and be over. `week --binary PATH [--runs N] [--seed
//! S]`. The seed determines the kinds of runs and the moments of restarts, but not the order of other events.
#![expect(clippy::print_stdout, reason = "a chore prints its figures")]

mod caller;
mod draw;
mod host;
mod one_run;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use futures::StreamExt as _;
use serde_json::Value;
use testkit::served::Site;
use tokio_util::sync::CancellationToken;

use caller::Caller;
use host::{Host, Told};
use one_run::{Kind, Outcome};

const PROJECTS: [&str; 4] = ["harbor", "lighthouse", "pier", "quay"];
/// The number of concurrent runs.
const AT_ONCE: usize = 8;

const HELP: &str = "usage: week --binary PATH [--runs N] [--seed S]";

struct Wanted {
    binary: PathBuf,
    runs: usize,
    seed: u64,
}

fn main() -> anyhow::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let wanted = read(&words)?;
    tokio::runtime::Runtime::new()?.block_on(week(&wanted))
}

fn read(words: &[String]) -> anyhow::Result<Wanted> {
    let (mut binary, mut runs, mut seed) = (None, 500, 19);
    for pair in words.chunks(2) {
        let [name, value] = pair else { bail!("{HELP}") };
        match name.as_str() {
            "--binary" => binary = Some(PathBuf::from(value)),
            "--runs" => runs = value.parse()?,
            "--seed" => seed = value.parse()?,
            _ => bail!("{HELP}"),
        }
    }
    Ok(Wanted { binary: binary.context(HELP)?, runs, seed })
}

async fn week(wanted: &Wanted) -> anyhow::Result<ExitCode> {
    let began = Instant::now();
    let site = prepared(&wanted.binary).await?;
    let (host, caller) = Host::start(site, wanted.seed).await?;
    let over = CancellationToken::new();
    let hosted = tokio::spawn(host.keep_up(wanted.runs, over.clone()));
    let runs = (0..wanted.runs).map(|number| one_run::carry_out(&caller, wanted.seed, number));
    let outcomes: Vec<Outcome> =
        futures::stream::iter(runs).buffer_unordered(AT_ONCE).collect().await;
    over.cancel();
    let (host, told) = hosted.await??;
    let seconds = began.elapsed().as_secs_f64();
    let stored = stored(&caller).await;
    let log = host.site.log_tail();
    host.served.stop().await?;
    let faults = faults(&outcomes, &stored?, &told);
    print(wanted, &outcomes, &told, seconds);
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    if !faults.is_empty() {
        println!("the end of the server's log:\n{log}");
        return Ok(ExitCode::FAILURE);
    }
    println!("0 lost, 0 stuck, none twice");
    Ok(ExitCode::SUCCESS)
}

async fn prepared(binary: &Path) -> anyhow::Result<Site> {
    let site = Site::new(binary)?;
    for project in PROJECTS {
        site.project(project).await?;
    }
    Ok(site)
}

/// All runs that the server lists, page by page.
async fn stored(caller: &Caller) -> anyhow::Result<Vec<Value>> {
    let (mut items, mut path) = (Vec::new(), "/runs?limit=100".to_owned());
    loop {
        let page = caller.get(&path).await?;
        ensure!(page.status == 200, "{}", page.text());
        let page = page.json();
        items.extend(page["items"].as_array().context("items")?.iter().cloned());
        match page["next"].as_str() {
            Some(next) => path = format!("/runs?limit=100&cursor={next}"),
            None => return Ok(items),
        }
    }
}

/// All violations of the expected end state.
fn faults(outcomes: &[Outcome], stored: &[Value], told: &Told) -> Vec<String> {
    let mut faults: Vec<String> =
        outcomes.iter().filter_map(|outcome| outcome.fault.clone()).collect();
    let mut listed: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for item in stored {
        listed.entry(item["run"].as_str().unwrap_or("?")).or_default().push(item);
    }
    let accepted: BTreeSet<&str> =
        outcomes.iter().filter_map(|outcome| outcome.run.as_deref()).collect();
    faults.extend(
        listed.keys().filter(|run| !accepted.contains(**run)).map(|run| format!("{run}: unasked")),
    );
    for outcome in outcomes {
        let Some(run) = outcome.run.as_deref() else { continue };
        match listed.get(run).map(Vec::as_slice) {
            None => faults.push(format!("{run}: lost")),
            Some([item]) => faults.extend(wrong_end(outcome.kind, item)),
            Some(several) => faults.push(format!("{run}: listed {} times", several.len())),
        }
        let lines = told.of(run);
        if lines != (1, 1) {
            faults.push(format!("{run}: told {} times as requested, {} as over", lines.0, lines.1));
        }
    }
    faults
}

/// The fault in how a run ended, if any.
fn wrong_end(kind: Kind, item: &Value) -> Option<String> {
    let status = item["status"].as_str().unwrap_or("unreadable");
    let right = status == "done" || (kind == Kind::Cancelled && status == "cancelled");
    let over = item["ended"].is_string() && item["questions"] == 0;
    let (run, state) = (&item["run"], &item["state"]);
    (!right || !over).then(|| format!("{run}: {kind:?}, but it is {status} ({state})"))
}

fn print(wanted: &Wanted, outcomes: &[Outcome], told: &Told, seconds: f64) {
    let mut kinds: BTreeMap<(Kind, &str), usize> = BTreeMap::new();
    for outcome in outcomes {
        *kinds.entry((outcome.kind, &outcome.status)).or_default() += 1;
    }
    println!("{} runs with seed {} in {seconds:.0} s", outcomes.len(), wanted.seed);
    for ((kind, status), count) in kinds {
        println!("{count:>6} {kind:?}, ended as {status}");
    }
    let repeated: usize = outcomes.iter().map(|outcome| outcome.repeated).sum();
    println!("{:>6} restarts: {} stops, {} kills", told.stops + told.kills, told.stops, told.kills);
    println!("{repeated:>6} requests and streams were repeated because of them");
    println!("{:>6} lines were followed without a gap", told.lines);
}
