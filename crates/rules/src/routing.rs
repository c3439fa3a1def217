//! Rules of routing: who takes a request first? The first rule that matches says so; there is no default.

use types::{Category, Confidence, Decision, Policy, RoleId, RuleId};

use crate::condition::holds;
use crate::reading::Reading;

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

/// Words inside of paths, code and quotations are only named, so they do not say what sort of request it is.
pub fn choose(policy: &Policy, reading: &Reading) -> Routed {
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
