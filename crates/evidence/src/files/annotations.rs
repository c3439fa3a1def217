//! Type annotations of Python: of parameters, results and local variables. What a decorator or a class may read is left:
//! web frameworks and data classes make behaviour of it.

use std::ops::Range;

use crate::pattern::pattern;
use crate::source::{Language, Source, blanked};

/// The code without the annotations that no program reads.
pub(super) fn without_annotations(source: &Source<'_>, code: &str) -> String {
    if source.language != Language::Python {
        return code.to_owned();
    }
    let lines: Vec<Range<usize>> = source.logical_lines(0..source.text.len());
    let mut spans = Vec::new();
    let (mut decorated, mut for_types) = (false, None);
    // The indentation of the functions around a line, innermost last.
    let mut inside: Vec<(usize, bool)> = Vec::new();
    for line in lines.into_iter().map(|line| source.trimmed(line)) {
        let (text, indent) = (&source.bare[line.clone()], source.indent(line.start));
        inside.retain(|(depth, _)| *depth < indent);
        for_types = for_types.filter(|depth| *depth < indent);
        if for_types.is_some() || imports_types(text) {
            spans.push(line);
            continue;
        }
        if pattern!(r"^if\s+(?:\w+\.)?TYPE_CHECKING\s*:$").is_match(text) {
            for_types = Some(indent);
            spans.push(line);
            continue;
        }
        let function = pattern!(r"^(?:async\s+)?def\s+\w+\s*\(").find(text);
        if let Some(head) = function {
            if !decorated {
                spans.extend(of_head(source, line.start + head.end() - 1, line.end));
            }
            inside.push((indent, true));
        } else if text.starts_with("class ") {
            inside.push((indent, false));
        } else if inside.last().is_some_and(|(_, function)| *function)
            && let Some(found) = pattern!(r"^\w+\s*(:[^=]+?)\s*=[^=]").captures(text)
            && let Some(of_name) = found.get(1).filter(|one| is_type(one.as_str()))
        {
            spans.push(line.start + of_name.start()..line.start + of_name.end());
        }
        decorated = text.starts_with('@');
    }
    tight(source, &blanked(code, spans.into_iter()))
}

/// Whether a line imports what annotations consist of.
fn imports_types(text: &str) -> bool {
    pattern!(
        r"^(?:from\s+(?:typing|typing_extensions|collections\.abc)\s+import\b|from\s+__future__\s+import\s+annotations$|import\s+typing(?:_extensions)?(?:\s+as\s+\w+)?$)"
    )
    .is_match(text)
}

/// A text without the blanks that separate no words. Those before a line and in strings stay.
fn tight(source: &Source<'_>, code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut strings = source.strings.iter().peekable();
    let (mut pending, mut begins) = (false, true);
    for (at, c) in code.char_indices() {
        while strings.next_if(|span| span.end <= at).is_some() {}
        let quoted = strings.peek().is_some_and(|span| span.start <= at);
        if c == ' ' && !quoted && !begins {
            pending = true;
            continue;
        }
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if pending && word(c) && out.ends_with(word) {
            out.push(' ');
        }
        pending = false;
        begins = c == '\n' || begins && c == ' ';
        out.push(c);
    }
    out
}

/// The annotations of parameters and result.
fn of_head(source: &Source<'_>, open: usize, end: usize) -> Vec<Range<usize>> {
    let Some(close) = source.closing(open).filter(|close| *close < end) else { return vec![] };
    let mut spans: Vec<Range<usize>> = source
        .parts(open + 1..close)
        .into_iter()
        .filter_map(|part| {
            let colon = *source.top_level(part.clone(), ":").first()?;
            let default = source.top_level(colon..part.end, "=").first().copied();
            Some(colon..default.unwrap_or(part.end))
        })
        .collect();
    let after = &source.bare[close..end];
    if let (Some(arrow), Some(colon)) = (after.find("->"), after.rfind(':'))
        && arrow < colon
    {
        spans.push(close + arrow..close + colon);
    }
    spans
}

/// Whether an annotation is only the name of a type, so that nothing is lost without it.
fn is_type(text: &str) -> bool {
    pattern!(r#"^:\s*[\w.\[\], |"']+$"#).is_match(text)
}

#[cfg(test)]
mod tests {
    use super::super::only_comments;

    #[test]
    fn annotations_that_no_program_reads_are_no_code() {
        for (old, new) in [
            ("def f(a, b=1):\n    return a\n", "def f(a: int, b: int = 1) -> int:\n    return a\n"),
            ("def f(a):\n    x = []\n", "def f(a):\n    x: list[int] = []\n"),
            (
                "class A:\n    def f(self, *more, **named):\n        pass\n",
                "class A:\n    def f(self, *more: str, **named: dict[str, int]) -> None:\n        pass\n",
            ),
            ("def f(a: int):\n    pass\n", "def f(a: str | None):\n    pass\n"),
            (
                "import os\n\ndef f(a):\n    pass\n",
                "from __future__ import annotations\nimport os\nimport typing as t\nfrom typing import (\n    Any,\n)\nif t.TYPE_CHECKING:\n    from .b import B\n\ndef f(a: B) -> Any:\n    pass\n",
            ),
        ] {
            assert!(only_comments("a.py", old, new), "{new}");
        }
    }

    #[test]
    fn annotations_that_a_program_may_read_are_code() {
        for (old, new) in [
            ("@app.get('/')\ndef f(a):\n    pass\n", "@app.get('/')\ndef f(a: int):\n    pass\n"),
            ("class A:\n    x: int = 1\n", "class A:\n    x: str = 1\n"),
            ("x: int = 1\n", "x: str = 1\n"),
            ("x = 1\n", "if TYPE_CHECKING:\n    y = 1\nelse:\n    y = 2\nx = 1\n"),
            ("x = 1\n", "from .typing import x\nx = 1\n"),
            ("def f(a=1):\n    pass\n", "def f(a: int = 2):\n    pass\n"),
            ("def f(a):\n    pass\n", "def f(a: int, b=1):\n    pass\n"),
            ("def f(a):\n    x = 1\n", "def f(a):\n    x: int = 2\n"),
            ("def f(a):\n    pass\n", "def f(a, /):\n    pass\n"),
        ] {
            assert!(!only_comments("a.py", old, new), "{new}");
        }
    }
}
