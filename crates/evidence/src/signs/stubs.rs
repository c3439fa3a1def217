//! Functions that ignore their parameters and return a constant, if the goal asked for such a function; and changes of
//! code files that change no code.

use std::ops::Range;

use types::FindingKind;

use super::goal::named_things;
use super::production::{View, has_word};
use super::sign::{Change, Sign, sign};
use crate::files::FileKind;
use crate::pattern::pattern;
use crate::source::{Language, Source};

/// A function with parameters: name, parameters, body, and position.
struct Function {
    name: String,
    parameters: String,
    body: Range<usize>,
    at: usize,
}

pub(super) fn signs(change: &Change<'_>, view: &View<'_>) -> Vec<Sign> {
    let asked = named_things(change.goal);
    let is_new = |function: &&Function| {
        view.lines
            .iter()
            .any(|line| line.at <= function.at && function.at <= line.at + line.text.len())
            || view.lines.iter().any(|line| function.body.contains(&line.at))
    };
    let all = functions(&view.source);
    let fresh: Vec<&Function> = all.iter().filter(is_new).collect();
    let stubs = fresh.iter().filter(|function| {
        let name = function.name.as_str();
        let mentioned = name.len() > 3 && has_word(change.goal, name);
        let alone =
            fresh.len() == 1 && view.source.indent(function.at) == 0 && !change.code_knows(name);
        (asked.contains(&function.name) || mentioned || alone) && is_stub(view, function)
    });
    stubs.map(|function| view.sign(FindingKind::Stub, function.at)).collect()
}

fn functions(source: &Source<'_>) -> Vec<Function> {
    let head = match source.language {
        Language::Python => {
            pattern!(r"(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(?P<n>\w+)[ \t]*(?P<o>\()")
        }
        Language::Rust => pattern!(r"\bfn\s+(?P<n>\w+)(?:<[^>]*>)?\s*(?P<o>\()"),
        Language::Go => pattern!(r"(?m)^func\s+(?:\([^)]*\)\s*)?(?P<n>\w+)(?P<o>\()"),
        Language::JavaScript => pattern!(
            r"\bfunction\s*\*?\s*(?P<n>\w+)\s*(?P<o>\()|\b(?:const|let)\s+(?P<m>\w+)\s*=\s*(?:async\s*)?(?P<p>\()"
        ),
        Language::Php => pattern!(r"\bfunction\s+(?P<n>\w+)\s*(?P<o>\()"),
        Language::Ruby => pattern!(r"(?m)^[ \t]*def[ \t]+(?P<n>\w+[?!]?)[ \t]*(?P<o>\()"),
        Language::Kotlin => pattern!(r"\bfun\s+(?P<n>\w+)\s*(?P<o>\()"),
        Language::Java | Language::CSharp => {
            pattern!(
                r"\b(?:public|private|protected|static)\s+[\w<>\[\]?, ]+?\s(?P<n>\w+)\s*(?P<o>\()"
            )
        }
        Language::Shell | Language::C => return Vec::new(),
    };
    let mut found = Vec::new();
    for part in head.captures_iter(&source.bare) {
        let name = part.name("n").or_else(|| part.name("m"));
        let open = part.name("o").or_else(|| part.name("p"));
        let (Some(name), Some(open)) = (name, open) else { continue };
        let Some(close) = source.closing(open.start()) else { continue };
        let Some(body) = body(source, name.start(), close) else { continue };
        let parameters = source.bare[open.end()..close].to_owned();
        found.push(Function { name: name.as_str().to_owned(), parameters, body, at: name.start() });
    }
    found
}

fn body(source: &Source<'_>, at: usize, close: usize) -> Option<Range<usize>> {
    if source.language.is_indented() {
        let depth = source.indent(at);
        let line = crate::source::line_range(source.text, close).end;
        let lines = source.logical_lines(line..source.text.len());
        let inner: Vec<_> =
            lines.iter().take_while(|line| source.indent(line.start) > depth).collect();
        return Some(inner.first()?.start..inner.last()?.end);
    }
    let open = source.bare[close..].find(['{', ';'])? + close;
    if source.bare.as_bytes()[open] == b';'
        || source.bare[close..open].contains('\n') && source.language == Language::Go
    {
        return None;
    }
    Some(open + 1..source.closing(open)?)
}

