//! Routing: which role takes a request first. The first matching rule decides; there is no default.

use types::{Category, Confidence, Decision, Policy, RoleId, RuleId};

use crate::condition::holds;
use crate::reading::Reading;

/// The decision of the routing rules on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routed {
    pub course: Course,
    pub category: Option<Category>,
    pub confidence: Confidence,
    pub decision: Decision,
}

/// The destination of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Course {
    To(RoleId),
    /// A person decides.
    Person,
    /// No rule matches.
    Nobody,
}

/// Routes a request by its prose; words inside paths, code and quotations do not count.
#[must_use]
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
