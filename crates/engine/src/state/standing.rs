//! The position of a run: its request, gates, questions and times; the most common queries of the stages.

use rules::admission::insists;
use rules::plan::Headroom;
use types::{Budget, CheckEnd, Decision, Ended, GateView, Phase, Settled, Timestamp};

use super::{Breakers, Question, Run, Stop};

impl Run {
    /// The text of the request.
    pub(crate) fn goal(&self) -> &str {
        self.request().map(|request| request.text.as_str()).unwrap_or_default()
    }

    /// The request with the answers to questions about it.
    pub(crate) fn full_text(&self) -> String {
        let answers = self.answered_about_the_request().map(|(_, answer)| answer);
        std::iter::once(self.goal()).chain(answers).collect::<Vec<_>>().join("\n")
    }

    /// The questions about the request with their answers, except the reasons to insist.
    pub(crate) fn answered_about_the_request(&self) -> impl Iterator<Item = (&str, &str)> {
        let ours = self.questions.iter().filter(|question| question.is_about_the_request());
        let said = ours.filter_map(|question| Some((question.text.as_str(), question.said()?)));
        said.filter(|(_, answer)| !self.policy.insist || insists(answer).is_none())
    }

    /// The answers to questions about the request.
    pub(crate) fn answers_about_the_request(&self) -> impl Iterator<Item = &str> {
        let ours = self.questions.iter().filter(|question| question.is_about_the_request());
        ours.filter_map(|question| question.said())
    }

    pub(crate) fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The first open question.
    pub(crate) fn open_question(&self) -> Option<usize> {
        self.open.first().copied()
    }

    /// All open questions; answered ones cost nothing.
    pub(crate) fn open_questions(&self) -> impl Iterator<Item = (u32, &Question)> {
        let open = self.open.iter();
        open.filter_map(|place| Some((u32::try_from(*place).ok()?, self.questions.get(*place)?)))
    }

    /// Whether everything in progress is brought to an end.
    pub(crate) fn winds_down(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Whether nothing can happen any more.
    pub(crate) fn is_over(&self) -> bool {
        self.finished.is_some()
    }

    /// When it ended.
    pub(crate) fn ended(&self) -> Option<Timestamp> {
        self.finished.and(self.ended)
    }

    /// The settlement of the result after the end: accepted or discarded.
    pub(crate) fn settlement(&self) -> Option<&Settled> {
        self.settlement.as_ref()
    }

    /// The first phase whose gate has not been passed, also after a no-go.
    pub(crate) fn phase(&self) -> Phase {
        Phase::ALL.into_iter().find(|phase| !self.passed(*phase)).unwrap_or(Phase::Closure)
    }

    /// The valid verdict of a phase's gate, if any.
    pub(crate) fn verdict(&self, phase: Phase) -> Option<&GateView> {
        self.gates.iter().rev().find(|gate| gate.phase == phase && !gate.reopened)
    }

    /// The current no-go, if any.
    pub(crate) fn blocked(&self) -> Option<&GateView> {
        self.gates.iter().find(|gate| !gate.go && !gate.reopened)
    }

    /// The number of tasks in the merge order.
    pub(crate) fn order_of_merging(&self) -> usize {
        self.order.len()
    }

    /// Whether a check was ended by a limit that was only estimated, so that it says nothing about its tree.
    pub(crate) fn timed_out(&self, end: &CheckEnd) -> bool {
        self.policy.limits.check_timeout_factor > 0
            && end.ended == Ended::TimedOut
            && end.untried.is_none()
    }

    /// Whether the gate of a phase was passed and has not been reopened.
    pub(crate) fn passed(&self, phase: Phase) -> bool {
        self.verdict(phase).is_some_and(|gate| gate.go)
    }

    /// The remaining budget, and the amount spent so far.
    pub(crate) fn headroom(&self, now: Timestamp) -> Headroom {
        let time_ms = self.deadline().map(|deadline| deadline.since(now));
        let left = Budget { time_ms, ..self.free() };
        Headroom { left, spent: self.ledger.spent() }
    }

    pub(crate) fn gates(&self) -> &[GateView] {
        &self.gates
    }

    /// The run's deadline; `None` while it only waits for a person.
    pub(crate) fn deadline(&self) -> Option<Timestamp> {
        let waited = self.standstill.over()?;
        self.ledger.budget().time_ms.map(|time| self.started.after(time).after(waited))
    }

    /// Whether a question is open and only its answer can continue the run. Called after every event, so it returns at
    /// once if no question is open.
    pub(crate) fn stands_still(&self) -> bool {
        self.open_question().is_some()
            && !self.winds_down()
            && !self.check_results.merged.iter().any(|check| check.end.is_none())
            && !self.check_results.baseline.iter().any(|check| check.end.is_none())
            && !self.check_results.without.values().any(|check| check.end.is_none())
            && !self.check_results.with_tests.iter().any(|check| check.end.is_none())
            && self.busy().all(|(task, task_state)| self.waits(&task, task_state))
    }

    /// The reason to end it early that is reported, if there is one.
    pub(crate) fn stop(&self) -> Option<(&Stop, &Decision)> {
        self.stops.first_key_value()
    }

    pub(crate) fn breakers(&self) -> &Breakers {
        &self.breakers
    }
}