/// Whether a function returns without reading anything.
fn is_stub(view: &View<'_>, function: &Function) -> bool {
    let mut words = pattern!(r"[A-Za-z_$]\w*").find_iter(&function.parameters);
    let given = words.any(|word| !matches!(word.as_str(), "self" | "cls" | "mut" | "this" | "_"));
    let head = &view.source.heads(function.at).join(" ");
    let abstracts = pattern!(r"\b(?:Protocol|ABC|ABCMeta|Abstract\w*|Base\w*|interface|trait|abstract|Mixin|Null\w*|Noop\w*|Fake\w*)\b").is_match(head);
    let above = view.source.text[..function.at].lines().rev().skip(1).take(2).any(|line| {
        line.trim_start().starts_with("@abstract")
            || line.trim_start().starts_with("@overload")
            || line.trim_start().starts_with("@typing.overload")
    });
    if !given || abstracts || above {
        return false;
    }
    let statements = view.source.statements(function.body.clone());
    let texts =
        statements.iter().map(|range| view.source.text[range.clone()].trim_end_matches(';').trim());
    let is_docstring = |text: &&str| text.starts_with("\"\"\"") || text.starts_with("'''");
    let discards = |text: &&str| pattern!(r"^(?:let\s+)?_\s*:?=\s*|^pass$|^void\s").is_match(text);
    let left: Vec<&str> = texts.filter(|text| !is_docstring(text) && !discards(text)).collect();
    let constant = pattern!(
        r#"^(?:return\s+)?(?:None|True|False|true|false|null|nil|undefined|-?\d[\w.]*|"[^"]*"|'[^']*'|``|\[\]|\{\}|\(\)|vec!\[\]|Vec::new\(\)|String::new\(\)|Default::default\(\)|Some\(\d+\)|Ok\(\(\)\)|list\(\)|dict\(\)|set\(\)|\[\]\w+\{\}|new \w+(?:<\w*>)?\(\))$|^return$|^\.\.\.$"#
    );
    let missing = pattern!(
        r"(?i)^(?:raise\s+NotImplementedError\b|todo!\(|unimplemented!\(|throw\s+(?:new\s+)?\w*(?:Error|Exception)\([^)]*not[ _]?implemented|panic[!(].*not[ _]implemented|raise\s+NotImplementedError|TODO\()"
    );
    match left.as_slice() {
        [] => view.language() == Language::Python,
        [only] => constant.is_match(only) || missing.is_match(only),
        _ => false,
    }
}

/// A change that only touches comments of code files, although something else was asked for.
pub(super) fn comments_only(change: &Change<'_>) -> Option<Sign> {
    let about_text = pattern!(
        r"(?i)\b(?:comment|docstring|document|doc\b|docs\b|typo|spelling|licen[sc]e|copyright|header|format|whitespace|indent|annotat|note|explain|describe|readme|line ending|trailing|todo)"
    );
    if about_text.is_match(change.goal) || change.files.is_empty() {
        return None;
    }
    let mut first = None;
    for file in change.files {
        let (Some(old), Some(new)) = (file.old, file.new) else { return None };
        if file.kind != FileKind::Code {
            return None;
        }
        if essence(file.path, old)? != essence(file.path, new)? {
            return None;
        }
        let line = new.lines().find(|line| !line.trim().is_empty() && !old.contains(line.trim()));
        first = first.or(line.map(|line| (file.path, line)));
    }
    first.map(|(path, line)| sign(FindingKind::Stub, path, line))
}

/// A text without comments, docstrings and blanks.
fn essence(path: &str, text: &str) -> Option<String> {
    let source = Source::of(path, text)?;
    let code = source.code_without_docstrings();
    Some(code.split_whitespace().collect::<Vec<_>>().join(" "))
}
