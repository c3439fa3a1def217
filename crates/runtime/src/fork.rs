//! Forks: a new run or session that starts as a copy of another up to a line of its log, and then diverges. The
//! original is not touched.
//!
//! A fork never starts in the middle of a decision. Attempts that were open at that point start again; their work is
//! not part of the fork. Nothing is driven here: `resume` does that.

mod copied;
mod unfinished;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::export::replay::{Logs, Step};
use engine::{Attempt, Machine as _, Run};
use store::{Batch, Clean, Lease};
use types::{
    AttemptId, AttemptResult, Command, CommitId, Digest, Envelope, Event, Forked, Input, LogId,
    Policy, RunId, SessionChange, TaskId,
};

use crate::api::{Bosun, draw_run_id};
use crate::error::Error;
use crate::event_loop::Drive;
use crate::replay::{Torn, policy_digest, recorded_logs, replayed};
use crate::session::SessionError;
use crate::watch::hash_of;
use copied::Copying;

/// A fork to be made.
#[derive(Debug, Clone)]
pub struct NewFork {
    pub from: RunId,
    /// The last line to copy. The decision that it belongs to is copied whole.
    pub at: u64,
    /// For a session: the folder for its files. It must be new or empty.
    pub into: Option<PathBuf>,
    /// For reproducible runs; drawn at random otherwise.
    pub id: Option<RunId>,
}

/// A fork that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    pub run: RunId,
    pub origin: Forked,
    /// Whether it is a session, and not a run with a plan.
    pub session: bool,
    /// Attempts that were open at that point and start again.
    pub anew: Vec<AttemptId>,
}

/// Why there is no fork. Nothing was written, unless the journal itself failed.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    #[error(transparent)]
    Door(Error),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("{run} has no line {at}; its last line is {last}")]
    NoSuchLine { run: RunId, at: u64, last: u64 },
    #[error(
        "this version decides line {seq} of {run} differently; `bosun replay {run}` shows how. Fork before that line"
    )]
    Differs { run: RunId, seq: u64 },
    #[error("{run} is already over at line {at}; name an earlier line")]
    Over { run: RunId, at: u64 },
    #[error(
        "attempt {attempt} is open at line {at} and has already asked a question, whose answer is valid only for the \
         original call; name a line below {start}{end}"
    )]
    Asked { attempt: AttemptId, at: u64, start: u64, end: String },
    #[error("cannot fork from commit {}: it is no longer in {repository}", commit.short())]
    NoCommit { commit: CommitId, repository: String },
    #[error("a forked session needs its own folder; name one with --into")]
    NoFolder,
    #[error("--into is only for sessions; a run works in its repository")]
    FolderOfARun,
    #[error("cannot fork into {path}: {why}")]
    Folder { path: String, why: String },
}

impl<E: Into<Error>> From<E> for ForkError {
    fn from(error: E) -> Self {
        Self::Door(error.into())
    }
}

impl Bosun {
    /// Makes a fork. It can be resumed as soon as this returns.
    pub async fn fork(&self, new: NewFork) -> Result<Fork, ForkError> {
        let logs = recorded_logs(&*self.services.journal, &new.from).await?;
        let Some(first) = logs.run.first() else {
            return Err(self.unknown(&new.from).await.into());
        };
        let policy = self.policy_of(&new.from, policy_digest(&first.event)).await?;
        let seq = point(&new, &policy, &logs)?;
        let log = LogId::run(new.from.clone());
        let head = hash_of(&*self.services.journal, &log, seq).await?;
        let origin = Forked { run: new.from.clone(), seq, head };
        let kept = usize::try_from(seq).unwrap_or(usize::MAX).min(logs.run.len());
        let lines = &logs.run[..kept];
        match &first.event {
            Event::SessionStarted { .. } => self.fork_session(&new, policy, lines, origin).await,
            _ => self.fork_run(&new, policy, lines, &logs, origin).await,
        }
    }

