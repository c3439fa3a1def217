//! Is the request taken, refused, or sent back with a question? By ordered rules; no model is asked.

use types::{Admission, AdmissionRule, Decision, Event, RuleId, Timestamp};

use crate::Run;
use crate::condition::{Reading, holds};

/// How often a request may be sent back before it is refused.
const MOST_ROUNDS: usize = 3;

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    if run.is_admitted() || run.open_question().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    let text = full_text(run);
    let tokens = run.ledger().budget().tokens;
    let reading = Reading::of_request(&asked.request, &text, tokens);
    let rule = run.policy().admission.iter().find(|rule| holds(&rule.when, &reading));
    let Some(rule) = rule else {
        let reason =
            "no admission rule matches this request; the policy must end with one that does";
        return vec![Event::RunRefused {
            decision: Decision::new(RuleId::fixed("intake.no_rule"), reason),
        }];
    };
    let decision = Decision::new(rule.id.clone(), rule.reason.clone())
        .seeing(format!("{} words", reading.word_count()));
    match rule.verdict {
        Admission::Accept => vec![Event::RunAccepted { decision }],
        Admission::Refuse => vec![Event::RunRefused { decision }],
        Admission::Ask => ask(run, rule, decision),
    }
}

fn ask(run: &Run, rule: &AdmissionRule, decision: Decision) -> Vec<Event> {
    let asked = run.questions().len();
    if asked >= MOST_ROUNDS {
        let reason = format!("after {asked} answers it is still true: {}", rule.reason);
        let decision = Decision { reason, ..decision };
        return vec![Event::RunRefused { decision }];
    }
    let text =
        if rule.questions.is_empty() { rule.reason.clone() } else { rule.questions.join("\n") };
    let question = u32::try_from(asked).unwrap_or(u32::MAX);
    vec![Event::QuestionAsked { question, text, decision, attempt: None, call: None }]
}

/// The request with the answers that were given to our questions about it.
pub(crate) fn full_text(run: &Run) -> String {
    let text = run.asked().map(|asked| asked.request.text.as_str()).unwrap_or_default();
    let ours = run.questions().iter().filter(|question| question.from.is_none());
    let answers = ours.filter_map(|question| question.answer.as_deref());
    std::iter::once(text).chain(answers).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
