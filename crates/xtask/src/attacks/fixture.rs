//! The fixture of one attack: a workspace, a folder outside it, a substitute home folder, a listener. All of it is
//! owned by the attacking user and removed afterwards. Attacks and checks are defined elsewhere.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::rules;
use super::sink::Sink;

/// The attacking user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    Root,
    Nobody,
    /// The current user, if not root.
    Myself,
}

const NOBODY: &str = "65534";

impl User {
    /// Root and an ordinary user if we may be both, otherwise only the current one.
    pub(crate) fn all() -> Vec<Self> {
        let id = Command::new("id").arg("-u").output();
        let root = id.is_ok_and(|id| String::from_utf8_lossy(&id.stdout).trim() == "0");
        if root { vec![Self::Root, Self::Nobody] } else { vec![Self::Myself] }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Nobody => "an ordinary user (65534)",
            Self::Myself => "the user who started this",
        }
    }

    /// A program, started as this user.
    pub(crate) fn command(self, program: &Path) -> Command {
        if self != Self::Nobody {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]).arg(program);
        command
    }
}

pub(crate) struct Fixture {
    base: PathBuf,
    pub(crate) ws: PathBuf,
    /// The workspace path given to the program.
    pub(crate) opened: PathBuf,
    pub(crate) binary: PathBuf,
    pub(crate) policy: PathBuf,
    pub(crate) user: User,
    pub(crate) sink: Sink,
    canary: String,
    /// Whether it has its own small file system.
    pub(crate) mounted: bool,
}

const FOLDERS: [&str; 5] = ["ws", "out", "home", "state", "tmp"];

impl Fixture {
    pub(crate) fn prepare(
        root: &Path,
        binary: &Path,
        user: User,
        vector: &Value,
    ) -> anyhow::Result<Self> {
        let id = vector["id"].as_str().unwrap_or_default();
        let base = std::env::temp_dir().join(format!("bosun-attack-{}-{id}", std::process::id()));
        std::fs::create_dir(&base).context("making the fixture")?;
        let small = vector["danger"].as_str().is_some_and(|danger| danger.contains("tmpfs"));
        let mounted = small && user != User::Myself && mount(&base);
        for name in FOLDERS {
            std::fs::create_dir(base.join(name)).context("making the fixture")?;
        }
        let base = base.canonicalize().context("finding the fixture")?;
        std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o755))?;
        let ws = base.join("ws");
        let mut opened = ws.clone();
        if vector["action"]["params"]["open_workspace_via"] == "symlink" {
            std::os::unix::fs::symlink(&base, base.join("link"))?;
            opened = base.join("link/ws");
        }
        let policy = base.join("policy.toml");
        std::fs::write(&policy, rules::policy(root, vector)?).context("writing the policy")?;
        if user == User::Nobody {
            let owner = format!("{NOBODY}:{NOBODY}");
            let owned = Command::new("chown").arg("-R").arg(&owner).arg(&base).status();
            ensure!(
                owned.is_ok_and(|status| status.success()),
                "the fixture could not be given away"
            );
        }
        let sink = Sink::open(vector["sink"].as_str().unwrap_or_default(), &ws)?;
        let canary = format!("CANARY-{}-{id}", std::process::id());
        let binary = binary.to_owned();
        Ok(Self { base, ws, opened, binary, policy, user, sink, canary, mounted })
    }

    /// Runs a preparation or clean-up line, as the attacking user.
    pub(crate) fn shell(&self, line: &str) -> bool {
        let mut shell = self.user.command(Path::new("/bin/bash"));
        shell.arg("-c").arg(line).current_dir(&self.ws).env_clear().stdin(Stdio::null());
        shell.envs(self.variables()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().is_ok_and(|status| status.success())
    }

    /// The variables of the lists, and those that any program needs.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
        let mut all = self.names(0);
        all.push(("PATH", path.to_owned()));
        all.push(("LANG", "C.UTF-8".to_owned()));
        all.push(("TMPDIR", self.base.join("tmp").display().to_string()));
        all.push(("GIT_CONFIG_NOSYSTEM", "1".to_owned()));
        all
    }

    fn names(&self, orchestrator: u32) -> Vec<(&'static str, String)> {
        let place = |name: &str| self.base.join(name).display().to_string();
        let port = self.sink.port().to_string();
        vec![
            ("OUTNAME", "out".to_owned()),
            ("SINKPORT", port.clone()),
            ("ORCH_PID", orchestrator.to_string()),
            ("CANARY", self.canary.clone()),
            ("STATE", place("state")),
            ("TOKEN", "token-that-nobody-has".to_owned()),
            ("SINK", format!("127.0.0.1:{port}")),
            ("OUT", place("out")),
            ("HOME", place("home")),
            ("WS", place("ws")),
        ]
    }

    /// A text with the variables of the list filled in. A longer name is another name.
    pub(crate) fn filled(&self, text: &str, orchestrator: u32) -> String {
        let names = self.names(orchestrator);
        let mut pieces = text.split('$');
        let mut filled = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
            match names.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => filled.push_str(value),
                None => filled.push_str(&format!("${name}")),
            }
            filled.push_str(rest);
        }
        filled
    }

    pub(crate) fn filled_json(&self, value: &Value, orchestrator: u32) -> Value {
        match value {
            Value::String(text) => Value::String(self.filled(text, orchestrator)),
            Value::Array(items) => {
                items.iter().map(|item| self.filled_json(item, orchestrator)).collect()
            }
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| (name.clone(), self.filled_json(value, orchestrator)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.base.join("state")
    }
}

/// Mounts a small file system, so that filling it is harmless.
fn mount(place: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(["-t", "tmpfs", "-o", "size=64m,nr_inodes=200k", "tmpfs"]).arg(place);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if self.mounted {
            Command::new("umount").arg(&self.base).status().ok();
        }
        // Leftovers are only litter in the temporary folder.
        let gone = Command::new("rm").arg("-rf").arg(&self.base).status();
        if !gone.is_ok_and(|status| status.success()) {
            eprintln!("{} stays behind", self.base.display());
        }
    }
}
