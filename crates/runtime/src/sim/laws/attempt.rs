//! The invariants of an attempt: requests to models and tools, and their outcomes.

use std::collections::{BTreeMap, BTreeSet};

use types::{
    Access, Budget, CallId, Effect, Event, Inspection, Repeat, SessionEnd, SessionId, Spend, Used,
};

use super::broken::{Broken, holds};

/// The facts of an attempt from its log.
#[derive(Debug, Default)]
pub(super) struct AttemptBook {
    budget: Budget,
    spent: Spend,
    /// Turns requested without reply or failure; and whether a summary is wanted.
    asked: BTreeMap<(SessionId, u32), (Spend, bool)>,
    calls: BTreeMap<CallId, CallBook>,
    ended: BTreeSet<SessionId>,
    submitted: bool,
    sealed: bool,
    over: bool,
}

#[derive(Debug, Default)]
struct CallBook {
    /// Whether it may be repeated; `None` if it is not a valid call.
    repeat: Option<Repeat>,
    /// A question to the person is answered, not started.
    asks: bool,
    started: u32,
    performed: u32,
    results: u32,
}

impl AttemptBook {
    pub(super) fn stored(&mut self, event: &Event) -> Result<(), Broken> {
        holds(!self.over, "nothing_after_the_end", || format!("{} after the end", event.kind()))?;
        match event {
            Event::SessionStarted { session, brief, .. } if *session == SessionId::ROOT => {
                self.budget = brief.budget;
                Ok(())
            }
            Event::SessionChanged { session, change } if *session == SessionId::ROOT => {
                self.budget = change.budget.unwrap_or(self.budget);
                Ok(())
            }
            Event::ModelAsked { session, turn, reserved, summary, .. } => {
                self.asks((*session, *turn), *reserved, *summary)
            }
            Event::ModelReplied { session, turn, reply, inspections, .. } => {
                let summary = self.answered(*session, *turn)?;
                // Calls in a summary are ignored.
                let calls = reply.calls().zip(inspections).zip(0..).filter(|_| !summary);
                for ((_, inspection), index) in calls {
                    let call = CallId { session: *session, turn: *turn, index };
                    let (repeat, asks) = match inspection {
                        Inspection::Would(facts) => {
                            (Some(facts.repeat), facts.access == Access::Ask)
                        }
                        Inspection::Invalid(_) | Inspection::Outside(_) => (None, false),
                    };
                    self.calls.insert(call, CallBook { repeat, asks, ..CallBook::default() });
                }
                let (input, output) = (reply.usage.input, reply.usage.output);
                self.spends(input + output, 1)
            }
            Event::ModelFailed { session, turn, fault, .. } => {
                self.answered(*session, *turn)?;
                let tokens =
                    fault.used.as_ref().map_or(0, |used| used.usage.input + used.usage.output);
                self.spends(tokens, 0)
            }
            Event::SessionPaused { session, used, .. } => {
                self.asked.retain(|(of, _), _| of != session);
                self.cut_off(used.as_deref())
            }
            Event::SessionEnded { session, end, used } => {
                self.cut_off(used.as_deref())?;
                if !matches!(end, SessionEnd::Submitted { .. }) {
                    self.asked.retain(|(of, _), _| of != session);
                }
                let first = self.ended.insert(*session);
                holds(first, "a_session_ends_once", || session.to_string())?;
                let root = *session == SessionId::ROOT;
                self.submitted |= root && matches!(end, SessionEnd::Submitted { .. });
                if self.submitted { self.all_answered() } else { Ok(()) }
            }
            Event::AttemptSealed { .. } => {
                let first = !std::mem::replace(&mut self.sealed, true);
                holds(first, "an_attempt_is_sealed_once", || "sealed again".to_owned())
            }
            _ => self.called(event),
        }
    }

    /// The events of calls.
    fn called(&mut self, event: &Event) -> Result<(), Broken> {
        match event {
            Event::ToolStarted { call, .. } => {
                // The files of a reply by contract are calls that the reply does not name.
                let book = self.calls.entry(*call).or_insert_with(|| CallBook {
                    repeat: Some(Repeat::Safe),
                    ..CallBook::default()
                });
                book.started += 1;
                let once = book.started == 1 && book.results == 0;
                holds(once, "a_call_starts_once", || format!("{call} started again"))
            }
            Event::ToolRefused { call, .. } => self.result(*call),
            Event::ToolFinished { call, .. } => {
                let book = self.calls.get(call);
                let started = book.is_some_and(|book| book.started == 1 || book.asks);
                holds(started, "a_call_starts_before_it_ends", || call.to_string())?;
                self.result(*call)
            }
            Event::ToolLost { call, .. } => {
                let started = self.calls.get(call).is_some_and(|book| book.started == 1);
                holds(started, "only_a_begun_call_is_lost", || call.to_string())?;
                self.result(*call)
            }
            _ => Ok(()),
        }
    }

