//! `bosun doctor`: is everything here that the work needs? Nothing is assumed: the journal is opened, the sandbox is
//! attacked, servers are asked.

use std::time::{Duration, Instant};

use runtime::llm::{Http, KeyState, ProviderView};
use runtime::sandbox::{Confine, HelperExe, Repo};
use runtime::{Found, Order};
use serde_json::json;
use types::{Attack, IsolationLevel, Millis};

use crate::args;
use crate::exit::Exit;
use crate::home::Home;
use crate::{models, print};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// One thing that was looked at.
struct Finding {
    what: String,
    good: bool,
    says: String,
}

pub(crate) async fn doctor(
    home: &Home,
    helper_exe: HelperExe,
    args: &args::Doctor,
) -> anyhow::Result<Exit> {
    let mut findings = vec![git().await, journal(home).await];
    findings.extend(sandbox(helper_exe).await);
    if args.models {
        findings.extend(providers().await?);
    }
    for finding in &findings {
        let Finding { what, good, says } = finding;
        if args.json {
            print::json(&json!({ "what": what, "good": good, "says": says }))?;
        } else {
            let mark = if *good { "✔" } else { "✘" };
            print::line(&format!("{mark} {what:<44} {}", print::one_line(says, 300)))?;
        }
    }
    let well = findings.iter().all(|finding| finding.good);
    Ok(if well { Exit::Done } else { Exit::Failed })
}

/// A repository is made and looked at, with the git that runs would use.
async fn git() -> Finding {
    let what = "git".to_owned();
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
        Ok(()) => Finding { what, good: true, says: "makes and reads repositories".to_owned() },
        Err(error) => Finding { what, good: false, says: format!("{error:#}") },
    }
}

async fn journal(home: &Home) -> Finding {
    let what = "journal".to_owned();
    let opened = async {
        let all = home.open(Order::Arrival).await?.overview(false).await?.into_iter();
        anyhow::Ok(all.filter(|entry| matches!(entry.found, Found::Run { .. })).count())
    };
    match opened.await {
        Ok(count) => Finding {
            what,
            good: true,
            says: format!("can be read, {}", types::count(count, "run")),
        },
        Err(error) => Finding { what, good: false, says: format!("{error:#}") },
    }
}

/// The walls are attacked as before a run. Less than everything is bad news, even where a policy would accept it.
async fn sandbox(helper_exe: HelperExe) -> Vec<Finding> {
    let proof = Confine::probe(helper_exe.clone()).await;
    let says = match proof.rung {
        IsolationLevel::Full => "full: namespaces, Landlock and seccomp hold commands".to_owned(),
        IsolationLevel::Landlock => format!("landlock only: {}", proof.missing.join("; ")),
        IsolationLevel::None => format!("none: {}", proof.missing.join("; ")),
    };
    let rung =
        Finding { what: "sandbox".to_owned(), good: proof.rung == IsolationLevel::Full, says };
    let finding = |attack: Attack| Finding {
        what: format!("sandbox: {}", attack.what),
        good: attack.through.is_none(),
        says: attack.through.unwrap_or_else(|| "held".to_owned()),
    };
    let mut attacks = proof.attacks;
    if proof.rung != IsolationLevel::None {
        match Confine::new(helper_exe).holding(proof.rung).prove_limits().await {
            Ok(limits) => attacks.extend(limits),
            Err(error) => attacks.push(Attack {
                what: "exceed a limit".to_owned(),
                through: Some(error.to_string()),
            }),
        }
    }
    std::iter::once(rung).chain(attacks.into_iter().map(finding)).collect()
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

/// A provider without a key is not asked, and that is not a fault of this machine.
async fn provider_answers(http: &Http, provider: ProviderView) -> Finding {
    let what = format!("models: {}", provider.name);
    let wanted = provider.key_env.join(" or ");
    if provider.key == KeyState::Missing {
        return Finding { what, good: true, says: format!("no key; set {wanted} to use it") };
    }
    let asked = Instant::now();
    let answer = tokio::time::timeout(PATIENCE, http.ping(&provider.base_url)).await;
    let took = Millis::from(asked.elapsed());
    match answer {
        Ok(Ok(status)) => {
            Finding { what, good: true, says: format!("answers ({status}) after {took}") }
        }
        // A server of one's own need not be running.
        Ok(Err(fault)) => {
            Finding { what, good: provider.key == KeyState::NotNeeded, says: fault.what }
        }
        Err(_) => Finding { what, good: false, says: format!("no answer after {took}") },
    }
}
