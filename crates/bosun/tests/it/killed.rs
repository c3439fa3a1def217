//! A single agent, killed with SIGKILL during a call and while it waits for its model, and resumed: finished calls are
//! not repeated, the interrupted one is reported as unknown, and the provider accepts the history.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::{Value, json};
use testkit::wire::{Answer, Reply, WireServer};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use types::Family;

use crate::binary::{Place, stderr, stdout};

/// The rules for a single agent.
const SOLO: &str = include_str!("../../../../policies/solo.toml");

/// A folder to work in, a model server, and the files with its address and the rules.
struct Stage {
    place: Place,
    folder: PathBuf,
    server: WireServer,
    runtime: Runtime,
    model: String,
}

impl Stage {
    fn new(family: Family, answers: impl FnOnce(&Stage) -> Vec<Answer>) -> Self {
        let place = Place::new();
        let folder = place.path().join("work");
        std::fs::create_dir(&folder).expect("a folder");
        let runtime = Runtime::new().expect("a runtime");
        let none = runtime.block_on(WireServer::telling(vec![])).expect("a server");
        let model = WireServer::model(family).to_string();
        let mut stage = Self { place, folder, server: none, runtime, model };
        let answers = answers(&stage);
        stage.server = stage.runtime.block_on(WireServer::telling(answers)).expect("a server");
        std::fs::write(stage.place.path().join("models.toml"), stage.server.settings())
            .expect("settings");
        assert!(SOLO.contains("require = \"full\""), "the preset has changed");
        let rules = SOLO.replace("require = \"full\"", "require = \"none\"");
        std::fs::write(stage.place.path().join("solo.toml"), rules).expect("rules");
        stage
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(args);
        command.env("BOSUN_MODELS", self.place.path().join("models.toml"));
        command
    }

    /// Starts a run.
    fn begin(&self) -> Child {
        let rules = self.place.path().join("solo.toml");
        let text = |path: &PathBuf| path.to_str().expect("a plain path").to_owned();
        let (rules, folder) = (text(&rules), text(&self.folder));
        let mut command = self.command(&["run", "Write it down.", "--json", "--headless"]);
        command.args(["--policy", &rules, "--repo", &folder, "--model", &self.model]);
        let out = File::create(self.place.path().join("begun.jsonl")).expect("a file");
        command.stdout(out).spawn().expect("the binary starts")
    }

    /// Resumes the run to its end; returns the printed lines.
    fn resume(&self) -> Vec<Value> {
        let printed = std::fs::read_to_string(self.place.path().join("begun.jsonl"));
        let first: Value =
            serde_json::from_str(printed.expect("lines").lines().next().expect("one"))
                .expect("the first line is JSON");
        let run = first["run"].as_str().expect("a run").to_owned();
        let output = self.command(&["resume", &run, "--json"]).output().expect("it runs");
        assert!(output.status.success(), "{}: {}", self.model, stderr(&output));
        let text = stdout(&output);
        text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect()
    }

    #[expect(clippy::disallowed_methods, reason = "the stage is set with the system's own program")]
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        let made = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
        assert!(made.success());
        path
    }
}

fn kill(mut child: Child) {
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
}

/// A72, killed while a command runs; also, a finished call is never made twice.
#[test]
fn a_call_that_was_cut_off_is_unknown_and_what_was_finished_stays_finished() {
    for family in Family::ALL {
        let key =
            if matches!(family, Family::Gemini | Family::Portable) { "path" } else { "file_path" };
        let slow = "echo two >> done.txt; echo > begun; cat gate";
        let stage = Stage::new(family, |_| {
            vec![
                Reply::call("shell", json!({ "command": "echo one >> done.txt" })).into(),
                Reply::call("read_file", json!({ key: "done.txt" }))
                    .and("shell", json!({ "command": slow }))
                    .thinking("Both at once.")
                    .into(),
                Reply::say("It is written down.").into(),
            ]
        });
        let (begun, gate) = (stage.pipe("begun"), stage.pipe("gate"));
        // Opened for reading and writing, the pipe does not block, and the command waits as long as it is held open.
        let held = File::options().read(true).write(true).open(&gate).expect("the gate");
        let child = stage.begin();
        let mut word = [0; 1];
        File::open(&begun).and_then(|mut pipe| pipe.read_exact(&mut word)).expect("it begins");
        kill(child);
        let lines = stage.resume();
        drop(held);
        let written = std::fs::read_to_string(stage.folder.join("done.txt")).expect("a file");
        assert_eq!(written, "one\ntwo\n", "{}", stage.model);
        assert!(stage.server.broken().is_empty(), "{:?}", stage.server.broken());
        let asked = stage.server.asked();
        assert_eq!(asked.len(), 3, "{}", stage.model);
        let results = asked[2].results();
        assert_eq!(results.len(), 3, "{}: {results:?}", stage.model);
        assert!(results[1].contains("one"), "{results:?}");
        assert!(results[2].contains("not known"), "{results:?}");
        let lost = lines.iter().filter(|line| line["event"] == "tool.lost").count();
        assert_eq!(lost, 1, "{}", stage.model);
        let last = lines.last().expect("a report");
        assert_eq!(last["report"]["reply"], "It is written down.", "{last}");
    }
}

/// Killed while the model is thinking: the same request is sent again, byte for byte, and nothing else happens.
#[test]
fn a_request_that_was_cut_off_is_made_again_as_it_was() {
    for family in Family::ALL {
        let go = CancellationToken::new();
        let stage = Stage::new(family, |_| {
            let call = Reply::call("shell", json!({ "command": "echo one >> done.txt" }));
            let end = Answer::from(Reply::say("Done."));
            vec![call.thinking("Write.").into(), end.after(&go)]
        });
        let child = stage.begin();
        let first = stage.runtime.block_on(stage.server.request(1));
        kill(child);
        go.cancel();
        let lines = stage.resume();
        assert!(stage.server.broken().is_empty(), "{:?}", stage.server.broken());
        let asked = stage.server.asked();
        assert_eq!(asked.len(), 3, "{}", stage.model);
        assert_eq!(asked[2].body, first.body, "{}", stage.model);
        let written = std::fs::read_to_string(stage.folder.join("done.txt")).expect("a file");
        assert_eq!(written, "one\n", "{}", stage.model);
        assert_eq!(lines.last().expect("a report")["report"]["reply"], "Done.");
    }
}
