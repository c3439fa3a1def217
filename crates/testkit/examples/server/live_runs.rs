//! Watchers of live runs: fifty runs at once in one project, each with four streams of its own. All agents wait until
//! all watchers are connected; then they start one after the other and work through their turns at the pace of a fast
//! model. The delay of a line is measured from its recorded time, which is before its commit, to its arrival.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use runtime::{Clock as _, RealClock};
use serde_json::json;
use testkit::client::{Client, EventStream};
use tokio::time::timeout;
use types::Timestamp;

use super::{Figures, Ready, percentile};

const RUNS: usize = 50;
const WATCHERS_OF_ONE: usize = 4;
const TURNS: usize = 20;
/// The time of a model for one turn, in milliseconds, and the difference between runs, so that they do not end
/// together.
const TURN: usize = 800;
const MORE: usize = 30;
/// The time between the starts of two runs: all start within one turn, but not in step.
const APART: Duration = Duration::from_millis(16);
/// The number of concurrent requests during set-up.
const AT_ONCE: usize = 8;
/// The timeout of every step.
const PATIENCE: Duration = Duration::from_secs(300);
/// The limit of the delay, in milliseconds.
const MOST: f64 = 100.0;

/// The arrival time of a line, and its text.
type Arrival = (Timestamp, String);

pub(super) async fn measure(binary: &Path, figures: &mut Figures) -> anyhow::Result<()> {
    let Ready { served, client, site } = Ready::start(binary, &[]).await?;
    let go = |n: usize| site.path().join(format!("go-{n}"));
    let runs = futures::stream::iter(0..RUNS).map(|n| begin(&client, n, go(n)));
    let runs: Vec<String> = runs.buffered(AT_ONCE).try_collect().await?;
    let watched = runs.iter().flat_map(|run| std::iter::repeat_n(run, WATCHERS_OF_ONE));
    let streams = futures::stream::iter(watched).map(|run| watch(&client, run));
    let streams: Vec<EventStream> = streams.buffered(AT_ONCE).try_collect().await?;
    let watchers = streams.len();
    let readers: Vec<_> = streams.into_iter().map(|stream| tokio::spawn(read(stream))).collect();
    let start = Instant::now();
    let mut starts = tokio::time::interval(APART);
    for n in 0..RUNS {
        starts.tick().await;
        std::fs::write(go(n), "")?;
    }
    let mut delays = Vec::new();
    let mut late = BTreeMap::<String, usize>::new();
    for reader in readers {
        for (arrived, text) in timeout(PATIENCE, reader).await.context("a run hangs")??? {
            let line: serde_json::Value = serde_json::from_str(&text)?;
            let at: Timestamp = serde_json::from_value(line["at"].clone())?;
            let delay = arrived.since(at).0 as f64;
            if delay >= MOST {
                let kind = line["event"].as_str().context("an event")?.to_owned();
                *late.entry(kind).or_default() += 1;
            }
            delays.push(delay);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{} lines arrived in {seconds:.1} s", delays.len());
    let what = format!("delay of a line, {watchers} watchers of {RUNS} live runs");
    figures.show(&format!("{what}, median"), percentile(&mut delays, 0.5)?, "ms");
    figures.judge(&format!("{what}, p99"), percentile(&mut delays, 0.99)?, "ms", MOST);
    figures.show(&format!("{what}, longest"), percentile(&mut delays, 1.0)?, "ms");
    for (kind, lines) in late {
        println!("  over {MOST} ms: {lines} lines of {kind}");
    }
    served.stop().await?;
    Ok(())
}

/// Starts a run, and waits until its agent has started.
async fn begin(client: &Client, number: usize, go: PathBuf) -> anyhow::Result<String> {
    let script = script(TURN + number * MORE, &go);
    let goal = "Write hello to greeting.txt";
    let body = json!({ "project": "harbor", "goal": goal, "script": script });
    let reply = client.post("/api/v1/runs", &body).await?;
    ensure!(reply.status == 201, "{}", reply.text());
    let run = reply.json()["run"].as_str().context("an id")?.to_owned();
    let path = format!("/api/v1/events?after=0&run={run}&task=T1&kind=model.asked");
    let mut stream = client.stream(&path, &[]).await?;
    let asked = async {
        while let Some(event) = stream.next().await? {
            if event.event == "line" {
                return Ok(());
            }
        }
        anyhow::bail!("the stream of {run} ended")
    };
    timeout(PATIENCE, asked).await.context("a run does not begin")??;
    Ok(run)
}

/// Opens a stream of a run's events from now on.
async fn watch(client: &Client, run: &str) -> anyhow::Result<EventStream> {
    let mut stream = client.stream(&format!("/api/v1/events?run={run}"), &[]).await?;
    let hello = stream.next().await?.context("a first message")?;
    ensure!(hello.event == "hello", "{hello:?}");
    Ok(stream)
}

/// Reads a run to its end. Lines are parsed later, so that only their delivery is measured.
async fn read(mut stream: EventStream) -> anyhow::Result<Vec<Arrival>> {
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await? {
        ensure!(event.event == "line", "a watcher was cut off: {event:?}");
        let over = event.data.contains("\"event\":\"run.finished\"");
        lines.push((RealClock.now(), event.data));
        if over {
            return Ok(lines);
        }
    }
    anyhow::bail!("a stream ended early")
}

/// One task whose agent waits for a file, then writes and reads.
fn script(turn: usize, go: &Path) -> String {
    let mut script = format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = \"Write the greeting\", artifacts = [\"greeting.txt\"] }}] }}\n\
         [[attempt]]\nrole = \"coder\"\n[[attempt.reply]]\nhold = {:?}\n\
         call = {{ tool = \"list_dir\", path = \".\" }}\n",
        go.display().to_string()
    );
    for n in 0..TURNS {
        script += &format!(
            "[[attempt.reply]]\ndelay_ms = {turn}\nsay = \"Step {n}.\"\n\
             call = {{ tool = \"write_file\", path = \"greeting.txt\", content = \"hello {n}\\n\" }}\n"
        );
    }
    script + "[[attempt.reply]]\nsubmit = { summary = \"done\" }\n"
}
