//! `bosun prove --verify`: opens a proof, checks its signatures, and compares its statements with each other and, if
//! one is given, with a repository. Prints what is proven and what is not. Reads no journal.

use std::path::Path;

use engine::export::proof::{Claims, Examined, NAMESPACE, PartClaim, examine};
use runtime::bundle::{Opened, open};
use runtime::sandbox::{Repo, SshKeygen};
use serde_json::{Value, json};
use types::CommitId;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::files::read_bounded;
use crate::print::{self, one_line};

/// Maximum length of a text of the proof on a line.
const SHOWN: usize = 200;

/// Limits of every proof, however well it is signed.
const NEVER: [&str; 4] = [
    "that the code is correct: checks cover only what they test, and the levels say how far",
    "that the machine, or the program that ran there, was honest: the signer vouches for that",
    "the times: they come from the signer's clock",
    "the rest of the logs: the owner of the journal can compare the hashes of their last lines",
];

/// Result of one check.
struct Finding {
    what: &'static str,
    /// `None` if it could not be checked.
    holds: Option<bool>,
    says: String,
}

impl Finding {
    fn new(what: &'static str, holds: Option<bool>, says: impl Into<String>) -> Self {
        Self { what, holds, says: says.into() }
    }
}

/// All findings, the worst exit code, and the signer.
struct Verified {
    findings: Vec<Finding>,
    exit: Exit,
    key: Option<String>,
    signer: Option<String>,
}

impl Verified {
    fn add(&mut self, finding: Finding, otherwise: Exit) {
        // Tampering is worse than missing evidence.
        if finding.holds == Some(false) && self.exit != Exit::Damaged {
            self.exit = otherwise;
        }
        self.findings.push(finding);
    }
}

pub(super) async fn verify(file: &Path, args: &args::Prove) -> anyhow::Result<Exit> {
    let path = file.display().to_string();
    let text = read_bounded(file)?;
    if let Some(signers) = &args.signers {
        read_bounded(signers)?;
    }
    let (opened, ignored) = open(&text);
    let mut found = Verified { findings: vec![], exit: Exit::Done, key: None, signer: None };
    let mut says = types::count(opened.len(), "DSSE envelope");
    if ignored > 0 {
        says += &format!("; {} in another format, ignored", types::count(ignored, "line"));
    }
    found.add(Finding::new("form", Some(true), says), Exit::BadFile);
    let payloads: Vec<&[u8]> = opened.iter().map(|one| one.payload.as_slice()).collect();
    let examined = match examine(&payloads) {
        Ok(examined) => examined,
        Err(cause) => {
            // A statement that was changed after signing may no longer be readable.
            let places: Vec<usize> = (0..opened.len()).collect();
            signatures(&opened, &places, args, &mut found).await?;
            return Err(match found.exit {
                Exit::Damaged => CliError::Tampered(format!("{path} was changed: {cause}")),
                _ => CliError::NotAProof { path, cause },
            }
            .into());
        }
    };
    signatures(&opened, &examined.parts, args, &mut found).await?;
    agreement(&examined, &mut found);
    commit(&examined.claims, args.repo.as_deref(), &mut found).await?;
    let exit = match (found.exit, examined.claims.run.status) {
        (Exit::Done, status) => Exit::of(status),
        (exit, _) => exit,
    };
    print::result(args.json, &object(&examined, &found, exit), &told(&examined, &found))?;
    Ok(exit)
}

/// Every statement of the run must be signed by the same key, and the list of signers, if given, must contain that key.
async fn signatures(
    opened: &[Opened],
    parts: &[usize],
    args: &args::Prove,
    found: &mut Verified,
) -> anyhow::Result<()> {
    let of = |place: &usize| opened.get(*place).and_then(|one| one.signatures.first());
    if parts.iter().all(|place| of(place).is_none()) {
        let says = "none, so no one vouches for any of this";
        found.add(Finding::new("signature", Some(false), says), Exit::Failed);
        return Ok(());
    }
    let keygen = SshKeygen::locate()?;
    let mut allowed = true;
    for place in parts {
        let (Some(one), Some(signature)) = (opened.get(*place), of(place)) else {
            found.key = None;
            found.add(unfit(*place, "has none, but others do"), Exit::Damaged);
            return Ok(());
        };
        let bytes = one.signed_bytes();
        let key = keygen.key_of(NAMESPACE, &bytes, signature).await?;
        if key.is_none() || found.key.is_some() && found.key != key {
            let says = match key {
                None => "was changed after it was signed, or signed for another purpose",
                Some(_) => "is signed with a different key than those before it",
            };
            found.key = None;
            found.add(unfit(*place, says), Exit::Damaged);
            return Ok(());
        }
        found.key = key;
        if let Some(signers) = &args.signers {
            let signer = keygen.signer_of(signers, NAMESPACE, &bytes, signature).await?;
            allowed = allowed && signer.is_some();
            found.signer = signer.filter(|_| allowed);
        }
    }
    let key = found.key.clone().unwrap_or_default();
    let says = match (&found.signer, &args.signers) {
        (Some(signer), _) => format!("by {} with {key}", one_line(signer, SHOWN)),
        (None, Some(list)) => format!("with {key}, which {} does not allow", list.display()),
        (None, None) => {
            format!("with {key}; its owner was not checked (use --signers FILE)")
        }
    };
    found.add(Finding::new("signature", Some(allowed), says), Exit::Failed);
    Ok(())
}

fn unfit(place: usize, says: &str) -> Finding {
    Finding::new("signature", Some(false), format!("envelope {} {says}", place + 1))
}

