//! Who takes the request first? The first rule that matches says so; there is no default. A rule may also say that a
//! person has to decide, and what that person answers counts like the operator's hint.

pub use types::Confidence;
use types::{Category, Decision, Event, Hint, Policy, RoleId, RuleId, Timestamp};

use crate::condition::holds;
use crate::reading::Reading;
use crate::{Run, intake};

/// What the rules of routing say of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routed {
    pub course: Course,
    pub category: Option<Category>,
    pub confidence: Confidence,
    pub decision: Decision,
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    To(RoleId),
    /// The rule says that a person decides.
    Person,
    /// No rule matches.
    Nobody,
}

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if !run.is_admitted() || run.route().is_some() || run.open_question().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    let mut reading =
        Reading::of_request(&asked.request, &intake::full_text(run), types::Budget::default());
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
            let question = format!("{}. Is it technical, or product?", decision.reason);
            intake::ask(run, &[question], decision, now)
        }
    }]
}

/// Words inside of paths, code and quotations are only named, so they do not say what sort of request it is.
pub(crate) fn choose(policy: &Policy, reading: &Reading) -> Routed {
    let prose = reading.prose();
    match policy.routing.iter().find(|rule| holds(&rule.when, policy, &prose)) {
        Some(rule) => Routed {
            course: rule.to.clone().map_or(Course::Person, Course::To),
            category: rule.category,
            confidence: match rule.when.hint {
                Some(_) => Confidence::Deterministic,
                None => Confidence::Heuristic,
            },
            decision: Decision::new(rule.id.clone(), rule.reason.clone()),
        },
        None => {
            let reason = "no routing rule matches this request, and there is no default route";
            Routed {
                course: Course::Nobody,
                category: None,
                confidence: Confidence::Deterministic,
                decision: Decision::new(RuleId::fixed("route.no_rule"), reason),
            }
        }
    }
}

/// The hint that a person gave in answer to a question of ours.
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
