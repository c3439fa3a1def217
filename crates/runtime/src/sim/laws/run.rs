//! The invariants of a run: the order of events, and the evidence required before something counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use types::{
    About, AttemptId, CheckEnd, CheckId, CommitId, Decision, Effect, Ended, Event, Phase,
    PlanApproval, Policy, RoleId, Status, Subject, TaskId,
};

use super::broken::{Broken, holds};

/// The facts of a run from its log.
#[derive(Debug)]
pub(super) struct RunBook {
    policy: Arc<Policy>,
    wants_approval: bool,
    accepted: bool,
    refused: bool,
    routed: Option<RoleId>,
    /// The tasks, with the number of their own checks.
    planned: Option<BTreeMap<TaskId, usize>>,
    approved: bool,
    gates: BTreeSet<Phase>,
    started: BTreeSet<AttemptId>,
    finished: BTreeSet<AttemptId>,
    retries: BTreeMap<TaskId, u32>,
    answers: u32,
    open_questions: BTreeSet<u32>,
    gate_questions: BTreeSet<u32>,
    checks: BTreeMap<CheckId, Option<CheckEnd>>,
    commands: BTreeMap<CheckId, String>,
    /// The commands of checks that the person accepted as failing, and of those that they dropped.
    excused: BTreeSet<String>,
    dropped: BTreeSet<String>,
    verified: BTreeSet<(TaskId, CommitId)>,
    merging: BTreeSet<TaskId>,
    done: BTreeSet<TaskId>,
    /// Tasks that the person waived.
    left_out: BTreeSet<TaskId>,
    /// A person accepted the open points of the merged result.
    confirmed: bool,
    pub(super) cancelled: bool,
    end: Option<Status>,
}

impl RunBook {
    pub(super) fn new(policy: Arc<Policy>) -> Self {
        Self {
            policy,
            wants_approval: false,
            accepted: false,
            refused: false,
            routed: None,
            planned: None,
            approved: false,
            gates: BTreeSet::new(),
            started: BTreeSet::new(),
            finished: BTreeSet::new(),
            retries: BTreeMap::new(),
            answers: 0,
            open_questions: BTreeSet::new(),
            gate_questions: BTreeSet::new(),
            checks: BTreeMap::new(),
            commands: BTreeMap::new(),
            excused: BTreeSet::new(),
            dropped: BTreeSet::new(),
            verified: BTreeSet::new(),
            merging: BTreeSet::new(),
            done: BTreeSet::new(),
            left_out: BTreeSet::new(),
            confirmed: false,
            cancelled: false,
            end: None,
        }
    }

    pub(super) fn stored(&mut self, event: &Event) -> Result<(), Broken> {
        let settles = matches!(event, Event::ResultSettled { .. });
        holds(self.end.is_none() || settles, "nothing_after_the_end", || {
            format!("{} after the end", event.kind())
        })?;
        match event {
            Event::RunRequested { request, .. } => {
                self.wants_approval =
                    request.planning.approve || self.policy.plan.approval == PlanApproval::Ask;
            }
            Event::RunAccepted { .. } => self.accepted = true,
            Event::RunRefused { .. } => {
                self.refused = true;
            }
            Event::RunRouted { to, .. } => self.routed = Some(to.clone()),
            Event::RunCancelled { .. } => self.cancelled = true,
            Event::GatePassed { phase, decision, .. } => {
                self.gates.insert(*phase);
                self.confirmed |=
                    *phase == Phase::Monitoring && decision.rule.as_str() == "person.go";
            }
            Event::PlanAdopted { plan, .. } => {
                let may = !self.wants_approval || self.approved || self.policy.intent.is_some();
                let tasks = plan.tasks.iter().map(|task| (task.id.clone(), task.checks.len()));
                self.planned = Some(tasks.collect());
                return holds(may, "no_plan_without_the_approval_that_is_wanted", String::new);
            }
            Event::QuestionAsked { question, terms, .. } => {
                let about = terms.as_ref().and_then(|terms| terms.about.as_ref());
                if matches!(about, Some(About::Gate(_))) {
                    self.gate_questions.insert(*question);
                }
                let new = self.open_questions.insert(*question);
                return holds(new, "a_question_is_asked_once", || question.to_string());
            }
            Event::QuestionAnswered { question, choice, text, .. } => {
                let of_gate = self.gate_questions.contains(question);
                if of_gate && choice.as_deref() == Some(types::choices::DROP) {
                    self.drops_failing();
                }
                self.answers += 1;
                self.approved |= choice.as_deref().unwrap_or(text) == "approve";
                let open = self.open_questions.remove(question);
                return holds(open, "an_answer_has_a_question", || question.to_string());
            }
            Event::RetryScheduled { task, .. } => {
                *self.retries.entry(task.clone()).or_default() += 1;
            }
            Event::RunFinished { status, .. } => return self.finishes(*status),
            _ => return self.works(event),
        }
        Ok(())
    }

