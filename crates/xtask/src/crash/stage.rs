//! The stage of a crash: a repository, a home and a script for the model, made once for each command and copied for
//! each point, always to the same path, so that recorded paths stay valid. Plays nothing itself.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::point::Fault;
use super::policy;
use super::tracer::{OUTPUT, Order, trace};

/// The commands that are crashed.
pub(super) const COMMANDS: [&str; 4] = ["run", "chat", "accept", "answer"];

/// The timeout of a read-only command.
const LIMIT: Duration = Duration::from_secs(40);

const GOAL: &str = "Write one.txt, two.txt and three.txt";
const TEST: &str = r#"for name in one two three; do
    [ ! -e $name.txt ] || grep -q "^$name" $name.txt || exit 1
done
"#;
const COUNT: &str = "true\n";
const SCRIPT: &str = include_str!("run.toml");
const CHAT_SCRIPT: &str = include_str!("chat.toml");
const ANSWER_SCRIPT: &str = include_str!("answer.toml");

/// The folder of one thread.
#[derive(Debug)]
pub(super) struct Stage {
    binary: PathBuf,
    folder: PathBuf,
    /// The runs that are accepted and answered.
    runs: Vec<Before>,
}

/// A run that exists before a command is crashed.
#[derive(Debug)]
struct Before {
    command: &'static str,
    run: String,
    /// Its counted calls.
    calls: Vec<String>,
}