    async fn fork_run(
        &self,
        new: &NewFork,
        policy: Arc<Policy>,
        lines: &[Envelope],
        logs: &Logs,
        origin: Forked,
    ) -> Result<Fork, ForkError> {
        if new.into.is_some() {
            return Err(ForkError::FolderOfARun);
        }
        let mut machine = Run::new(new.from.clone(), policy);
        lines.iter().for_each(|line| machine.apply(&line.event, line.at));
        if machine.is_over() {
            return Err(ForkError::Over { run: new.from.clone(), at: origin.seq });
        }
        let (finished, anew) = attempts(lines);
        for attempt in &anew {
            not_asked(attempt, origin.seq, &logs.run)?;
        }
        let repository = self.path_of(&machine);
        let repo = self.services.repo(&repository).await?;
        for commit in needed(&machine, lines) {
            if repo.find_tree(&commit).await?.is_none() {
                let repository = repository.display().to_string();
                return Err(ForkError::NoCommit { commit, repository });
            }
        }
        let run = new.id.clone().unwrap_or_else(draw_run_id);
        let mut copying = Copying::new(&run, &origin, lines, self.services.clock.now());
        let lease = self.services.journal.lease(&LogId::run(run.clone())).await?;
        self.begin_fork(&run, Some((repo.root(), machine.head())))?;
        self.keep_place(&run, repo.root())?;
        for attempt in finished {
            let Some(log) = logs.attempts.get(&attempt) else { continue };
            let id = LogId::attempt(run.clone(), attempt.clone());
            let lease = self.services.journal.lease(&id).await?;
            let head = self.write(&copying, &lease, &log.lines).await?;
            copying.heads.insert(attempt, head);
        }
        // The fork's branch ends with the merges up to that line.
        let base = machine.survey().map(|survey| survey.base.clone()).unwrap_or_default();
        if *machine.head() != base {
            repo.point_branch(&Run::branch_of(&run), machine.head()).await?;
        }
        self.write(&copying, &lease, lines).await?;
        self.finish_fork(&run);
        Ok(Fork { run, origin, session: false, anew })
    }

    async fn fork_session(
        &self,
        new: &NewFork,
        policy: Arc<Policy>,
        lines: &[Envelope],
        origin: Forked,
    ) -> Result<Fork, ForkError> {
        let into = new.into.as_deref().ok_or(ForkError::NoFolder)?;
        let mut machine = Attempt::new(policy.clone());
        lines.iter().for_each(|line| machine.apply(&line.event, line.at));
        if machine.is_over() {
            return Err(ForkError::Over { run: new.from.clone(), at: origin.seq });
        }
        let brief = machine.brief();
        let from = brief.and_then(|brief| brief.folder.clone()).unwrap_or_default();
        let system = brief.map(|brief| brief.system.clone()).unwrap_or_default();
        let into = empty(into)?;
        let place = self.place_of(&new.from, &from);
        self.files_at(&new.from, origin.seq, &place, &into).await?;
        let run = new.id.clone().unwrap_or_else(draw_run_id);
        let mut copying = Copying::new(&run, &origin, lines, self.services.clock.now());
        copying.folder = Some(sandbox::folder_name(&into));
        let log = LogId::run(run.clone());
        let lease = self.services.journal.lease(&log).await?;
        self.begin_fork(&run, None)?;
        self.keep_place(&run, &into)?;
        self.write(&copying, &lease, lines).await?;
        // From here on the agent works in its new folder.
        let system = match Path::new(&from).is_absolute() {
            true => system.replace(&from, &into.to_string_lossy()),
            false => system,
        };
        let change = Box::new(SessionChange { system: Some(system), ..SessionChange::default() });
        let machine = Attempt::new(policy);
        let mut drive = Drive::load_held(machine, lease, self.services.loop_deps()).await?;
        drive.take(&Input::Command(Command::Change { change }), None).await?;
        self.finish_fork(&run);
        Ok(Fork { run, origin, session: true, anew: vec![] })
    }

    /// Copies lines into a new log, and returns the hash of the last.
    async fn write(
        &self,
        copying: &Copying<'_>,
        lease: &Lease,
        lines: &[Envelope],
    ) -> Result<Digest, ForkError> {
        let journal = &self.services.journal;
        let mut expect = 0;
        // Lines recorded together are stored together again.
        for together in lines.chunk_by(|one, next| one.at == next.at) {
            let Some(first) = together.first() else { continue };
            let event = |line: &Envelope| self.services.redactor.clean(copying.event(&line.event));
            let events: Vec<Clean> = together.iter().map(event).collect();
            let batch = Batch { expect, at: copying.moved(first.at), events: &events, taken: None };
            journal.append(lease, batch).await?;
            expect += together.len() as u64;
        }
        Ok(hash_of(&**journal, lease.log(), expect).await?)
    }
}

