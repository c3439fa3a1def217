//! The changes of a run as a patch: the whole result, one task's part of it, or the result of one attempt. Read from
//! the run's log and its repository, during the run and after its result was accepted. Prints nothing.

use std::collections::BTreeMap;

use types::{
    AttemptId, AttemptResult, Changes, CommitId, Envelope, Event, LogId, MergeEnd, RunId, TaskId,
};

use crate::api::Bosun;
use crate::error::Error;
use crate::watch::whole;

/// The part of a run to show as a patch or as a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunPart {
    /// The run's branch against its base commit; the conversations of all its attempts, or that of a session.
    Whole,
    /// One task's merges on the branch; if it has none yet, the result of its last attempt.
    Task(TaskId),
    Attempt(AttemptId),
}

/// The changes, with their patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDiff {
    pub from: CommitId,
    pub to: CommitId,
    /// File by file, without rename detection.
    pub changes: Changes,
    /// As written by git. The files come from an agent: untrusted text.
    pub patch: Vec<u8>,
}

/// Why there is no patch.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    #[error("there is no task or attempt {name} in run {run}; it has {known}")]
    NoSuchPart { name: String, run: RunId, known: String },
    #[error("{name} of run {run} has no changes yet; `bosun show {run}` shows its progress")]
    NothingYet { name: String, run: RunId },
    #[error("cannot show commit {commit} of run {run}: it is no longer in {repository}")]
    Gone { commit: String, run: RunId, repository: String },
    #[error(transparent)]
    Door(Error),
}

impl<E: Into<Error>> From<E> for DiffError {
    fn from(error: E) -> Self {
        Self::Door(error.into())
    }
}

/// A task's merge on the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    pub task: TaskId,
    pub from: CommitId,
    pub to: CommitId,
}

impl Bosun {
    /// The changes of a run, of one of its tasks or of one of its attempts.
    pub async fn diff(&self, run: &RunId, of: &RunPart) -> Result<RunDiff, DiffError> {
        let machine = self.load(run).await?;
        let view = self.shown(&machine);
        let lines = self.own_lines(run).await?;
        let steps = match of {
            RunPart::Whole => vec![(view.base.clone(), view.head.clone())],
            RunPart::Task(task) => of_task(&lines, task, &view.head),
            RunPart::Attempt(attempt) => of_attempt(&lines, attempt).into_iter().collect(),
        };
        if steps.is_empty() {
            return Err(nothing(run, of, &lines));
        }
        let repo = self.repository_of(&machine).await?;
        let mut diff = RunDiff {
            from: steps[0].0.clone(),
            to: steps[steps.len() - 1].1.clone(),
            changes: Changes::default(),
            patch: Vec::new(),
        };
        for (from, to) in &steps {
            for commit in [from, to] {
                if repo.find_tree(commit).await?.is_none() {
                    let (commit, run) = (commit.short().to_owned(), run.clone());
                    let repository = repo.root().display().to_string();
                    return Err(DiffError::Gone { commit, run, repository });
                }
            }
            diff.changes.0.extend(repo.changes(from, to).await?.0);
            diff.patch.extend(repo.patch(from, to).await?);
        }
        Ok(diff)
    }

    /// The merges on a run's branch, oldest first.
    pub async fn landed(&self, run: &RunId) -> Result<Vec<Landed>, Error> {
        let head = self.view(run).await?.head;
        Ok(landed(&self.own_lines(run).await?, &head))
    }

    /// The lines of the run's own log, without its attempts.
    pub(crate) async fn own_lines(&self, run: &RunId) -> Result<Vec<Envelope>, Error> {
        Ok(whole(&*self.services.journal, &LogId::run(run.clone())).await?)
    }
}

/// The merges that lead to `head`, without those that were taken off the branch again.
fn landed(lines: &[Envelope], head: &CommitId) -> Vec<Landed> {
    let mut onto: BTreeMap<&TaskId, &CommitId> = BTreeMap::new();
    let mut merges: BTreeMap<String, Landed> = BTreeMap::new();
    for line in lines {
        match &line.event {
            Event::MergeStarted { task, onto: on, .. } => {
                onto.insert(task, on);
            }
            Event::MergeFinished { task, end: MergeEnd::Merged { commit, .. }, .. } => {
                let Some(from) = onto.get(task).filter(|from| **from != commit) else { continue };
                let (task, from, to) = (task.clone(), (*from).clone(), commit.clone());
                merges.insert(commit.0.clone(), Landed { task, from, to });
            }
            _ => {}
        }
    }
    let (mut at, mut found) = (head.0.clone(), Vec::new());
    while let Some(merge) = merges.remove(&at) {
        at.clone_from(&merge.from.0);
        found.push(merge);
    }
    found.reverse();
    found
}

