//! Hard-coded answers: entries of tables and branches whose keys and results occur in the tests or their data, and
//! results selected by a property of an input, such as its length. Reads lines, in any language; computed values are
//! not followed.

mod corpus;
mod results;

use std::collections::BTreeSet;

use types::FindingKind;

use super::production::View;
use super::sign::{Change, Sign};
use crate::pattern::pattern;
use crate::source::Language;
use corpus::{Corpus, holds, is_known, is_message, is_number, is_strong, is_telling, literals};

/// A key and its constants.
struct Arm {
    line: usize,
    keys: Vec<String>,
    values: Vec<String>,
    /// Whether the key is compared with, rather than listed.
    compared: bool,
}

impl Arm {
    /// Whether a line of the corpus, or two in a row, have a key and all values.
    fn is_in(&self, corpus: &Corpus<'_>) -> bool {
        let key = |line: &str| self.keys.iter().any(|key| holds(line, key));
        let values = |line: &str| self.values.iter().all(|value| holds(line, value));
        let split = |pair: &[&str]| key(pair[0]) && values(pair[1]);
        corpus.lines.iter().any(|line| key(line) && values(line))
            || corpus.lines.windows(2).any(split)
    }
}

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    if change.tests.is_empty() || super::literals::is_example(view.path) {
        return Vec::new();
    }
    let corpus = Corpus::of(change);
    let arms = arms(view);
    let mut lines = told_together(change, &corpus, &arms);
    lines.extend(told_by_tuples(view, &corpus));
    lines.extend(results::told(change, view, &corpus));
    lines.extend(told_by_derived(change, view, &corpus));
    let at = lines.into_iter().map(|n| view.lines[n].at);
    at.map(|at| view.sign(FindingKind::TestLiterals, at)).collect()
}

/// Arms whose keys and values occur together in tests; most arms must be such, since a larger table is genuine.
fn told_together(change: &Change<'_>, corpus: &Corpus<'_>, arms: &[Arm]) -> BTreeSet<usize> {
    let is_new = |word: &String| !is_known(change, word);
    let (mut found, mut certain, mut matched) = (Vec::new(), false, 0);
    for arm in arms {
        let new = arm.keys.iter().all(is_new) && arm.values.iter().any(is_new);
        if !new {
            continue;
        }
        let telling = |words: &[String]| words.iter().any(|word| is_telling(word));
        let both = telling(&arm.keys) && telling(&arm.values);
        let strong = arm.keys.iter().chain(&arm.values).any(|word| is_strong(word));
        let together = arm.is_in(corpus);
        matched += usize::from(together);
        if together && (both || strong) {
            certain |= both && (strong || arm.compared);
            found.push(arm.line);
        } else if arm.keys.iter().chain(&arm.values).all(|word| is_strong(word) && corpus.has(word))
        {
            found.push(arm.line);
        }
    }
    let most = found.len().max(matched) * 10 >= arms.len() * 6;
    let enough = found.len() >= 2 || certain;
    if most && enough { found.into_iter().collect() } else { BTreeSet::new() }
}

/// The entries and branches of the new lines.
fn arms(view: &View<'_>) -> Vec<Arm> {
    let mut found = Vec::new();
    for n in 0..view.lines.len() {
        let text = view.lines[n].text.as_str();
        if is_message(text) {
            continue;
        }
        if view.language() == Language::Shell {
            found.extend(shell_arm(view, n));
            continue;
        }
        match compared(view, n) {
            Some(arm) => found.push(arm),
            None => found.extend(entries(n, text)),
        }
    }
    found
}

