//! Throughput of whole runs: many scripted runs of one task and ten tool calls each, many at a time, in one process,
//! with real git, files, processes and journal. `cargo xtask bench runs` runs it; the numbers of runs are optional
//! arguments.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use runtime::sandbox::{HelperExe, Repo};
use runtime::store::{Batch, Journal, Redactor, SqliteJournal};
use runtime::{Bosun, Config, Isolation, NewRun};
use types::{Check, Event, LogId, ModelRef, RunId, Shown, Status, Timestamp};

const CALLS: usize = 10;

fn main() -> anyhow::Result<()> {
    let helper_exe = HelperExe::enter();
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let runs = numbers.next().transpose()?.unwrap_or(1_000);
    let at_a_time = numbers.next().transpose()?.unwrap_or(100);
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        whole_runs(helper_exe, runs, at_a_time).await?;
        journal_alone().await
    })
}

async fn whole_runs(helper_exe: HelperExe, runs: usize, at_a_time: usize) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let repository = folder.path().join("repo");
    std::fs::create_dir(&repository)?;
    std::fs::write(repository.join("README.md"), "# sample\n")?;
    Repo::create(&repository, "Start\n", Timestamp::from_millis(0)).await?;
    let journal = Arc::new(SqliteJournal::open(&folder.path().join("home/journal.db")).await?);
    let mut setup = Config::new(journal.clone(), folder.path().join("home"));
    setup.isolation = Isolation::Kernel(helper_exe);
    let bosun = Bosun::new(setup);
    let model = bosun.keep_script(&script()).await?;
    let start = Instant::now();
    let one = |_| one_run(&bosun, &repository, model.clone());
    let done: Vec<()> =
        futures::stream::iter(0..runs).map(one).buffer_unordered(at_a_time).try_collect().await?;
    let seconds = start.elapsed().as_secs_f64();
    let events: u64 = journal.logs(None).await?.iter().map(|log| log.last_seq).sum();
    println!("{} runs of {CALLS} tool calls, {at_a_time} at a time: {seconds:.1} s", done.len());
    println!("{:>10.1} runs per second", runs as f64 / seconds);
    println!("{:>10.0} events per second ({events} in all)", events as f64 / seconds);
    println!("{:>10} MB of memory at most", peak_memory()? / 1024);
    Ok(())
}

async fn one_run(
    bosun: &Bosun,
    repository: &std::path::Path,
    model: ModelRef,
) -> anyhow::Result<()> {
    let mut new = NewRun::new("Write ten lines to out.txt", repository, model)?;
    let command = "test -f out.txt".to_owned();
    new.request.checks = vec![Check::new("there", command)];
    let left = bosun.start(new).await?.finished().await?;
    anyhow::ensure!(left.view.status == Status::Done, "a run ended as {:?}", left.view.why);
    Ok(())
}

fn script() -> String {
    let mut script = String::from(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = { tasks = [{ id = \"T1\", title = \"Write\", artifacts = [\"out.txt\"] }] }\n\
         [[attempt]]\nrole = \"coder\"\n",
    );
    for call in 0..CALLS {
        let call = format!(
            "{{ tool = \"write_file\", path = \"out.txt\", content = \"line {call}\\n\" }}"
        );
        script.push_str(&format!("[[attempt.reply]]\ncall = {call}\n"));
    }
    script + "[[attempt.reply]]\nsubmit = { summary = \"done\" }\n"
}

/// The cost of the journal alone for an event of ordinary size, one append at a time.
async fn journal_alone() -> anyhow::Result<()> {
    const EVENTS: u64 = 2_000;
    let folder = tempfile::tempdir()?;
    let journal = SqliteJournal::open(&folder.path().join("journal.db")).await?;
    let log = LogId::run(RunId::fixed("r_bench"));
    let lease = journal.lease(&log).await?;
    let event = Event::ToolFinished {
        call: "s1.t1.c0".parse()?,
        outcome: types::CallOutcome::Ok,
        output: Shown { text: "x".repeat(300), ..Shown::default() },
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    };
    let clean = [Redactor::none().clean(event)];
    let start = Instant::now();
    for expect in 0..EVENTS {
        let batch = Batch { expect, at: Timestamp::from_millis(0), events: &clean, taken: None };
        journal.append(&lease, batch).await?;
    }
    let micros = start.elapsed().as_micros() as f64 / EVENTS as f64;
    println!("{micros:>10.0} µs per event in the journal alone, appended and synced one at a time");
    Ok(())
}

/// The peak memory of this process, in kB.
fn peak_memory() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading the peak memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number =
        line.and_then(|line| line.split_whitespace().next()).context("finding the peak memory")?;
    Ok(number.parse()?)
}