/// The output of a command.
#[derive(Debug)]
pub(super) struct CommandOutput {
    pub(super) exit: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Stage {
    /// Makes a template for each of the commands.
    pub(super) fn new(root: &Path, binary: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        let mut stage = Self { binary: binary.to_owned(), folder, runs: vec![] };
        stage.lay_out(root)?;
        for command in ["run", "chat"] {
            stage.keep(command)?;
        }
        stage.reset("run")?;
        let traced = trace(&stage.order(&stage.first("ask"), None, false))?;
        let said = stage.last_error();
        ensure!(traced.exit == Some(3), "preparing a question: {:?} {said}", traced.exit);
        stage.continue_with("answer", traced.calls)?;
        Ok(stage)
    }

    /// Makes the current state the template of a command about the run in it.
    pub(super) fn continue_with(
        &mut self,
        command: &'static str,
        calls: Vec<String>,
    ) -> anyhow::Result<()> {
        let run = self.printed_run()?.context("no run was printed")?;
        self.runs.push(Before { command, run, calls });
        self.keep(command)
    }

    /// The run that the command printed.
    pub(super) fn printed_run(&self) -> anyhow::Result<Option<String>> {
        let out = std::fs::read(self.place().join(OUTPUT)).unwrap_or_default();
        let out = String::from_utf8_lossy(&out);
        // The last line may be truncated when the command was killed, and its recovery prints after that.
        let Some((first, _)) = out.split_once('\n') else { return Ok(None) };
        let first = serde_json::from_str::<Value>(first).ok();
        Ok(first.and_then(|first| first["run"].as_str().map(str::to_owned)))
    }

    pub(super) fn place(&self) -> PathBuf {
        self.folder.join("place")
    }

    fn lay_out(&self, root: &Path) -> anyhow::Result<()> {
        let place = self.place();
        let repo = place.join("repo");
        for folder in ["repo", "tmp", "home"] {
            std::fs::create_dir_all(place.join(folder))?;
        }
        for (name, text) in [("test.sh", TEST), ("count.sh", COUNT)] {
            std::fs::write(repo.join(name), text)?;
        }
        for (name, text) in
            [("run.toml", SCRIPT), ("chat.toml", CHAT_SCRIPT), ("ask.toml", ANSWER_SCRIPT)]
        {
            std::fs::write(place.join(name), text)?;
        }
        let policy = crate::crew::policy(root)?;
        std::fs::write(place.join("policy.toml"), policy::lean(&policy)?)?;
        for words in [
            &["init", "-q", "-b", "main"][..],
            &["config", "gc.auto", "0"],
            &["config", "user.name", "crash"],
            &["config", "user.email", "crash@example.org"],
            &["add", "."],
            &["commit", "-q", "-m", "Start"],
        ] {
            let said = self.git(words)?;
            ensure!(said.exit == Some(0), "git {words:?}: {}", said.err);
        }
        Ok(())
    }

    fn template(&self, command: &str) -> PathBuf {
        self.folder.join(format!("template-{command}"))
    }

    fn keep(&self, command: &str) -> anyhow::Result<()> {
        std::fs::remove_file(self.place().join(OUTPUT)).ok();
        copy(&self.place(), &self.template(command))
    }

    /// Restores the state before the command.
    pub(super) fn reset(&self, command: &str) -> anyhow::Result<()> {
        remove(&self.place())?;
        copy(&self.template(command), &self.place())
    }

    /// The run that the command is about, if it exists before.
    pub(super) fn run_before(&self, command: &str) -> Option<&str> {
        self.runs.iter().find(|before| before.command == command).map(|before| before.run.as_str())
    }

    /// The counted calls made before the command.
    pub(super) fn calls_before(&self, command: &str) -> Vec<String> {
        let before = self.runs.iter().find(|before| before.command == command);
        before.map(|before| before.calls.clone()).unwrap_or_default()
    }

    /// The arguments of the crashed command.
    pub(super) fn first(&self, command: &str) -> Vec<String> {
        let words: Vec<&str> = match (command, self.run_before(command)) {
            ("accept", Some(run)) => vec!["accept", run, "--json"],
            ("answer", Some(run)) => vec!["answer", run, "one", "--json"],
            ("chat", _) => {
                let (goal, script) = ("Write one.txt", "chat.toml");
                let words = ["run", goal, "--preset", "solo", "--headless", "--repo", "repo"];
                words.into_iter().chain(["--script", script, "--json"]).collect()
            }
            (name, _) => {
                let script = if name == "ask" { "ask.toml" } else { "run.toml" };
                let words = ["run", GOAL, "--policy", "policy.toml", "--repo", "repo"];
                words.into_iter().chain(["--script", script, "--reproducible", "--json"]).collect()
            }
        };
        words.into_iter().map(str::to_owned).collect()
    }

    pub(super) fn order(&self, words: &[String], fault: Option<Fault>, record: bool) -> Order {
        let mut all = vec![self.binary.display().to_string()];
        all.extend(words.iter().cloned());
        Order {
            words: all,
            variables: self.variables(),
            below: self.place(),
            errors: self.folder.join("errors"),
            fault,
            record,
        }
    }

    /// The traced command's standard error, in one line.
    pub(super) fn last_error(&self) -> String {
        let text = std::fs::read(self.folder.join("errors")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        text.trim().lines().next_back().unwrap_or_default().chars().take(300).collect()
    }

    fn variables(&self) -> Vec<(String, String)> {
        let place = self.place();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        let text = |name: &str| place.join(name).display().to_string();
        let all = [
            ("PATH", path),
            ("HOME", text("home")),
            ("TMPDIR", text("tmp")),
            ("BOSUN_HOME", text("state")),
            ("USER", "crash".to_owned()),
            ("LANG", "C".to_owned()),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Runs the program without a tracer.
    pub(super) fn play(&self, words: &[String]) -> anyhow::Result<CommandOutput> {
        let mut command = Command::new(&self.binary);
        command.args(words);
        self.say(command, &self.place())
    }

    pub(super) fn git(&self, words: &[&str]) -> anyhow::Result<CommandOutput> {
        let mut command = Command::new("git");
        command.args(words);
        self.say(command, &self.place().join("repo"))
    }

    fn say(&self, mut command: Command, folder: &Path) -> anyhow::Result<CommandOutput> {
        let (out, err) = (self.folder.join("said-out"), self.folder.join("said-err"));
        command.current_dir(folder).env_clear().envs(self.variables()).stdin(Stdio::null());
        command.stdout(File::create(&out)?).stderr(File::create(&err)?);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        let exit = wait(&mut child).with_context(|| format!("waiting for {command:?}"))?;
        let text = |path: &Path| -> anyhow::Result<String> {
            Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
        };
        Ok(CommandOutput { exit, out: text(&out)?, err: text(&err)? })
    }
}

/// Waits for a child's end, and kills it after the timeout.
fn wait(child: &mut Child) -> anyhow::Result<Option<i32>> {
    let pid = Pid::from_raw(i32::try_from(child.id()).context("a process id")?);
    let (ended, end) = sync_channel::<()>(1);
    std::thread::scope(|scope| {
        let late = scope.spawn(move || {
            let late = end.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout);
            late && kill(pid, Signal::SIGKILL).is_ok()
        });
        let status = child.wait();
        drop(ended);
        ensure!(!late.join().unwrap_or(false), "it did not end");
        Ok(status?.code())
    })
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let done = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    ensure!(done.success(), "copying {} failed", from.display());
    Ok(())
}

/// Removes a folder, if it is there.
pub(super) fn remove(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("removing {}", folder.display()))
        }
        _ => Ok(()),
    }
}
