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

#[cfg(test)]
mod tests {
    use types::Hint;

    use crate::testing::{begin, crew, new_run, only, render, request, run_with, same, survey};

    fn routed(text: &str) -> String {
        only(&new_run().tell(&format!("begin {text}")), &["run.routed"])
    }

    #[test]
    fn the_operators_hint_wins_over_what_the_text_says() {
        let mut request = request("Add stats to src/stats.py");
        request.hint = Some(Hint::Technical);
        let events = render(&new_run().send(&begin(request, survey())));
        same(&only(&events, &["run.routed"]), "run.routed planner route.hint_technical");
    }

    #[test]
    fn a_request_that_names_a_file_is_about_the_code() {
        same(&routed("Add stats to src/stats.py"), "run.routed planner route.files_named");
    }

    #[test]
    fn any_other_goal_goes_by_the_last_rule() {
        same(&routed("Make onboarding friendlier"), "run.routed planner route.goal");
    }

    #[test]
    fn a_request_without_a_route_is_refused() {
        let mut policy = crew();
        policy.routing.pop();
        same(
            &run_with(policy).tell("begin Make onboarding friendlier"),
            "run.requested
             run.accepted intake.clear_goal
             run.refused route.no_rule
             run.finished refused, route.no_rule",
        );
    }
}
