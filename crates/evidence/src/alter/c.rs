//! Expectations in C and C++: `assert`, the macros of test frameworks and of projects' own headers, and branches that end
//! in failure. A test is a function of a framework, one with a name that says so, or the program itself.

use std::ops::Range;

use super::edit::Edit;
use super::expect::{call, either, negated, sides};
use crate::cases::Case;
use crate::pattern::pattern;
use crate::source::Source;

/// The tests of a file, in order.
pub(super) fn cases(source: &Source<'_>) -> Vec<Case> {
    let head = pattern!(
        r"(?m)^[ \t]*(?:(?P<m>(?:TEST|TEST_F|TEST_P|TYPED_TEST|TEST_CASE|START_TEST|Test|CTEST|UTEST|MU_TEST|SCENARIO|TEST_CASE_METHOD|BOOST_AUTO_TEST_CASE)\s*\((?:\s*\w+\s*,)?\s*(?P<n>\w+|\x22[^\x22\n]*\x22)[^)\n]*\))|(?P<w>(?:static\s+)?(?:void|int|bool|char\s*\*)\s+(?P<f>test\w*|\w+_test|main)\s*\([^)]*\)))\s*\{"
    );
    let mut found = Vec::new();
    for part in head.captures_iter(&source.bare) {
        let (Some(whole), Some(name)) = (part.get(0), part.name("n").or_else(|| part.name("f")))
        else {
            continue;
        };
        let Some(end) = source.closing(whole.end() - 1) else { continue };
        found.push(Case {
            name: source.text[name.range()].trim_matches('"').to_owned(),
            start: whole.start(),
            marks: source.text[whole.range()].to_owned(),
            body: whole.end()..end,
            word: "test".to_owned(),
        });
    }
    found
}

/// The edit that makes a statement fail, if it is an assertion of a known form.
pub(super) fn expectation(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let bare = &source.bare[range.clone()];
    if let Some(found) = pattern!(r"^if\s*\(").find(bare) {
        return branch(source, range.start + found.end() - 1, range);
    }
    let asserts = pattern!(
        r"^(?:\w+::)*(?:\w+_)?(?i:assert|check|expect|require|verify|test|eq|equal|equals|is|ok|same|lequal|lok)\w*\s*\("
    );
    let arguments = call(source, &range, asserts)?;
    let name_of = bare.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
    let unequal = pattern!(
        r"(?:^|_)(?:not|ne|neq|lt|le|gt|ge|near|within|double|float|less|greater|throw|nothrow|death|false|null)(?:_|$)|_n(?:e|ot)|notnull"
    );
    if unequal.is_match(&name_of) {
        return None;
    }
    let is_text = |range: &Range<usize>| source.strings.contains(range);
    let equal = pattern!(r"(?:^|_|str)eq|equal|same|^is$").is_match(&name_of);
    let compares =
        equal || pattern!(r"_(?:int|str|string|text|uint|size)(?:_|$)").is_match(&name_of);
    // A function of the project may be called so, too, and take anything.
    if name_of.starts_with("test")
        && !pattern!(r"assert|check|expect|require|eq").is_match(&name_of)
    {
        return None;
    }
    match arguments.as_slice() {
        [condition] => of_condition(source, condition.clone()),
        [one, two] if compares => either(source, one.clone(), two.clone()),
        [condition, message] | [message, condition] if is_text(message) => {
            of_condition(source, condition.clone())
        }
        [name, one, two] if is_text(name) && !(equal && is_text(two)) => {
            either(source, one.clone(), two.clone())
        }
        [one, two, message] if is_text(message) && equal => {
            either(source, one.clone(), two.clone())
        }
        _ => None,
    }
}

/// A condition that must hold.
fn of_condition(source: &Source<'_>, condition: Range<usize>) -> Option<Edit> {
    let text = &source.bare[condition.clone()];
    if text.contains("||") {
        return None;
    }
    let last = source.top_level(condition.clone(), "&&").pop();
    let conjunct = source.trimmed(last.map_or(condition.start, |at| at + 2)..condition.end);
    if compares_texts(source, &conjunct) {
        return texts(source, &conjunct);
    }
    let equal = sides(source, &conjunct, "==", &["!=", "<", ">", "?"]);
    equal.or_else(|| Some(negated(source, condition, "!")))
}

/// A branch that is taken when a comparison does not hold, and ends in failure.
fn branch(source: &Source<'_>, open: usize, range: Range<usize>) -> Option<Edit> {
    let close = source.closing(open)?;
    let condition = source.trimmed(open + 1..close);
    let rest = &source.text[close + 1..range.end];
    let fails = pattern!(
        r"\breturn\s+(?:-?[1-9]|EXIT_FAILURE|false)|\b(?:exit|_exit)\s*\(\s*(?:[1-9]|EXIT_FAILURE)|\babort\s*\(|(?i:fail\w*)\s*(?:\(|\+\+|\+=|=)|\+\+\s*(?i:fail|err)\w*|(?i:errors?)\s*\+\+"
    );
    let text = &source.bare[condition.clone()];
    if !fails.is_match(rest) || text.contains("&&") || text.contains("||") {
        return None;
    }
    if compares_texts(source, &condition) {
        return texts(source, &condition).filter(|_| !text.contains("=="));
    }
    sides(source, &condition, "!=", &["==", "<", ">", "?"])
}

fn compares_texts(source: &Source<'_>, range: &Range<usize>) -> bool {
    pattern!(r"^!?\s*(?:std::)?(?:strn?cmp|memcmp|strcasecmp|wcscmp)\s*\(")
        .is_match(&source.bare[range.clone()])
}

/// Another literal in a call that compares two texts. The length of bytes stays.
fn texts(source: &Source<'_>, range: &Range<usize>) -> Option<Edit> {
    let head = pattern!(r"^!?\s*(?:std::)?(?:strn?cmp|memcmp|strcasecmp|wcscmp)\s*\(");
    let arguments = call(source, range, head)?;
    let (one, two) = (arguments.first()?.clone(), arguments.get(1)?.clone());
    either(source, one, two)
}
