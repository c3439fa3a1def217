//! Expectations in tables: rows of values that a loop, or a runner, compares one by one. Only a value whose name says that
//! it is expected, or that the test compares by its name, is altered, in the last row.

use std::ops::Range;

use super::edit::Edit;
use super::literal::other;
use crate::cases::Case;
use crate::pattern::pattern;
use crate::source::{Language, Source, line_range};

/// Another value in the last row of the table that a test compares with.
pub(super) fn expectation(source: &Source<'_>, case: &Case) -> Option<Edit> {
    let around = around(source, case);
    by_key(source, case, &around).or_else(|| match source.language {
        Language::Python => parametrised(source, case, &around),
        Language::Go => by_field(source, case),
        Language::JavaScript => by_place(source, case),
        _ => None,
    })
}

/// A test with its decorators.
fn around(source: &Source<'_>, case: &Case) -> Range<usize> {
    let line = line_range(source.text, case.start).start;
    if source.language != Language::Python {
        return line..case.body.end;
    }
    let above = source.logical_lines(0..line);
    let marks = above
        .iter()
        .rev()
        .take_while(|range| source.bare[source.trimmed((*range).clone())].starts_with('@'));
    marks.last().map_or(line, |range| range.start)..case.body.end
}

/// The last value after a key that says that it is expected, or that the test compares: `want: 3`, `"expected": "x"`.
fn by_key(source: &Source<'_>, case: &Case, range: &Range<usize>) -> Option<Edit> {
    let key = pattern!(r#"(?:["'](?P<a>\w+)["']|\b(?P<b>\w+))\s*:\s*"#);
    let says = |key: &str| matches!(key, "want" | "wanted" | "expected");
    let compared = |key: &str| {
        matches!(key, "expect" | "exp" | "output" | "out" | "result") && compares(source, case, key)
    };
    let text = &source.code()[range.clone()];
    let values = key.captures_iter(text).filter_map(|found| {
        let name = found.name("a").or_else(|| found.name("b"))?.as_str();
        if !says(name) && !compared(name) {
            return None;
        }
        let start = range.start + found.get(0)?.end();
        let rest = start..range.end;
        let end = [",", "}", "\n"].iter().filter_map(|end| first(source, &rest, end)).min()?;
        // In a type or a signature, no literal follows.
        other(source, source.trimmed(start..end))
    });
    values.last()
}

/// The first place of a sign outside of brackets that open after the start.
fn first(source: &Source<'_>, range: &Range<usize>, sign: &str) -> Option<usize> {
    if sign == "}" {
        let (mut depth, bytes) = (0_i32, source.bare.as_bytes());
        for at in range.clone() {
            depth += i32::from(matches!(bytes[at], b'{' | b'(' | b'['));
            depth -= i32::from(matches!(bytes[at], b'}' | b')' | b']'));
            if depth < 0 {
                return Some(at);
            }
        }
        return None;
    }
    source.top_level(range.clone(), sign).first().copied()
}

/// Whether a test compares something by its name.
fn compares(source: &Source<'_>, case: &Case, name: &str) -> bool {
    let body = &source.bare[case.body.clone()];
    body.match_indices(name).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let (before, rest) = (&body[..at], &body[at + name.len()..]);
        let whole = !before.ends_with(letter) && !rest.starts_with(letter);
        let (before, rest) = (
            before.trim_end().trim_end_matches(|c: char| letter(c) || c == '.'),
            rest.trim_start(),
        );
        let before = before.trim_end();
        let equal = before.ends_with("==")
            || before.ends_with("!=")
            || rest.starts_with("==")
            || rest.starts_with("!=");
        let line = before.lines().last().unwrap_or_default();
        let call = pattern!(r"(?i)(?:equal\w*|to\.?be|same|\bis|eq\w*)\(");
        let passed = match before.ends_with('(') {
            true => call.find_iter(before).last().is_some_and(|found| found.end() == before.len()),
            false => before.ends_with(',') && rest.starts_with([',', ')']) && call.is_match(line),
        };
        whole && (equal || passed)
    })
}

