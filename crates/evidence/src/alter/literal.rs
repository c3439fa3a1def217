//! Replacement literals of the same type, chosen so that no true equality still holds and the file still compiles.

use std::ops::Range;

use super::edit::{Altered, Edit, applied};
use crate::pattern::pattern;
use crate::source::{Language, Source, line_range};

/// Words that build a value from literals without changing it.
const MAKERS: &[&str] = &[
    "Some",
    "Ok",
    "Err",
    "vec",
    "String",
    "from",
    "to_string",
    "to_owned",
    "into",
    "to_vec",
    "Box",
    "new",
    "Vec",
    "Cow",
    "Decimal",
    "Fraction",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "List",
    "of",
    "listOf",
    "setOf",
    "mapOf",
    "arrayOf",
    "Set",
    "Map",
    "Arrays",
    "asList",
    "Array",
    "string",
    "int",
    "int32",
    "int64",
    "uint8",
    "uint64",
    "byte",
    "rune",
    "float64",
    "bool",
    "map",
    "any",
    "interface",
    "array",
    "bytes",
    "date",
    "datetime",
    "Path",
    "PosixPath",
    "BigDecimal",
    "BigInteger",
    "Optional",
    "collect",
    "True",
    "False",
    "true",
    "false",
    "None",
    "null",
];

/// Another value for an expression made of literals.
pub(super) fn other(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    if let Some(with) = single(source, range.clone()) {
        return Some(Edit { at: range, with, telling: true });
    }
    composite(source, range)
}

/// Another literal for a single one.
fn single(source: &Source<'_>, range: Range<usize>) -> Option<String> {
    let text = &source.text[range.clone()];
    if let Some(string) = source.strings.iter().find(|span| **span == range) {
        return other_string(source, string);
    }
    if let Some(number) = other_number(text) {
        return Some(number);
    }
    let dynamic = matches!(
        source.language,
        Language::Python | Language::JavaScript | Language::Ruby | Language::Php
    );
    let with = match text {
        "true" => "false",
        "false" => "true",
        "True" => "False",
        "False" => "True",
        "None" if source.language == Language::Python => "0",
        "nil" if source.language == Language::Ruby => "0",
        "null" | "undefined" if dynamic => "'z'",
        "null" if source.language == Language::Java => "\"z\"",
        "[]" if dynamic => "[0]",
        "()" if source.language == Language::Python => "(0,)",
        "{}" if source.language == Language::Python => "{0: 0}",
        "{}" if source.language == Language::JavaScript => "{ z: 0 }",
        "{}" if source.language == Language::Ruby => "{0 => 0}",
        _ => return None,
    };
    Some(with.to_owned())
}

fn other_string(source: &Source<'_>, span: &Range<usize>) -> Option<String> {
    let text = &source.text[span.clone()];
    let content = source.content(span);
    if text.starts_with('/') || text.starts_with("<<") || text.starts_with("c\"") {
        return None;
    }
    let opening = content.as_ptr() as usize - text.as_ptr() as usize;
    let single = text.ends_with('\'') && source.language.has_characters();
    let bytes = source.language == Language::Rust && text.starts_with('b');
    if single || bytes {
        // The length is part of the type: one character replaces another.
        let first = content.chars().next().filter(char::is_ascii_alphanumeric)?;
        let next = if first == 'x' { 'y' } else { 'x' };
        return Some(
            format!("{}{next}{}", &text[..opening], &content[1..])
                + &text[opening + content.len()..],
        );
    }
    Some(format!("{}z{}", &text[..opening], &text[opening..]))
}

/// Another number of the same type: its last integer digit is one less, or 1 for 0.
pub(super) fn other_number(text: &str) -> Option<String> {
    let number = pattern!(
        r"^[-+]?(?:0[xX][0-9a-fA-F_]+|0[bBoO][0-7_]+|\d[\d_]*)(?P<rest>(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?(?:_?[a-zA-Z]\w*)?)$"
    );
    let found = number.captures(text)?;
    let rest = found.name("rest")?.start();
    let at = text[..rest].rfind(|c: char| c != '_')?;
    let digit = text.as_bytes()[at];
    let other = match digit {
        b'0' => '1',
        b'a' | b'A' => '9',
        digit => char::from(digit - 1),
    };
    Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
}

