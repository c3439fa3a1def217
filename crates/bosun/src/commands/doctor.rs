//! `bosun doctor`: checks the prerequisites on this machine and in this repository. Nothing is assumed: it opens the
//! journal, attacks the sandbox and contacts servers. Each bad finding says how to fix it.

mod repository;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use runtime::llm::{self, Http, KeyState, LocalServer, ProviderView, Registry};
use runtime::sandbox::{Bounds, Confine, HelperExe, Repo};
use runtime::{Found, Order};
use types::{Attack, IsolationLevel, Millis, ModelRef};

use crate::args;
use crate::exit::Exit;
use crate::home::Home;
use crate::{config, models, print};
use repository::Finding;

/// Time limit for a server to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Minimum free space for worktrees.
const LEAST_FREE: u64 = 1 << 30;
const UNSHARE: &str = "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or \
                       kernel.apparmor_restrict_unprivileged_userns=0), or run in a container that does; see docs/security.md";

pub(crate) async fn doctor(
    home: &Home,
    helper_exe: HelperExe,
    args: &args::Doctor,
) -> anyhow::Result<Exit> {
    let registry = models::settings().and_then(|set| models::registry(set, None));
    let project = repository::trusted_top(home, &args.repo);
    let mut findings = vec![git().await];
    // An unreadable configuration also prevents opening the journal; it is reported once.
    if registry.is_ok() {
        findings.push(journal(home).await);
    }
    findings.push(disk(home));
    findings.extend(sandbox(helper_exe).await);
    findings.extend(models(registry, project.as_deref()).await);
    if args.models {
        findings.extend(providers().await?);
    }
    findings.extend(repository::findings(home, &args.repo, project.as_deref()).await);
    for finding in &findings {
        if args.json {
            print::json(finding)?;
            continue;
        }
        let Finding { what, good, says, fix } = finding;
        // Blocked attacks are the usual case, and are counted in the line of the sandbox.
        if *good && what.starts_with("sandbox: ") {
            continue;
        }
        let mark = if *good { "✔" } else { "✘" };
        let what = print::one_line(what, 80);
        print::line(&format!("{mark} {what:<44} {}", print::one_line(says, 300)))?;
        if let Some(fix) = fix.as_deref().filter(|_| !good) {
            print::line(&format!("  {:<44} → {}", "", print::one_line(fix, 300)))?;
        }
    }
    let well = findings.iter().all(|finding| finding.good);
    Ok(if well { Exit::Done } else { Exit::Failed })
}

/// Creates and surveys a repository with the git that runs would use.
async fn git() -> Finding {
    let what = "git";
    let tried = async {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("a"), "a\n")?;
        Repo::create(folder.path(), "Try\n", types::Timestamp::from_millis(0))
            .await?
            .survey()
            .await?;
        anyhow::Ok(())
    };
    match tried.await {
        Ok(()) => Finding::good(what, "can create and read repositories"),
        Err(error) => {
            let fix = "install git 2.38 or newer and make sure it is on the PATH";
            Finding::bad(what, format!("{error:#}"), fix)
        }
    }
}

async fn journal(home: &Home) -> Finding {
    let what = "journal";
    let opened = async {
        let all = home.open(Order::Arrival).await?.overview(false).await?.into_iter();
        anyhow::Ok(all.filter(|entry| matches!(entry.found, Found::Run { .. })).count())
    };
    match opened.await {
        Ok(count) => Finding::good(what, format!("readable, {}", types::count(count, "run"))),
        Err(error) => {
            let fix = "run `bosun log --verify`, or choose another location with --home";
            Finding::bad(what, format!("{error:#}"), fix)
        }
    }
}

/// Attacks the sandbox as before a run. Less than full isolation is a bad finding, even if a policy would accept it.
async fn sandbox(helper_exe: HelperExe) -> Vec<Finding> {
    let proof = Confine::probe(helper_exe.clone()).await;
    let missing = proof.missing.join("; ");
    let bad = |word: &str| Finding::bad("sandbox", format!("{word}: {missing}"), UNSHARE);
    let level = match proof.level {
        IsolationLevel::Full => {
            let held = proof.attacks.iter().filter(|attack| attack.through.is_none()).count();
            let says = format!("full: namespaces, Landlock and seccomp blocked {held} attacks");
            Finding::good("sandbox", says)
        }
        IsolationLevel::Landlock => bad("landlock only"),
        IsolationLevel::None => bad("none"),
    };
    let finding = |attack: Attack| {
        let what = format!("sandbox: {}", attack.what);
        match attack.through {
            None => Finding::good(&what, "blocked"),
            Some(through) => Finding::bad(&what, through, UNSHARE),
        }
    };
    let mut attacks = proof.attacks;
    if proof.level != IsolationLevel::None {
        let bounds = Bounds { level: proof.level, ..Bounds::default() };
        match Confine::new(helper_exe, bounds).prove_limits().await {
            Ok(limits) => attacks.extend(limits),
            Err(error) => attacks.push(Attack {
                what: "exceed a limit".to_owned(),
                through: Some(error.to_string()),
            }),
        }
    }
    std::iter::once(level).chain(attacks.into_iter().map(finding)).collect()
}

