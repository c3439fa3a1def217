//! The proof: attacks a sandbox like those of commands. The result is checked from both sides, because an attack that
//! failed inside must not have had an effect outside either.

#![expect(
    clippy::disallowed_methods,
    reason = "a folder of the proof's own, which nobody else has seen"
)]

use std::ffi::OsString;
use std::path::Path;

use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use types::{Attack, IsolationLevel, Millis, Proof, WorkPath};

use super::spec::{Action, Report, Targets};
use super::{Confine, HelperExe, held, probe};
use crate::bounds::{Bounds, Layers, Limits};
use crate::error::EnvError;
use crate::process::{Shell, failed};
use crate::temporary::temporary;
use crate::variables::Variables;

impl Confine {
    /// Attacks such a sandbox from inside, in a temporary workspace.
    pub async fn prove(&self) -> Result<Proof, EnvError> {
        let folder = temporary("proof");
        let folder = folder.map_err(failed("making a place to prove"))?;
        let at = folder.path().canonicalize().map_err(failed("making a place to prove"))?;
        let (workspace, outside) = (at.join("workspace"), at.join("outside"));
        for folder in [&workspace.join(".git"), &outside] {
            std::fs::create_dir_all(folder).map_err(failed("making a place to prove"))?;
        }
        let secret = outside.join("secret");
        std::fs::write(&secret, "secret").map_err(failed("planting a secret for"))?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(failed("listening for"))?;
        let port = listener.local_addr().map_err(failed("listening for"))?.port();
        let service = UnixListener::bind(workspace.join(probe::SERVICE));
        let service = service.map_err(failed("listening for"))?;
        let pid = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        let targets = Targets { outside: outside.clone(), secret, port, pid };

        // A task's scope refers to another workspace; here, the whole workspace is writable.
        let bounds = Bounds { scope: None, ..self.bounds.clone() };
        let confine = Confine { bounds, ..self.clone() };
        // With this process's own home, as for commands.
        let home = std::env::var_os("HOME").map(|home| (OsString::from("HOME"), home));
        let variables = home.into_iter().collect();
        let spec = confine.spec(&workspace, WorkPath::root(), Action::Probe(targets), variables);
        let report = held::probe(&confine.helper_exe.0, spec).await;
        drop((listener, service));
        match report? {
            Report::Probed(attacks) => {
                Ok(judged(confine.bounds.level, attacks, &workspace, &outside))
            }
            Report::Failed(reason) => Err(EnvError::Sandbox { reason }),
            other => Err(EnvError::Sandbox { reason: format!("it said {other:?}") }),
        }
    }

    /// Exceeds each limit on the combined usage of a command's processes with real commands, in a temporary workspace.
    pub async fn prove_limits(&self) -> Result<Vec<Attack>, EnvError> {
        const MB: u64 = 1 << 20;
        let usual = Limits::default();
        let limits = [
            Limits { memory_bytes: 32 * MB, ..usual },
            Limits { processes: 8, ..usual },
            Limits { disk_bytes: 16 * MB, ..usual },
        ];
        let mut attacks = Vec::new();
        for ((what, line, limit, timeout), limits) in GREEDY.into_iter().zip(limits) {
            let workspace = temporary("proof").map_err(failed("making room for"))?;
            let root = workspace.path().canonicalize().map_err(failed("making room for"))?;
            let bounds = Bounds { scope: None, limits, ..self.bounds.clone() };
            let confine = Confine { bounds, ..self.clone() };
            let action = Shell::find().action(format!("{line}; sleep 9"));
            let variables = Variables::default().for_command(std::env::vars_os(), &root);
            let spec = confine.spec(&root, WorkPath::root(), action, variables);
            let result = confine.run(spec, None, timeout, &CancellationToken::new()).await?;
            // For an ordinary user, the kernel refuses processes before they are counted.
            let refused = limits.processes < usual.processes && result.output.contains("fork");
            let held = result.output.contains(limit) || refused;
            let through = (!held).then(|| format!("it was not ended: {}", result.ended));
            attacks.push(Attack { what: what.to_owned(), through });
        }
        Ok(attacks)
    }

