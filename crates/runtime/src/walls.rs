//! The environments of agents and checks, behind the walls that this process has. What the walls hold is tried once
//! per process, by attacking them; a command that needs more than was held then is not run. Whether what there is
//! will do is not decided here.

use std::path::Path;

use sandbox::{
    BadHost, Confine, Environment as _, Hosts, Inherit, Limits, LocalEnvironment, Repo, Twin,
    Variables,
};
use tokio::sync::OnceCell;
use types::{Fault, FaultClass, InheritPolicy, Proof, Rung, SandboxPolicy, Scope};

/// What commands are held by.
#[derive(Debug, Clone)]
pub enum Walls {
    /// By nothing. Only for policies that require nothing.
    None,
    /// By the kernel, as far as this machine has what it takes.
    Kernel(Twin),
    /// By nothing, and this is said to be the proof: for tests, which must not depend on the machine.
    Told(Proof),
}

/// The walls of this process, and what they were found to hold.
#[derive(Debug)]
pub(crate) struct Yard {
    walls: Walls,
    proof: OnceCell<Proof>,
}

/// Where commands are to run, and what for.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) folder: &'a Path,
    /// The repository behind it, if there is one.
    pub(crate) repo: Option<&'a Repo>,
    /// Where they may write in it; everywhere when nothing is said.
    pub(crate) scope: Option<&'a Scope>,
    /// What must hold them.
    pub(crate) walls: Rung,
    pub(crate) policy: &'a SandboxPolicy,
}

impl Yard {
    pub(crate) fn new(walls: Walls) -> Self {
        Self { walls, proof: OnceCell::new() }
    }

    /// What the walls hold, as tried in this process.
    pub(crate) async fn proof(&self) -> Proof {
        let tried = async {
            match &self.walls {
                Walls::None => Proof::nothing("this program was set up without a sandbox"),
                Walls::Kernel(twin) => Confine::probe(twin.clone()).await,
                Walls::Told(proof) => proof.clone(),
            }
        };
        self.proof.get_or_init(|| tried).await.clone()
    }

    /// A workspace whose commands are held as well as this process can, and at least as well as was asked.
    pub(crate) async fn open(&self, ground: Ground<'_>) -> Result<LocalEnvironment, Fault> {
        let proof = self.proof().await;
        if proof.rung < ground.walls {
            let what = format!(
                "commands of this run are held by {}, and only {} is here now: {}; `bosun doctor` shows more",
                ground.walls.word(),
                proof.rung.word(),
                proof.missing.join("; ")
            );
            return Err(Fault::new(FaultClass::Safety, "sandbox.weaker", what));
        }
        let env = LocalEnvironment::open(ground.folder).map_err(|error| {
            let what = format!("opening the worktree: {error}");
            Fault::structural("workspace.lost", what)
        })?;
        let hidden: Vec<&str> = ground.policy.hidden.iter().map(String::as_str).collect();
        let env = env.hiding(&hidden).map_err(|error| error.fault())?;
        let env = env.with_variables(variables(ground.policy));
        let env = match &self.walls {
            Walls::Kernel(twin) if proof.rung > Rung::None => {
                let confine = confine(twin.clone(), &ground)?.holding(proof.rung);
                env.confined(confine)
            }
            _ => env,
        };
        env.initialize().await.map_err(|error| error.fault())?;
        Ok(env)
    }
}

/// The hosts that a policy grants.
pub(crate) fn hosts(policy: &SandboxPolicy) -> Result<Hosts, BadHost> {
    let mut hosts = Hosts::parse(&policy.network)?;
    if policy.allow_private {
        hosts = hosts.allow_private();
    }
    Ok(policy.resolve.iter().fold(hosts, |hosts, (name, at)| hosts.resolve(name, *at)))
}

fn variables(policy: &SandboxPolicy) -> Variables {
    let inherit = match policy.inherit {
        InheritPolicy::None => Inherit::None,
        InheritPolicy::Core => Inherit::Core,
        InheritPolicy::All => Inherit::All,
    };
    policy.variables.iter().fold(Variables::new(inherit), |all, name| all.passing(name))
}

fn confine(twin: Twin, ground: &Ground<'_>) -> Result<Confine, Fault> {
    const MB: u64 = 1024 * 1024;
    let policy = ground.policy;
    let hosts =
        hosts(policy).map_err(|error| Fault::structural("policy.broken", error.to_string()))?;
    let confine = Confine::new(twin).reaching(hosts).limits(Limits {
        processes: policy.processes,
        memory_bytes: policy.memory_mb.saturating_mul(MB),
        file_bytes: policy.file_mb.saturating_mul(MB),
        temp_bytes: policy.temp_mb.saturating_mul(MB),
    });
    let confine = match ground.repo {
        Some(repo) => confine.seeing(repo.common_dir().to_owned()),
        None => confine,
    };
    Ok(match ground.scope {
        Some(scope) => confine.writing_to(scope.clone()),
        None => confine,
    })
}
