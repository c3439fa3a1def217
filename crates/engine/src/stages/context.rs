//! Selects documents for the agents, after routing and again when an agent lacks context. `rules::context` decides
//! which document a rule covers.

use rules::context::{Available, choose};
use rules::reading::Reading;
use types::{Event, Timestamp};

use crate::Run;

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    if run.route().is_none() || (run.documents().is_some() && !run.wants_more_context()) {
        return vec![];
    }
    let again = run.chose_before();
    let Some(asked) = run.asked() else { return vec![] };
    let reading = Reading::of_text(&run.full_text());
    let available = Available::of(&asked.survey.documents, asked.request.registry.as_deref());
    let selection = choose(run.policy(), &available, &reading, again);
    vec![match selection.refused {
        Some(decision) => Event::RunRefused { decision },
        None => {
            Event::ContextSelected { included: selection.included, excluded: selection.excluded }
        }
    }]
}

#[cfg(test)]
mod tests;
