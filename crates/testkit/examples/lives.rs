//! Benchmark of long lives: a journal with ten thousand runs and a hundred thousand events, a run of a hundred thousand
//! events, a session of five thousand turns. Measures listing and counting them, what gc would remove, picking an open run
//! to resume, and loading the long ones. The events are real, from scenarios played first; no model is called.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use runtime::store::SqliteJournal;
use runtime::{Bosun, Config, Found, GcRules, presets};
use testkit::stored::{keep_policy, sample_events, store_run, store_short_runs};
use testkit::{Scenario, scenarios, talk};
use types::{Envelope, Event, Status};

const RUNS: u64 = 10_000;
const LONG: usize = 100_000;
const TURNS: u32 = 5_000;
/// The most time for any step, in milliseconds; enforced in release builds only.
const MOST: u128 = 1_000;

fn main() -> anyhow::Result<ExitCode> {
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.db");
    let journal = SqliteJournal::open(&path).await?;
    let bosun = Bosun::new(Config::new(Arc::new(journal.clone()), folder.path()));
    let start = Instant::now();
    Box::pin(fill(&journal)).await?;
    println!("{:>8} ms to write the journal", start.elapsed().as_millis());
    let start = Instant::now();
    let filled = bosun.fill_in_summaries().await?;
    println!("{:>8} ms to fold and summarize {filled} logs, once", start.elapsed().as_millis());
    drop((bosun, journal));
    let mut late = false;
    // As in a new process: nothing is cached.
    let opened = SqliteJournal::open(&path).await?;
    let bosun = Bosun::new(Config::new(Arc::new(opened.clone()), folder.path()));
    let mut took = |what: &str, start: Instant| {
        let millis = start.elapsed().as_millis();
        late |= millis > MOST && !cfg!(debug_assertions);
        println!("{millis:>8} ms to {what}, target {MOST}");
    };
    let start = Instant::now();
    let all = bosun.overview(false).await?;
    took(&format!("list {} runs and sessions", all.len()), start);
    let start = Instant::now();
    bosun.overview(true).await?;
    took("list them with the whole view of each that is over", start);
    let start = Instant::now();
    let counted = bosun.stats(None, &|_| true).await?.runs;
    took(&format!("count {counted} of them for statistics"), start);
    let start = Instant::now();
    let rules = GcRules { keep_days: 1, keep: 0, results: true, sessions: true, dry_run: true };
    let would = bosun.collect_garbage(&opened, rules, "nobody").await?.removed.runs.len();
    took(&format!("find the {would} that gc would remove"), start);
    let start = Instant::now();
    let open = |status| matches!(status, Status::Running | Status::Waiting);
    let picked = bosun
        .overview(false)
        .await?
        .into_iter()
        .find(|entry| matches!(&entry.found, Found::Run { listed, .. } if open(listed.status)));
    let picked = picked.context("a run that is open")?.run;
    bosun.view(&picked).await?;
    took("pick what to resume, and load it", start);
    let start = Instant::now();
    bosun.view(&"r_long".parse()?).await?;
    took(&format!("load a run of {LONG} events"), start);
    let start = Instant::now();
    let turns = bosun.session_view(&"r_chat".parse()?).await?.turns;
    took(&format!("load a conversation of {turns} turns"), start);
    anyhow::ensure!(turns == TURNS, "the conversation has {turns} turns");
    Ok(if late { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the journal.
async fn fill(journal: &SqliteJournal) -> anyhow::Result<()> {
    let events = Box::pin(sample_events(journal)).await?;
    let checks =
        |event: &&Event| matches!(event, Event::CheckStarted { .. } | Event::CheckFinished { .. });
    let checks: Vec<Event> = events.iter().filter(checks).take(2).cloned().collect();
    store_short_runs(journal, RUNS, &events).await?;
    let long = events.iter().take(6).chain(checks.iter().cycle()).take(LONG).cloned().collect();
    store_run(journal, "r_long", RUNS, long).await?;
    chat(journal).await
}

async fn chat(journal: &SqliteJournal) -> anyhow::Result<()> {
    let said = talk(&Scenario::load(&scenarios().join("talk/question.toml"))?).await?;
    let solo = keep_policy(journal, &presets::preset("solo")?).await?;
    let find = |kind: &str| {
        let found = said.lines.iter().rev().find(|line| line.event.kind() == kind);
        found.map(|line: &Envelope| line.event.clone()).context("a line of the conversation")
    };
    let (told, asked, replied) =
        (find("session.told")?, find("model.asked")?, find("model.replied")?);
    let mut first = find("session.started")?;
    if let Event::SessionStarted { brief, .. } = &mut first {
        brief.policy = Some(solo);
    }
    let mut events = vec![first];
    for number in 1..=TURNS {
        let (mut asked, mut replied) = (asked.clone(), replied.clone());
        if let Event::ModelAsked { turn, .. } = &mut asked {
            *turn = number;
        }
        if let Event::ModelReplied { turn, .. } = &mut replied {
            *turn = number;
        }
        events.extend([told.clone(), asked, replied]);
    }
    store_run(journal, "r_chat", RUNS + 1, events).await
}
