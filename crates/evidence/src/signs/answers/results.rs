//! Constants returned by a branch, under any condition, that a test expects: recognised by parts shared with the input
//! in the same line of the test, or by very long numbers. A label or a message shares nothing with an input.

use std::collections::BTreeSet;

use super::corpus::{Corpus, holds, is_known, is_message, is_number, is_telling, literals};
use crate::pattern::pattern;
use crate::signs::production::View;
use crate::signs::sign::Change;

/// The lines that return such constants.
pub(super) fn told(change: &Change<'_>, view: &View<'_>, corpus: &Corpus<'_>) -> BTreeSet<usize> {
    let (mut sure, mut likely) = (BTreeSet::new(), BTreeSet::new());
    for (n, line) in view.lines.iter().enumerate() {
        if is_message(&line.text) || !is_branch(view, n) {
            continue;
        }
        for words in constants(&line.text) {
            if words.iter().all(|word| is_known(change, word)) {
                continue;
            }
            let together = |line: &&&str| words.iter().all(|word| holds(line, word));
            let numbers = words.iter().filter(|word| is_number(word)).count();
            let many = numbers >= 3 && words.iter().any(|word| is_telling(word));
            let long = words.iter().any(|word| is_long(word) && !is_known(change, word));
            let shares = |line: &&str| shares_a_word(line, &words);
            if corpus.lines.iter().filter(together).any(|line| many || shares(line)) {
                sure.insert(n);
            } else if long && corpus.lines.iter().any(|line| together(&line)) {
                likely.insert(words);
                sure.extend((likely.len() >= 2).then_some(n));
            }
        }
    }
    sure
}

/// Whether a line returns a result only under a condition beyond a check for emptiness.
fn is_branch(view: &View<'_>, n: usize) -> bool {
    let text = &view.lines[n].text;
    let condition = pattern!(
        r"\b(?:if|elif|elsif|elseif|else if|case|when|match|switch|except|unless)\b|\?|=>|^\s*[^\s()]+\)"
    );
    let empty = pattern!(
        r#"(?:\bnot\s+\w+\s*:|\(\s*!\s*[\w.]+\s*\)|[=!]==?\s*(?:0|1|""|''|null|nil|None|undefined)(?:\W|$)|\bis\s+None\b|\bis_empty\(\)|\.empty\?|\bisEmpty\(\)|\.is_none\(\)|\s-z\s)"#
    );
    let above = if n > 0 { view.lines[n - 1].text.as_str() } else { "" };
    let head = if condition.is_match(text) { text.as_str() } else { above };
    condition.is_match(head) && !empty.is_match(head)
}

/// The constant results in a line, each with all of its literals.
fn constants(text: &str) -> Vec<Vec<String>> {
    let gives = pattern!(r"\breturn\b|=>|\becho\b|\bprintf?\b|\?\s|\bthen\b|\s:\s|\belse\b");
    let mut found = Vec::new();
    for place in gives.find_iter(text) {
        let rest = text[place.end()..].trim_start();
        let end = pattern!(r"\s:\s|\bif\b|\belse\b|;|\?\s")
            .find(rest)
            .map_or(rest.len(), |end| end.start());
        let result = &rest[..end];
        let quoted = pattern!(r#""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$]*`"#);
        let bare = quoted.replace_all(result, "");
        // Names are kept only if they build or label a constant.
        let builders = pattern!(
            r"\b(?:Some|Ok|Vec|vec|String|from|to_string|to_owned|into|return|string|int|new|list|dict|tuple|byte|float64|of|List|Map|Arrays|asList|date|datetime|Date)\b|\b\w+\s*:"
        );
        let names = builders.replace_all(&bare, "");
        let words = literals(result);
        if !words.is_empty() && !pattern!(r"[A-Za-z_]\w*|\+\s|%|\$").is_match(&names) {
            found.push(words);
        }
    }
    found
}

/// Whether a number is too long to be chance.
fn is_long(word: &str) -> bool {
    let common = ["1024", "3600", "4096", "8080", "65535", "65536", "86400", "1000000"];
    is_number(word)
        && word.trim_end_matches('0').trim_start_matches('-').len() >= 4
        && !common.contains(&word)
}

/// Whether a constant repeats a word of another literal in the line, as a value derived from an input does.
fn shares_a_word(line: &str, words: &[String]) -> bool {
    let parts = |text: &str| -> BTreeSet<String> {
        let all = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
        all.filter(|part| part.chars().count() >= 3).collect()
    };
    let inputs: BTreeSet<String> = literals(line)
        .iter()
        .filter(|literal| !words.contains(literal))
        .flat_map(|literal| parts(literal))
        .collect();
    words.iter().filter(|word| word.chars().count() >= 5 && !is_number(word)).any(|word| {
        let own = parts(word);
        own.iter().any(|part| inputs.contains(part))
    })
}
