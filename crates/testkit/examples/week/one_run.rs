//! One run from its request to its end: started with an idempotency key, followed across restarts, and answered,
//! cancelled, or paused and resumed on the way, as the seed determines.

use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::PROJECTS;
use super::caller::Caller;
use super::draw::Draw;

/// The timeout of a run, including all interruptions; far more than it ever needs.
const PATIENCE: Duration = Duration::from_secs(300);
/// The most lines of a run before the action on it.
const MOST_LINES: u64 = 40;

/// The action on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Plain,
    Asks,
    Cancelled,
    Paused,
}

/// The outcome of a run.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) kind: Kind,
    /// Its id, if it was accepted.
    pub(super) run: Option<String>,
    pub(super) status: String,
    pub(super) fault: Option<String>,
    pub(super) repeated: usize,
}

/// A run in progress.
struct Going {
    caller: Caller,
    run: Option<String>,
    /// The last position read.
    after: u64,
    status: String,
}

pub(super) async fn carry_out(caller: &Caller, seed: u64, number: usize) -> Outcome {
    let mut draw = Draw::new(seed, number as u64);
    let kind = match draw.below(10) {
        0..=4 => Kind::Plain,
        5..=6 => Kind::Asks,
        7 => Kind::Cancelled,
        _ => Kind::Paused,
    };
    let caller = Caller { repeated: 0, ..caller.clone() };
    let mut going = Going { caller, run: None, after: 0, status: "unknown".to_owned() };
    let done = timeout(PATIENCE, going.through(kind, &mut draw, seed, number)).await;
    let fault = match done {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{error:#}")),
        Err(_) => Some("stuck".to_owned()),
    };
    let name = going.run.as_deref().unwrap_or("not accepted");
    let fault = fault.map(|fault| format!("run {number} ({kind:?}, {name}): {fault}"));
    let Going { caller, run, status, .. } = going;
    Outcome { kind, run, status, fault, repeated: caller.repeated }
}

impl Going {
    async fn through(
        &mut self,
        kind: Kind,
        draw: &mut Draw,
        seed: u64,
        number: usize,
    ) -> anyhow::Result<()> {
        let run = self.start(kind, seed, number).await?;
        match kind {
            Kind::Plain => {}
            Kind::Asks => self.answer(&run).await?,
            Kind::Cancelled => {
                self.lines(&run, draw.below(MOST_LINES)).await?;
                self.tell(&run, "cancel", &[200, 409]).await?;
            }
            Kind::Paused => {
                self.lines(&run, draw.below(MOST_LINES)).await?;
                self.tell(&run, "pause", &[200, 409]).await?;
                // It may already have resumed, or be over.
                self.tell(&run, "resume", &[200, 409]).await?;
            }
        }
        let last = self.until(&run, |line| line["event"] == "run.finished").await?;
        let status = last["data"]["status"].as_str().or(last["summary"].as_str());
        self.status = status.unwrap_or("over").to_owned();
        Ok(())
    }

    async fn start(&mut self, kind: Kind, seed: u64, number: usize) -> anyhow::Result<String> {
        let project = PROJECTS[number % PROJECTS.len()];
        let goal = format!("Write hello to greeting.txt, number {number}");
        let body = json!({ "project": project, "goal": goal, "script": script(kind) });
        let key = format!("week-{seed}-{number}");
        let reply = self.caller.send("POST", "/runs", Some(&body), Some(&key)).await?;
        ensure!(matches!(reply.status, 200 | 201), "starting: {}", reply.text());
        let run = reply.json()["run"].as_str().context("an id")?.to_owned();
        self.run = Some(run.clone());
        Ok(run)
    }

    async fn answer(&mut self, run: &str) -> anyhow::Result<()> {
        let asks = |line: &Value| line["event"] == "question.asked" && line["attempt"].is_null();
        let asked = self.until(run, asks).await?;
        let question = asked["data"]["question"].as_u64().context("a question's number")?;
        let path = format!("/runs/{run}/questions/{question}/answer");
        let reply = self.caller.post(&path, &json!({ "text": "A short one" })).await?;
        // 409: it was answered before, and the server stopped before its response arrived.
        ensure!(matches!(reply.status, 200 | 409), "answering: {}", reply.text());
        Ok(())
    }

    async fn tell(&mut self, run: &str, what: &str, right: &[u16]) -> anyhow::Result<()> {
        let reply = self.caller.post(&format!("/runs/{run}/{what}"), &json!({})).await?;
        ensure!(right.contains(&reply.status), "{what}: {} {}", reply.status, reply.text());
        Ok(())
    }

    /// Waits for some lines of a run, or its end.
    async fn lines(&mut self, run: &str, mut count: u64) -> anyhow::Result<()> {
        let after = self.after;
        let enough = |line: &Value| {
            count = count.saturating_sub(1);
            count == 0 || line["event"] == "run.finished"
        };
        self.until(run, enough).await?;
        // Its end is searched for again later.
        self.after = after;
        Ok(())
    }

    /// Reads a run's lines, across restarts, until one matches.
    async fn until(
        &mut self,
        run: &str,
        mut meant: impl FnMut(&Value) -> bool,
    ) -> anyhow::Result<Value> {
        loop {
            let path = format!("/api/v1/events?after={}&run={run}", self.after);
            let (mut stream, number) = self.caller.stream(&path).await?;
            // An error or an end means that the server stopped.
            while let Ok(Some(event)) = stream.next().await {
                if event.event == "lagged" {
                    bail!("a reader who does nothing else was too slow");
                }
                if event.event != "line" {
                    continue;
                }
                let line = event.json();
                self.after = line["position"].as_u64().context("a position")?;
                if meant(&line) {
                    return Ok(line);
                }
            }
            self.caller.next_server(number).await?;
        }
    }
}

/// One task that writes a file, after a question to a person if the run asks one.
fn script(kind: Kind) -> String {
    let asks = match kind {
        Kind::Asks => {
            "[[attempt.reply]]\ncall = { tool = \"ask_user\", question = \"Which greeting is wanted?\" }\n"
        }
        _ => "",
    };
    format!(
        "[[attempt]]\nrole = \"planner\"\n[[attempt.reply]]\n\
         submit = {{ tasks = [{{ id = \"T1\", title = \"Write the greeting\", artifacts = [\"greeting.txt\"] }}] }}\n\
         [[attempt]]\nrole = \"coder\"\n{asks}[[attempt.reply]]\ndelay_ms = 50\n\
         call = {{ tool = \"write_file\", path = \"greeting.txt\", content = \"hello\\n\" }}\n\
         [[attempt.reply]]\nsubmit = {{ summary = \"done\" }}\n"
    )
}