fn agreement(examined: &Examined, found: &mut Verified) {
    let parts = types::count(examined.parts.len(), "statement");
    let mut says = format!("{parts} about one run, none missing");
    if examined.others > 0 {
        says += &format!("; {} about something else, ignored", examined.others);
    }
    if examined.problems.is_empty() {
        return found.add(Finding::new("agreement", Some(true), says), Exit::Damaged);
    }
    for problem in &examined.problems {
        found.add(Finding::new("agreement", Some(false), problem), Exit::Damaged);
    }
}

async fn commit(claims: &Claims, repo: Option<&Path>, found: &mut Verified) -> anyhow::Result<()> {
    let Some(folder) = repo else {
        let says = "not checked (use --repo DIR)";
        found.add(Finding::new("commit", None, says), Exit::Failed);
        return Ok(());
    };
    let shown = folder.display();
    if !folder.is_dir() {
        return Err(CliError::NoFolder { path: shown.to_string() }.into());
    }
    let git = runtime::Error::Git;
    let commit = CommitId(claims.result.git_commit.clone());
    let tree = Repo::discover(folder).await.map_err(git)?.find_tree(&commit).await.map_err(git)?;
    let finding = match tree {
        None => Finding::new("commit", Some(false), format!("is not in {shown}")),
        Some(tree) if tree == claims.result.git_tree => {
            Finding::new("commit", Some(true), format!("is in {shown}, with the stated tree"))
        }
        Some(tree) => {
            let says = format!("is in {shown} with a different tree, {}", one_line(&tree, 64));
            found.add(Finding::new("commit", Some(false), says), Exit::Damaged);
            return Ok(());
        }
    };
    found.add(finding, Exit::Failed);
    Ok(())
}

/// Fingerprint in ssh-keygen's description of a key.
pub(super) fn fingerprint(key: &str) -> &str {
    key.rsplit(' ').next().unwrap_or(key)
}

fn object(examined: &Examined, found: &Verified, exit: Exit) -> Value {
    let findings = found.findings.iter();
    let findings: Vec<Value> = findings
        .map(|one| json!({ "what": one.what, "holds": one.holds, "says": one.says }))
        .collect();
    json!({
        "verified": found.exit == Exit::Done,
        "exit": exit as u8,
        "key": found.key,
        "signer": found.signer,
        "findings": findings,
        "not_proven": NEVER,
        "claims": examined.claims,
    })
}

fn told(examined: &Examined, found: &Verified) -> String {
    let claims = &examined.claims;
    let mut text = String::new();
    let mut row = |head: &str, says: &str| {
        text.push_str(format!("  {head:<13}{says}").trim_end());
        text.push('\n');
    };
    for one in &found.findings {
        let mark = one.holds.map_or("-", |holds| if holds { "✔" } else { "✘" });
        row(&format!("{mark} {}", one.what), &one.says);
    }
    row("", "");
    stated(claims, &mut row);
    row("", "");
    let who = match (&found.signer, &found.key) {
        (Some(signer), _) => Some(one_line(signer, SHOWN)),
        (None, Some(key)) => Some(format!("the holder of {}", fingerprint(key))),
        (None, None) => None,
    };
    match who.filter(|_| found.exit == Exit::Done) {
        Some(who) => {
            row("proven", &format!("{who} states the above; unchanged since it was signed"));
        }
        None => row("proven", "nothing: see the failed checks above"),
    }
    for (place, never) in NEVER.iter().enumerate() {
        row(if place == 0 { "not proven" } else { "" }, never);
    }
    text
}

/// Rows with the claims of the proof about the run.
fn stated(claims: &Claims, row: &mut impl FnMut(&str, &str)) {
    let line = |text: &str| one_line(text, SHOWN);
    let run = &claims.run;
    row(
        "run",
        &format!(
            "{} ({}), Bosun {}",
            line(&run.id),
            run.status.as_str(),
            line(&claims.bosun.version)
        ),
    );
    row("goal", &line(&run.goal));
    let ended = run.finished_on.map(|at| format!(" to {at}")).unwrap_or_default();
    row("time", &format!("{}{ended}", run.started_on));
    let result = &claims.result;
    row("result", &format!("commit {} on {}", line(&result.git_commit), line(&result.branch)));
    let policy = &claims.policy;
    row("policy", &format!("{} {}", line(&policy.name), policy.digest.sha256.short()));
    row("models", &line(&claims.models.join(", ")));
    let gates = claims.gates.iter().map(|gate| {
        let score = gate.score.map(|score| format!(" {score}")).unwrap_or_default();
        format!("{} {}{score}", gate.phase, if gate.go { "go" } else { "no-go" })
    });
    row("gates", &line(&gates.collect::<Vec<_>>().join(", ")));
    for part in &claims.statements {
        if let (Some(tree), Some(check), Some(result)) = (&part.tree, &part.check, &part.result) {
            let (result, check) = (line(result).to_lowercase(), line(check));
            row("check", &format!("{check} {result} on {} ({})", line(tree), commit_short(part)));
        }
    }
    for task in &claims.tasks {
        let weighed = task.evidence.as_ref();
        let weighed =
            weighed.map(|one| format!("{}: {}", one.level.says(), one.because.join("; ")));
        let evidence =
            task.accepted.clone().or(weighed).unwrap_or_else(|| "not weighed".to_owned());
        row(&line(&task.id), &line(&evidence));
    }
    for asked in &claims.questions {
        row(
            "answer",
            &format!("{}: {} ({})", line(&asked.by), line(&asked.answer), line(&asked.question)),
        );
    }
}

fn commit_short(part: &PartClaim) -> String {
    one_line(CommitId(part.git_commit.clone()).short(), SHOWN)
}
