//! The tests of a file: names, marks and bodies, in the forms that runners collect. Tests generated at run time, from
//! tables or by macros, are not found.

use std::ops::Range;

use crate::pattern::{Pattern, pattern};
use crate::source::{Language, Source, line_range};

/// One test in a file.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// Its start, without its marks.
    pub(crate) start: usize,
    /// Decorators, attributes or annotations.
    pub(crate) marks: String,
    /// Its body.
    pub(crate) body: Range<usize>,
    /// The word that makes it a test: `it`, `@Test`, `def`.
    pub(crate) word: String,
}

impl Case {
    /// Whether its runner may skip it, or expects it to fail.
    pub(crate) fn is_special(&self) -> bool {
        pattern!(
            r"(?i)skip|xfail|ignore|disabled|should_panic|expected|\bcfg\(|EnabledOn|DisabledOn"
        )
        .is_match(&self.marks)
    }
}

/// The tests of a file, in order.
pub(crate) fn cases(source: &Source<'_>) -> Vec<Case> {
    match source.language {
        Language::Python => indented(
            source,
            pattern!(r"(?m)^[ \t]*(?:async[ \t]+)?(?P<w>def)[ \t]+(?P<n>test\w*)[ \t]*\("),
        ),
        Language::Ruby => indented(
            source,
            pattern!(
                r#"(?m)^[ \t]*(?:(?P<w>def)[ \t]+(?P<n>test_\w+)|(?P<w2>it|specify|test|example)[ \t(]+["'](?P<t>[^"'\n]*)["'].*\bdo\b)"#
            ),
        ),
        Language::JavaScript => calls(source),
        Language::Rust => braced(
            source,
            pattern!(
                r"(?P<m>(?:#\[[^\]]*\]\s*)+)(?:pub(?:\([a-z]+\))?\s+)?(?:async\s+)?fn\s+(?P<n>\w+)\s*\([^)]*\)[^{;]*\{"
            ),
            pattern!(r"#\[(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test)\b"),
        ),
        Language::Go => braced(
            source,
            pattern!(r"(?m)^(?P<m>)func (?P<n>Test\w+)\(\w+ \*testing\.T\) \{"),
            pattern!(""),
        ),
        Language::Java | Language::Kotlin | Language::CSharp => braced(
            source,
            pattern!(
                r"(?P<m>(?:@Test\b(?:\([^)]*\))?|\[(?:Fact|Test|TestMethod)\b[^\]]*\])[^{};]*?)\b(?:void|fun|Task)\s+(?P<n>\w+|`[^`\n]*`)\s*\([^)]*\)[^{;]*\{"
            ),
            pattern!(""),
        ),
        Language::Php => braced(
            source,
            pattern!(r"(?P<m>)function\s+(?P<n>test\w*)\s*\([^)]*\)[^{;]*\{"),
            pattern!(""),
        ),
        Language::Shell => shell(source),
        Language::C => Vec::new(),
    }
}

/// Whether a match is code, not part of a string or comment.
fn is_code(source: &Source<'_>, at: usize) -> bool {
    source.bare.as_bytes().get(at) == source.text.as_bytes().get(at)
}

fn indented(source: &Source<'_>, head: &Pattern) -> Vec<Case> {
    let mut found = Vec::new();
    for part in head.captures_iter(source.text) {
        let Some(word) = part.name("w").or_else(|| part.name("w2")) else { continue };
        let Some(name) = part.name("n").or_else(|| part.name("t")) else { continue };
        if !is_code(source, word.start()) {
            continue;
        }
        let lines =
            source.logical_lines(line_range(source.text, word.start()).start..source.text.len());
        let depth = source.indent(word.start());
        let inner: Vec<&Range<usize>> =
            lines.iter().skip(1).take_while(|line| source.indent(line.start) > depth).collect();
        let (Some(first), Some(last)) = (inner.first(), inner.last()) else { continue };
        found.push(Case {
            name: name.as_str().to_owned(),
            start: word.start(),
            marks: marks_above(source.text, word.start()),
            body: first.start..last.end,
            word: word.as_str().to_owned(),
        });
    }
    found
}

