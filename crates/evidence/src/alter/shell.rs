//! Expectations in shell scripts: comparisons of a word with a result, by brackets, helpers or grep. A helper with
//! ambiguous arguments is left alone.

use std::ops::Range;

use super::edit::Edit;
use super::literal::other_number;
use crate::pattern::pattern;
use crate::source::Source;

/// The edits that make single expectations of a block fail. Nested functions, loops and branches are skipped.
pub(super) fn expectations(source: &Source<'_>, block: Range<usize>) -> Vec<Edit> {
    let strict = pattern!(r"(?m)^\s*set\s+-\w*e|^#!.*\s-\w*e|^@test ").is_match(source.text);
    let lines = source.logical_lines(block.clone());
    let (mut depth, mut found) = (0_i32, Vec::new());
    for (n, line) in lines.iter().enumerate() {
        let line = source.trimmed(line.clone());
        let bare = &source.bare[line.clone()];
        let opens =
            pattern!(r"(?:^|[;&|]\s*|\bthen\s+|\bdo\s+|\belse\s+)(?:if|for|while|until|case)\b");
        let closes = pattern!(r"(?:^|[;\s])(?:fi|done|esac)\b");
        let (up, down) = (opens.find_iter(bare).count(), closes.find_iter(bare).count());
        if depth == 0 {
            let last = n + 1 == lines.len();
            let rest = &source.bare[line.start..block.end];
            found.extend(if bare.starts_with("if ") {
                branch(source, line.clone(), rest)
            } else {
                plain(source, line.clone(), strict || last)
            });
        }
        depth += i32::try_from(up).unwrap_or(0) - i32::try_from(down).unwrap_or(0);
    }
    found
}

/// A line that fails with a comparison, a search or a helper.
fn plain(source: &Source<'_>, line: Range<usize>, alone: bool) -> Option<Edit> {
    let bare = &source.bare[line.clone()];
    let or = bare.find("||");
    if bare.contains("&&") && or.is_none_or(|at| bare.find("&&").is_some_and(|and| and < at)) {
        return None;
    }
    let end = line.start + or.unwrap_or(bare.len());
    let command = line.start..end;
    if let Some(found) = pattern!(r"^(?:test|\[\[?)\s").find(bare) {
        let inside = line.start + found.end()..end;
        return comparison(source, inside, &["=", "==", "-eq"]).filter(|_| alone || or.is_some());
    }
    let found = search(source, &command).filter(|_| or.is_some() || alone);
    found.or_else(|| helper(source, command))
}

/// A branch taken when a comparison does not hold, which ends in failure.
fn branch(source: &Source<'_>, line: Range<usize>, rest: &str) -> Option<Edit> {
    let block = rest.split("\nfi").next().unwrap_or(rest);
    if !pattern!(r"\bexit\s+[1-9$]|\breturn\s+1|\bfail\w*\b").is_match(block)
        || block.contains("else")
    {
        return None;
    }
    let bare = &source.bare[line.clone()];
    let found = pattern!(r"^if\s+(?:test|\[\[?)\s").find(bare)?;
    let end = bare.find(';').map_or(line.end, |at| line.start + at);
    comparison(source, line.start + found.end()..end, &["!=", "-ne"])
}

/// The words of a command, quotation marks included.
fn words(source: &Source<'_>, range: Range<usize>) -> Vec<Range<usize>> {
    let bytes = source.text.as_bytes();
    let (mut at, mut found) = (range.start, Vec::new());
    while at < range.end {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        while at < range.end && !bytes[at].is_ascii_whitespace() {
            at = match source.strings.iter().find(|span| span.start == at) {
                Some(span) => span.end,
                None => at + 1,
            };
        }
        found.push(start..at.min(range.end));
    }
    found
}

fn is_dynamic(source: &Source<'_>, word: &Range<usize>) -> bool {
    let text = &source.text[word.clone()];
    !text.starts_with('\'') && text.contains(['$', '`'])
}

