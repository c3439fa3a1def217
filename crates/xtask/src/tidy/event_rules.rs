//! Requirements on the catalogue of events: few, documented, named once, each shown in a scenario.

use std::collections::BTreeSet;

use super::names::camel_words;
use crate::events::{self, Kind, SOURCE};
use crate::finding::Finding;
use crate::scenarios;
use crate::tree::Tree;

const MOST: usize = 51;
/// The second place with the serialized names.
const NAMES: &str = "crates/types/src/kind.rs";
/// Past tenses that do not end in `ed`.
const IRREGULAR: &[&str] = &[
    "lost", "sent", "spent", "made", "found", "built", "cut", "chosen", "written", "woken", "told",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.file(SOURCE) else {
        return vec![Finding::new(SOURCE, 1, "the catalogue of events is missing")];
    };
    let kinds = events::kinds(text);
    let names = tree.file(NAMES).unwrap_or(text);
    let mut findings = Vec::new();
    if kinds.is_empty() {
        findings.push(Finding::new(SOURCE, 1, "no `pub enum Event {` with variants was found"));
    }
    if kinds.len() > MOST {
        let what = format!("{} kinds of events, at most {MOST}; merge some", kinds.len());
        findings.push(Finding::new(SOURCE, 1, what));
    }
    let mut seen = BTreeSet::new();
    for kind in &kinds {
        let repeated = !seen.insert(kind.name.as_str());
        let mut problems = problems(kind);
        problems.extend(repeated.then(|| format!("`{}` is named twice", kind.name)));
        problems.extend(other_name(names, kind));
        findings.extend(problems.into_iter().map(|what| Finding::new(SOURCE, kind.line, what)));
    }
    findings.extend(not_shown(tree, &kinds));
    findings
}

fn problems(kind: &Kind) -> Vec<String> {
    let mut problems = Vec::new();
    let variant = &kind.variant;
    if kind.meaning.is_empty() {
        problems.push(format!("say above `{variant}` what happened, with `///`"));
    }
    let words = camel_words(variant);
    let wanted = words.join(".");
    if kind.name != wanted || words.len() != 2 {
        let hint = if words.len() == 2 { wanted } else { "noun.past".to_owned() };
        problems.push(format!(
            "`{variant}` is written `{}`; the written name is the variant's two words: \
             #[serde(rename = \"{hint}\")]",
            kind.name
        ));
    }
    let past = words.last().map(String::as_str).unwrap_or_default();
    if !past.ends_with("ed") && !IRREGULAR.contains(&past) {
        problems.push(format!(
            "`{past}` is no past tense; an event is something that happened \
             (an irregular verb goes into the list in crates/xtask/src/tidy/event_rules.rs)"
        ));
    }
    problems
}

/// `Event::kind` repeats the names, because serde does not expose them; the two must agree.
fn other_name(text: &str, kind: &Kind) -> Option<String> {
    let arm = format!("Self::{} {{ .. }} => \"", kind.variant);
    let name = text.split_once(&arm)?.1.split('"').next()?;
    (name != kind.name)
        .then(|| format!("`{}` is written `{}`, but kind() says `{name}`", kind.variant, kind.name))
}

/// Empty while there are no scenarios at all; tidy reports that.
fn not_shown(tree: &Tree, kinds: &[Kind]) -> Vec<Finding> {
    if tree.under(scenarios::FOLDER).next().is_none() {
        return Vec::new();
    }
    let shown = scenarios::shown(tree);
    let hidden = kinds.iter().filter(|kind| !shown.contains_key(&kind.name));
    let what = |name: &str| format!("no scenario shows `{name}`: add one whose trace has it");
    hidden.map(|kind| Finding::new(SOURCE, kind.line, what(&kind.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variants: &str, scenarios: &[(&str, &str)]) -> Vec<String> {
        let text = format!("pub enum Event {{\n{variants}}}\n");
        let mut files = vec![(SOURCE, text.as_str())];
        files.extend(scenarios);
        check(&Tree::of(&files)).iter().map(ToString::to_string).collect()
    }

    const GOOD: &str = "    /// It ended.\n    #[serde(rename = \"run.ended\")]\n    RunEnded,\n";

    #[test]
    fn a_good_event_passes() {
        assert_eq!(found(GOOD, &[]), [""; 0]);
    }

    #[test]
    fn an_event_says_what_happened() {
        let found = found("    #[serde(rename = \"run.ended\")]\n    RunEnded,\n", &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/types/src/event.rs:3: say above"), "{found:?}");
    }

    #[test]
    fn an_event_has_one_name() {
        let other = found(&GOOD.replace("run.ended", "run.finished"), &[]);
        assert!(other[0].contains("#[serde(rename = \"run.ended\")]"), "{other:?}");
        let three = found(&GOOD.replace("RunEnded", "RunEarlyEnded"), &[]);
        assert!(three[0].contains("noun.past"), "{three:?}");
        let twice = found(&GOOD.repeat(2), &[]);
        assert!(twice[0].contains("named twice"), "{twice:?}");
        let arm = format!("{GOOD}}}\nSelf::RunEnded {{ .. }} => \"run.over\",\n{{");
        assert!(found(&arm, &[])[0].contains("kind() says `run.over`"));
    }

    #[test]
    fn an_event_is_in_the_past() {
        let now = found(&GOOD.replace("run.ended", "run.end").replace("RunEnded", "RunEnd"), &[]);
        assert!(now[0].contains("`end` is no past tense"), "{now:?}");
        let lost = GOOD.replace("run.ended", "run.lost").replace("RunEnded", "RunLost");
        assert_eq!(found(&lost, &[]), [""; 0]);
    }

    #[test]
    fn there_are_few_events() {
        let letters = ('a'..='z').flat_map(|a| ['a', 'b'].map(|b| format!("{a}{b}")));
        let variants: String = letters
            .map(|noun| {
                let upper = noun[..1].to_uppercase() + &noun[1..];
                GOOD.replace("run.", &format!("{noun}.")).replace("RunE", &format!("{upper}E"))
            })
            .collect();
        let found = found(&variants, &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("52 kinds of events, at most 51"));
    }

    #[test]
    fn every_event_is_shown_in_a_scenario_once_there_are_any() {
        let shows = [("scenarios/gate/a.toml", "trace = \"run.ended\"")];
        assert_eq!(found(GOOD, &shows), [""; 0]);
        let hides = found(GOOD, &[("scenarios/gate/a.toml", "trace = \"run.began\"")]);
        assert!(hides[0].contains("no scenario shows `run.ended`"), "{hides:?}");
    }
}