/// The end of the decision that the line belongs to.
fn point(new: &NewFork, policy: &Arc<Policy>, logs: &Logs) -> Result<u64, ForkError> {
    let run = || new.from.clone();
    let last = logs.run.len() as u64;
    if new.at == 0 || new.at > last {
        return Err(ForkError::NoSuchLine { run: run(), at: new.at, last });
    }
    // Only the log itself: decisions of its attempts do not matter here.
    let alone = Logs { run: logs.run.clone(), attempts: BTreeMap::new() };
    let report = replayed(policy.clone(), &new.from, &alone, Torn::Refused);
    let step = report.steps.iter().find(|step| step.last >= new.at);
    match (step, report.difference) {
        (Some(Step { last, .. }), _) => Ok(*last),
        (None, Some(difference)) => Err(ForkError::Differs { run: run(), seq: difference.seq }),
        (None, None) => Err(ForkError::NoSuchLine { run: run(), at: new.at, last }),
    }
}

/// The finished and the unfinished attempts at the end of these lines.
fn attempts(lines: &[Envelope]) -> (Vec<AttemptId>, Vec<AttemptId>) {
    let (mut finished, mut open) = (Vec::new(), Vec::new());
    for line in lines {
        match &line.event {
            Event::AttemptStarted { attempt, .. } => open.push(attempt.clone()),
            Event::AttemptFinished { attempt, .. } => {
                open.retain(|other| other != attempt);
                finished.push(attempt.clone());
            }
            _ => {}
        }
    }
    (finished, open)
}

/// Refuses a fork in which a restarted attempt would find an answer to another question.
fn not_asked(attempt: &AttemptId, at: u64, lines: &[Envelope]) -> Result<(), ForkError> {
    let first = |wanted: &dyn Fn(&Event) -> bool| {
        lines.iter().find(|line| wanted(&line.event)).map(|line| line.seq)
    };
    let asked = first(
        &|event| matches!(event, Event::QuestionAsked { attempt: Some(own), .. } if own == attempt),
    );
    if asked.is_none_or(|asked| asked > at) {
        return Ok(());
    }
    let start = first(
        &|event| matches!(event, Event::AttemptStarted { attempt: own, .. } if own == attempt),
    );
    let end = first(
        &|event| matches!(event, Event::AttemptFinished { attempt: own, .. } if own == attempt),
    );
    let end = end.map(|end| format!(", or {end} and above")).unwrap_or_default();
    Err(ForkError::Asked { attempt: attempt.clone(), at, start: start.unwrap_or_default(), end })
}

/// The commits that the work depends on: the base, the branch, and the last result of each unsettled task.
fn needed(run: &Run, lines: &[Envelope]) -> Vec<CommitId> {
    let mut results: BTreeMap<&TaskId, Option<&CommitId>> = BTreeMap::new();
    for line in lines {
        match &line.event {
            Event::AttemptFinished { attempt, result, .. } => {
                let commit = match result {
                    AttemptResult::Submitted { commit, .. } => Some(commit),
                    AttemptResult::Failed { commit, .. } => commit.as_ref(),
                    AttemptResult::Cancelled => None,
                };
                results.insert(&attempt.task, commit);
            }
            Event::TaskFinished { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. } => {
                results.remove(task);
            }
            _ => {}
        }
    }
    let base = run.survey().map(|survey| &survey.base);
    let all = base.into_iter().chain([run.head()]).chain(results.into_values().flatten());
    let mut all: Vec<CommitId> = all.cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// The folder, checked to be empty.
fn empty(folder: &Path) -> Result<PathBuf, ForkError> {
    let unfit = |why: String| ForkError::Folder { path: folder.display().to_string(), why };
    std::fs::create_dir_all(folder).map_err(|error| unfit(error.to_string()))?;
    let folder = folder.canonicalize().map_err(|error| unfit(error.to_string()))?;
    match std::fs::read_dir(&folder).map_err(|error| unfit(error.to_string()))?.next() {
        None => Ok(folder),
        Some(_) => Err(unfit("it is not empty".to_owned())),
    }
}

#[cfg(test)]
mod tests;