async fn providers() -> anyhow::Result<Vec<Finding>> {
    let registry = models::registry(models::settings()?, None)?;
    let http = Http::new(Millis::from(PATIENCE));
    let mut findings = Vec::new();
    for provider in registry.providers() {
        findings.push(provider_answers(&http, provider).await);
    }
    Ok(findings)
}

/// A provider without a key is not contacted, and is not a bad finding.
async fn provider_answers(http: &Http, provider: ProviderView) -> Finding {
    let what = format!("models: {}", provider.name);
    let wanted = provider.key_env.join(" or ");
    if let Some(variable) = provider.address_env.first() {
        return Finding::good(&what, format!("no address; set {variable} to use it"));
    }
    if provider.key == KeyState::Missing {
        return Finding::good(&what, format!("no key; set {wanted} to use it"));
    }
    let asked = Instant::now();
    let answer = tokio::time::timeout(PATIENCE, http.ping(&provider.base_url)).await;
    let took = Millis::from(asked.elapsed());
    let fix = "check the network, the proxy variables and the provider's base_url";
    match answer {
        Ok(Ok(status)) => Finding::good(&what, format!("answered ({status}) in {took}")),
        // A self-hosted server need not be running.
        Ok(Err(fault)) if provider.key == KeyState::NotNeeded => Finding::good(&what, fault.what),
        Ok(Err(fault)) => Finding::bad(&what, fault.what, fix),
        Err(_) => Finding::bad(&what, format!("no answer after {took}"), fix),
    }
}

/// Checks the models that a run would use, and lists the servers on this machine. `project` is the top of a repository
/// whose own settings take effect.
async fn models(registry: anyhow::Result<Registry>, project: Option<&Path>) -> Vec<Finding> {
    let set = config::load(project, &[]).map_err(anyhow::Error::from);
    let (registry, set) = match registry.and_then(|registry| Ok((registry, set?.settings))) {
        Ok(both) => both,
        Err(error) => {
            let fix = "fix that file; `bosun config path` lists all of them";
            return vec![Finding::bad("configuration", format!("{error:#}"), fix)];
        }
    };
    let mut all = vec![Finding::good("configuration", "readable")];
    let servers = llm::local_servers(&Http::new(Millis::from(PATIENCE))).await;
    let main = set.model.clone().or_else(|| registry.default_model());
    if main.is_none() {
        all.push(no_model(&servers));
    }
    let of_roles = set.roles.values().filter_map(|role| role.model.clone());
    for model in main.into_iter().chain(of_roles).collect::<BTreeSet<ModelRef>>() {
        all.push(match models::check(&registry, &model).await {
            Ok(()) => Finding::good("model", model.to_string()),
            Err(error) => {
                let fix = "set what is missing, or choose another model (see `bosun config show --origin`)";
                Finding::bad("model", format!("{error:#}"), fix)
            }
        });
    }
    all.extend(servers.into_iter().map(|server| {
        let names: Vec<String> = server.models.iter().take(5).map(ToString::to_string).collect();
        let what = format!("local server: {}", server.name);
        Finding::good(&what, format!("{}, {}", server.address, names.join(", ")))
    }));
    all
}

fn no_model(servers: &[LocalServer]) -> Finding {
    let fix = match servers.iter().find_map(|server| server.models.first()) {
        Some(model) => format!(
            "use the server on this machine: --model {model}, or model = \"{model}\" in your config.toml (`bosun config path`)"
        ),
        None => "set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or add any \
                 other server to your config.toml (docs/providers.md)"
            .to_owned(),
    };
    Finding::bad("model", "none set, and no API key found", &fix)
}

/// Checks the free space for worktrees, which are copies of the repository.
fn disk(home: &Home) -> Finding {
    let what = "disk";
    let folder = match home.folder() {
        Ok(folder) => folder,
        Err(error) => return Finding::bad(what, format!("{error:#}"), "set BOSUN_HOME"),
    };
    match runtime::sandbox::free_bytes(&folder) {
        None => Finding::good(what, "unknown"),
        Some(free) if free < LEAST_FREE => {
            let says = format!("{} MiB free at {}", free >> 20, folder.display());
            Finding::bad(
                what,
                says,
                "free up space, remove old runs with `bosun gc`, or choose another location with --home",
            )
        }
        Some(free) => Finding::good(what, format!("{} GiB free", free >> 30)),
    }
}