/// The lines above a declaration, up to a blank one or the end of another block.
fn marks_above(text: &str, at: usize) -> String {
    let above = &text[..line_range(text, at).start];
    let lines = above.lines().rev().take_while(|line| {
        !line.trim().is_empty() && !line.trim_end().ends_with(':') && line.trim() != "end"
    });
    let mut lines: Vec<&str> = lines.take(8).collect();
    let first = lines.iter().rposition(|line| line.trim_start().starts_with('@'));
    lines.truncate(first.map_or(0, |n| n + 1));
    lines.join("\n")
}

fn calls(source: &Source<'_>) -> Vec<Case> {
    let head = pattern!(
        r#"(?:^|[\s;({])(?P<w>test|it)(?:\.only|\.concurrent)?\(\s*(?:'(?P<a>(?:[^'\\\n]|\\.)*)'|"(?P<b>(?:[^"\\\n]|\\.)*)"|`(?P<c>[^`\n]*)`)\s*,"#
    );
    let mut found = Vec::new();
    for part in head.captures_iter(source.text) {
        let title = ["a", "b", "c"].iter().find_map(|group| part.name(group));
        let (Some(whole), Some(word), Some(title)) = (part.get(0), part.name("w"), title) else {
            continue;
        };
        if !is_code(source, word.start()) {
            continue;
        }
        let Some(open) = source.bare[word.end()..].find('(').map(|n| word.end() + n) else {
            continue;
        };
        let Some(close) = source.closing(open) else { continue };
        let function = pattern!(r"(?:=>|function\s*\w*\s*\([^)]*\))\s*(\{)?");
        let Some(inner) = function.captures(&source.bare[whole.end()..close]) else { continue };
        let body = match (inner.get(1), inner.get(0)) {
            (Some(brace), _) => {
                let brace = whole.end() + brace.start();
                source.closing(brace).map(|end| brace + 1..end)
            }
            (None, Some(arrow)) => Some(whole.end() + arrow.end()..close),
            _ => None,
        };
        let Some(body) = body else { continue };
        found.push(Case {
            name: title.as_str().to_owned(),
            start: word.start(),
            marks: source.text[whole.end()..body.start].to_owned(),
            body,
            word: word.as_str().to_owned(),
        });
    }
    found
}

fn braced(source: &Source<'_>, head: &Pattern, mark: &Pattern) -> Vec<Case> {
    let mut found = Vec::new();
    for part in head.captures_iter(&source.bare) {
        let (Some(whole), Some(name), Some(marks)) = (part.get(0), part.name("n"), part.name("m"))
        else {
            continue;
        };
        if !mark.is_match(marks.as_str()) {
            continue;
        }
        let Some(end) = source.closing(whole.end() - 1) else { continue };
        let word = marks.as_str().trim().split(['(', ' ', '\n']).next().unwrap_or_default();
        found.push(Case {
            name: source.text[name.range()].trim_matches('`').to_owned(),
            start: marks.end(),
            marks: source.text[marks.range()].to_owned(),
            body: whole.end()..end,
            word: word.to_owned(),
        });
    }
    found
}

/// Tests of bats, and functions with the prefix `test`.
fn shell(source: &Source<'_>) -> Vec<Case> {
    let head = pattern!(r#"(?m)^(?:(?P<w>@test)\s+["'](?P<t>.*)["']|(?P<n>test\w*)\s*\(\))\s*\{"#);
    let mut found = Vec::new();
    for part in head.captures_iter(source.text) {
        let Some(name) = part.name("t").or_else(|| part.name("n")) else { continue };
        let Some(whole) = part.get(0).filter(|whole| is_code(source, whole.start())) else {
            continue;
        };
        let Some(end) = source.closing(whole.end() - 1) else { continue };
        let word = part.name("w").map(|word| word.as_str().to_owned()).unwrap_or_default();
        found.push(Case {
            name: name.as_str().to_owned(),
            start: whole.start(),
            marks: String::new(),
            body: whole.end()..end,
            word,
        });
    }
    found
}
