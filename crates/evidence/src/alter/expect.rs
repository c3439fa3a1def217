//! Expectations in statements of a test, altered to fail: another literal on the expected side of an equality, or a
//! negated condition. Inequalities, tolerances and membership never get other literals.

use std::ops::Range;

use super::edit::Edit;
use super::literal::other;
use crate::pattern::{Pattern, pattern};
use crate::source::{Language, Source};

/// The edit that makes a statement fail, if it is an assertion of a known form.
pub(super) fn expectation(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    match source.language {
        Language::Python => python(source, range),
        Language::JavaScript => javascript(source, range),
        Language::Rust => rust(source, range),
        Language::Go => go(source, range),
        Language::Java | Language::Kotlin | Language::CSharp | Language::Php => {
            classes(source, range)
        }
        Language::Ruby => ruby(source, range),
        Language::Shell | Language::C => None,
    }
}

/// The arguments of the call at the start of a statement.
pub(super) fn call(
    source: &Source<'_>,
    range: &Range<usize>,
    head: &Pattern,
) -> Option<Vec<Range<usize>>> {
    let found = head.find(&source.bare[range.clone()])?;
    source.arguments(range.start + found.end() - 1)
}

/// Another literal on the side that has one; `None` if both do.
pub(super) fn either(source: &Source<'_>, one: Range<usize>, two: Range<usize>) -> Option<Edit> {
    match (other(source, one), other(source, two)) {
        (Some(edit), None) | (None, Some(edit)) => Some(edit),
        _ => None,
    }
}

fn first_two(source: &Source<'_>, arguments: &[Range<usize>]) -> Option<Edit> {
    either(source, arguments.first()?.clone(), arguments.get(1)?.clone())
}

fn words_at(source: &Source<'_>, range: &Range<usize>, words: &[&str]) -> bool {
    words.iter().any(|word| !source.top_level(range.clone(), word).is_empty())
}

/// The two sides of the only comparison with this operator, if nothing else decides.
pub(super) fn sides(
    source: &Source<'_>,
    range: &Range<usize>,
    sign: &str,
    barred: &[&str],
) -> Option<Edit> {
    let found = source.top_level(range.clone(), sign);
    if found.len() != 1 || words_at(source, range, barred) {
        return None;
    }
    let left = source.trimmed(range.start..found[0]);
    let right = source.trimmed(found[0] + sign.len()..range.end);
    either(source, left, right)
}

/// A negated condition.
pub(super) fn negated(source: &Source<'_>, range: Range<usize>, not: &str) -> Edit {
    let with = format!("{not}({})", &source.text[range.clone()]);
    Edit { at: range, with, telling: false }
}

/// The name of an assertion replaced by its opposite.
fn flipped(source: &Source<'_>, range: &Range<usize>, pairs: &[(&str, &str)]) -> Option<Edit> {
    let text = &source.bare[range.clone()];
    let open = text.find('(')?;
    for (one, two) in pairs {
        for (from, to) in [(one, two), (two, one)] {
            let ends = text[..open].ends_with(from);
            let whole = ends && !text[..open - from.len()].ends_with(|c: char| c.is_alphanumeric());
            if whole {
                let at = range.start + open - from.len()..range.start + open;
                return Some(Edit { at, with: (*to).to_owned(), telling: false });
            }
        }
    }
    None
}

fn python(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let text = &source.bare[range.clone()];
    if pattern!(r"^assert\b").is_match(text) {
        let parts = source.parts(range.start + "assert".len()..range.end);
        let mut condition = parts.first()?.clone();
        let wrapped = source.bare[condition.clone()].starts_with('(')
            && source.closing(condition.start) == Some(condition.end - 1);
        if wrapped && source.parts(condition.start + 1..condition.end - 1).len() == 1 {
            condition = source.trimmed(condition.start + 1..condition.end - 1);
        }
        let last = source.top_level(condition.clone(), " and ").pop();
        let conjunct = source.trimmed(last.map_or(condition.start, |at| at + 5)..condition.end);
        let barred = [" or ", " if ", " for ", "not ", "lambda", "<", ">", "!=", ":="];
        let equal = sides(source, &conjunct, "==", &barred).or_else(|| {
            sides(source, &conjunct, " is ", &[" is not", " or ", " if ", "not ", " is None"])
        });
        let free = !words_at(source, &condition, &[" or "]);
        return equal.filter(|_| free).or_else(|| Some(negated(source, condition, "not ")));
    }
    let equal = pattern!(
        r"^self\.assert(?:Equals?|ListEqual|DictEqual|TupleEqual|SetEqual|CountEqual|MultiLineEqual|SequenceEqual)\("
    );
    if let Some(arguments) = call(source, &range, equal) {
        return first_two(source, &arguments);
    }
    let pairs = [
        ("assertTrue", "assertFalse"),
        ("assertIsNone", "assertIsNotNone"),
        ("assertIn", "assertNotIn"),
        ("assertIs", "assertIsNot"),
        ("assertIsInstance", "assertNotIsInstance"),
    ];
    flipped(source, &range, &pairs).filter(|_| text.starts_with("self."))
}

