//! `bosun audit`: exports a run as a file that another machine can verify, and anchors that date its logs. The runtime
//! does the checking; this file opens files and prints the outcome.

mod anchors;

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write as _};
use std::path::Path;

use anyhow::Context as _;
use runtime::audit::{self, Anchor, Verified};
use runtime::{Bosun, Clock as _, RealClock};
use serde_json::json;
use types::{CommitId, Event, LogId, RunId, count};

use crate::args::{self, AuditCommand};
use crate::exit::{CliError, Exit};
use crate::home::Home;
use crate::print::{self, replay};
use crate::recorded::{named, newest};
use anchors::{Judged, judged};

pub(crate) async fn audit(home: &Home, args: args::Audit) -> anyhow::Result<Exit> {
    match args.command {
        AuditCommand::Export(args) => export(home, args).await,
        AuditCommand::Verify(args) => verify(args).await,
        AuditCommand::Anchor(args) => anchor(home, args).await,
        AuditCommand::Check(args) => check(home, args).await,
    }
}

async fn export(home: &Home, args: args::Export) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = named(&bosun, &args.run).await?;
    let path = args.file.display().to_string();
    let writing = || format!("writing {path}");
    let folder = args.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).with_context(writing)?;
    let mut to = BufWriter::new(beside);
    let by = concat!("bosun ", env!("CARGO_PKG_VERSION"));
    let exported = audit::export(&**bosun.journal(), &run, by, RealClock.now(), &mut to).await?;
    let beside = to.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    beside.as_file().sync_all().with_context(writing)?;
    beside.persist_noclobber(&args.file).map_err(|error| match error.error.kind() {
        ErrorKind::AlreadyExists => CliError::Exists { path: path.clone() }.into(),
        _ => anyhow::Error::from(error).context(writing()),
    })?;
    let lines: u64 = exported.logs.iter().map(|head| head.lines).sum();
    if args.json {
        print::json(&json!({
            "run": run, "file": path, "logs": exported.logs, "lines": lines, "blobs": exported.blobs,
            "absent": exported.absent,
        }))?;
        return Ok(Exit::Done);
    }
    let (logs, blobs) = (count(exported.logs.len(), "log"), count(exported.blobs, "blob"));
    print::line(&format!("{path}: {logs} with {lines} lines, {blobs}"))?;
    if exported.absent > 0 {
        let absent = count(exported.absent, "blob");
        print::note(&format!("no longer in the journal: {absent} that its lines refer to"));
    }
    Ok(Exit::Done)
}

async fn verify(args: args::Verify) -> anyhow::Result<Exit> {
    let path = args.file.display().to_string();
    let unreadable = |source| CliError::Unreadable { path: path.clone(), source };
    let file = File::open(&args.file).map_err(unreadable)?;
    let verified = audit::verify(BufReader::new(file))?;
    let found = anchors::found(&args.anchored, &verified.run, verified.base.as_ref()).await?;
    let held = |anchor: &Anchor| audit::compare(anchor, verified.held(&anchor.log, anchor.lines));
    let judged = judged(&found, args.anchored.is_named(), found.iter().find_map(held));
    let exit = match judged.exit() {
        Exit::Done => replay::exit(&verified.report),
        exit => exit,
    };
    let replayed = replay::object(&verified.run, &verified.report);
    let object = json!({
        "run": verified.run, "by": verified.by, "made": verified.made, "logs": verified.logs,
        "blobs": verified.blobs, "absent": verified.absent, "replay": replayed, "anchors": judged.object(),
    });
    print::result(args.json, &object, &told(&verified, &judged))?;
    Ok(exit)
}

fn told(verified: &Verified, judged: &Judged) -> String {
    let lines: u64 = verified.logs.iter().map(|head| head.lines).sum();
    let (logs, blobs) = (count(verified.logs.len(), "log"), count(verified.blobs, "blob"));
    let mut text = format!(
        "{}: {logs} with {lines} lines and {blobs}, intact; written by {} on {}\n",
        verified.run,
        print::one_line(&verified.by, 60),
        verified.made
    );
    if verified.absent > 0 {
        let absent = count(verified.absent, "blob");
        text += &format!("not checked: {absent}, missing when the file was written\n");
    }
    text += &replay::told(&verified.report);
    text += &judged.told();
    text
}

async fn anchor(home: &Home, args: args::Anchor) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run).await?;
    let now = RealClock.now();
    let anchors = audit::anchors(&**bosun.journal(), &run, now).await?;
    let mut text = String::new();
    for anchor in &anchors {
        text += &serde_json::to_string(anchor)?;
        text.push('\n');
    }
    if args.git_note {
        let (repository, base) = began(&bosun, &run).await?;
        let repo = anchors::repository(Path::new(&repository)).await?;
        repo.add_note(&base, &text, now).await.map_err(runtime::Error::Git)?;
        print::note(&format!("added to the git note on {} in {repository}", base.short()));
    }
    if let Some(path) = &args.file {
        let writing = || format!("writing {}", path.display());
        let mut file =
            File::options().create(true).append(true).open(path).with_context(writing)?;
        file.write_all(text.as_bytes()).with_context(writing)?;
        file.sync_all().with_context(writing)?;
    }
    if args.file.is_none() && !args.git_note {
        print::bytes(text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The repository and the base commit of a run.
async fn began(bosun: &Bosun, run: &RunId) -> anyhow::Result<(String, CommitId)> {
    let first = bosun.journal().read(&LogId::run(run.clone()), 0, 1).await?;
    match first.first().map(|line| &line.event) {
        Some(Event::RunRequested { survey, .. }) => {
            Ok((bosun.view(run).await?.repository, survey.base.clone()))
        }
        _ => Err(CliError::NotARun { run: run.clone() }.into()),
    }
}

async fn check(home: &Home, args: args::Check) -> anyhow::Result<Exit> {
    let bosun = home.read(false).await?;
    let run = newest(&bosun, args.run).await?;
    if !args.anchored.is_named() {
        return Err(CliError::NoAnchors { run }.into());
    }
    let base = match args.anchored.git_note {
        Some(_) => Some(began(&bosun, &run).await?.1),
        None => None,
    };
    let found = anchors::found(&args.anchored, &run, base.as_ref()).await?;
    // Verifies the hash chains first.
    audit::anchors(&**bosun.journal(), &run, RealClock.now()).await?;
    let mut wrong = None;
    for anchor in &found {
        let held = audit::held(&**bosun.journal(), &anchor.log, anchor.lines).await?;
        wrong = wrong.or_else(|| audit::compare(anchor, held));
    }
    let judged = judged(&found, args.anchored.is_named(), wrong);
    let object = json!({ "run": run, "anchors": judged.object() });
    print::result(args.json, &object, &judged.told())?;
    Ok(judged.exit())
}