fn other_word(source: &Source<'_>, word: &Range<usize>, numeric: bool) -> Option<Edit> {
    let text = &source.text[word.clone()];
    if is_dynamic(source, word) || text.starts_with(['-', '>', '<', '|', '&', ';']) {
        return None;
    }
    let with = match text.chars().next()? {
        _ if numeric => other_number(text)?,
        quote @ ('"' | '\'') => format!("{quote}z{}", &text[1..]),
        _ if text.contains(['*', '?', '(', ')', '{', '}']) => return None,
        _ => format!("z{text}"),
    };
    Some(Edit { at: word.clone(), with, telling: true })
}

fn comparison(source: &Source<'_>, range: Range<usize>, signs: &[&str]) -> Option<Edit> {
    let words = words(source, range);
    let at = words.iter().position(|word| signs.contains(&&source.text[word.clone()]))?;
    let numeric = source.text[words[at].clone()].starts_with('-');
    let (left, right) = (words.get(at.checked_sub(1)?)?, words.get(at + 1)?);
    let negated =
        at > 1 || words.iter().any(|word| matches!(&source.text[word.clone()], "-o" | "!"));
    match (is_dynamic(source, left), is_dynamic(source, right)) {
        _ if negated => None,
        (true, false) => other_word(source, right, numeric),
        (false, true) => other_word(source, left, numeric),
        _ => None,
    }
}

/// A search that must find its pattern.
fn search(source: &Source<'_>, command: &Range<usize>) -> Option<Edit> {
    let found = pattern!(r"(?:^|\|\s*)grep\s+").find_iter(&source.bare[command.clone()]).last()?;
    let words = words(source, command.start + found.end()..command.end);
    let flags: Vec<&str> = words
        .iter()
        .map(|word| &source.text[word.clone()])
        .take_while(|word| word.starts_with('-'))
        .collect();
    let all = flags.concat();
    let sought = words.get(flags.len())?;
    let text = &source.text[sought.clone()];
    if all.contains(['v', 'c', 'e', 'f'])
        || text.contains('|')
        || flags.iter().any(|flag| flag.starts_with("--"))
    {
        return None;
    }
    other_word(source, sought, false)
}

/// A call of a helper that compares two of its arguments.
fn helper(source: &Source<'_>, command: Range<usize>) -> Option<Edit> {
    let words = words(source, command);
    let (first, arguments) = words.split_first()?;
    let name = &source.text[first.clone()];
    if !pattern!(r"^(?:assert|expect|check|should|is|eq|equals|verify|compare|same|t_is)\w*$")
        .is_match(name)
    {
        return None;
    }
    if pattern!(r"(?i)not|contain|match|differ|ne$|exists|file|dir").is_match(name) {
        return None;
    }
    let pair = compared(source, name).or_else(|| guessed(source, name, arguments));
    let (one, two) = pair?;
    let (left, right) = (arguments.get(one)?, arguments.get(two)?);
    match (is_dynamic(source, left), is_dynamic(source, right)) {
        (true, false) => other_word(source, right, false),
        (false, true) => other_word(source, left, false),
        _ => None,
    }
}

/// The arguments that a helper of the same file compares.
fn compared(source: &Source<'_>, name: &str) -> Option<(usize, usize)> {
    let start = source
        .text
        .find(&format!("{name}()"))
        .or_else(|| source.text.find(&format!("function {name}")))?;
    let body = &source.text[start..];
    let body = &body[..body.find("\n}").unwrap_or(body.len())];
    let found =
        pattern!(r#"\$\{?([1-9])\}?"?\s*(?:!=|==?|-eq|-ne)\s*"?\$\{?([1-9])"#).captures(body)?;
    let place = |n: usize| found.get(n)?.as_str().parse::<usize>().ok()?.checked_sub(1);
    Some((place(1)?, place(2)?))
}

/// The arguments that a helper of another file compares, if its name and their order are unambiguous.
fn guessed(source: &Source<'_>, name: &str, arguments: &[Range<usize>]) -> Option<(usize, usize)> {
    let dynamic: Vec<usize> =
        (0..arguments.len()).filter(|n| is_dynamic(source, &arguments[*n])).collect();
    match (arguments.len(), dynamic.as_slice()) {
        (2, [_]) => Some((0, 1)),
        (3, [1]) if !name.starts_with("assert") => Some((1, 2)),
        (3, [2]) => Some((1, 2)),
        _ => None,
    }
}
