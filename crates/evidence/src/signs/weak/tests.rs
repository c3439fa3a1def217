//! Weakened tests, and honest changes of tests.

use types::VerifyPolicy;

use super::super::{Change, signs as all_signs};
use super::*;
use crate::files::kind;

fn lines(path: &str, old: Option<&str>, new: &str) -> Vec<String> {
    let kind = kind(path, &VerifyPolicy::default().tests);
    let files = [ChangedFile { path, kind, old, new: Some(new) }];
    let change =
        Change { goal: "Make it better", files: &files, tests: &[], code: &[], documents: &[] };
    let found = all_signs(&change);
    assert!(found.iter().all(|sign| sign.kind == FindingKind::WeakTest), "{found:?}");
    found.into_iter().map(|sign| sign.line).collect()
}

const PYTHON: &str = "def test_a():\n    assert double(21) == 42\n\n\ndef test_b():\n    assert abs(half(3) - 1.5) < 1e-9\n";
const RUST: &str = "#[test]\nfn a() {\n    assert_eq!(double(21), 42);\n}\n";
const NODE: &str = "test('doubles', () => {\n  assert.equal(double(21), 42);\n});\n";
const GO: &str =
    "package a\n\nfunc TestA(t *testing.T) {\n\tif Double(21) != 42 {\n\t\tt.Error(1)\n\t}\n}\n";
const JAVA: &str =
    "class ATest {\n  @Test\n  void a() {\n    assertEquals(42, twice(21));\n  }\n}\n";

#[test]
fn a_test_that_cannot_fail_any_more_is_a_sign() {
    for (path, old, from, to) in [
        ("tests/test_a.py", PYTHON, "def test_a():\n", "def test_a():\n    return\n"),
        (
            "tests/test_a.py",
            PYTHON,
            "    assert double(21) == 42",
            "    # assert double(21) == 42\n    pass",
        ),
        (
            "tests/test_a.py",
            PYTHON,
            "    assert double(21) == 42",
            "    try:\n        assert double(21) == 42\n    except Exception:\n        pass",
        ),
        ("tests/test_a.py", PYTHON, "    assert double(21) == 42", "    double(21)"),
        ("tests/test_a.py", PYTHON, "1e-9", "10"),
        ("tests/test_a.py", PYTHON, "def test_a", "@pytest.mark.xfail\ndef test_a"),
        ("tests/test_a.py", PYTHON, "def test_a", "def _test_a"),
        ("tests/test_a.py", PYTHON, "def test_a", "\"\"\"\ndef test_a"),
        ("tests/a.rs", RUST, "#[test]\n", "#[test]\n#[ignore]\n"),
        ("tests/a.rs", RUST, "#[test]\n", ""),
        ("tests/a.rs", RUST, "    assert_eq!(double(21), 42);", "    double(21);"),
        ("test/a.test.js", NODE, "test('d", "test.skip('d"),
        ("test/a.test.js", NODE, "test('d", "test.only('d"),
        (
            "test/a.test.js",
            NODE,
            "  assert.equal(double(21), 42);",
            "  try { assert.equal(double(21), 42); } catch {}",
        ),
        ("a_test.go", GO, "package a", "//go:build never\n\npackage a"),
        ("a_test.go", GO, "\tif", "\tt.Skip()\n\tif"),
        ("ATest.java", JAVA, "@Test", "@Test @Disabled"),
        ("ATest.java", JAVA, "  @Test\n", ""),
    ] {
        let new = old.replacen(from, to, 1);
        assert!(!lines(path, Some(old), &new).is_empty(), "{path}: {new}");
    }
}

#[test]
fn a_test_that_honestly_changed_is_none() {
    for (path, old, from, to) in [
        ("tests/test_a.py", PYTHON, "test_a", "test_doubles_numbers"),
        ("tests/test_a.py", PYTHON, "== 42", "== 43"),
        (
            "tests/test_a.py",
            PYTHON,
            "def test_a():\n",
            "def test_a():\n    assert double(2) == 4\n",
        ),
        (
            "tests/test_a.py",
            PYTHON,
            "def test_a",
            "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_files():\n    assert double(1) == 2\n\n\ndef test_a",
        ),
        ("tests/test_a.py", PYTHON, "1e-9", "1e-12"),
        ("tests/test_a.py", PYTHON, "    assert double(21) == 42", "    check_double(21, 42)"),
        (
            "tests/a.rs",
            RUST,
            "#[test]\n",
            "#[test]\n#[ignore = \"slow\"]\nfn slow() {\n    assert_eq!(double(3), 6);\n}\n\n#[test]\n",
        ),
        ("tests/a.rs", RUST, "fn a()", "fn doubles()"),
        ("test/a.test.js", NODE, "test('d", "test.skip('new one', () => {});\ntest('d"),
        ("a_test.go", GO, "42", "42 || Double(1) != 2"),
        ("ATest.java", JAVA, "void a", "void doubles"),
    ] {
        let new = old.replacen(from, to, 1);
        assert_eq!(lines(path, Some(old), &new), [""; 0], "{path}: {new}");
    }
}

/// An example in the documentation, and code that the tests read as text.
#[test]
fn assertions_that_stood_elsewhere_before_were_not_moved_there() {
    let documented = "//! assert!((half(3) - 1.5).abs() < 0.00001);\n\n#[test]\nfn a() {\n    assert!((half(3) - 1.5).abs() < 0.00001);\n}\n";
    let shared = documented.replace(
        "    assert!((half(3) - 1.5).abs() < 0.00001);",
        "    assert_delta!(1.5, half(3));",
    );
    assert_eq!(lines("src/lib.rs", Some(documented), &shared), [""; 0]);
    let read = "def test_a():\n    flakes(\"\"\"\n    assert (a, 'no tuple')\n    \"\"\")\n\n\ndef test_b():\n    assert flakes('')\n";
    let fewer = read.replace("def test_a():", "def test_tuples():");
    assert_eq!(lines("tests/test_a.py", Some(read), &fewer), [""; 0]);
}

#[test]
fn new_tests_that_only_ask_for_a_type_are_a_sign() {
    let hollow = "def test_new():\n    assert isinstance(double(2), int)\n";
    assert_eq!(lines("tests/test_new.py", None, hollow), ["assert isinstance(double(2), int)"]);
    let beside = format!("{PYTHON}\n\n{hollow}");
    assert_eq!(lines("tests/test_new.py", None, &beside), [""; 0]);
    let empty = "@pytest.mark.parametrize('x', [])\ndef test_a(x):\n    assert double(x) == 42\n";
    assert_eq!(
        lines("tests/test_a.py", Some(PYTHON), empty),
        ["@pytest.mark.parametrize('x', [])"]
    );
}

#[test]
fn marks_of_an_unfinished_merge_are_a_sign() {
    let text = "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n";
    let files = [ChangedFile {
        path: "notes.md",
        kind: FileKind::Document,
        old: Some("a\n"),
        new: Some(text),
    }];
    let change = Change { goal: "", files: &files, tests: &[], code: &[], documents: &[] };
    let found = all_signs(&change);
    assert_eq!(
        (found.len(), found[0].kind, found[0].line.as_str()),
        (1, FindingKind::ConflictMarkers, "<<<<<<< ours")
    );
    let heading = [ChangedFile { new: Some("Title\n=======\n"), ..files[0] }];
    assert_eq!(all_signs(&Change { files: &heading, ..change }), []);
}
