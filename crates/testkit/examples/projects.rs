//! Benchmark of concurrency in one process, with scripted models and everything else real: ten projects in their own
//! repositories (P56), then a hundred requests of twenty turns each. Nothing may fail; memory per project is limited.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use futures::{StreamExt as _, TryStreamExt as _};
use runtime::sandbox::{HelperExe, Repo};
use runtime::store::SqliteJournal;
use runtime::{Bosun, Config, Isolation, NewRun};
use types::{Check, ModelRef, Status, Timestamp};

const PROJECTS: usize = 10;
const TASKS: usize = 4;
const REQUESTS: usize = 100;
const TURNS: usize = 20;
/// The most memory of one project, in kB.
const MOST: u64 = 50 * 1024;

fn main() -> anyhow::Result<ExitCode> {
    let helper_exe = HelperExe::enter();
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(measure(helper_exe))
}

async fn measure(helper_exe: HelperExe) -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let journal = Arc::new(SqliteJournal::open(&folder.path().join("home/journal.db")).await?);
    let mut setup = Config::new(journal, folder.path().join("home"));
    setup.isolation = Isolation::Kernel(helper_exe);
    let bosun = Bosun::new(setup);
    let before = memory("VmRSS:")?;
    let start = Instant::now();
    let mut projects = Vec::new();
    for n in 0..PROJECTS {
        projects.push(repository(folder.path(), n).await?);
    }
    let model = bosun.keep_script(&script(TASKS, 5)).await?;
    all(&bosun, &projects, &model, PROJECTS).await?;
    let each = memory("VmHWM:")?.saturating_sub(before) / PROJECTS as u64;
    let verdict = if each <= MOST { "ok" } else { "MISSED" };
    println!(
        "{PROJECTS} projects of {TASKS} tasks at once, no error    {:>8.1} s",
        start.elapsed().as_secs_f64()
    );
    println!(
        "memory for each project                       {:>8.1} MB  target {} MB  {verdict}",
        each as f64 / 1024.0,
        MOST / 1024
    );
    let start = Instant::now();
    let shared = vec![projects[0].clone(); REQUESTS];
    let model = bosun.keep_script(&script(1, TURNS)).await?;
    all(&bosun, &shared, &model, REQUESTS).await?;
    println!(
        "{REQUESTS} requests of {TURNS} turns at once, no error    {:>8.1} s",
        start.elapsed().as_secs_f64()
    );
    println!(
        "memory of the process at most                 {:>8.1} MB",
        memory("VmHWM:")? as f64 / 1024.0
    );
    Ok(if each <= MOST { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one request in each of these repositories, all concurrently; each must succeed with its own files.
async fn all(
    bosun: &Bosun,
    places: &[PathBuf],
    model: &ModelRef,
    count: usize,
) -> anyhow::Result<()> {
    let one = |place: PathBuf| one_run(bosun, place, model.clone());
    let runs = futures::stream::iter(places.to_vec()).map(one).buffer_unordered(count);
    let done: Vec<()> = runs.try_collect().await?;
    anyhow::ensure!(done.len() == places.len(), "only {} came to an end", done.len());
    Ok(())
}

async fn one_run(bosun: &Bosun, place: PathBuf, model: ModelRef) -> anyhow::Result<()> {
    let mut new = NewRun::new("Write lines to out0.txt", &place, model)?;
    // Each task is checked alone before it is merged, so any one of their files suffices.
    let command = "ls out*.txt".to_owned();
    new.request.checks = vec![Check::new("there", command)];
    let left = bosun.start(new).await?.finished().await?;
    let (status, why) = (left.view.status, &left.view.why);
    anyhow::ensure!(status == Status::Done, "a run ended as {status:?}: {why:?}");
    anyhow::ensure!(
        Path::new(&left.view.repository) == place,
        "a run strayed to {}",
        left.view.repository
    );
    Ok(())
}

async fn repository(folder: &Path, n: usize) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("project{n}"));
    std::fs::create_dir(&path)?;
    std::fs::write(path.join("README.md"), format!("# project {n}\n"))?;
    Repo::create(&path, "Start\n", Timestamp::from_millis(0)).await?;
    Ok(path.canonicalize()?)
}

/// A plan of this many tasks, each done in this many turns.
fn script(tasks: usize, turns: usize) -> String {
    let task =
        |n| format!("{{ id = \"T{n}\", title = \"Write {n}\", artifacts = [\"out{n}.txt\"] }}");
    let plan: Vec<String> = (0..tasks).map(task).collect();
    let mut script = format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\nsubmit = {{ tasks = [{}] }}\n",
        plan.join(", ")
    );
    for n in 0..tasks {
        script.push_str(&format!("[[attempt]]\nrole = \"coder\"\ntask = \"T{n}\"\n"));
        for turn in 1..turns {
            script.push_str(&format!(
                "[[attempt.reply]]\ncall = {{ tool = \"write_file\", path = \"out{n}.txt\", content = \"line {turn}\\n\" }}\n"
            ));
        }
        script.push_str("[[attempt.reply]]\nsubmit = { summary = \"done\" }\n");
    }
    script
}

/// The current or peak memory of this process, in kB.
fn memory(key: &str) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading the memory")?;
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    let number =
        line.and_then(|line| line.split_whitespace().next()).context("finding the memory")?;
    Ok(number.parse()?)
}
