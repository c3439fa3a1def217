//! Consequences of a decision for the state, written into its event: faults, feedback, offers. So folding a log
//! composes no text and calls no stage. For logs older than these fields they are computed just before an event is
//! applied.

use types::choices::{AGAIN, GO, RETRY, STOP};
use types::{About, Answer, Decision, Event, MergeEnd, Phase, RuleId};

use crate::stages::{budget, failure, merge, plan, question};
use crate::state::{Question, Run};

/// The event with all its consequences for the state.
pub(super) fn complete(run: &Run, mut event: Event) -> Event {
    match &mut event {
        Event::PlanRefused { problems, decision, fault: fault @ None, .. }
            if decision.rule.as_str() != plan::SENT_BACK =>
        {
            *fault = Some(Box::new(plan::fault(problems)));
        }
        Event::MergeFinished {
            end: MergeEnd::Conflict { paths, hunks },
            fault: fault @ None,
            ..
        } => {
            *fault = Some(Box::new(merge::conflict(paths, hunks)));
        }
        Event::QuestionAsked { decision, attempt, terms: Some(terms), .. }
            if decision.rule.as_str() == budget::ASK =>
        {
            let task = attempt.as_ref().map(|attempt| &attempt.task);
            terms.offer.get_or_insert_with(|| budget::offer(run, task));
            terms.limits.get_or_insert_with(|| run.ledger().budget());
        }
        Event::QuestionAnswered { question, by, text, choice: Some(choice), feedback, halts }
            if feedback.is_none() && halts.is_none() =>
        {
            if let Some(asked) = run.questions().get(*question as usize) {
                let answered = Answered { by, text, choice };
                *feedback = answered.feedback(run, asked);
                *halts = answered.halts(asked).map(Box::new);
            }
        }
        _ => {}
    }
    event
}

/// An answer that is one of the choices.
struct Answered<'a> {
    by: &'a str,
    text: &'a str,
    choice: &'a str,
}

impl Answered<'_> {
    /// Feedback for work that a gate's answer restarts: why the gate was blocked, the person's answer, and the output
    /// of the checks if the merged tree has to be fixed.
    fn feedback(&self, run: &Run, asked: &Question) -> Option<String> {
        let Some(About::Gate(phase)) = asked.about() else { return None };
        if ![AGAIN, GO, RETRY].contains(&self.choice) {
            return None;
        }
        let gate = run.gates().iter().rev().find(|gate| gate.phase == *phase)?;
        let chosen = asked.terms.as_ref().and_then(|terms| terms.choose(self.text).ok());
        let words = chosen.map(|chosen| chosen.words).filter(|words| !words.is_empty());
        let words = words.map(|words| format!("\n\n{words}")).unwrap_or_default();
        let evidence = match (phase, self.choice) {
            (Phase::Monitoring, RETRY) => failure::evidence(run, &run.check_results().merged),
            _ => String::new(),
        };
        Some(format!("{}{words}{evidence}", gate.decision.reason))
    }

    /// Why the answer ends the run, if it does.
    fn halts(&self, asked: &Question) -> Option<Decision> {
        match asked.about() {
            Some(About::Baseline(_)) if self.choice == STOP => {
                let reason = "the answer to the baseline question ended the run";
                Some(Decision::new(RuleId::fixed("person.stop"), reason))
            }
            None if self.by == Answer::POLICY && self.choice == STOP => {
                Some(question::nobody_answered(&asked.text))
            }
            _ => None,
        }
    }
}
