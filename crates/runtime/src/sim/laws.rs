//! Invariants of every simulated run. Each has a name; a simulation reports the first violation. They see stored lines
//! and started effects, but none of the machines' code.

mod attempt;
mod broken;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use types::{AttemptId, Digest, Effect, EffectId, Envelope, Event, LogId, Policy};

use super::case::chat_attempt;
use attempt::AttemptBook;
use run::RunBook;

pub(super) use broken::Broken;

#[derive(Debug)]
pub(super) struct Laws {
    /// Every line that was ever stored, by log.
    lines: BTreeMap<LogId, Vec<Envelope>>,
    run: RunBook,
    attempts: BTreeMap<AttemptId, AttemptBook>,
    /// The effects in flight in the current process.
    performing: BTreeSet<(Option<AttemptId>, EffectId)>,
    first: Option<Broken>,
    /// The log without an attempt is a session's.
    talk: Option<AttemptId>,
}

impl Laws {
    pub(super) fn new(policy: Arc<Policy>, talks: bool) -> Self {
        Self {
            lines: BTreeMap::new(),
            run: RunBook::new(policy),
            attempts: BTreeMap::new(),
            performing: BTreeSet::new(),
            first: None,
            talk: talks.then(chat_attempt),
        }
    }

    pub(super) fn broken(&mut self, law: &'static str, what: impl Into<String>) {
        self.first.get_or_insert(Broken { law, what: what.into() });
    }

    pub(super) fn first_broken(&self) -> Option<&Broken> {
        self.first.as_ref()
    }

    fn take(&mut self, attempt: Option<&AttemptId>, judged: Result<(), Broken>) {
        if let Err(Broken { law, what }) = judged {
            let of = attempt.map_or_else(|| "the run".to_owned(), ToString::to_string);
            self.broken(law, format!("{of}: {what}"));
        }
    }

    /// A new process: nothing of the old one continues.
    pub(super) fn restarted(&mut self) {
        self.performing.clear();
    }

    pub(super) fn stored(&mut self, line: &Envelope) {
        let log = line.log();
        let lines = self.lines.entry(log).or_default();
        let follows = lines.len() as u64 + 1 == line.seq;
        lines.push(line.clone());
        if !follows {
            self.broken("lines_follow_each_other", format!("line {} is out of place", line.seq));
        }
        if let Event::AttemptFinished { attempt, spent, log_head, .. } = &line.event
            && *log_head != Digest::ZERO
            && let Some(booked) = self.attempts.get(attempt).map(AttemptBook::tokens)
            && booked != spent.tokens
        {
            let what = format!("{attempt} used {booked}, its run books {}", spent.tokens);
            self.broken("the_run_books_what_was_used", what);
        }
        let judged = match line.attempt.as_ref().or(self.talk.as_ref()) {
            None => self.run.stored(&line.event),
            Some(attempt) => self.attempts.entry(attempt.clone()).or_default().stored(&line.event),
        };
        self.take(line.attempt.as_ref(), judged);
    }

    /// Lines read after a restart equal those stored before it.
    pub(super) fn read(&mut self, log: &LogId, after: u64, found: &[Envelope]) {
        let start = usize::try_from(after).unwrap_or(usize::MAX);
        let known = self.lines.get(log).map_or(&[][..], |lines| lines.get(start..).unwrap_or(&[]));
        if known.get(..found.len()) != Some(found) || found.len() != known.len().min(1_000) {
            self.broken("stored_lines_stay", format!("{log} reads otherwise than it was stored"));
        }
    }

    /// An effect starts.
    pub(super) fn begins(&mut self, attempt: Option<&AttemptId>, effect: &Effect) {
        if !self.performing.insert((attempt.cloned(), effect.id())) {
            self.broken("an_effect_runs_once_at_a_time", format!("{:?}", effect.id()));
        }
        let busy = |(of, id): &&(Option<AttemptId>, EffectId)| {
            of.as_ref() == attempt && matches!(id, EffectId::Tool(_))
        };
        let call = self.performing.iter().find(busy).map(|(_, call)| format!("{call:?} runs"));
        if let (Effect::Seal { .. }, Some(call)) = (effect, call) {
            self.broken("nothing_is_committed_while_a_call_runs", call);
        }
        let judged = match attempt {
            None => self.run.begins(effect),
            Some(attempt) => self.attempts.entry(attempt.clone()).or_default().begins(effect),
        };
        self.take(attempt, judged);
    }

    /// An effect ended, or was stopped.
    pub(super) fn ends(&mut self, attempt: Option<&AttemptId>, effect: &EffectId) {
        self.performing.remove(&(attempt.cloned(), effect.clone()));
    }

    /// An attempt is over.
    pub(super) fn attempt_is_over(&mut self, attempt: &AttemptId) {
        let judged = self.attempts.entry(attempt.clone()).or_default().is_over();
        self.take(Some(attempt), judged);
    }

    /// Whether the person has cancelled the run.
    pub(super) fn is_cancelled(&self) -> bool {
        self.run.cancelled
    }

    /// The run is over.
    pub(super) fn run_is_over(&mut self) {
        let judged = self.run.is_over();
        self.take(None, judged);
    }
}
