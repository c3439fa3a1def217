//! Existing tests that can no longer fail: skipped, caught, returned from, commented out, with wider tolerances,
//! without assertions, or no longer collected. A new test that is skipped for a reason is not a sign.

use types::FindingKind;

use super::sign::{Change, ChangedFile, Sign, sign};
use crate::cases::{Case, cases};
use crate::files::FileKind;
use crate::pattern::pattern;
use crate::source::{Language, Source};

/// Whether a line asserts, in any of the languages.
fn asserts(text: &str) -> bool {
    pattern!(
        r"\bassert|\bexpect\b|\bt\.(?:Error|Fatal|Fail|is|equal|deepEqual)|\bpytest\.raises|\brequire\.\w|\bshould\b|\bAssert\.|\bverify\(|\bfail\(|\bcheck\w*\(|\bmust_|\bensure\w*\("
    )
    .is_match(text)
}

pub(super) fn signs(file: &ChangedFile<'_>) -> Vec<Sign> {
    let has_tests =
        file.kind == FileKind::Test || file.kind == FileKind::Code && file.path.ends_with(".rs");
    let (Some(old), Some(new)) = (file.old, file.new) else { return Vec::new() };
    let (Some(before), Some(after)) = (Source::of(file.path, old), Source::of(file.path, new))
    else {
        return Vec::new();
    };
    if !has_tests {
        return Vec::new();
    }
    let (was, is) = (cases(&before), cases(&after));
    let mut lines: Vec<String> = Vec::new();
    for case in &was {
        match is.iter().find(|other| other.name == case.name) {
            Some(other) => lines.extend(weakened(&before, case, &after, other)),
            None => lines.extend(not_collected(&before, case, &after)),
        }
    }
    lines.extend(not_built(&before, &after));
    lines.extend(disabled(&before, &after));
    lines.extend(wider(old, new));
    lines.extend(no_parameters(&before, &after));
    lines.into_iter().map(|line| sign(FindingKind::WeakTest, file.path, &line)).collect()
}

/// How an existing test was weakened.
fn weakened(before: &Source<'_>, was: &Case, after: &Source<'_>, is: &Case) -> Option<String> {
    let head = after.line_at(is.start).trim().to_owned();
    if is.is_special() && !was.is_special() {
        let mark = pattern!(r"(?i).*(?:skip|xfail|ignore|disabled|should_panic|expected).*");
        return Some(mark.find(&is.marks).map_or(head, |mark| mark.as_str().to_owned()));
    }
    let (old, new) = (&before.code()[was.body.clone()], &after.code()[is.body.clone()]);
    let skips = pattern!(
        r"\b\w+\.Skip(?:f|Now)?\(|\bpytest\.(?:skip|xfail)\(|\bself\.skipTest\(|\bthis\.skip\(|\bt\.skip\(|\bmarkTestSkipped\(|^\s*skip\b"
    );
    if let Some(skip) = skips.find(new).filter(|_| !skips.is_match(old)) {
        return Some(after.line_at(is.body.start + skip.start()).trim().to_owned());
    }
    let direct = |source: &Source<'_>, case: &Case| -> Vec<(usize, String)> {
        let all = source.statements(case.body.clone());
        all.into_iter().map(|range| (range.start, source.code()[range].to_owned())).collect()
    };
    let statements = direct(after, is);
    let returns = |text: &str| pattern!(r"^return\s*(?:$|;|None\b|Ok\(\(\)\))").is_match(text);
    let early = statements.iter().position(|(_, text)| returns(text));
    if let Some(place) =
        early.filter(|place| statements[place + 1..].iter().any(|(_, text)| asserts(text)))
    {
        let had = direct(before, was).iter().any(|(_, text)| returns(text));
        return (!had).then(|| format!("{head} {}", statements[place].1));
    }
    if asserts(old) && !asserts(new) {
        return Some(head);
    }
    caught(old, new).then_some(head)
}

/// Whether assertions are newly caught.
fn caught(old: &str, new: &str) -> bool {
    let catches = pattern!(
        r"\bexcept\b\s*(?:\(?[^:\n]*\b(?:AssertionError|Exception|BaseException)\b[^:\n]*)?:|\bcatch\s*(?:\([^)]*\))?\s*\{|\bsuppress\(|\bcatch_unwind\(|\brescue\b"
    );
    let Some(handler) = catches.find(new).filter(|_| !catches.is_match(old)) else { return false };
    let body: String = new[handler.end()..].lines().take(4).collect::<Vec<_>>().join("\n");
    let tried =
        new[..handler.start()].rfind("try").is_some_and(|at| asserts(&new[at..handler.start()]));
    let wraps = handler.as_str().contains("suppress") || handler.as_str().contains("catch_unwind");
    let fails = pattern!(r"\braise\b|\bthrow\b|\bfail\w*\(|\bassert|\bexpect\(").is_match(&body);
    wraps || tried && !fails
}

