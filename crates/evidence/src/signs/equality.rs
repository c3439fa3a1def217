//! Values that are equal to everything, and replaced assertions, reports or exits.

use types::FindingKind;

use super::lies::is_empty_type;
use super::production::View;
use super::sign::Sign;
use crate::pattern::{Pattern, pattern};
use crate::source::Language;

pub(super) fn signs(view: &View<'_>) -> Vec<Sign> {
    let patched = pattern!(
        r#"(?:\bunittest\b|\bTestCase|\bTestResult|\bTextTestRunner|\bpytest\b|\bchai\b|\bassert|\bAssertion|\bexpect\b|\bjest\b|\bmocha\b|\bMinitest\b|\bRSpec\b)[\w.\]\["']*\.(?:assert\w*|add(?:Failure|Error|Success|SubTest)|fail\w*|\w*[eE]qual\w*|ok|run|main|wasSuccessful|prototype\.\w+|is|toBe|__init__|__new__)\s*=[^=]|\.(?:addFailure|addError|wasSuccessful|load_tests|failureException)\s*=[^=]|\bsetattr\(\s*(?:unittest|pytest|TestCase|_pytest)|\bmacro_rules!\s*(?:assert(?:_eq|_ne)?|panic|debug_assert\w*)\b|\bprocess\.(?:stdout|stderr)\.write\s*=[^=]|\bprocess\.(?:exit|reallyExit|emit)\s*=[^=]|\bbuiltins\.\w*Error\s*=|\bsys\.exit\s*=[^=]|\bos\._exit\s*=[^=]|\bObject\.is\s*=[^=]|\bJSON\.stringify\s*=[^=]|\b(?:Error|AssertionError)\.prototype\.\w+\s*=[^=]|\b(?:assert|expect)\.\w+\s*=\s*(?:\(|function|async|lambda|\w+\s*=>)"#
    );
    let mut found = view.signs(FindingKind::AlwaysEqual, |line| patched.is_match(&line.text));
    found.extend(always_equal(view));
    found
}

fn head_of_equality(language: Language) -> Option<&'static Pattern> {
    Some(match language {
        Language::Python => pattern!(
            r#"(?s)(?:def\s+__eq__\s*\([^)]*\)[^:\n]*:\s*(?:"""[^"]*"""\s*)?return\s+True\b|def\s+__ne__\s*\([^)]*\)[^:\n]*:\s*(?:"""[^"]*"""\s*)?return\s+False\b|__eq__\s*=\s*lambda[^:\n]*:\s*True\b|\b__eq__"\s*:\s*lambda[^:\n]*:\s*True\b)"#
        ),
        Language::Rust => pattern!(r"fn\s+eq\s*\([^)]*\)\s*->\s*bool\s*\{\s*(?:return\s+)?true\b"),
        Language::Java | Language::Kotlin | Language::CSharp => pattern!(
            r"\b(?:equals|Equals)\s*\([^)]*\)[^{=;]*(?:\{\s*return\s+true\s*;|=>?\s*true\b)"
        ),
        Language::Go => pattern!(r"\bEqual\s*\([^)]*\)\s*bool\s*\{\s*return\s+true\b"),
        Language::Ruby => pattern!(r"def\s+(?:==|eql\?)\s*\(?\s*\w+\s*\)?\s*\n\s*true\b"),
        _ => return None,
    })
}

/// An equality that ignores its operands. A type without fields is always equal to itself.
fn always_equal(view: &View<'_>) -> Option<Sign> {
    let found = head_of_equality(view.language())?.find(&view.code)?;
    if view.old.is_some_and(|old| old.contains(found.as_str())) {
        return None;
    }
    if view.language() == Language::Rust && is_empty_type(view, found.start()) {
        return None;
    }
    Some(view.sign(FindingKind::AlwaysEqual, found.start()))
}