    /// A turn is requested once, unless it failed.
    fn asks(
        &mut self,
        turn: (SessionId, u32),
        reserved: Spend,
        summary: bool,
    ) -> Result<(), Broken> {
        let again = self.asked.insert(turn, (reserved, summary)).is_some();
        holds(!again, "a_turn_is_asked_once", || format!("{turn:?}"))?;
        let held: u64 = self.asked.values().map(|(reserved, _)| reserved.tokens).sum();
        let fits = self.budget.tokens.is_none_or(|all| self.spent.tokens + held <= all);
        holds(fits, "what_is_set_aside_fits", || {
            format!("{} spent and {held} set aside of {:?}", self.spent.tokens, self.budget.tokens)
        })
    }

    /// Whether a summary was requested.
    fn answered(&mut self, session: SessionId, turn: u32) -> Result<bool, Broken> {
        let asked = self.asked.remove(&(session, turn));
        holds(asked.is_some(), "a_reply_answers_a_question", || format!("{session} turn {turn}"))?;
        Ok(asked.is_some_and(|(_, summary)| summary))
    }

    /// The usage of cut-off calls, which have no reservation any more.
    fn cut_off(&mut self, used: Option<&Used>) -> Result<(), Broken> {
        self.spends(used.map_or(0, |used| used.usage.total()), 0)
    }

    fn spends(&mut self, tokens: u64, calls: u64) -> Result<(), Broken> {
        self.spent.tokens += tokens;
        self.spent.calls += calls;
        let fits = self.budget.tokens.is_none_or(|all| self.spent.tokens <= all)
            && self.budget.calls.is_none_or(|all| self.spent.calls <= all);
        holds(fits, "never_more_than_the_budget", || {
            format!("{:?} of {:?}", self.spent, self.budget)
        })
    }

    /// The tokens of its replies, including those that broke off.
    pub(super) fn tokens(&self) -> u64 {
        self.spent.tokens
    }

    fn result(&mut self, call: CallId) -> Result<(), Broken> {
        let book = self.calls.entry(call).or_default();
        book.results += 1;
        holds(book.results == 1, "every_call_has_one_result", || format!("{call} has another one"))
    }

    pub(super) fn begins(&mut self, effect: &Effect) -> Result<(), Broken> {
        let id = effect.id();
        let stored = || format!("{id:?} begins and nothing on record asks for it");
        match effect {
            Effect::AskModel { request } => {
                let turn = (request.origin.session, request.origin.turn);
                holds(self.asked.contains_key(&turn), "stored_before_done", stored)
            }
            Effect::RunTool { call, .. } => {
                let book = self.calls.entry(*call).or_default();
                holds(book.started == 1, "stored_before_done", stored)?;
                holds(book.results == 0, "a_finished_call_is_never_made_again", || {
                    call.to_string()
                })?;
                book.performed += 1;
                let may = book.performed == 1 || book.repeat == Some(Repeat::Safe);
                holds(may, "a_cut_call_is_repeated_only_if_harmless", || call.to_string())
            }
            Effect::Seal { .. } => {
                let ended = self.ended.contains(&SessionId::ROOT) && !self.sealed;
                holds(ended, "sealed_after_the_end", || "it is not over, or sealed".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn all_answered(&self) -> Result<(), Broken> {
        let open = self.calls.iter().find(|(_, book)| book.results != 1);
        holds(open.is_none(), "every_call_has_one_result", || format!("{open:?}"))
    }

    pub(super) fn is_over(&mut self) -> Result<(), Broken> {
        self.over = true;
        // A stopped attempt leaves turns and calls open; their results are in the history all the same.
        if !self.submitted {
            return Ok(());
        }
        holds(self.asked.is_empty(), "no_turn_is_left_open", || format!("{:?}", self.asked))?;
        self.all_answered()
    }
}
