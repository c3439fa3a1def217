//! Literals in tests and in code: their positions, and which of them hardly occur by chance. Their use is not analysed.

use crate::pattern::pattern;
use crate::signs::sign::Change;

/// The lines of tests and of their data.
pub(super) struct Corpus<'a> {
    pub(super) lines: Vec<&'a str>,
}

impl<'a> Corpus<'a> {
    pub(super) fn of(change: &Change<'a>) -> Self {
        let ignored = pattern!(r"^\s*(?:import|from|use|package|#include|source)\b");
        let lines = change.tests.iter().flat_map(|text| text.lines());
        Self { lines: lines.filter(|line| !ignored.is_match(line)).collect() }
    }

    pub(super) fn has(&self, literal: &str) -> bool {
        self.lines.iter().any(|line| holds(line, literal))
    }
}

/// Whether a text holds a literal as a whole, not as part of a longer word or number.
pub(super) fn holds(text: &str, literal: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let first = literal.chars().next().is_some_and(is_part);
    let last = literal.chars().next_back().is_some_and(is_part);
    text.match_indices(literal).any(|(at, found)| {
        let before = text[..at].chars().next_back().is_some_and(is_part);
        let after = text[at + found.len()..].chars().next().is_some_and(is_part);
        !(first && before || last && after)
    })
}

/// Whether the goal, or code and documents before the change, mentioned it.
pub(super) fn is_known(change: &Change<'_>, literal: &str) -> bool {
    holds(change.goal, literal)
        || change.code.iter().chain(change.documents).any(|text| holds(text, literal))
}

pub(super) fn is_number(literal: &str) -> bool {
    literal.parse::<f64>().is_ok()
}

/// Whether it is unlikely to occur in code by chance.
pub(super) fn is_telling(literal: &str) -> bool {
    if is_number(literal) {
        let common = ["10", "12", "16", "24", "32", "60", "64", "100", "128", "255", "256", "1000"];
        return literal.trim_start_matches('-').len() >= 2 && !common.contains(&literal);
    }
    literal.trim().chars().count() >= 3
}

/// Whether it alone reveals its origin.
pub(super) fn is_strong(literal: &str) -> bool {
    let odd = |c: char| !c.is_alphanumeric() && c != '_';
    let long = literal.chars().count();
    if is_number(literal) { long >= 5 } else { long >= 6 && literal.contains(odd) }
}

/// Whether a line is a message for people rather than a result.
pub(super) fn is_message(text: &str) -> bool {
    pattern!(
        r#"(?i)\b(?:raise|throw|panic!?|err|error|errorf|bail!|log|warn|usage|format!?|sprintf|console\.\w+|add_argument|help|println!|eprintln!|die|assert\w*!?)\b"#
    )
    .is_match(text)
}

/// The literals of a text: quoted strings, and numbers outside of them.
pub(super) fn literals(text: &str) -> Vec<String> {
    let token = pattern!(
        r#""((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)'|`([^`]+)`|(?:^|[^\w.$])(-?\d[\d_]*(?:\.\d+)?)\b"#
    );
    let words = token.captures_iter(text).filter_map(|found| {
        let word = (1..=4).find_map(|group| found.get(group))?.as_str();
        Some(if found.get(4).is_some() { word.replace('_', "") } else { word.to_owned() })
    });
    words.filter(|word| !word.trim().is_empty()).collect()
}
