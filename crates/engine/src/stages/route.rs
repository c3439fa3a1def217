//! Routing: the first rule that matches names the role; there is no default. A rule may also ask a person, whose answer
//! counts like the operator's hint.

use rules::reading::Reading;
use rules::routing::{Course, Routed, choose};
use types::{Event, Hint, Timestamp};

use crate::Run;
use crate::stages::intake;

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if !run.is_admitted() || run.route().is_some() || run.open_question().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    let mut reading =
        Reading::of_request(&asked.request, &run.full_text(), types::Budget::default());
    reading.facts.hint = reading.facts.hint.or_else(|| answered(run));
    let Routed { course, category, confidence, decision } = choose(run.policy(), &reading);
    vec![match course {
        Course::To(to) => Event::RunRouted {
            to,
            category,
            confidence: Some(confidence),
            doctrine: format!("{} {}", run.policy().name, run.policy().version),
            decision,
        },
        Course::Nobody => Event::RunRefused { decision },
        Course::Person => {
            let question = format!("{}. Is the request `technical` or `product`?", decision.reason);
            intake::ask(run, &[question], decision, now)
        }
    }]
}

/// The hint that a person gave in answer to a question.
pub(crate) fn answered(run: &Run) -> Option<Hint> {
    let ours = run.questions().iter().rev().filter(|question| question.from.is_none());
    ours.filter_map(|question| question.said()).find_map(|answer| {
        match answer.trim().trim_end_matches('.').to_lowercase().as_str() {
            "technical" => Some(Hint::Technical),
            "product" => Some(Hint::Product),
            "ambiguous" => Some(Hint::Ambiguous),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests;
