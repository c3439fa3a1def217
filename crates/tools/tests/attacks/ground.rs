//! The place of one attack: a workspace, something outside it, a fake home, a listener; and the attack itself.

use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sandbox::{Confine, Helper, Inherit, LocalEnvironment, Variables};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::Registry;

use crate::check;

/// Why a vector cannot be tried here, if it cannot.
pub(crate) fn unsupported(vector: &Value) -> Option<&'static str> {
    let text = vector["action"].to_string();
    if vector["danger"].is_string() {
        return Some("only for a machine that may be lost");
    }
    if ["\"http\"", "\"session\"", "\"provider\""].iter().any(|tool| text.contains(tool)) {
        return Some("needs a tool of another part");
    }
    if ["between_", "\"async\"", "approval"].iter().any(|word| text.contains(word)) {
        return Some("needs the loop around the tools");
    }
    (!vector["policy"].is_null()).then_some("needs a policy")
}

pub(crate) struct Ground {
    _dir: tempfile::TempDir,
    pub(crate) ws: PathBuf,
    base: PathBuf,
    canary: String,
    port: u16,
    pub(crate) reached: Arc<AtomicBool>,
    env: LocalEnvironment,
}

/// What happened, for the checks to look at.
pub(crate) struct Seen {
    pub(crate) success: bool,
    pub(crate) output: String,
    pub(crate) elapsed: Duration,
    pub(crate) rss_growth_mb: u64,
}

impl Ground {
    pub(crate) fn new(helper: Helper, vector: &Value) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let base = dir.path().canonicalize().expect("a path");
        for name in ["ws", "out", "home", "state"] {
            std::fs::create_dir(base.join(name)).expect("a folder");
        }
        let ws = base.join("ws");
        let mut opened = ws.clone();
        if vector["action"]["params"]["open_workspace_via"] == "symlink" {
            opened = base.join("link");
            std::os::unix::fs::symlink(&base, &opened).expect("a link");
            opened.push("ws");
        }
        let home = base.join("home");
        let variables = Variables::new(Inherit::All).setting("HOME", &home.to_string_lossy());
        let env = LocalEnvironment::open(&opened).expect("a workspace");
        let env = env.confined(Confine::new(helper)).with_variables(variables);
        let canary =
            format!("CANARY-{}-{}", std::process::id(), vector["id"].as_str().unwrap_or(""));
        let reached = Arc::new(AtomicBool::new(false));
        let port = listen(&reached, vector["sink"].as_str().unwrap_or(""));
        Self { _dir: dir, ws, base, canary, port, reached, env }
    }

    /// Prepares, attacks, looks, and says in a line what came of it.
    pub(crate) async fn run(self, vector: &Value) -> String {
        let setup = self.filled(vector["setup"].as_str().unwrap_or("true"));
        let mut shell = Command::new("bash");
        shell.arg("-c").arg(setup).current_dir(&self.ws).env("HOME", self.base.join("home"));
        for (name, _) in vector["env"].as_object().into_iter().flatten() {
            shell.env_remove(name);
        }
        if !shell.status().is_ok_and(|status| status.success()) {
            return "failed: the setup did not work".to_owned();
        }
        let (began, before) = (Instant::now(), peak_mb());
        let action = &vector["action"];
        let (success, output) =
            self.act(action["tool"].as_str().unwrap_or(""), &action["params"]).await;
        let elapsed = began.elapsed();
        let seen =
            Seen { success, output, elapsed, rss_growth_mb: peak_mb().saturating_sub(before) };
        let checks = vector["expected"]["checks"].as_array().cloned().unwrap_or_default();
        let broken = checks.iter().find_map(|one| check::broken(&self, &seen, one));
        if let Some(teardown) = vector["teardown"].as_str() {
            let mut shell = Command::new("bash");
            shell.arg("-c").arg(self.filled(teardown)).current_dir(&self.ws).status().ok();
        }
        match broken {
            None => "held".to_owned(),
            Some(what) => format!("failed: {what}; output {:.300?}", seen.output),
        }
    }

    async fn act(&self, tool: &str, params: &Value) -> (bool, String) {
        match tool {
            "sequence" => {
                let mut all = (true, String::new());
                for step in params["steps"].as_array().into_iter().flatten() {
                    let step_tool = step["tool"].as_str().unwrap_or("");
                    let (success, output) = Box::pin(self.act(step_tool, &step["params"])).await;
                    all = (all.0 && success, all.1 + &output);
                }
                all
            }
            "repeat" => {
                let mut last = (true, String::new());
                for _ in 0..params["times"].as_u64().unwrap_or(1) {
                    let step = &params["step"];
                    let step_tool = step["tool"].as_str().unwrap_or("");
                    last = Box::pin(self.act(step_tool, &step["params"])).await;
                }
                last
            }
            _ => self.call(tool, params).await,
        }
    }

    async fn call(&self, tool: &str, params: &Value) -> (bool, String) {
        let text = |name: &str| params[name].as_str().map(|text| self.filled(text));
        let (name, arguments) = match tool {
            "file_read" => ("read_file", json!({"path": text("path")})),
            "file_write" => {
                ("write_file", json!({"path": text("path"), "content": text("content")}))
            }
            "edit" => (
                "edit_file",
                json!({"path": text("path"), "old_string": text("old"), "new_string": text("new")}),
            ),
            "apply_patch" => ("apply_patch", json!({"patch": text("patch")})),
            "grep" | "glob" => (tool, json!({"pattern": text("pattern"), "path": text("path")})),
            "git_clone" | "git_diff" | "git_commit" => {
                let filled = params.as_object().into_iter().flatten().map(|(name, value)| {
                    let value = serde_json::from_str(&self.filled_json(value)).expect("JSON");
                    (name.clone(), value)
                });
                (tool, Value::Object(filled.collect()))
            }
            "shell_exec" => (
                "shell",
                json!({
                    "command": text("command"),
                    "timeout_ms": params["timeout_ms"],
                    "cwd": text("cwd"),
                    "env": params["env"],
                }),
            ),
            other => return (false, format!("no such tool: {other}")),
        };
        let registry = Registry::standard();
        let output = registry.run(name, &arguments, &self.env, &CancellationToken::new()).await;
        (output.success, output.text)
    }

    /// The text with the variables of the list filled in, the longer names first.
    pub(crate) fn filled(&self, text: &str) -> String {
        let path = |name: &str| self.base.join(name).to_string_lossy().into_owned();
        let port = self.port.to_string();
        let sink = format!("127.0.0.1:{port}");
        let pid = std::process::id().to_string();
        let names = [
            ("$OUTNAME", "out".to_owned()),
            ("$SINKPORT", port),
            ("$ORCH_PID", pid),
            ("$CANARY", self.canary.clone()),
            ("$STATE", path("state")),
            ("$SINK", sink),
            ("$OUT", path("out")),
            ("$HOME", path("home")),
            ("$WS", path("ws")),
        ];
        names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
    }

    /// The same for any JSON; the names stand in texts, and what is put in needs no escaping.
    fn filled_json(&self, value: &Value) -> String {
        self.filled(&value.to_string())
    }

    pub(crate) fn place(&self, check: &Value) -> PathBuf {
        PathBuf::from(self.filled(check["path"].as_str().unwrap_or("")))
    }
}

