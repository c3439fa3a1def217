//! Answers to a run's questions: which are taken, and what holds when nobody gives one in time.

use types::{Decision, Event, OnExpiry, Policy, RuleId, Said, Terms, Timestamp};

use crate::{Machine as _, Run};

/// The choice that ends the run, wherever a question offers it or nobody answers.
pub(crate) const STOP: &str = "stop";

/// When a question that is asked now is no longer waited for.
pub(crate) fn expiry(policy: &Policy, now: Timestamp) -> Option<Timestamp> {
    policy.questions.expire_after_ms.map(|span| now.after(span))
}

/// What a person said is taken if the question is open and it is one of its answers.
pub(crate) fn answered(run: &Run, number: u32, by: &str, text: &str) -> Vec<Event> {
    let Some(question) = run.questions().get(number as usize) else { return vec![] };
    if !question.is_open() || run.winds_down() {
        return vec![];
    }
    let choice = match &question.terms {
        None => None,
        Some(terms) => match terms.choose(text) {
            Ok(chosen) => chosen.choice,
            Err(_) => return vec![],
        },
    };
    vec![Event::QuestionAnswered {
        question: number,
        by: by.to_owned(),
        text: text.to_owned(),
        choice,
    }]
}

/// Has somebody been waited for long enough?
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let late = run.questions().iter().zip(0_u32..).find_map(|(question, number)| {
        let late = question.expires().is_some_and(|expires| expires <= now);
        Some((number, question.terms.as_deref()?)).filter(|_| late)
    });
    let Some((question, terms)) = late else { return vec![] };
    let (text, choice) = at_expiry(run.policy(), terms);
    let by = Said::POLICY.to_owned();
    vec![Event::QuestionAnswered { question, by, text, choice }]
}

fn at_expiry(policy: &Policy, terms: &Terms) -> (String, Option<String>) {
    match (&terms.default, policy.questions.on_expiry) {
        (Some(default), OnExpiry::Default) => {
            let choice = terms.choose(default).ok().and_then(|chosen| chosen.choice);
            (default.clone(), choice)
        }
        _ => (STOP.to_owned(), Some(STOP.to_owned())),
    }
}

/// Why a run ends when nobody answered a question that it cannot do without.
pub(crate) fn nobody_answered(text: &str) -> Decision {
    let reason = format!("nobody answered in time: {}", types::one_line(text, 200));
    Decision::new(RuleId::fixed("question.expired"), reason)
}