/// A test that is no longer collected: it lost its attribute, its name, or its position in the code.
fn not_collected(before: &Source<'_>, was: &Case, after: &Source<'_>) -> Option<String> {
    let old = before.code();
    let assertions: Vec<&str> =
        old[was.body.clone()].lines().map(str::trim).filter(|line| asserts(line)).collect();
    let is = cases(after);
    let code = after.code();
    let collected = |line: &str| is.iter().any(|case| code[case.body.clone()].contains(line));
    let kept = pattern_of_function(after, &was.name);
    if let Some(at) = kept {
        return Some(after.line_at(at).trim().to_owned());
    }
    // The assertions remain outside any test: under another name, in a string, in a comment.
    let times = |text: &str, line: &str| text.matches(line).count();
    let stays = |line: &str| {
        // As often as before: what also stood elsewhere, such as an example, is not moved there.
        let now = times(after.text, line);
        now > 0 && now >= times(before.text, line)
    };
    let lost = assertions.iter().find(|line| line.len() > 12 && !collected(line) && stays(line))?;
    let at = after.text.find(lost)?;
    let helper = after.heads(at).iter().any(|head| {
        let name = head.split(['(', ' ', ':']).nth(1).unwrap_or_default();
        name.len() > 2
            && is.iter().any(|case| code[case.body.clone()].contains(&format!("{name}(")))
    });
    let skipped =
        pattern!(r"\b(?:test|it|describe|suite)\.(?:skip|todo)\(|\bx(?:it|test|describe)\(")
            .is_match(after.text);
    (!helper && !skipped).then(|| after.line_at(at).trim().to_owned())
}

/// A function of this name that is no longer a test.
fn pattern_of_function(source: &Source<'_>, name: &str) -> Option<usize> {
    let word = match source.language {
        Language::Rust => format!("fn {name}("),
        Language::Java | Language::CSharp => format!("void {name}("),
        Language::Kotlin => format!("fun {name}("),
        Language::Go => format!("func {name}("),
        _ => return None,
    };
    source.bare.find(&word)
}

/// Assertions that became comments or strings.
fn disabled(before: &Source<'_>, after: &Source<'_>) -> Option<String> {
    let (old, new) = (before.code(), after.code());
    let plain =
        pattern!(r"^(?:self\.|\$this->|await )?(?:assert|expect\(|Assert\.|t\.(?:Error|Fatal))");
    let code = before.bare.lines().zip(old.lines()).filter(|(bare, _)| !bare.trim().is_empty());
    let live = code.map(|(_, line)| line.trim());
    for line in live.filter(|line| line.len() > 12 && plain.is_match(line)) {
        // An example that stood there before is none that was moved there.
        let hidden = is_hidden(after, line) && !is_hidden(before, line);
        let lives = after
            .bare
            .lines()
            .zip(new.lines())
            .any(|(bare, code)| code.trim() == line && !bare.trim().is_empty());
        if hidden && !lives {
            return Some(line.to_owned());
        }
    }
    None
}

/// Whether a line stands in a comment or a string.
fn is_hidden(source: &Source<'_>, line: &str) -> bool {
    let bare = |part: &str| {
        part.trim().trim_start_matches(['#', '/', '!', '*', ' ', '-']).trim_end() == line
    };
    let mut spans = source.comments.iter().chain(&source.strings);
    spans.any(|span| source.text[span.clone()].lines().any(bare))
}

