//! Runs and sessions in the journal: selecting one, its state, spec, response and check reports. Writes nothing, and
//! prints only which run was selected, where that may surprise.

use std::collections::BTreeMap;
use std::path::Path;

use engine::export::{Reports, Response, kept_reports};
use engine::{Machine as _, Run};
use runtime::{Bosun, Clock as _, Found, RealClock, presets};
use types::{Envelope, ListedRun, LogId, RunId, Spec};

use crate::args::RunRef;
use crate::exit::CliError;
use crate::{print, sessions};

/// Finds the named run or session, by its id or a prefix of it.
pub(crate) async fn named(bosun: &Bosun, run: &RunRef) -> anyhow::Result<RunId> {
    Ok(bosun.find(run.as_str()).await?)
}

/// Like `named`, for commands about damage: accepts a complete id whose log cannot be found.
pub(crate) async fn named_or_lost(bosun: &Bosun, run: &RunRef) -> anyhow::Result<RunId> {
    match (named(bosun, run).await, run.as_str().parse()) {
        (Err(_), Ok(whole)) => Ok(whole),
        (found, _) => found,
    }
}

/// Like `named`, if a name is given.
pub(crate) async fn if_named(bosun: &Bosun, run: Option<&RunRef>) -> anyhow::Result<Option<RunId>> {
    match run {
        Some(run) => named(bosun, run).await.map(Some),
        None => Ok(None),
    }
}

/// Rejects a session.
pub(crate) async fn must_be_a_run(bosun: &Bosun, run: &RunId) -> anyhow::Result<()> {
    match sessions::one(bosun, run).await? {
        Some(_) => Err(CliError::NotARun { run: run.clone() }.into()),
        None => Ok(()),
    }
}

/// The named run or session, or the newest one.
pub(crate) async fn newest(bosun: &Bosun, named: Option<RunRef>) -> anyhow::Result<RunId> {
    if let Some(run) = if_named(bosun, named.as_ref()).await? {
        return Ok(run);
    }
    let logs = bosun.journal().logs(None).await?;
    let newest =
        logs.into_iter().filter(|log| log.log.attempt.is_none()).max_by_key(|log| log.created);
    Ok(newest.map(|log| log.log.run).ok_or(CliError::NoRuns)?)
}

/// The named run; otherwise the newest one of this repository, or of any if this one has none. Sessions are rejected.
pub(crate) async fn newest_run(bosun: &Bosun, named: Option<RunRef>) -> anyhow::Result<RunId> {
    if let Some(run) = if_named(bosun, named.as_ref()).await? {
        must_be_a_run(bosun, &run).await?;
        return Ok(run);
    }
    let top = presets::top(Path::new("."));
    let all = fitting(bosun, |_| true).await?;
    let here = all.iter().find(|(_, listed)| Path::new(&listed.repository) == top);
    match (here, all.first()) {
        (Some((run, _)), _) => Ok(run.clone()),
        (None, Some((run, listed))) => {
            let place = print::one_line(&listed.repository, 200);
            print::note(&format!("no run in this folder; using the newest, {run} in {place}"));
            Ok(run.clone())
        }
        (None, None) => {
            let run = newest(bosun, None).await?;
            must_be_a_run(bosun, &run).await?;
            Ok(run)
        }
    }
}

/// Rejects a result that was not named explicitly while a follow-up of it, direct or indirect, is open.
pub(crate) async fn must_not_be_followed(
    bosun: &Bosun,
    what: &'static str,
    run: &RunId,
) -> anyhow::Result<()> {
    let mut line = vec![run.clone()];
    // Oldest first: a follow-up is newer than the run that it follows up.
    for (next, listed) in fitting(bosun, |listed| listed.follows.is_some()).await?.into_iter().rev()
    {
        if !listed.follows.as_ref().is_some_and(|before| line.contains(before)) {
            continue;
        }
        if listed.ended.is_none() {
            let (run, status) = (run.clone(), listed.status_word());
            return Err(CliError::FollowedUp { what, run, next, status }.into());
        }
        line.push(next);
    }
    Ok(())
}

/// The named or newest run with a part of it, for commands about results. If the newest run is an unfinished follow-up,
/// a note names the result before it.
pub(crate) async fn newest_result(
    bosun: &Bosun,
    what: &'static str,
    run: Option<RunRef>,
    part: Option<String>,
) -> anyhow::Result<(RunId, Option<String>)> {
    let (named, part) = split(bosun, run, part).await;
    let was_named = named.is_some();
    let run = newest_run(bosun, named).await?;
    if was_named {
        return Ok((run, part));
    }
    must_not_be_followed(bosun, what, &run).await?;
    let open = fitting(bosun, |listed| listed.ended.is_none()).await?;
    let this = open.into_iter().find(|(other, _)| *other == run);
    if let Some(before) = this.and_then(|(_, listed)| listed.follows) {
        print::note(&format!(
            "{run} follows up {before} and is not finished; for the earlier result: bosun {what} {before}"
        ));
    }
    Ok((run, part))
}

