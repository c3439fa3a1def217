//! `bosun prove`: writes a portable proof of a run, or verifies one. The engine's projection makes the statements,
//! ssh-keygen the signatures; this file combines them.

mod verify;

use std::io::IsTerminal as _;
use std::path::Path;

use engine::export::proof::{LogHead, NAMESPACE, ProofFacts, statements, unprovable};
use runtime::bundle::{PAYLOAD_TYPE, pae, seal};
use runtime::sandbox::{Repo, SshKeygen};
use runtime::store::{Journal, LogSummary};
use runtime::{Clock as _, Order, RealClock};
use serde_json::json;
use types::{CommitId, Digest, Envelope, Event, LogId, RunId, RunView};

use crate::args;
use crate::exit::{CliError, Exit};
use crate::files;
use crate::home::Home;
use crate::print;
use crate::recorded::{must_be_a_run, newest, reports, whole};

pub(crate) async fn prove(home: &Home, args: args::Prove) -> anyhow::Result<Exit> {
    if let Some(file) = &args.verify {
        return verify::verify(file, &args).await;
    }
    let bosun = home.open(Order::Arrival).await?;
    let run = newest(&bosun, args.run).await?;
    must_be_a_run(&bosun, &run).await?;
    let now = RealClock.now();
    let (machine, lines) = whole(&bosun, &run).await?;
    let view = bosun.view(&run).await?;
    if let Some(why) = unprovable(&view) {
        return Err(CliError::Unprovable { run, why }.into());
    }
    // Fails if a log was tampered with.
    let logs = heads(&**bosun.journal(), &run, &lines).await?;
    let tree = tree(&view).await?;
    let reports = reports(&bosun, &lines).await?;
    let version = env!("CARGO_PKG_VERSION");
    let facts = ProofFacts { version, tree: &tree, logs: &logs, reports: &reports, now };
    let statements = statements(&machine, &lines, &facts);
    let (text, key) = sealed(&statements, args.sign.as_deref()).await?;
    match &args.out {
        None => print::bytes(text.as_bytes())?,
        Some(path) => files::write(path, &text)?,
    }
    if let (true, Some(path)) = (args.json, &args.out) {
        let count = statements.len();
        print::json(&json!({
            "run": run, "commit": view.head, "tree": tree, "status": view.status, "statements": count, "key": key,
            "out": path,
        }))?;
        return Ok(Exit::Done);
    }
    say(&view, &statements, key.as_deref());
    Ok(Exit::Done)
}

fn say(view: &RunView, statements: &[String], key: Option<&str>) {
    let count = types::count(statements.len(), "statement");
    let (run, commit, ended) = (&view.run, view.head.short(), view.status.as_str());
    print::note(&format!("{count} about run {run} ({ended}) and its result {commit}"));
    match key {
        Some(key) => print::note(&format!("signed with {key}")),
        None => print::note(
            "NOT SIGNED: changes to it cannot be detected; sign it with --sign KEY before sharing it",
        ),
    }
}

/// The head of every log of the run, after checking all hash chains, and that the run's log names the actual head of
/// each attempt's log.
async fn heads(
    journal: &dyn Journal,
    run: &RunId,
    lines: &[Envelope],
) -> anyhow::Result<Vec<LogHead>> {
    let head = |log: LogSummary| LogHead { log: log.log, lines: log.last_seq, head: log.head };
    let mut heads = vec![head(journal.verify(&LogId::run(run.clone())).await?)];
    for line in lines.iter().filter(|line| line.attempt.is_none()) {
        if let Event::AttemptFinished { attempt, log_head, .. } = &line.event
            && *log_head != Digest::ZERO
        {
            let log = LogId::attempt(run.clone(), attempt.clone());
            let summary = journal.verify(&log).await?;
            if summary.head != *log_head {
                let what = format!(
                    "the end of log {log} does not match the run's log; it was changed afterwards"
                );
                return Err(CliError::Tampered(what).into());
            }
            heads.push(head(summary));
        }
    }
    Ok(heads)
}

/// Git tree of the run's result, read from the repository in which it was made.
async fn tree(view: &RunView) -> anyhow::Result<String> {
    let repo = Repo::discover(Path::new(&view.repository)).await.map_err(runtime::Error::Git)?;
    let found = repo.find_tree(&view.head).await.map_err(runtime::Error::Git)?;
    let gone = || CliError::NoCommit {
        commit: CommitId::short(&view.head).to_owned(),
        repo: view.repository.clone(),
    };
    Ok(found.ok_or_else(gone)?)
}

/// The statements in their envelopes, and the key that signed them, if any.
async fn sealed(
    statements: &[String],
    key: Option<&Path>,
) -> anyhow::Result<(String, Option<String>)> {
    let mut text = String::new();
    let Some(key) = key else {
        for statement in statements {
            text.push_str(&serde_json::to_string(&seal(statement, None))?);
            text.push('\n');
        }
        return Ok((text, None));
    };
    let keygen = SshKeygen::locate()?;
    let bytes = |statement: &String| pae(PAYLOAD_TYPE, statement.as_bytes());
    let messages: Vec<Vec<u8>> = statements.iter().map(bytes).collect();
    let interactive = std::io::stderr().is_terminal();
    let signatures = keygen.sign(key, NAMESPACE, &messages, interactive).await?;
    let mut by = None;
    for ((statement, message), signature) in statements.iter().zip(&messages).zip(&signatures) {
        let used = keygen.key_of(NAMESPACE, message, signature).await?;
        let used = used.ok_or_else(|| CliError::BadSignature { key: key.display().to_string() })?;
        let envelope = seal(statement, Some((verify::fingerprint(&used), signature)));
        text.push_str(&serde_json::to_string(&envelope)?);
        text.push('\n');
        by = Some(used);
    }
    Ok((text, by))
}
