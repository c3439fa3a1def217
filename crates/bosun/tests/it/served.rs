//! Runs the server for tests: the real `bosun serve` over a repository, callers with tokens, and runs started through
//! the API. Tests wait for lines of the stream, never for time to pass.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::client::{Client, Reply};

use crate::binary::{Place, send, stderr, stdout};
use crate::stage::put;

/// Time limit for a run; far more than it ever needs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The project in which runs work.
pub(crate) const PROJECT: &str = "harbor";
pub(crate) const GOAL: &str = "Write hello to greeting.txt and bye to farewell.txt";

/// Two tasks, one after the other.
pub(crate) const TWO_TASKS: &str = r#"
price = { input = "3.00", output = "15.00" }
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [
    { id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] },
    { id = "T2", title = "Write the farewell", artifacts = ["farewell.txt"], depends_on = ["T1"] },
] }
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
say = "I write the greeting."
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
[[attempt]]
role = "coder"
task = "T2"
[[attempt.reply]]
call = { tool = "write_file", path = "farewell.txt", content = "bye\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// One task that asks a person before it writes.
pub(crate) const ASKS: &str = r#"
[[attempt]]
role = "planner"
[[attempt.reply]]
submit = { tasks = [{ id = "T1", title = "Write the greeting", artifacts = ["greeting.txt"] }] }
[[attempt]]
role = "coder"
[[attempt.reply]]
call = { tool = "ask_user", question = "Which greeting is wanted?" }
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// One task whose agent waits until a file exists.
pub(crate) fn held(go: &Path) -> String {
    ASKS.replace(
        "call = { tool = \"ask_user\", question = \"Which greeting is wanted?\" }",
        &format!(
            "say = \"I wait.\"\nhold = {:?}\ncall = {{ tool = \"list_dir\", path = \".\" }}",
            go.display().to_string()
        ),
    )
}

/// A repository whose check requires a greeting.
pub(crate) fn repository(place: &Place, name: &str) -> PathBuf {
    let repo = place.path().join(name);
    std::fs::create_dir_all(&repo).expect("a folder");
    place.git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    put(&repo, "test.sh", "grep -q hello greeting.txt\n");
    put(&repo, "README.md", "# harbor\n");
    place.git(&repo, &["add", "--all"]);
    place.git(&repo, &["commit", "--quiet", "--message=Start"]);
    let path = repo.to_str().expect("a plain path");
    let added = place.run(&["project", "add", name, path]);
    assert!(added.status.success(), "{}", stderr(&added));
    repo
}

/// A running server.
pub(crate) struct Served {
    child: Child,
    /// Link that logs one browser in.
    pub(crate) link: String,
}

impl Served {
    /// Starts the server on a free port.
    pub(crate) fn start(place: &Place) -> Self {
        Self::with(place, "127.0.0.1:0", &["--rate", "2000"])
    }

    pub(crate) fn with(place: &Place, listen: &str, more: &[&str]) -> Self {
        Self::knowing(place, listen, more, &[])
    }

    /// Like `with`, with environment variables.
    pub(crate) fn knowing(
        place: &Place,
        listen: &str,
        more: &[&str],
        settings: &[(&str, &str)],
    ) -> Self {
        let log = std::fs::File::create(place.path().join("serve.log")).expect("a file");
        let mut command = place.command(&[&["serve", "--listen", listen], more].concat());
        command.envs(settings.iter().copied());
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("it starts");
        let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
        let mut link = String::new();
        out.read_line(&mut link).expect("a line");
        let said = || std::fs::read_to_string(place.path().join("serve.log")).unwrap_or_default();
        assert!(link.starts_with("http://127.0.0.1:"), "{link}{}", said());
        Self { child, link: link.trim().to_owned() }
    }

    /// `http://host:port`.
    pub(crate) fn url(&self) -> &str {
        self.link.split_once("/?").map_or(&self.link, |(url, _)| url)
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> &str {
        self.url().trim_start_matches("http://")
    }

    /// A caller without a token.
    pub(crate) fn nobody(&self) -> Client {
        Client::new(self.address())
    }

    /// Opens the printed link and confirms it, as a browser does; returns the last reply.
    pub(crate) async fn log_in(&self) -> Reply {
        let (nobody, code) = (self.nobody(), self.link.split_once("?token=").expect("a code").1);
        let asked = nobody.get(&format!("/?token={code}")).await.expect("a reply");
        assert!(asked.header("set-cookie").is_none(), "it asks first: {asked:?}");
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let body = format!("token={code}&then=%2F");
        nobody.send("POST", "/login", &form, Some(&body)).await.expect("a reply")
    }

    /// Adds a user of the server, with the command line.
    pub(crate) fn user(&self, place: &Place, name: &str, more: &[&str]) -> Api {
        let output = place.run(&[&["user", "add", name], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        Api { client: self.nobody().with_token(stdout(&output).trim()) }
    }

    pub(crate) fn admin(&self, place: &Place) -> Api {
        self.user(place, "ann", &["--role", "admin"])
    }

    /// Asks the server to stop and waits until it has; returns its address.
    pub(crate) fn stop(mut self) -> String {
        send("-TERM", &self.child.id().to_string());
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "the server ended with {ended}");
        self.address().to_owned()
    }

    /// Kills the server; returns its address.
    pub(crate) fn kill(mut self) -> String {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
        self.address().to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A client of the API.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) client: Client,
}

impl Api {
    /// JSON from a GET below the API root, which must succeed.
    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.client.get(&format!("/api/v1{path}")).await.expect("a reply");
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.json()
    }

    /// Reply to a GET, whatever its status.
    pub(crate) async fn try_get(&self, path: &str) -> Reply {
        self.client.get(&format!("/api/v1{path}")).await.expect("a reply")
    }

    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> Reply {
        self.client.post(&format!("/api/v1{path}"), body).await.expect("a reply")
    }

    /// JSON from a POST, which must succeed.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Value {
        let reply = self.try_post(path, body).await;
        assert!(matches!(reply.status, 200 | 201), "{path}: {} {}", reply.status, reply.text());
        reply.json()
    }

    /// Starts a run with a scripted model; returns its id.
    pub(crate) async fn run(&self, goal: &str, script: &str) -> String {
        let body = json!({ "project": PROJECT, "goal": goal, "script": script });
        let made = self.post("/runs", &body).await;
        made["run"].as_str().expect("an id").to_owned()
    }

    /// Reads the stream of a run from its beginning until an event of this kind; returns all lines so far.
    pub(crate) async fn until(&self, run: &str, kind: &str) -> Vec<Value> {
        self.until_line(run, |line| line["event"] == kind).await
    }

    /// The same until the run itself asks: what an attempt asks is a line of the attempt's log first.
    pub(crate) async fn until_asked(&self, run: &str) -> Vec<Value> {
        let asks = |line: &Value| line["event"] == "question.asked" && line["attempt"].is_null();
        self.until_line(run, asks).await
    }

    /// Reads the stream of a run from its beginning until a line matches; returns all lines so far.
    pub(crate) async fn until_line(
        &self,
        run: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Vec<Value> {
        let path = format!("/api/v1/events?after=0&run={run}");
        let mut lines = Vec::new();
        let read = async {
            let mut stream = self.client.stream(&path, &[]).await.expect("a stream");
            while let Some(event) = stream.next().await.expect("an event") {
                if event.event != "line" {
                    continue;
                }
                lines.push(event.json());
                if lines.last().is_some_and(&wanted) {
                    return;
                }
            }
            panic!("the stream ended early: {lines:?}");
        };
        let ended = tokio::time::timeout(PATIENCE, read).await;
        let told = |line: &Value| format!("{} {}", line["event"], line["summary"]);
        let last = || lines.iter().rev().take(20).map(told).collect::<Vec<_>>();
        assert!(ended.is_ok(), "the run does not come that far: {:#?}", last());
        lines
    }

    /// Waits until a run is over; returns its view.
    pub(crate) async fn over(&self, run: &str) -> Value {
        self.until(run, "run.finished").await;
        self.get(&format!("/runs/{run}")).await["view"].clone()
    }

    /// Runs a goal with a scripted model to its end; returns the run's id.
    pub(crate) async fn done(&self, goal: &str, script: &str) -> String {
        let run = self.run(goal, script).await;
        let view = self.over(&run).await;
        assert_eq!(view["status"], "done", "{view}");
        run
    }
}