    /// Tries whether a stack of folders can be used as a workspace, in a new folder, which is removed.
    pub async fn stacks(helper_exe: HelperExe, place: &Path) -> Result<(), EnvError> {
        let tried = Self::stacked(helper_exe, place).await;
        crate::removal::remove(place).map_err(failed("removing what was tried in"))?;
        match tried? {
            true => Ok(()),
            false => Err(EnvError::Sandbox { reason: "the layers are not seen as one".to_owned() }),
        }
    }

    async fn stacked(helper_exe: HelperExe, place: &Path) -> Result<bool, EnvError> {
        let [low, upper, work] = ["low", "upper", "work"].map(|name| place.join(name));
        for folder in [&low, &upper, &work] {
            std::fs::create_dir_all(folder).map_err(failed("making room for"))?;
        }
        for name in ["read", "gone"] {
            std::fs::write(low.join(name), "x").map_err(failed("making room for"))?;
        }
        let at = Path::new("/src/trial").to_owned();
        let layers = Layers { at, lower: vec![low.clone()], upper: upper.clone(), work };
        let confine = Self::new(helper_exe, Bounds { layers: Some(layers), ..Bounds::default() });
        let action = Shell::find().action("rm gone && cp read written".to_owned());
        let variables = Variables::default().for_command(std::env::vars_os(), &upper);
        let spec = confine.spec(&upper, WorkPath::root(), action, variables);
        let stop = CancellationToken::new();
        let result = confine.run(spec, None, Millis::seconds(30), &stop).await?;
        Ok(result.passed() && upper.join("written").is_file() && low.join("gone").is_file())
    }

    /// Isolation that this machine supports: the highest level that withstood an attack from inside.
    pub async fn probe(helper_exe: HelperExe) -> Proof {
        let mut missing = Vec::new();
        for level in [IsolationLevel::Full, IsolationLevel::Landlock] {
            let bounds = Bounds { level, ..Bounds::default() };
            match Self::new(helper_exe.clone(), bounds).prove().await {
                Ok(proof) if proof.level == level => return Proof { missing, ..proof },
                Ok(proof) => missing.extend(proof.through().map(|attack| {
                    let how = attack.through.as_deref().unwrap_or_default();
                    format!("{}: {}: {how}", level.as_str(), attack.what)
                })),
                Err(error) => missing.push(format!("{}: {}", level.as_str(), error.chain())),
            }
        }
        Proof { level: IsolationLevel::None, attacks: vec![], missing }
    }
}

/// Commands that exceed one limit each: description, command line, expected output. `tail` keeps in memory the bytes
/// that it may have to print.
const GREEDY: [(&str, &str, &str, Millis); 3] = [
    (
        "use too much memory in several processes",
        "for i in 1 2 3 4; do (head -c 16M /dev/zero; sleep 9) | tail -c 16M > /dev/null & done",
        "(memory_mb)",
        Millis::seconds(10),
    ),
    (
        "start too many processes",
        "for i in 1 2 3 4 5 6 7 8 9; do sleep 9 & done",
        "(processes)",
        // A shell that may not fork waits and retries, and has printed the error by then.
        Millis::seconds(2),
    ),
    (
        "write too much to disk",
        "for i in 1 2 3 4; do head -c 8M /dev/zero > $i; done",
        "(disk_mb)",
        Millis::seconds(10),
    ),
];

/// Attacks that Landlock alone does not block, and does not claim to.
const NOT_CLAIMED: [&str; 4] = [probe::GIT, probe::SEE, probe::METADATA, "leave git changed"];

fn judged(
    level: IsolationLevel,
    mut attacks: Vec<Attack>,
    workspace: &Path,
    outside: &Path,
) -> Proof {
    let mut seen = |what: &str, through: bool| {
        let through = through.then(|| "it shows outside".to_owned());
        attacks.push(Attack { what: what.to_owned(), through });
    };
    seen("leave a trace outside", outside.join("bosun-probe").exists());
    seen(
        "leave git changed",
        !workspace.join(".git").is_dir() || workspace.join(".git/probe").exists(),
    );
    // The reverse: a permitted write must have arrived, or no attack was attempted at all.
    seen("pretend to work", !workspace.join(probe::CONTROL).exists());
    let claims = |attack: &&Attack| {
        level == IsolationLevel::Full || !NOT_CLAIMED.contains(&attack.what.as_str())
    };
    let held = attacks.iter().filter(claims).all(|attack| attack.through.is_none());
    let level = if held { level } else { IsolationLevel::None };
    Proof { level, attacks, missing: vec![] }
}