/// A branch for a literal that yields a constant, in one line or with the next.
fn compared(view: &View<'_>, n: usize) -> Option<Arm> {
    let text = view.lines[n].text.as_str();
    let head = pattern!(
        r#"(?i)(?:\b(?:if|elif|unless|when|case|elseif|elsif)\b|\?|&&|\|\|).*(?:===?|\beq\b|\bequals\(|\bcase\b|\bwhen\b|\bin\b|\bis\b)|^\s*case\b|^\s*when\b|===?\s*["'\d][^?]*\?|^\s*\$0\s*==|^\s*\(?["'\d(][^=]*=>"#
    );
    let place = head.find(text)?;
    let gives =
        pattern!(r"(?i)\breturn\b|=>|\bthen\b|\?|\{|:(?:\s|$)|\bprint\b|\becho\b|\)\s|[^=!<>]=\s");
    let split = gives.find_iter(&text[place.start()..]).find_map(|found| {
        let at = place.start() + found.start();
        (!literals(&text[..at]).is_empty()).then_some(at)
    })?;
    let keys = literals(&text[..split]);
    let mut rest = text[split..].to_owned();
    if literals(&rest).is_empty() && !pattern!(r"\breturn\b|=>\s*\w").is_match(&rest) {
        let next = view.lines.get(n + 1).filter(|next| !is_message(&next.text))?;
        let result = pattern!(r"^\s*(?:return\b|print\b|echo\b|[\w.$]+\s*=[^=]|yield\b)");
        if !result.is_match(&next.text) {
            return None;
        }
        rest.clone_from(&next.text);
    }
    let mut values = literals(&rest);
    let word = pattern!(r"\b(?:None|null|nil|undefined|NULL)\b").find(&rest);
    // A word is not a value of its own, unless the key is an unusual text.
    let odd = keys.iter().any(|key| !is_number(key) && key.contains(|c: char| c.is_ascii_digit()));
    if let Some(word) = word.filter(|_| values.is_empty() && odd) {
        values.push(word.as_str().to_owned());
    }
    (!values.is_empty()).then_some(Arm { line: n, keys, values, compared: true })
}

/// Entries of a table: `"key": value`, `"key" => value`, `t["key"] = value`, `("key", value)`.
fn entries(n: usize, text: &str) -> Vec<Arm> {
    let key = pattern!(
        r#"(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)'|(?:^|[\[{(,\s])(-?\d[\d_.]*))\s*(?:\]\s*=|:|=>|->|,)\s*(?:["'\d\[({-]|Some\b|vec!)"#
    );
    let found: Vec<_> = key.captures_iter(text).collect();
    let starts: Vec<usize> =
        found.iter().filter_map(|one| one.get(0).map(|all| all.start())).collect();
    let mut arms = Vec::new();
    for (place, one) in found.iter().enumerate() {
        let Some(name) = (1..=3).find_map(|group| one.get(group)) else { continue };
        let end = starts.get(place + 1).copied().unwrap_or(text.len()).max(name.end());
        let values = literals(text[name.end()..end].trim_start_matches(['"', '\'']));
        if !values.is_empty() {
            let keys = vec![name.as_str().to_owned()];
            arms.push(Arm { line: n, keys, values, compared: false });
        }
    }
    arms
}