/// Listens by TCP and UDP, and where asked at an abstract address, and notes whether anybody came.
fn listen(reached: &Arc<AtomicBool>, sink: &str) -> u16 {
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = tcp.local_addr().expect("an address").port();
    let note = |reached: &Arc<AtomicBool>| {
        let reached = Arc::clone(reached);
        move || reached.store(true, Ordering::SeqCst)
    };
    let came = note(reached);
    std::thread::spawn(move || tcp.accept().map(|_| came()));
    if let Ok(udp) = UdpSocket::bind(("127.0.0.1", port)) {
        let came = note(reached);
        std::thread::spawn(move || udp.recv(&mut [0]).map(|_| came()));
    }
    if let Some(name) = sink.strip_prefix("abstract_unix:") {
        use std::os::linux::net::SocketAddrExt as _;
        use std::os::unix::net::{SocketAddr, UnixListener};
        let address = SocketAddr::from_abstract_name(name).expect("an address");
        let listener = UnixListener::bind_addr(&address).expect("a listener");
        let came = note(reached);
        std::thread::spawn(move || listener.accept().map(|_| came()));
    }
    port
}

/// The most memory that this process has had.
fn peak_mb() -> u64 {
    let mut status = String::new();
    let read = std::fs::File::open(Path::new("/proc/self/status"))
        .map(|mut file| file.read_to_string(&mut status));
    read.expect("a status").expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or("VmHWM: 0 kB");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
