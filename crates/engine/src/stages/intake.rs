//! Intake: accepts a request, refuses it, or returns it with a question. Ordered rules decide, without a model, by the
//! text with all answers, the budget, and the named project type. The requester may insist, which is recorded; a rule
//! or a policy can exclude that.

use rules::admission::{INSIST, Judged, insists, judge, read};
use rules::reading::Reading;
use types::{
    Admission, Decision, Escalation, Event, QuestionKind, Request, Severity, Terms, Timestamp,
};

use crate::Run;
use crate::stages::question;
use crate::state::cost;

/// Maximum number of times a request is sent back before it is refused.
const MOST_ROUNDS: usize = 3;
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if run.is_admitted() || run.open_question().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    if let Some(decision) = asked.request.spec.as_deref().and_then(rules::spec::not_approved) {
        return vec![Event::RunRefused { decision }];
    }
    let Judged { verdict, decision, mut questions, insist } =
        judge(run.policy(), &reading(run, &asked.request));
    match verdict {
        Admission::Accept => vec![Event::RunAccepted { decision }],
        Admission::Refuse => vec![Event::RunRefused { decision }],
        Admission::Ask => {
            let hint = format!("Or answer `{INSIST}: REASON` to run the request as it is.");
            questions.extend(insist.then_some(hint));
            vec![ask(run, &questions, decision, now)]
        }
    }
}

/// The request with all answers about it in its run.
pub(crate) fn reading(run: &Run, request: &Request) -> Reading {
    let mut reading = read(run.policy(), request, &run.full_text(), run.ledger().budget());
    let answers = run.answers_about_the_request().filter_map(insists);
    reading.facts.insists = reading.facts.insists.or(answers.last().map(str::to_owned));
    let tokens = reading.facts.estimate;
    reading.facts.estimate_money = tokens.and_then(|tokens| cost(run, tokens));
    reading
}

/// Whether a request was refused by a rule that the requester may override.
pub fn may_insist(run: &Run) -> bool {
    let Some(asked) = run.asked().filter(|_| !run.is_admitted()) else { return false };
    let reading = reading(run, &asked.request);
    let judged = judge(run.policy(), &reading);
    judged.verdict == Admission::Refuse && judged.insist && reading.facts.insists.is_none()
}

/// Asks a person about the request, a bounded number of times.
pub(crate) fn ask(run: &Run, questions: &[String], decision: Decision, now: Timestamp) -> Event {
    let asked = run.questions().len();
    if asked >= MOST_ROUNDS {
        let reason = format!("still unresolved after {asked} answers: {}", decision.reason);
        return Event::RunRefused { decision: Decision { reason, ..decision } };
    }
    clarification(run, questions, decision, now)
}

/// A question about the request, whose answer becomes part of it.
pub(crate) fn clarification(
    run: &Run,
    questions: &[String],
    decision: Decision,
    now: Timestamp,
) -> Event {
    let escalation = Some(Escalation::ClarificationNeeded);
    let open = Terms::open(QuestionKind::Clarification, Severity::Medium);
    let terms = Terms { escalation, ..open };
    question::ask(run, (questions.join("\n"), decision), None, Some(terms), now)
}

#[cfg(test)]
mod tests;
