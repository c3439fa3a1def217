//! The same tests in another order, on other lines, under another name; and files whose tests stay as they stand.

use super::*;

fn turned(path: &str, text: &str) -> String {
    let moved = moved(path, text).expect("tests");
    assert!(moved.reordered, "{}", moved.text);
    moved.text.trim_start().to_owned()
}

#[test]
fn tests_stand_in_the_opposite_order() {
    assert_eq!(
        turned(
            "test_a.py",
            "from a import f\n\n\n@mark\ndef test_one():\n    assert f(1) == 2\n\n\ndef help():\n    pass\n\n\n\
             # About two.\ndef test_two():\n    assert f(2) == 3\n"
        ),
        "from a import f\n\n\ndef test_two():\n    assert f(2) == 3\n\n\ndef help():\n    pass\n\n\n\
         # About two.\n@mark\ndef test_one():\n    assert f(1) == 2\n"
    );
    assert_eq!(
        turned(
            "a.test.js",
            "test('one', () => {\n  assert.equal(f(1), 2);\n});\n\ndescribe('in', () => {\n  it('x', () => {});\n  \
             it('y', () => {});\n});\ntest('two', () => {\n  f(2);\n});\n"
        ),
        "test('two', () => {\n  f(2);\n});\n\ndescribe('in', () => {\n  it('y', () => {});\n  it('x', () => {});\n});\n\
         test('one', () => {\n  assert.equal(\nf(1), \n2);\n});\n"
    );
    assert_eq!(
        turned(
            "a_test.go",
            "package a\n\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n\n// Two.\nfunc TestB(t *testing.T) {\n\tf(2)\n}\n"
        ),
        "package a\n\nfunc TestB(t *testing.T) {\n\tf(2)\n}\n\n// Two.\nfunc TestA(t *testing.T) {\n\tf(1)\n}\n"
    );
}

/// Some runners sort tests by name.
#[test]
fn tests_that_are_sorted_by_name_get_other_names() {
    let text = "use a::f;\n\n#[test]\nfn one() {\n    assert_eq!(f(1), 2);\n}\n\n#[test]\nfn two() {\n    f(2);\n}\n";
    let moved = moved("tests/a.rs", text).expect("tests");
    assert_eq!(
        moved.text.trim_start(),
        "use a::f;\n\n#[test]\nfn aa_two() {\n    f(2);\n}\n\n#[test]\nfn ab_one() {\n    assert_eq!(\nf(1), \n2);\n}\n"
    );
    assert_eq!(moved.tests[0], ("one".to_owned(), "ab_one".to_owned()));
    let text = "class A(TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n\n    def test_b(self):\n        f(2)\n";
    assert_eq!(
        turned("test_a.py", text),
        "class A(TestCase):\n    def test_aa_b(self):\n        f(2)\n\n    def test_ab_a(self):\n        \
         self.assertEqual(\nf(1), \n2)\n"
    );
}

#[test]
fn tests_that_build_on_each_other_keep_their_order() {
    for (path, text) in [
        (
            "test_a.py",
            "store = Store()\ndef test_a():\n    store.add(1)\ndef test_b():\n    assert store.size == 1\n",
        ),
        (
            "test_a.py",
            "seen = []\ndef test_a():\n    seen.append(1)\ndef test_b():\n    assert seen == [1]\n",
        ),
        (
            "test_a.py",
            "@pytest.fixture(scope=\"module\")\ndef db():\n    pass\ndef test_a(db):\n    db.x()\ndef test_b(db):\n    db.y()\n",
        ),
        (
            "test_a.py",
            "def test_a():\n    pass\nCASES = [1]\n@parametrize(\"x\", CASES)\ndef test_b(x):\n    pass\n",
        ),
        (
            "a.test.js",
            "let id;\ntest('a', () => { id = make(); });\ntest('b', () => { use(id); });\n",
        ),
        ("a.test.js", "beforeAll(() => start());\ntest('a', () => {});\ntest('b', () => {});\n"),
        (
            "a_test.go",
            "var n int\nfunc TestA(t *testing.T) {\n\tn++\n}\nfunc TestB(t *testing.T) {\n\tf(n)\n}\n",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tos.Setenv(\"A\", \"b\")\n}\nfunc TestB(t *testing.T) {\n\tf(n)\n}\n",
        ),
    ] {
        let moved = moved(path, text).expect("tests");
        assert!(!moved.reordered, "{}", moved.text);
    }
    for (path, text) in [
        (
            "test_a.py",
            "CASES = [1, 2]\ndef test_a():\n    f(CASES)\ndef test_b():\n    assert f(CASES[0])\n",
        ),
        (
            "a.test.js",
            "const one = { n: 1 };\ntest('a', () => { f(one); });\ntest('b', () => { f(one.n); });\n",
        ),
    ] {
        assert!(moved(path, text).expect("tests").reordered, "{text}");
    }
}

#[test]
fn a_file_gets_another_name_of_the_same_pattern() {
    let free = |path: &str| other_path(path, "", "make test", [("a.py", "x = 1\n"), (path, "")]);
    for (path, start, end) in [
        ("tests/test_a.py", "tests/test_", "_a.py"),
        ("pkg/a_linux_test.go", "pkg/", "_a_linux_test.go"),
        ("ui/a.spec.tsx", "ui/", "_a.spec.tsx"),
        ("tests/quotes.rs", "tests/", "_quotes.rs"),
    ] {
        let other = free(path).expect("a name");
        assert!(other != path && other.starts_with(start) && other.ends_with(end), "{other}");
    }
    for path in ["tests/conftest.py", "src/a.rs", "tests/helper.js", "ATest.java"] {
        assert_eq!(free(path), None, "{path}");
    }
}

#[test]
fn a_file_that_something_names_keeps_its_name() {
    for (path, text, command, other) in [
        ("tests/test_a.py", "", "python3 -m unittest tests.test_a", ("a", "")),
        ("tests/test_a.py", "", "make test", ("Makefile", "test:\n\tpython3 tests/test_a.py\n")),
        ("tests/test_a.py", "", "pytest", ("tests/test_b.py", "from tests.test_a import Base\n")),
        ("tests/test_a.py", "here = Path(__file__)\n", "pytest", ("a", "")),
        ("test/a.test.js", "", "npm test", ("test/__snapshots__/a.test.js.snap", "")),
        ("tests/quotes.rs", "", "cargo test --test quotes", ("a", "")),
        ("tests/quotes.rs", "", "cargo test", ("Cargo.toml", "[[test]]\nname = \"quotes\"\n")),
    ] {
        assert_eq!(other_path(path, text, command, [other]), None, "{path} {command} {other:?}");
    }
    let prose = ("src/lib.rs", "//! Fields in quotes.\n");
    assert!(other_path("tests/quotes.rs", "", "cargo test", [prose]).is_some());
    assert!(is_named("test_a.py", "import test_a") && !is_named("test_a.py", "import test_ab"));
}