/// The first literal of a list, tuple, map or other value made of literals.
fn composite(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let bare = &source.bare[range.clone()];
    let plain = |c: char| c.is_alphanumeric() || " \n\t\r\"'`()[]{},.:_&!=>-#".contains(c);
    if !bare.chars().all(plain) || pattern!(r"==|=>\s*\{|->").is_match(bare) {
        return None;
    }
    for word in pattern!(r#"\b[A-Za-z_]\w*"#).find_iter(bare) {
        let behind = bare[word.end()..].trim_start();
        let is_key =
            behind.starts_with(':') && !behind.starts_with("::") || behind.starts_with("=>");
        let is_prefix = bare[word.end()..].starts_with(['"', '\'']) && word.as_str().len() <= 2;
        if !is_key && !is_prefix && !MAKERS.contains(&word.as_str()) {
            return None;
        }
    }
    let string =
        source.strings.iter().find(|span| span.start >= range.start && span.end <= range.end);
    let number =
        pattern!(r"(?:^|[\s(\[{,:=-])(\d[\w.]*)").captures(bare).and_then(|found| found.get(1));
    let number = number.map(|found| range.start + found.start()..range.start + found.end());
    let first = match (string.cloned(), number) {
        (Some(string), Some(number)) if number.start < string.start => number,
        (Some(string), _) => string,
        (None, number) => number?,
    };
    let with = single(source, first.clone())?;
    Some(Edit { at: first, with, telling: true })
}

/// An expected document with its first telling line altered, or a table of cases with another expected value.
pub(super) fn altered_document(path: &str, text: &str) -> Option<Altered> {
    let known = pattern!(
        r"(?i)(?:^|/)(?:approved|approvals|expected|golden|goldens|snapshots|__snapshots__)/|\.(?:golden|approved|expected|snap)(?:\.\w+)?$"
    );
    let heads = |line: &str| line.is_empty() || line.starts_with("//") || line.starts_with("---");
    let edit = match known.is_match(path) {
        true => {
            let line = text.lines().find(|line| !heads(line.trim()))?;
            let at = line.as_ptr() as usize - text.as_ptr() as usize;
            Edit { at: at..at, with: "z".to_owned(), telling: true }
        }
        false => expected_value(path, text)?,
    };
    let line = line_range(text, edit.at.start);
    let number = text[..line.start].matches('\n').count() + 1;
    Some(Altered {
        tests: Vec::new(),
        lines: vec![(u32::try_from(number).unwrap_or(u32::MAX), text[line].trim().to_owned())],
        planted: None,
        text: applied(text, vec![edit])?,
    })
}

/// Another value for the last key that says that it is expected, in data of tests.
fn expected_value(path: &str, text: &str) -> Option<Edit> {
    let of_tests = pattern!(
        r"(?i)(?:^|/)(?:tests?|testdata|test_data|fixtures|__fixtures__|__tests__|spec|cases)/.*\.(?:json|ya?ml|toml)$|(?:^|/)\w*cases\.(?:json|ya?ml|toml)$"
    );
    let key = pattern!(
        r#"(?m)(?:^|[\s{,-])["']?(?:want|wanted|expect|expected|output|result)["']?\s*[:=]\s*(?P<v>"(?:[^"\\\n]|\\.)*"|-?\d[\d.]*|true|false)\s*(?:[,}#]|$)"#
    );
    if !of_tests.is_match(path) {
        return None;
    }
    let value = key.captures_iter(text).filter_map(|found| found.name("v")).last()?;
    let with = match value.as_str() {
        "true" => "false".to_owned(),
        "false" => "true".to_owned(),
        string if string.starts_with('"') => format!("\"z{}", &string[1..]),
        number => other_number(number)?,
    };
    Some(Edit { at: value.range(), with, telling: true })
}