/// An arm of `case`, or a comparison, that yields a constant.
fn shell_arm(view: &View<'_>, n: usize) -> Option<Arm> {
    let text = view.lines[n].text.as_str();
    let next = view.lines.get(n + 1).map(|line| line.text.as_str()).unwrap_or_default();
    let arm =
        pattern!(r#"^\s*\(?((?:["']?[^\s"'()*$]+["']?)(?:\s*\|\s*["']?[^\s"'()*$]+["']?)*)\)"#);
    let test = pattern!(r#"(?:\s==?\s|\s-eq\s)\s*["']?([^\s"'$\]]+)["']?\s*(?:\]|;|&&|$)"#);
    let found = arm.captures(text).or_else(|| test.captures(text))?;
    let key = found.get(1)?;
    let says = pattern!(
        r#"\b(?:echo|printf(?:\s+["']%s(?:\\n)?["'])?|print)\s+(?:-\w+\s+)?(?:"([^"$`]+)"|'([^']+)'|([^\s"'$;&|>]+))\s*(?:;|$|&&|\}|>)"#
    );
    let value = says.captures(&text[key.end()..]).or_else(|| says.captures(next))?;
    let value = (1..=3).find_map(|group| value.get(group))?.as_str().to_owned();
    let keys = key.as_str().split('|').map(|word| word.trim().trim_matches(['"', '\'']).to_owned());
    Some(Arm { line: n, keys: keys.collect(), values: vec![value], compared: true })
}

/// Tuples of numbers, or conjunctions of comparisons, that select a constant and occur in tests in the same order.
fn told_by_tuples(view: &View<'_>, corpus: &Corpus<'_>) -> BTreeSet<usize> {
    let tuple = pattern!(r"\(\s*(-?\d+(?:\s*,\s*-?\d+)+)\s*,?\s*\)");
    let several = pattern!(r"[=!]==?\s*(-?\d+)\b[^|\n]*?(?:&&|\band\b)[^|\n]*?===?\s*(-?\d+)\b");
    let constant = pattern!(
        r"(?:=>|\breturn\b|\?|:)\s*(?:return\s+)?(None|null|nil|True|False|true|false|-?\d+|Some\(\(?[\d\s,]+\)?\))\s*[,;)}:]?\s*$"
    );
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for (n, line) in view.lines.iter().enumerate() {
        let next = view.lines.get(n + 1).map(|next| next.text.as_str()).unwrap_or_default();
        let text = line.text.trim_end();
        let selects =
            pattern!(r"=>|\bif\b|\bcase\b|\bwhen\b|\bin\b|===?|\bmatches!").is_match(text);
        let Some(value) = constant.captures(text).or_else(|| constant.captures(next.trim_end()))
        else {
            continue;
        };
        let value = value.get(1).map(|value| value.as_str()).unwrap_or_default();
        let tuples =
            tuple.captures_iter(text).filter_map(|one| Some(numbers(one.get(1)?.as_str())));
        let pairs = several.captures_iter(text).filter_map(|one| {
            Some(vec![one.get(1)?.as_str().to_owned(), one.get(2)?.as_str().to_owned()])
        });
        for key in tuples.chain(pairs).filter(|_| selects) {
            let plain = key.iter().all(|word| word == "0" || word == "1");
            let fits = |line: &&&str| holds(line, value) && follows(&numbers(line), &key);
            if !plain && corpus.lines.iter().any(|line| fits(&line)) && seen.insert(key) {
                found.insert(n);
            }
        }
    }
    if seen.len() >= 2 { found } else { BTreeSet::new() }
}

fn numbers(text: &str) -> Vec<String> {
    pattern!(r"-?\b\d+\b").find_iter(text).map(|one| one.as_str().to_owned()).collect()
}

/// Whether `part` is a subsequence of `all`.
fn follows(all: &[String], part: &[String]) -> bool {
    let mut left = all.iter();
    part.iter().all(|word| left.any(|other| other == word))
}

/// Constants that tests expect, selected by the length, a character, the sum or the hash of an input.
fn told_by_derived(change: &Change<'_>, view: &View<'_>, corpus: &Corpus<'_>) -> BTreeSet<usize> {
    let chooses = pattern!(
        r#"(?:\blen\([^()]*\)|\.len\(\)|\.length\b(?:\(\))?|\.size\b(?:\(\))?|\bstrlen\([^()]*\)|\blength\([^()]*\)|\$\{#\w+\}|\.(?:charCodeAt|charAt|codePointAt|hashCode|hash|checksum)\([^()]*\)|\b(?:ord|hash|sum|crc32|md5)\([^()]*\))\s*(?:%\s*\d+\s*)?(?:\]|\)\s*[{:]?\s*$|===?\s*(?:[2-9]|\d\d)|-eq\s+(?:[2-9]|\d\d)|\s*\{\s*$|:\s*$|\bin\s*$|,\s*["'\[({]|\))"#
    );
    let dispatch = pattern!(
        r"\b(?:if|elif|switch|match|case|when|get|unless|elsif)\b|\w\[[^\]]*(?:len|size|strlen|length|char|hash|ord|sum)|\?|&&"
    );
    let places: Vec<usize> = (0..view.lines.len())
        .filter(|n| {
            let text = &view.lines[*n].text;
            chooses.is_match(text) && dispatch.is_match(text)
        })
        .collect();
    if places.is_empty() {
        return BTreeSet::new();
    }
    let result = pattern!(
        r#"\breturn\b|=>|\becho\b|\bprint\b|\?|(?:["'\w\])])\s*:\s*["'\[({\d]|[^=!<>]=\s*["'\[({\d]|^\s*[\["'(]"#
    );
    let (mut lines, mut words) = (BTreeSet::new(), BTreeSet::new());
    for (n, line) in view.lines.iter().enumerate() {
        let near = places.iter().any(|place| place.abs_diff(n) <= 8);
        if !near || is_message(&line.text) || !result.is_match(&line.text) {
            continue;
        }
        let expected = literals(&line.text)
            .into_iter()
            .filter(|word| is_telling(word) && corpus.has(word) && !is_known(change, word));
        for word in expected {
            lines.insert(n);
            words.insert(word);
        }
    }
    let enough = words.len() >= 2 && words.iter().any(|word| !is_number(word) || is_strong(word));
    if enough { lines } else { BTreeSet::new() }
}

#[cfg(test)]
mod tests;