fn of_task(lines: &[Envelope], task: &TaskId, head: &CommitId) -> Vec<(CommitId, CommitId)> {
    let merged = landed(lines, head).into_iter().filter(|merge| merge.task == *task);
    let merged: Vec<_> = merged.map(|merge| (merge.from, merge.to)).collect();
    if !merged.is_empty() {
        return merged;
    }
    let attempts = lines.iter().rev().filter_map(|line| match &line.event {
        Event::AttemptFinished { attempt, .. } if attempt.task == *task => Some(attempt),
        _ => None,
    });
    attempts.filter_map(|attempt| of_attempt(lines, attempt)).take(1).collect()
}

/// The start and the resulting commit of an attempt.
fn of_attempt(lines: &[Envelope], wanted: &AttemptId) -> Option<(CommitId, CommitId)> {
    let start = lines.iter().find_map(|line| match &line.event {
        Event::AttemptStarted { attempt, start, .. } if attempt == wanted => Some(start.clone()),
        _ => None,
    })?;
    let left = lines.iter().find_map(|line| match &line.event {
        Event::AttemptFinished { attempt, result, .. } if attempt == wanted => match result {
            AttemptResult::Submitted { commit, .. } => Some(commit.clone()),
            AttemptResult::Failed { commit, .. } => commit.clone(),
            AttemptResult::Cancelled => None,
        },
        _ => None,
    })?;
    Some((start, left))
}

fn nothing(run: &RunId, of: &RunPart, lines: &[Envelope]) -> DiffError {
    let attempts = lines.iter().filter_map(|line| match &line.event {
        Event::AttemptStarted { attempt, .. } => Some(attempt),
        _ => None,
    });
    let planned = lines.iter().rev().find_map(|line| match &line.event {
        Event::PlanAdopted { plan, .. } => Some(plan),
        _ => None,
    });
    let mut known: Vec<String> =
        planned.into_iter().flat_map(|plan| &plan.tasks).map(|task| task.id.to_string()).collect();
    known.extend(attempts.map(ToString::to_string));
    let (run, name) = (
        run.clone(),
        match of {
            RunPart::Whole => "the result".to_owned(),
            RunPart::Task(task) => task.to_string(),
            RunPart::Attempt(attempt) => attempt.to_string(),
        },
    );
    if *of == RunPart::Whole || known.contains(&name) {
        return DiffError::NothingYet { name, run };
    }
    let known = if known.is_empty() { "none yet".to_owned() } else { known.join(", ") };
    DiffError::NoSuchPart { name, run, known }
}

#[cfg(test)]
mod tests {
    use types::{By, Digest, Timestamp};

    use super::*;

    fn commit(name: &str) -> CommitId {
        CommitId(name.to_owned())
    }

    fn lines(steps: &[(&str, &str, &str)]) -> Vec<Envelope> {
        let line = |event| Envelope {
            v: Envelope::VERSION,
            seq: 1,
            at: Timestamp::default(),
            run: "r_01".parse().expect("a run"),
            attempt: None,
            by: By::engine(),
            prev: Digest::ZERO,
            event,
        };
        let merge = |(task, from, to): &(&str, &str, &str)| {
            let task: TaskId = task.parse().expect("a task");
            let started = Event::MergeStarted {
                task: task.clone(),
                commit: commit("left"),
                onto: commit(from),
            };
            let end = MergeEnd::Merged {
                commit: commit(to),
                changes: Changes::default(),
                missing: vec![],
            };
            [line(started), line(Event::MergeFinished { task, end, fault: None })]
        };
        steps.iter().flat_map(merge).collect()
    }

    #[test]
    fn a_result_is_the_merges_that_lead_to_its_end() {
        let lines = lines(&[
            ("T1", "base", "one"),
            ("T2", "one", "broken"),
            ("T2", "one", "two"),
            ("T1", "two", "mended"),
        ]);
        let told = |head: &str| {
            let found = landed(&lines, &commit(head));
            let found = found.iter().map(|merge| format!("{} {}", merge.task, merge.to.0));
            found.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(told("mended"), "T1 one, T2 two, T1 mended", "what was taken off is not told");
        assert_eq!(told("one"), "T1 one");
        assert_eq!(told("base"), "");
        let task = "T1".parse().expect("a task");
        assert_eq!(of_task(&lines, &task, &commit("mended")).len(), 2);
    }
}
