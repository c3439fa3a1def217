//! The mutations that one line can have, by language. Which lines and how many is decided by the parent module.

use std::ops::Range;

use crate::pattern::{Pattern, pattern};
use crate::source::{Language, Source};

/// A replacement in a text. The lower the rank, the more likely it is that the file still compiles and behaves
/// differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mutation {
    pub(super) at: Range<usize>,
    pub(super) with: String,
    pub(super) rank: u8,
}

const CONDITION: u8 = 0;
const ARITHMETIC: u8 = 1;
const RESULT: u8 = 2;
const NUMBER: u8 = 3;
const CALL: u8 = 4;
const VALUE: u8 = 5;
pub(super) const STRING: u8 = 6;

/// Whether a line without its strings and comments declares something and does nothing: imports, annotations, documentation.
pub(super) fn declares(language: Language, bare: &str) -> bool {
    let head: &Pattern = match language {
        Language::Python => pattern!(
            r"(?x)^(?:import\b|from\b.*\bimport\b|@|global\b|nonlocal\b|__\w+__\ =
            |\w+(?::\ TypeAlias)?\ =\ (?:tuple|list|dict|set|type|[A-Z]\w+)\[.*\]$
            |\w+\ =\ (?:\w+\.)?(?:TypeVar|TypeVarTuple|ParamSpec|NewType)\(
            |[rRuU]?(?:\x22{3}|'{3}))"
        ),
        Language::JavaScript => {
            pattern!(r"^(?:import\b|export\b.*\bfrom\b|interface\b|(?:export\s+)?type\b)")
        }
        Language::Rust => pattern!(r"^(?:(?:pub(?:\([a-z]+\))?\s+)?(?:use|mod)\b|extern\b|#!?\[)"),
        Language::Go => pattern!(r"^(?:import\b|package\b)"),
        Language::C => {
            pattern!(r"^(?:#\s*(?:include|pragma|if|ifdef|ifndef|endif|else)\b|extern\b)")
        }
        Language::Java | Language::Kotlin | Language::CSharp => {
            pattern!(r"^(?:import\b|package\b|using\b|@\w)")
        }
        Language::Ruby => pattern!(r"^(?:require\b|require_relative\b)"),
        Language::Php => pattern!(r"^(?:<\?php|use\b|namespace\b|declare\b|require)"),
        Language::Shell => pattern!(r"^(?:set\b|source\b)"),
    };
    head.is_match(bare)
}

/// The lines of Python's imports and lists of public names, which may be long.
pub(super) fn declarations(source: &Source<'_>) -> Vec<Range<usize>> {
    if source.language != Language::Python {
        return vec![];
    }
    let lines = source.logical_lines(0..source.text.len()).into_iter();
    let head = pattern!(r"^\s*(?:import\b|from\b[^\n]*\bimport\b|__all__\s*\+?=)");
    lines.filter(|line| head.is_match(&source.bare[line.clone()])).collect()
}

/// The mutations of a line.
pub(super) fn mutations(source: &Source<'_>, line: &Range<usize>) -> Vec<Mutation> {
    let bare = &source.bare[line.clone()];
    let mut found = Vec::new();
    let mut add = |at: Range<usize>, with: &str, rank: u8| {
        let at = line.start + at.start..line.start + at.end;
        found.push(Mutation { at, with: with.to_owned(), rank });
    };
    for (from, to, rank) in swaps(source.language) {
        for (at, _) in bare.match_indices(from) {
            add(at..at + from.len(), to, *rank);
        }
    }
    for found in pattern!(r"\b(?:true|false|True|False)\b").find_iter(bare) {
        let with = match found.as_str() {
            "true" => "false",
            "false" => "true",
            "True" => "False",
            _ => "True",
        };
        add(found.range(), with, NUMBER);
    }
    for found in pattern!(r"(?:^|[^\w.])(\d+)(?:\.\d+)?(?:[^\w.]|$)").captures_iter(bare) {
        let Some(digits) = found.get(1) else { continue };
        let Some(next) = digits.as_str().parse::<u64>().ok().and_then(|n| n.checked_add(1)) else {
            continue;
        };
        add(digits.range(), &next.to_string(), NUMBER);
    }
    emptied(source, line, bare, &mut add);
    let inner =
        source.strings.iter().filter(|span| line.start <= span.start && span.end <= line.end);
    for string in inner.filter(|string| !source.content(string).trim().is_empty()) {
        // Before the closing quotation mark; the rest of the string stays what it is.
        let content = source.content(string);
        let at = content.as_ptr() as usize - source.text.as_ptr() as usize + content.len();
        found.push(Mutation { at: at..at, with: "x".to_owned(), rank: STRING });
    }
    found
}

/// Results, values and calls in a line that is a statement of its own.
fn emptied(
    source: &Source<'_>,
    line: &Range<usize>,
    bare: &str,
    add: &mut impl FnMut(Range<usize>, &str, u8),
) {
    if !closed(bare) {
        return;
    }
    let language = source.language;
    let result = pattern!(r"^\s*return\s+([^\s;][^;]*?)\s*;?\s*$").captures(bare);
    let tail = || {
        let last = pattern!(r"^\s*([^\s;{},][^;{}]*[^\s;{},])\s*$").captures(bare)?;
        let closes = source.bare[line.end..].trim_start().starts_with('}');
        last.get(1).filter(|_| language == Language::Rust && closes)
    };
    if let Some(found) = result.and_then(|found| found.get(1)).or_else(tail) {
        for nothing in nothings(language).iter().filter(|nothing| found.as_str() != **nothing) {
            add(found.range(), nothing, RESULT);
        }
    }
    let value = pattern!(
        r"^\s*(?:const\s+|let\s+|var\s+)?[$\w.\[\]]+(?:\s*:\s*[\w\[\], |.]+)?\s*=\s+([^=\s;][^;]*?)\s*;?\s*$"
    );
    let dynamic = matches!(
        language,
        Language::Python | Language::JavaScript | Language::Ruby | Language::Php
    );
    let value = value.captures(bare).filter(|_| dynamic).and_then(|found| found.get(1));
    for nothing in nothings(language).iter().take(1) {
        if let Some(found) = value.as_ref().filter(|found| found.as_str() != *nothing) {
            add(found.range(), nothing, VALUE);
        }
    }
    let call = match language {
        Language::Python | Language::Ruby => pattern!(r"^\s*((?:await\s+)?[\w.]+\(.*\))\s*$"),
        Language::Shell => pattern!(r"^\s*([\w./-]+(?:[ \t]+[^|;&<>(){}\\=]*)?)\s*$"),
        _ => pattern!(r"^\s*((?:await\s+)?[$\w.:>-]+\(.*\)(?:\.await)?\??;)\s*$"),
    };
    let keeps = pattern!(
        r"^(?:return|throw|raise|assert|super|if|while|for|switch|then|else|elif|fi|do|done|case|esac|function|exit|shift|local)\b"
    );
    let called = call.captures(bare).and_then(|found| found.get(1));
    if let Some(found) = called.filter(|found| !keeps.is_match(found.as_str())) {
        let with = match language {
            Language::Python => "pass",
            Language::Ruby => "nil",
            Language::Shell => ":",
            _ => ";",
        };
        add(found.range(), with, CALL);
    }
}

/// What a function can return in place of a result; in typed languages, one of them may compile.
fn nothings(language: Language) -> &'static [&'static str] {
    match language {
        Language::Python => &["None"],
        Language::JavaScript => &["undefined"],
        Language::Ruby => &["nil"],
        Language::Php => &["null"],
        Language::Rust => &["Default::default()"],
        Language::Go => &["nil", "0"],
        Language::C => &["0"],
        Language::Java | Language::Kotlin | Language::CSharp => &["null", "0"],
        Language::Shell => &[],
    }
}

/// Whether all brackets that a line opens are closed in it.
fn closed(bare: &str) -> bool {
    let mut depth = 0_i32;
    for c in bare.chars() {
        depth += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

type Swap = (&'static str, &'static str, u8);

/// Operators and what stands in their place.
fn swaps(language: Language) -> impl Iterator<Item = &'static Swap> {
    let words: &[Swap] = match language {
        Language::Python => PYTHON,
        Language::JavaScript | Language::Php => STRICT,
        Language::Ruby => RUBY,
        Language::Shell => SHELL,
        _ => &[],
    };
    let common: &[Swap] = if language == Language::Shell { &[] } else { COMMON };
    common.iter().chain(words)
}

const COMMON: &[Swap] = &[
    (" == ", " != ", CONDITION),
    (" != ", " == ", CONDITION),
    (" <= ", " > ", CONDITION),
    (" >= ", " < ", CONDITION),
    (" < ", " >= ", CONDITION),
    (" > ", " <= ", CONDITION),
    (" && ", " || ", CONDITION),
    (" || ", " && ", CONDITION),
    ("if (!", "if (", CONDITION),
    ("if !", "if ", CONDITION),
    (" + ", " - ", ARITHMETIC),
    (" - ", " + ", ARITHMETIC),
    (" * ", " + ", ARITHMETIC),
    (" / ", " * ", ARITHMETIC),
    (" % ", " + ", ARITHMETIC),
    (" += ", " -= ", ARITHMETIC),
    (" -= ", " += ", ARITHMETIC),
];

const PYTHON: &[Swap] = &[
    (" and ", " or ", CONDITION),
    (" or ", " and ", CONDITION),
    (" is not ", " is ", CONDITION),
    (" is None", " is not None", CONDITION),
    (" not in ", " in ", CONDITION),
    ("if not ", "if ", CONDITION),
    (" // ", " * ", ARITHMETIC),
];

const STRICT: &[Swap] = &[(" === ", " !== ", CONDITION), (" !== ", " === ", CONDITION)];

const RUBY: &[Swap] = &[(" and ", " or ", CONDITION), (" or ", " and ", CONDITION)];

const SHELL: &[Swap] = &[
    (" -eq ", " -ne ", CONDITION),
    (" -ne ", " -eq ", CONDITION),
    (" -lt ", " -ge ", CONDITION),
    (" -gt ", " -le ", CONDITION),
    (" -le ", " -gt ", CONDITION),
    (" -ge ", " -lt ", CONDITION),
    (" -z ", " -n ", CONDITION),
    (" -n ", " -z ", CONDITION),
    (" = ", " != ", CONDITION),
    (" == ", " != ", CONDITION),
    (" != ", " = ", CONDITION),
    (" + ", " - ", ARITHMETIC),
    (" - ", " + ", ARITHMETIC),
    (" * ", " + ", ARITHMETIC),
];