/// A file excluded from the build, or tests skipped by a surrounding block.
fn not_built(before: &Source<'_>, after: &Source<'_>) -> Vec<String> {
    let marks = pattern!(
        r"(?m)^//go:build .*$|^// \+build .*$|^#!\[cfg\(.*$|^\s*(?:test|it|describe|suite|context)\.(?:skip|todo|only)\(.*$|^\s*(?:x(?:it|test|describe|context)|f(?:it|describe))[ (].*$|^pytestmark\s*=.*skip.*$|^collect_ignore.*$|^__test__\s*=\s*False.*$|^\s*pytest\.skip\(.*allow_module_level.*$|^\s*__unittest_skip__.*$|^\s*(?:t|it|describe)\.skip\b.*$"
    );
    let old: Vec<&str> = marks.find_iter(before.text).map(|mark| mark.as_str().trim()).collect();
    let title = pattern!(r#"["'`]([^"'`\n]+)["'`]"#);
    let new = marks.find_iter(after.text).map(|mark| mark.as_str().trim());
    let new = new.filter(|line| !old.contains(line)).filter(|line| {
        // A new test may be skipped; `only` skips all others.
        let title = title.captures(line).and_then(|found| found.get(1));
        line.contains(".only(") || title.is_none_or(|title| before.text.contains(title.as_str()))
    });
    new.map(str::to_owned).collect()
}

/// Comparisons that allow more than before.
fn wider(old: &str, new: &str) -> Vec<String> {
    let tolerance = pattern!(
        r"(?:<=?\s*|\b(?:abs|rel|delta|tol|atol|rtol|eps|epsilon|abs_tol|rel_tol|tolerance)\s*[=:]\s*|,\s*)(\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*\)*\s*(?:[,;:]|$|\{)"
    );
    let value = |line: &str| -> Option<(String, f64)> {
        if !pattern!(r"(?i)\babs\b|approx|almost|close|delta|tol|eps|isclose|<").is_match(line) {
            return None;
        }
        let found = tolerance.captures_iter(line).last()?.get(1)?.range();
        let number = line[found.clone()].replace('_', "").parse().ok()?;
        Some((format!("{}{}", &line[..found.start], &line[found.end..]), number))
    };
    let kept: Vec<&str> = new.lines().map(str::trim).collect();
    let before: Vec<(String, f64)> =
        old.lines().map(str::trim).filter(|line| !kept.contains(line)).filter_map(value).collect();
    let mut found = Vec::new();
    for line in kept.iter().filter(|line| !old.contains(**line)) {
        let Some((shape, number)) = value(line) else { continue };
        if before.iter().any(|(other, was)| *other == shape && number >= was * 10.0) {
            found.push((*line).to_owned());
        }
    }
    found
}

/// Tests with an empty list of parameters.
fn no_parameters(before: &Source<'_>, after: &Source<'_>) -> Option<String> {
    let given = pattern!(
        r"parametrize\(\s*[^,\n]+,\s*(?:list\()?\s*(\[\s*\]|\w+)(?:\.(?:items|values|keys)\(\))?\)?\s*[,)]|\b(?:test|it|describe)\.each\(\s*(\[\s*\])\s*\)"
    );
    let code = after.code();
    for part in given.captures_iter(&code) {
        let (Some(whole), Some(list)) = (part.get(0), part.get(1).or_else(|| part.get(2))) else {
            continue;
        };
        let name = list.as_str();
        let empty = name.starts_with('[')
            || code.lines().any(|line| {
                let value = line
                    .strip_prefix(name)
                    .map(str::trim_start)
                    .and_then(|rest| rest.strip_prefix('='));
                value.is_some_and(|value| {
                    matches!(value.trim(), "[]" | "{}" | "()" | "list()" | "dict()" | "set()")
                })
            });
        if empty && !before.text.contains(whole.as_str()) {
            return Some(after.line_at(whole.start()).trim().to_owned());
        }
    }
    None
}

/// New tests that only check the type of a result, if most of the new tests do.
pub(super) fn hollow_tests(change: &Change<'_>) -> Vec<Sign> {
    let (mut all, mut hollow) = (0_usize, Vec::new());
    for file in change.files.iter().filter(|file| file.kind == FileKind::Test) {
        let Some(source) = file.new.and_then(|new| Source::of(file.path, new)) else { continue };
        let known: Vec<String> = file
            .old
            .and_then(|old| Source::of(file.path, old))
            .map(|old| cases(&old).into_iter().map(|case| case.name).collect())
            .unwrap_or_default();
        for case in cases(&source).into_iter().filter(|case| !known.contains(&case.name)) {
            all += 1;
            let code = source.code();
            let lines: Vec<&str> = code[case.body.clone()]
                .lines()
                .map(str::trim)
                .filter(|line| asserts(line))
                .collect();
            let says_little = pattern!(
                r"\bassert\s+(?:isinstance|callable|hasattr)\(|\bassertIsInstance\(|\bassert\s+\w[\w.()]*\s+is\s+not\s+None$|\btypeof\b.*(?:equal|Equal|toBe)|\.toBeDefined\(\)|\.toBeInstanceOf\(|\bassertIsNotNone\(|\bassertNotNull\(|\bassert\s+True$|\bassert!\(true\)"
            );
            if !lines.is_empty() && lines.iter().all(|line| says_little.is_match(line)) {
                hollow.push(sign(FindingKind::WeakTest, file.path, lines[0]));
            }
        }
    }
    if hollow.len() * 2 >= all.max(1) { hollow } else { Vec::new() }
}

#[cfg(test)]
mod tests;
