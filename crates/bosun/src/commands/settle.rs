//! `bosun accept`: merge the result of a run into the checked-out branch. `bosun discard`: discard it, after
//! confirmation.

use std::io::IsTerminal as _;
use std::path::Path;

use runtime::sandbox::Taken;
use runtime::{Acceptance, AddedTests, Bosun, CommitAuthor, Order, presets};
use serde_json::json;
use types::{ListedRun, RunId, Settling, Status};

use crate::args;
use crate::confirm;
use crate::exit::{CliError, Exit};
use crate::home::{self, Home};
use crate::print;
use crate::recorded::{self, must_be_a_run, must_not_be_followed, pick};

pub(crate) async fn accept(home: &Home, args: args::Accept) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let author = match args.author {
        args::Author::Bosun => CommitAuthor::Bosun,
        args::Author::Me => CommitAuthor::Person,
    };
    let how = Acceptance { by: home::person(), merge: args.merge, force: args.force, author };
    let top = presets::top(Path::new("."));
    // Without a named run, only results of this repository are candidates.
    let fits = |run: &ListedRun| {
        let ends_well = run.status == Status::Done || args.force && run.ended.is_some();
        ends_well && run.settled.is_none() && run.finished > 0 && Path::new(&run.repository) == top
    };
    let named = args.run.is_some();
    let run = pick(&bosun, args.run, fits, CliError::NothingToAccept).await?;
    must_be_a_run(&bosun, &run).await?;
    if !named {
        must_not_be_followed(&bosun, "accept", &run).await?;
        name_newer(&bosun, &run, &top).await?;
    }
    if args.tests && is_accepted(&bosun, &run).await? {
        let tests = bosun.add_tests(&run).await?;
        let object = json!({"run": run, "tests": {"files": tests.files, "commit": tests.commit}});
        print::result(args.json, &object, &added(&tests))?;
        return Ok(Exit::Done);
    }
    let done = bosun.accept(&run, &how).await?;
    let (way, said) = match &done.taken {
        Some(Taken::Already(_)) => ("already", "was already on your branch"),
        Some(Taken::Merged(_)) => ("merged", "was merged into your branch"),
        _ if done.branch.is_none() => ("forwarded", "is now checked out"),
        _ => ("forwarded", "is now on your branch"),
    };
    let commit = &done.settled.commit;
    let (how, files) = (done.settled.how.as_str(), types::count(done.files, "file"));
    let mut object = json!({"run": run, "how": how, "commit": commit, "way": way});
    let mut said = format!("run {run}: its result ({files}) {said}, at {}\n", commit.short());
    let tests = if args.tests { Some(bosun.add_tests(&run).await) } else { None };
    if let Some(Ok(tests)) = &tests {
        object["tests"] = json!({"files": tests.files, "commit": tests.commit});
        said.push_str(&added(tests));
    }
    print::result(args.json, &object, &said)?;
    // The result is accepted all the same.
    tests.transpose()?;
    if done.branch.is_none() && !args.json {
        print::note("HEAD is detached; create a branch for the result: git switch -c NAME");
    }
    if done.has_tests && !args.tests && !args.json {
        let bosun = home.flag();
        print::note(&format!(
            "it passed tests by another author; add them with `{bosun} accept {run} --tests`"
        ));
    }
    Ok(Exit::Done)
}

async fn is_accepted(bosun: &Bosun, run: &RunId) -> anyhow::Result<bool> {
    let settled = bosun.view(run).await?.settled;
    Ok(settled.is_some_and(|settled| settled.how == Settling::Accepted))
}

fn added(tests: &AddedTests) -> String {
    if tests.files.is_empty() {
        return "the result has no tests by another author\n".to_owned();
    }
    let files = types::count(tests.files.len() as u64, "file");
    format!(
        "its tests by another author ({files}) are on your branch, at {}\n",
        tests.commit.short()
    )
}

/// Says that a newer run of this repository has no result to accept yet.
async fn name_newer(bosun: &Bosun, run: &RunId, top: &Path) -> anyhow::Result<()> {
    let here = recorded::fitting(bosun, |run| Path::new(&run.repository) == top).await?;
    let mut newer = here.iter().take_while(|(newer, _)| newer != run);
    if let Some((newer, listed)) = newer.find(|(_, listed)| listed.settled.is_none()) {
        let status = listed.status.as_str();
        print::note(&format!("accepting {run}; the newer run {newer} is {status}"));
    }
    Ok(())
}

pub(crate) async fn discard(home: &Home, args: args::Discard) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let (run, named) = match recorded::if_named(&bosun, args.run.as_ref()).await? {
        Some(run) => (run, true),
        None => (newest_here(&bosun).await?, false),
    };
    must_be_a_run(&bosun, &run).await?;
    let view = bosun.view(&run).await?;
    // A run that is not named is never discarded without asking.
    if (!args.yes || !named) && view.settled.is_none() {
        if named && !std::io::stdin().is_terminal() {
            return Err(CliError::NotSure { run }.into());
        }
        if !confirm::sure("discard", &run, &view.goal)? {
            return Ok(Exit::Failed);
        }
    }
    let done = bosun.discard(&run, &home::person()).await?;
    let object =
        json!({"run": run, "how": done.settled.how.as_str(), "commit": done.settled.commit});
    let said = format!("run {run}: deleted {}; the log is kept\n", view.branch);
    print::result(args.json, &object, &said)?;
    Ok(Exit::Done)
}

/// The newest finished run of this repository whose result is neither accepted nor discarded.
async fn newest_here(bosun: &Bosun) -> anyhow::Result<RunId> {
    let top = presets::top(Path::new("."));
    let here = |run: &ListedRun| {
        run.ended.is_some() && run.settled.is_none() && Path::new(&run.repository) == top
    };
    let newest = recorded::fitting(bosun, here).await?.into_iter().next();
    Ok(newest.map(|(run, _)| run).ok_or(CliError::NothingToDiscard)?)
}