    fn works(&mut self, event: &Event) -> Result<(), Broken> {
        match event {
            Event::AttemptStarted { attempt, .. } => self.starts(attempt),
            Event::AttemptFinished { attempt, .. } => {
                let open = self.started.contains(attempt) && self.finished.insert(attempt.clone());
                holds(open, "an_attempt_ends_once", || attempt.to_string())
            }
            Event::CheckStarted { check, what, .. } => {
                self.commands.insert(check.clone(), what.command.clone());
                let dropped = self.dropped.contains(&what.command);
                holds(!dropped, "a_dropped_check_does_not_run", || format!("{check:?}"))?;
                let new = self.checks.insert(check.clone(), None).is_none_or(|end| end.is_some());
                holds(new, "a_check_runs_once", || format!("{check:?}"))
            }
            Event::CheckFinished { check, end } => {
                let open = self.checks.insert(check.clone(), Some(end.clone())) == Some(None);
                holds(open, "a_check_ends_once", || format!("{check:?}"))
            }
            Event::TaskVerified { attempt, commit, decision, set_aside, .. } => {
                let dropped = decision.rule.as_str() == types::DROPPED_CHECK;
                let aside = if dropped { &mut self.dropped } else { &mut self.excused };
                aside.extend(set_aside.iter().cloned());
                self.verified.insert((attempt.task.clone(), commit.clone()));
                self.verifies(attempt, decision)
            }
            Event::MergeStarted { task, commit, .. } => {
                self.merging.insert(task.clone());
                let verified = self.verified.contains(&(task.clone(), commit.clone()));
                holds(verified, "merged_only_if_verified", || format!("{task} at {commit:?}"))
            }
            Event::MergeFinished { task, .. } => {
                let open = self.merging.remove(task);
                holds(open, "a_merge_ends_once", || task.to_string())
            }
            Event::TaskFinished { task, .. } => {
                self.done.insert(task.clone());
                let verified = self.verified.iter().any(|(of, _)| of == task);
                holds(verified, "finished_only_if_verified", || task.to_string())
            }
            Event::TaskSkipped { task, decision } => {
                if decision.rule.as_str().starts_with("person.") {
                    self.left_out.insert(task.clone());
                }
                Ok(())
            }
            Event::TaskRejected { attempt, .. } => {
                self.done.remove(&attempt.task);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn starts(&mut self, attempt: &AttemptId) -> Result<(), Broken> {
        let name = || attempt.to_string();
        holds(self.accepted && self.routed.is_some(), "admitted_before_anything_is_spent", name)?;
        holds(!self.cancelled, "nothing_begins_after_a_cancel", name)?;
        if attempt.task != TaskId::plan() {
            let may = self.planned.is_some() && self.gates.contains(&Phase::Planning);
            holds(may, "planned_before_it_is_worked_on", name)?;
        }
        let before = self.started.iter().filter(|other| other.task == attempt.task);
        let before = u32::try_from(before.count()).unwrap_or(u32::MAX);
        holds(attempt.n == before + 1, "attempts_are_counted", name)?;
        let open =
            self.started.iter().find(|o| o.task == attempt.task && !self.finished.contains(o));
        holds(open.is_none(), "one_attempt_at_a_task_at_a_time", name)?;
        self.started.insert(attempt.clone());
        let most: u32 = self.policy.failures.iter().map(|rule| rule.max_executions.max(1)).sum();
        // Each answer may allow more attempts; nothing else does.
        holds(before < most * (1 + self.answers), "never_more_attempts_than_allowed", name)
    }

    fn verifies(&self, attempt: &AttemptId, decision: &Decision) -> Result<(), Broken> {
        let by_person = decision.rule.as_str().starts_with("person.");
        // A task with its own checks needs only those; the others are decided on the merged tree.
        let own = self.planned.as_ref().and_then(|tasks| tasks.get(&attempt.task));
        let own = own.copied().filter(|own| *own > 0).unwrap_or(usize::MAX);
        let failing = self.checks.iter().find(|(check, end)| {
            check.on == Subject::Attempt(attempt.clone())
                && (check.index as usize) < own
                && !self.is_in(&self.dropped, check)
                && !end.as_ref().is_some_and(|end| end.passed() || end.is_excused())
        });
        holds(by_person || failing.is_none(), "verified_by_checks_or_a_person", || {
            format!("{attempt} although {failing:?}")
        })
    }

    fn is_in(&self, commands: &BTreeSet<String>, check: &CheckId) -> bool {
        self.commands.get(check).is_some_and(|command| commands.contains(command))
    }

    /// At the last gates, a person drops what fails on the merged tree.
    fn drops_failing(&mut self) {
        let failing = self.checks.iter().filter(|(check, end)| {
            check.on == Subject::Merged && !end.as_ref().is_some_and(CheckEnd::passed)
        });
        let commands = failing.filter_map(|(check, _)| self.commands.get(check));
        self.excused.extend(commands.cloned());
    }

    fn finishes(&mut self, status: Status) -> Result<(), Broken> {
        self.end = Some(status);
        holds(
            !self.cancelled || status == Status::Cancelled,
            "a_cancelled_run_is_cancelled",
            || format!("{status:?}"),
        )?;
        let open = self.started.difference(&self.finished).next();
        holds(open.is_none(), "no_attempt_is_left_open", || format!("{open:?}"))?;
        if status != Status::Done {
            return Ok(());
        }
        let planned = self.planned.clone().unwrap_or_default();
        let settled = |task: &&TaskId| self.done.contains(*task) || self.left_out.contains(*task);
        let missing = planned.keys().find(|task| !settled(task));
        holds(missing.is_none(), "done_only_if_all_is_verified", || format!("{missing:?}"))?;
        // A person may accept that a check does not end in time.
        let late = |end: &CheckEnd| end.ended == Ended::TimedOut && self.confirmed;
        let failing = self.checks.iter().find(|(check, end)| {
            check.on == Subject::Merged
                && !self.is_in(&self.excused, check)
                && !end.as_ref().is_some_and(|end| end.passed() || end.is_excused() || late(end))
        });
        holds(failing.is_none(), "done_only_if_the_merged_tree_passes", || format!("{failing:?}"))
    }

    pub(super) fn begins(&mut self, effect: &Effect) -> Result<(), Broken> {
        let stored = match effect {
            Effect::RunAttempt { brief, .. } => {
                self.started.contains(&brief.attempt) && !self.finished.contains(&brief.attempt)
            }
            Effect::RunCheck { check, .. } => self.checks.get(check) == Some(&None),
            Effect::Merge { task, .. } => self.merging.contains(task),
            Effect::Probe => self.accepted,
            _ => true,
        };
        let id = effect.id();
        holds(stored, "stored_before_done", || format!("{id:?} begins and nothing asks for it"))
    }

    pub(super) fn is_over(&mut self) -> Result<(), Broken> {
        let ended = self.end.is_some() || self.refused;
        holds(ended, "a_run_that_is_over_says_so", || "it has no end on record".to_owned())
    }
}
