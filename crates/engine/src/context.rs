//! Which documents are the agents given? Every one that is there is decided about, by a rule that is on record.

use types::{ContextRule, Event, Inclusion, RuleId, Selected, Timestamp, WorkPath};

use crate::Run;

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    if run.route().is_none() || run.documents().is_some() {
        return vec![];
    }
    let Some(asked) = run.asked() else { return vec![] };
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for document in &asked.survey.documents {
        let rule = run.policy().context.iter().find(|rule| covers(rule, &document.path));
        let path = document.path.clone();
        match rule {
            Some(rule) if rule.verdict == Inclusion::Include => {
                included.push(Selected { path, rule: rule.id.clone() });
            }
            Some(rule) => excluded.push(Selected { path, rule: rule.id.clone() }),
            None => excluded.push(Selected { path, rule: RuleId::fixed("context.no_rule") }),
        }
    }
    vec![Event::ContextSelected { included, excluded }]
}

fn covers(rule: &ContextRule, path: &WorkPath) -> bool {
    rule.paths.is_empty()
        || rule.paths.iter().any(|start| path.as_str().starts_with(start.as_str()))
}