/// The element at a place in the last row of a list of rows.
fn in_last_row(source: &Source<'_>, list: Range<usize>, place: usize) -> Option<Edit> {
    let opens = |range: &Range<usize>| source.bare[range.clone()].starts_with(['[', '(', '{']);
    let list = Some(source.trimmed(list)).filter(opens)?;
    let rows = source.arguments(list.start)?;
    let row = rows.last()?.clone();
    let value = if opens(&row) {
        source.arguments(row.start)?.get(place)?.clone()
    } else {
        // `pytest.param(1, 2)`
        let open = source.bare[row.clone()].find('(').filter(|_| place > 0)?;
        source.arguments(row.start + open)?.get(place)?.clone()
    };
    other(source, value)
}

/// The list that an expression is, or that a name stands for.
fn list(source: &Source<'_>, range: Range<usize>) -> Option<Range<usize>> {
    let range = source.trimmed(range);
    let text = &source.bare[range.clone()];
    if text.starts_with(['[', '(']) {
        return Some(range);
    }
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let heads = [format!("{text} = ["), format!("{text} = (")];
    let found = heads.iter().find_map(|head| Some((source.bare.find(head.as_str())?, head.len())));
    let (at, length) = found.filter(|_| is_name)?;
    let open = at + length - 1;
    Some(open..source.closing(open)? + 1)
}

/// A row of `@pytest.mark.parametrize("a, want", [(1, 2)])`.
fn parametrised(source: &Source<'_>, case: &Case, around: &Range<usize>) -> Option<Edit> {
    let marks = around.start..case.start;
    let head = pattern!(r"\bparametrize\(");
    let edits = head.find_iter(&source.bare[marks.clone()]).filter_map(|found| {
        let arguments = source.arguments(marks.start + found.end() - 1)?;
        let names =
            source.text[arguments.first()?.clone()].replace(['"', '\'', '[', ']', '(', ')'], "");
        let names: Vec<&str> =
            names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let place = names.iter().rposition(|name| compares(source, case, name))?;
        let list = list(source, arguments.get(1)?.clone())?;
        (names.len() > 1).then(|| in_last_row(source, list, place))?
    });
    edits.last().or_else(|| by_place(source, case))
}

/// A row of a loop: `for (const [a, want] of [[1, 2]])`, `for a, want in [(1, 2)]:`.
fn by_place(source: &Source<'_>, case: &Case) -> Option<Edit> {
    let head = pattern!(
        r"\bfor\s+(?P<n>\w+(?:\s*,\s*\w+)+)\s+in\s+|\bfor\s*\(\s*(?:const|let|var)\s*\[(?P<m>[^\]]*)\]\s*of\s+"
    );
    let body = &source.bare[case.body.clone()];
    let edits = head.captures_iter(body).filter_map(|found| {
        let names = found.name("n").or_else(|| found.name("m"))?;
        let place = names
            .as_str()
            .split(',')
            .map(str::trim)
            .collect::<Vec<_>>()
            .iter()
            .rposition(|name| !name.is_empty() && compares(source, case, name))?;
        let start = case.body.start + found.get(0)?.end();
        let rest = start..case.body.end;
        let end = match source.language {
            Language::Python => first(source, &rest, ":")?,
            _ => first(source, &rest, ")").or_else(|| first(source, &rest, "}"))?,
        };
        in_last_row(source, list(source, start..end)?, place)
    });
    edits.last()
}

/// A row of `[]struct{ in string; want int }{{"a", 1}}` in Go.
fn by_field(source: &Source<'_>, case: &Case) -> Option<Edit> {
    let body = &source.bare[case.body.clone()];
    let found = pattern!(r"\[\]struct\s*\{").find(body)?;
    let open = case.body.start + found.end() - 1;
    let close = source.closing(open)?;
    let fields = source.bare[open + 1..close].split(['\n', ';']);
    let names = fields.flat_map(|field| {
        let (names, _) = field.trim().rsplit_once(' ').unwrap_or_default();
        names
            .split(',')
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
    });
    let place = names.collect::<Vec<_>>().iter().rposition(|name| compares(source, case, name))?;
    let rows = source.trimmed(close + 1..case.body.end).start;
    let end = source.closing(rows)?;
    in_last_row(source, rows..end + 1, place)
}
