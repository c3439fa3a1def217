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

#[cfg(test)]
mod tests {
    use types::Document;

    use crate::testing::{begin, new_run, only, render, request, same, survey};

    fn begun(paths: &[&str]) -> (String, String) {
        let document = |path: &&str| Document {
            path: path.parse().expect("a path"),
            text: format!("in {path}"),
        };
        let mut survey = survey();
        survey.documents = paths.iter().map(document).collect();
        let mut bench = new_run();
        let events = bench.send(&begin(request("Build a CLI"), survey));
        (only(&render(&events), &["context."]), format!("{:?}", bench.asked()))
    }

    #[test]
    fn every_document_is_decided_about_by_a_rule_on_record() {
        let (selected, brief) =
            begun(&["AGENTS.md", "context/archive/old.md", "context/api.md", "README.md"]);
        same(
            &selected,
            "context.selected +AGENTS.md context.agents_file, +context/api.md context.registry, \
             -context/archive/old.md context.superseded, -README.md context.no_rule",
        );
        for (text, given) in [
            ("in AGENTS.md", true),
            ("in context/api.md", true),
            ("in context/archive/old.md", false),
            ("in README.md", false),
        ] {
            assert_eq!(brief.contains(text), given, "{text}");
        }
    }

    #[test]
    fn a_repository_without_documents_is_decided_about_too() {
        same(&begun(&[]).0, "context.selected");
    }
}