fn javascript(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let equal = pattern!(
        r"^(?:await\s+|return\s+)?(?:(?:\w+\.)?(?:assert|t|chai)(?:\.assert)?\.)?(?:strictEqual|deepStrictEqual|equal|deepEqual|equals|is|same|eql|assertEquals|assertStrictEquals)\("
    );
    if let Some(arguments) = call(source, &range, equal) {
        return first_two(source, &arguments);
    }
    let text = &source.bare[range.clone()];
    if let Some(found) = pattern!(r"^(?:await\s+|return\s+)?expect\(").find(text) {
        let close = source.closing(range.start + found.end() - 1)?;
        let matcher = pattern!(
            r"^\s*\.(?:toBe|toEqual|toStrictEqual|to\.equal|to\.eql|to\.eq|to\.be\.equal|to\.deep\.equal|to\.strictly\.equal)\("
        );
        let rest = close + 1..range.end;
        let arguments = call(source, &rest, matcher)?;
        return other(source, arguments.first()?.clone());
    }
    let arguments = call(source, &range, pattern!(r"^assert(?:\.ok)?\("))?;
    let condition = arguments.first()?.clone();
    let barred = ["||", "?", "!==", "!="];
    let equal = sides(source, &condition, "===", &barred).or_else(|| {
        let strict = words_at(source, &condition, &["==="]);
        sides(source, &condition, "==", &barred).filter(|_| !strict)
    });
    equal.or_else(|| Some(negated(source, condition, "!")))
}

fn rust(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let equal = pattern!(r"^(?:\w+::)?(?:assert_eq|prop_assert_eq)!\s*[(\[{]");
    if let Some(arguments) = call(source, &range, equal) {
        return first_two(source, &arguments);
    }
    let arguments = call(source, &range, pattern!(r"^(?:\w+::)?assert!\s*[(\[{]"))?;
    let condition = arguments.first()?.clone();
    let equal = sides(source, &condition, "==", &["||", "!=", "&&", "<", ">"]);
    equal.or_else(|| Some(negated(source, condition, "!")))
}

fn go(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let text = &source.bare[range.clone()];
    let equal = pattern!(r"^(?:assert|require|is|must)\.(?:Equal|EqualValues|Exactly|Same)\(");
    if let Some(arguments) = call(source, &range, equal) {
        let given = arguments.first().is_some_and(|first| &source.text[first.clone()] == "t");
        return first_two(source, &arguments[usize::from(given)..]);
    }
    if !text.starts_with("if ") {
        return None;
    }
    let head = range.start + 3..range.end;
    let open = *source.top_level(head.clone(), "{").first()?;
    let block = &source.bare[open..source.closing(open)?];
    if !pattern!(r"\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(").is_match(block) {
        return None;
    }
    let start = source.top_level(head.start..open, ";").pop().map_or(head.start, |at| at + 1);
    let condition = source.trimmed(start..open);
    let helper =
        pattern!(r"^!(?:reflect\.DeepEqual|bytes\.Equal|slices\.Equal|cmp\.Equal|maps\.Equal)\(");
    if let Some(arguments) = call(source, &condition, helper) {
        return first_two(source, &arguments);
    }
    let last = source.top_level(condition.clone(), "||").pop();
    let part = source.trimmed(last.map_or(condition.start, |at| at + 2)..condition.end);
    let free = !words_at(source, &condition, &["&&"]);
    let equal = sides(source, &part, "!=", &["&&", "||"]).filter(|_| free);
    equal.or_else(|| Some(negated(source, condition, "!")))
}

fn classes(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let equal = pattern!(
        r"^(?:\$this->|self::|static::|(?:\w+\.)*)(?:assertEquals|assertSame|assertArrayEquals|AreEqual|Equal|Same|StrictEqual)\("
    );
    if let Some(arguments) = call(source, &range, equal) {
        let is_text = |range: &Range<usize>| source.strings.contains(range);
        return match arguments.as_slice() {
            [one, two] => either(source, one.clone(), two.clone()),
            // A message comes first in old versions and last in new ones; a number there is a tolerance.
            [one, two, message] if is_text(message) => either(source, one.clone(), two.clone()),
            [message, one, two] if is_text(message) => either(source, one.clone(), two.clone()),
            _ => None,
        };
    }
    let text = &source.bare[range.clone()];
    if let Some(found) = pattern!(r"^assertThat\(").find(text) {
        let close = source.closing(range.start + found.end() - 1)?;
        let rest = close + 1..range.end;
        let arguments = call(source, &rest, pattern!(r"^\s*\.isEqualTo\("))?;
        return other(source, arguments.first()?.clone());
    }
    if let Some(found) = pattern!(r"\bshouldBe\s+").find(text) {
        let value = source.trimmed(range.start + found.end()..range.end);
        return other(source, value);
    }
    let asserts = pattern!(
        r"^(?:\$this->|self::|static::|(?:\w+\.)*)(?:assert|Assert|True|False|IsTrue|IsFalse)"
    );
    let pairs = [("assertTrue", "assertFalse"), ("True", "False"), ("IsTrue", "IsFalse")];
    flipped(source, &range, &pairs).filter(|_| asserts.is_match(text))
}

fn ruby(source: &Source<'_>, range: Range<usize>) -> Option<Edit> {
    let text = &source.bare[range.clone()];
    let arguments = |found: regex::Match<'_>| {
        let bracketed = text.ends_with(')') && found.as_str().ends_with('(');
        range.start + found.end()..range.end - usize::from(bracketed)
    };
    if let Some(found) = pattern!(r"^assert_equal[ (]").find(text) {
        return first_two(source, &source.parts(arguments(found)));
    }
    let matcher = pattern!(r"(?:^expect\b.*\.to\s+(?:eq|eql|be)|\.must_equal|\.should\s+eq)[ (]");
    other(source, source.trimmed(arguments(matcher.find(text)?)))
}
