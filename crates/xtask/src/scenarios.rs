//! The events that each scenario shows, read from the expected traces. The scenario runner verifies them.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::tree::Tree;

pub(crate) const FOLDER: &str = "scenarios/";

/// The scenarios for each event kind in a trace. A file that is not TOML shows nothing; the runner reports its problem.
pub(crate) fn shown(tree: &Tree) -> BTreeMap<String, BTreeSet<String>> {
    let mut shown: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in files(tree) {
        let mut words = Vec::new();
        if let Ok(table) = text.parse::<Table>() {
            traced(&Value::Table(table), &mut words);
        }
        for word in words {
            shown.entry(word).or_default().insert(path.to_owned());
        }
    }
    shown
}

pub(crate) fn files(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.under(FOLDER).filter(|(path, _)| path.ends_with(".toml"))
}

/// The key is `trace` at any level: one text of many lines, or a list of lines.
fn traced(value: &Value, words: &mut Vec<String>) {
    let Value::Table(table) = value else {
        return;
    };
    for (key, value) in table {
        match value {
            Value::String(text) if key == "trace" => words.extend(kinds_in(text)),
            Value::Array(lines) if key == "trace" => {
                words.extend(lines.iter().filter_map(Value::as_str).flat_map(kinds_in));
            }
            Value::Array(items) => items.iter().for_each(|item| traced(item, words)),
            other => traced(other, words),
        }
    }
}

/// The first dotted word of each line: the text before it locates the event, the text after it has its content.
fn kinds_in(text: &str) -> impl Iterator<Item = String> {
    let plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase());
    let kind = move |word: &&str| word.split_once('.').is_some_and(|(a, b)| plain(a) && plain(b));
    text.lines().filter_map(move |line| line.split_whitespace().find(kind)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_shows_the_first_kind_of_each_of_its_lines() {
        let text = "title = \"no.trace\"\n[expect]\ntrace = \"\"\"\n\
                    run.accepted   intake.clear\n  T1.1 tool.finished ok\n\"\"\"\n";
        let shown = shown(&Tree::of(&[("scenarios/intake/a.toml", text)]));
        let kinds: Vec<&str> = shown.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["run.accepted", "tool.finished"]);
        assert!(shown["run.accepted"].contains("scenarios/intake/a.toml"));
    }

    #[test]
    fn a_trace_may_also_be_a_list_of_lines() {
        let text = "[[part]]\ntrace = [\"run.accepted x\", \"run.finished done\"]\n";
        let shown = shown(&Tree::of(&[("scenarios/intake/a.toml", text)]));
        assert_eq!(shown.len(), 2);
    }
}
