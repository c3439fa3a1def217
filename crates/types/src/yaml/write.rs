//! The canonical form: two spaces per level, keys sorted below the top, no folded lines. A text is bare if it cannot be
//! read as anything else, a block if it has several lines, and quoted otherwise.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// A value as YAML. The keys of the outermost map follow the order of `first`, with the others sorted after them;
/// nested keys are sorted. The same content always gives the same bytes.
#[must_use]
pub fn canonical(value: &Value, first: &[&str]) -> String {
    let mut text = String::new();
    match value {
        Value::Object(entries) if !entries.is_empty() => map(&mut text, entries, first, 0),
        Value::Array(items) if !items.is_empty() => list(&mut text, items, 0),
        other => {
            scalar(&mut text, other, 0);
            text.push('\n');
        }
    }
    text
}

fn map(text: &mut String, entries: &Map<String, Value>, first: &[&str], depth: usize) {
    let mut keys: Vec<&String> = entries.keys().collect();
    let rank = |key: &str| first.iter().position(|name| *name == key).unwrap_or(first.len());
    keys.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)));
    for (place, key) in keys.into_iter().enumerate() {
        // The first key of a map in a list follows the list's dash.
        if place > 0 || !text.ends_with("- ") {
            indent(text, depth);
        }
        word(text, key);
        text.push(':');
        below(text, &entries[key], depth + 1);
    }
}

fn list(text: &mut String, items: &[Value], depth: usize) {
    for item in items {
        indent(text, depth);
        match item {
            Value::Object(entries) if !entries.is_empty() => {
                text.push_str("- ");
                map(text, entries, &[], depth + 1);
            }
            other => {
                text.push('-');
                below(text, other, depth + 1);
            }
        }
    }
}

/// The value after a colon or a dash.
fn below(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            text.push('\n');
            map(text, entries, &[], depth);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('\n');
            list(text, items, depth);
        }
        other => {
            text.push(' ');
            scalar(text, other, depth);
            text.push('\n');
        }
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

fn scalar(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(words) if is_block(words) => block(text, words, depth),
        Value::String(words) => word(text, words),
        Value::Array(_) => text.push_str("[]"),
        Value::Object(_) => text.push_str("{}"),
        other => text.push_str(&other.to_string()),
    }
}

/// Whether a text with several lines can be written as a block.
fn is_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    body.contains('\n')
        && !body.starts_with(char::is_whitespace)
        && !body.ends_with(char::is_whitespace)
        && body
            .lines()
            .all(|line| !line.starts_with('\t') && !line.trim().is_empty() || line.is_empty())
        && body.chars().all(|c| c == '\n' || c == '\t' || is_printable(c))
}

fn block(text: &mut String, words: &str, depth: usize) {
    text.push('|');
    let body = words.strip_suffix('\n').unwrap_or_else(|| {
        text.push('-');
        words
    });
    for line in body.split('\n') {
        text.push('\n');
        if !line.is_empty() {
            indent(text, depth.max(1));
            text.push_str(line);
        }
    }
}

fn word(text: &mut String, words: &str) {
    if is_bare(words) {
        text.push_str(words);
    } else {
        quoted(text, words);
    }
}

/// Whether an unquoted text reads as itself in every version of YAML.
fn is_bare(text: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || " _-./,()+;=".contains(c);
    let reserved = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !text.ends_with(' ')
        && text.chars().all(plain)
        && !reserved.contains(&text.to_ascii_lowercase().as_str())
}

fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

fn quoted(text: &mut String, words: &str) {
    text.push('"');
    for c in words.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if is_printable(c) => text.push(c),
            c => {
                let code = u32::from(c);
                // Writing to a string cannot fail.
                let _ = if code > 0xffff {
                    write!(text, "\\U{code:08x}")
                } else {
                    write!(text, "\\u{code:04x}")
                };
            }
        }
    }
    text.push('"');
}
