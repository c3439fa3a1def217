//! A home and a repository for documented commands: with a finished run, one that asks a person, and a session, each
//! under the names that the documents use. Everything is reset before each block.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::json;
use testkit::wire::{Answer, Asked, Reply, WireServer};

use super::files::{DONE, FILES, SESSION};
use crate::binary::{Place, stderr, stdout};
use crate::stage::put;

/// A line that was run.
pub(super) struct Line {
    /// As shown in the document.
    pub(super) shown: String,
    pub(super) code: i32,
    pub(super) said: String,
}

pub(super) struct Scratch {
    place: Place,
    /// Must stay alive for the server to answer.
    _runtime: tokio::runtime::Runtime,
    server: WireServer,
    done: String,
    waiting: String,
    session: String,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let server = runtime.block_on(WireServer::start(answer)).expect("a server");
        let place = Place::new();
        let mut scratch = Self {
            place,
            _runtime: runtime,
            done: String::new(),
            waiting: String::new(),
            session: String::new(),
            server,
        };
        scratch.set_up();
        scratch
    }

    fn live(&self) -> PathBuf {
        self.place.path().join("live")
    }

    fn repo(&self) -> PathBuf {
        self.live().join("harbor")
    }

    fn set_up(&mut self) {
        let (repo, live) = (self.repo(), self.live());
        for (path, text) in FILES {
            put(&repo, path, text);
        }
        let config = format!("model = \"local/coder\"\n{}", self.server.settings());
        put(&live, "user/.config/bosun/config.toml", &config);
        for folder in ["user/.zfunc", "user/.config/fish/completions", "elsewhere", "backup", "tmp"]
        {
            std::fs::create_dir_all(live.join(folder)).expect("a folder");
        }
        put(&live, "user/.local/share/bash-completion/completions/.keep", "");
        put(&live, "done.toml", DONE);
        put(&live, "session.toml", SESSION);
        self.place.git(&repo, &["init", "--quiet", "--initial-branch=main", "--template="]);
        self.place.git(&repo, &["config", "user.name", "Ann"]);
        self.place.git(&repo, &["config", "user.email", "ann@example.org"]);
        self.place.git(&repo, &["add", "--all"]);
        self.place.git(&repo, &["add", "--force", "colours.schema.json"]);
        self.place.git(&repo, &["commit", "--quiet", "--message=Start"]);
        for other in ["shop", "other"] {
            self.place.git(&live, &["clone", "--quiet", "--template=", "harbor", other]);
        }
        put(&live, "shop/greeting.txt", "hello\n");
        std::fs::create_dir(self.place.path().join("bin")).expect("a folder");
        let bosun = self.place.path().join("bin/bosun");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_bosun"), bosun).expect("a link");
        let goal = "Write hello to greeting.txt";
        self.session = self.begin(
            "bosun run --preset solo --script ../session.toml 'Write a.txt' --repo ../other",
        );
        let run = format!("bosun run '{goal}' --script ../done.toml");
        self.waiting = self.begin(&run);
        self.done = self.begin(&format!("{run}; bosun answer $(bosun list -q --limit 1) go"));
        let kept = "bosun audit anchor newest --file anchors.jsonl; \
                    bosun audit export newest bundle.audit.jsonl";
        self.shell(kept);
        // A few large files are faster to copy and remove than many small ones.
        self.place.git(&repo, &["repack", "-d", "--quiet"]);
        self.copy("live/harbor", "live/moved-repository");
        self.copy("live", "kept");
    }

    /// Starts a run, and returns its id.
    fn begin(&self, line: &str) -> String {
        self.shell(line);
        let output = self.shell("bosun list -q --limit 1");
        let id = stdout(&output).trim().to_owned();
        assert!(id.starts_with("r_"), "{line}: {id} {}", stderr(&output));
        id
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "folders are put back with the system's own programs"
    )]
    fn copy(&self, from: &str, to: &str) {
        // Renaming is much faster than removing.
        let script =
            format!("if [ -e {to} ]; then mv {to} $(mktemp -d gone.XXXXXX); fi; cp -a {from} {to}");
        let mut command = Command::new("sh");
        let done = command.args(["-c", &script]).current_dir(self.place.path()).status();
        assert!(done.is_ok_and(|status| status.success()), "{script}");
    }

    /// Runs a script in the repository.
    #[expect(clippy::disallowed_methods, reason = "commands in documents are typed into a shell")]
    fn shell(&self, script: &str) -> Output {
        let live = self.live();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.place.path().join("bin").display());
        let mut command = Command::new("timeout");
        command
            .args(["60", "sh", "-c", script])
            .current_dir(self.repo())
            .env_clear()
            .env("PATH", path);
        command.env("HOME", live.join("user")).env("BOSUN_HOME", live.join("home"));
        command.env("TMPDIR", live.join("tmp")).env("NO_COLOR", "1").env("LANG", "C.UTF-8");
        command.stdin(std::process::Stdio::null()).output().expect("a shell")
    }

    /// Runs the lines of a block, in one shell.
    pub(super) fn run(&self, lines: &[String]) -> Vec<Line> {
        if lines.is_empty() {
            return Vec::new();
        }
        self.copy("kept", "live");
        let mut script = String::new();
        for (at, line) in lines.iter().enumerate() {
            let line = self.with_names(line);
            script += &format!("{{ {line}\n}} > ../{at}.said 2>&1; echo $? > ../{at}.code\n");
        }
        let output = self.shell(&script);
        let read = |name: String| std::fs::read_to_string(self.live().join(name));
        let line = |(at, shown): (usize, &String)| Line {
            shown: shown.clone(),
            code: read(format!("{at}.code")).ok().and_then(|c| c.trim().parse().ok()).unwrap_or(-1),
            said: read(format!("{at}.said")).unwrap_or_default() + &stderr(&output),
        };
        lines.iter().enumerate().map(line).collect()
    }

    /// Replaces the names in the documents by those of this scratch repository.
    fn with_names(&self, line: &str) -> String {
        let command = line.split_whitespace().nth(1).unwrap_or_default();
        let run = match command {
            "answer" | "resume" | "cancel" => &self.waiting,
            "rewind" => &self.session,
            _ => &self.done,
        };
        let live = self.live().display().to_string();
        let names = [
            // Any decision, any policy and any change will do.
            ("why r_1a2b 12", "why r_1a2b 2"),
            ("T1.2:7", "T1.2:4"),
            ("check .bosun/policy.toml", "check mine.toml"),
            ("git diff |", "git show |"),
            ("r_1a2b3c4d", run.as_str()),
            ("r_1a2b", run),
            ("r_5e6f7a8b", "newest"),
            ("r_5e6f", &self.session),
            (" RUN ", &format!(" {run} ")),
            (" FILE", " anchors.jsonl"),
            (" BUNDLE", " bundle.audit.jsonl"),
            ("cd your/repository", "cd ."),
            ("/mnt/elsewhere", &format!("{live}/elsewhere")),
            ("/media/backup", &format!("{live}/backup")),
        ];
        names.iter().fold(line.to_owned(), |line, (name, here)| line.replace(name, here))
    }
}

/// The model: a planner with one task, a coder that writes its file, and a fixed answer to everything else.
fn answer(asked: &Asked) -> Answer {
    let tools = asked.body["tools"].to_string();
    if !tools.contains("\"submit\"") {
        return Reply::say("{\"colours\": [\"red\", \"green\", \"blue\"]}").into();
    }
    let planner = tools.contains("\"tasks\"");
    let path = "greeting.txt";
    let task = json!({ "id": "T1", "title": "Write the greeting", "artifacts": [path] });
    match asked.turn() {
        0 if planner => Reply::call("submit", json!({ "tasks": [task] })).into(),
        0 => Reply::call("read_file", json!({ "path": path })).into(),
        1 => Reply::call("write_file", json!({ "path": path, "content": "hello, world\n" })).into(),
        _ => Reply::call("submit", json!({ "summary": "done" })).into(),
    }
}
