//! Who takes the request first? The first rule that matches says so; there is no default.

use types::{Decision, Event, RuleId, Timestamp};

use crate::condition::{Reading, holds};
use crate::{Run, intake};

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    if !run.is_admitted() || run.route().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    let reading = Reading::of_request(&asked.request, &intake::full_text(run), None);
    match run.policy().routing.iter().find(|rule| holds(&rule.when, &reading)) {
        Some(rule) => {
            let decision = Decision::new(rule.id.clone(), rule.reason.clone());
            vec![Event::RunRouted { to: rule.to.clone(), decision }]
        }
        None => {
            let reason = "no routing rule matches this request, and there is no default route";
            vec![Event::RunRefused {
                decision: Decision::new(RuleId::fixed("route.no_rule"), reason),
            }]
        }
    }
}