/// A run and a part of it, such as a task. A single word is a part if it has the form of one and names no run.
pub(crate) async fn split(
    bosun: &Bosun,
    run: Option<RunRef>,
    part: Option<String>,
) -> (Option<RunRef>, Option<String>) {
    let word = run.as_ref().filter(|run| part.is_none() && !run.is_certain());
    match word.map(|word| word.as_str().to_owned()) {
        Some(word) if is_part(&word) && (is_brief(&word) || bosun.find(&word).await.is_err()) => {
            (None, Some(word))
        }
        _ => (run, part),
    }
}

/// Whether a word is so short that it is a part, such as a line number, even if the id of a run begins with it.
fn is_brief(word: &str) -> bool {
    word.len() <= 4
}

/// Whether a word has the form of a task (`T1`), an attempt (`T1.2`, `plan.1`), a line of a log (`18`, `T1.2:4`) or a
/// question (`q0`).
fn is_part(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (name, line) = word.split_once(':').unwrap_or((word, "0"));
    let (task, attempt) = name.split_once('.').unwrap_or((name, "0"));
    let is_task = task == "plan" || task.strip_prefix('T').is_some_and(is_number);
    is_number(word)
        || word.strip_prefix('q').is_some_and(is_number)
        || (is_task && is_number(attempt) && is_number(line))
}

/// The named run, or the newest one that fits.
pub(crate) async fn pick(
    bosun: &Bosun,
    named: Option<RunRef>,
    fits: impl Fn(&ListedRun) -> bool,
    otherwise: CliError,
) -> anyhow::Result<RunId> {
    if let Some(run) = if_named(bosun, named.as_ref()).await? {
        return Ok(run);
    }
    Ok(fitting(bosun, fits).await?.into_iter().next().map(|(run, _)| run).ok_or(otherwise)?)
}

/// All runs that fit, newest first.
pub(crate) async fn fitting(
    bosun: &Bosun,
    fits: impl Fn(&ListedRun) -> bool,
) -> anyhow::Result<Vec<(RunId, ListedRun)>> {
    let all = bosun.overview(false).await?.into_iter();
    Ok(all
        .filter_map(|entry| match entry.found {
            Found::Run { listed, .. } if fits(&listed) => Some((entry.run, listed)),
            _ => None,
        })
        .collect())
}

/// Sequence number of the last line of each log of a run.
pub(crate) async fn last_lines(bosun: &Bosun, run: &RunId) -> anyhow::Result<BTreeMap<LogId, u64>> {
    let logs = bosun.journal().logs(Some(run)).await?;
    Ok(logs.into_iter().map(|log| (log.log, log.last_seq)).collect())
}

/// The current state of a run, with all recorded lines of it and its attempts.
pub(crate) async fn whole(bosun: &Bosun, run: &RunId) -> anyhow::Result<(Run, Vec<Envelope>)> {
    let mut machine = bosun.blank(run).await?;
    let lines = runtime::recorded(&**bosun.journal(), run).await?;
    for line in lines.iter().filter(|line| line.attempt.is_none()) {
        machine.apply(&line.event, line.at);
    }
    Ok((machine, lines))
}

/// The stored reports of a run's checks.
pub(crate) async fn reports(bosun: &Bosun, lines: &[Envelope]) -> anyhow::Result<Reports> {
    let mut reports = Reports::new();
    for blob in kept_reports(lines) {
        let bytes = bosun.journal().blob(&blob.digest).await?;
        reports.insert(blob.digest, serde_json::from_slice(&bytes)?);
    }
    Ok(reports)
}

/// The newest version of the spec that a run has produced; the given one if there is none yet.
pub(crate) async fn spec(bosun: &Bosun, run: &RunId) -> anyhow::Result<Spec> {
    let (machine, _) = whole(bosun, run).await?;
    let made = engine::export::spec_outcome::versions(&machine, RealClock.now()).pop();
    let given = || machine.request().and_then(|request| request.spec.as_deref().cloned());
    Ok(made.or_else(given).ok_or_else(|| CliError::NoSpec { run: run.clone() })?)
}

/// The response object of a run in its current state.
pub(crate) async fn response(bosun: &Bosun, run: &RunId) -> anyhow::Result<Response> {
    let (machine, lines) = whole(bosun, run).await?;
    Ok(engine::export::response(&machine, &lines, RealClock.now()))
}

#[cfg(test)]
mod tests {
    use super::is_part;

    #[test]
    fn a_word_is_a_part_of_a_run_by_its_form() {
        for part in ["T1", "T12.3", "plan", "plan.1", "18", "q0", "T1.2:4", "plan.1:10"] {
            assert!(is_part(part), "{part}");
        }
        for other in ["", "T", "Tea", "1a2b", "r_1", "q", "T1.", "T1.x", "T1:", "newest"] {
            assert!(!is_part(other), "{other}");
        }
    }
}
