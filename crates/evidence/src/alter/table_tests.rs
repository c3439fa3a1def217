//! Tables of expected values, in tests and in data files; approved documents.

use super::one_by_one;
use super::tests::one;

#[test]
fn expected_values_in_data_are_altered() {
    for (path, text, wanted) in [
        (
            "tests/cases.json",
            "[{\"in\": 1, \"expected\": \"a\"},\n{\"in\": 2, \"expected\": \"b\"}]\n",
            "\"expected\": \"zb\"",
        ),
        ("testdata/sum.yaml", "- in: 1\n  want: 12\n- in: 2\n  want: 14\n", "want: 13"),
        ("slug_cases.toml", "[[case]]\nexpected = true\n", "expected = false"),
        ("approved/a.txt", "\nName  Sum\n", "zName  Sum"),
        ("a/__snapshots__/a.snap", "// Jest Snapshot v1\n\nexports[`a`] = `b`;\n", "\nzexports"),
    ] {
        let found = one_by_one(path, text);
        assert!(found.iter().any(|one| one.text.contains(wanted)), "{path}: {found:?}");
    }
    for (path, text) in [
        ("config/app.json", "{\"expected\": 1}"),
        ("tests/cases.json", "[{\"in\": 1, \"out\": null}]"),
        ("tests/data.csv", "a,b\n"),
    ] {
        assert_eq!(one_by_one(path, text), [], "{path}");
    }
}

#[test]
fn expectations_in_tables_are_altered() {
    for (path, text, wanted) in [
        (
            "test_a.py",
            "@pytest.mark.parametrize(\"a, want\", [\n    (1, 2),\n    (3, 14),\n])\ndef test_a(a, want):\n    assert f(a) == want\n",
            "(3, 13),",
        ),
        (
            "test_a.py",
            "CASES = [\n    (\"a\", \"b\"),\n]\n\n@pytest.mark.parametrize(\"a,b\", CASES)\ndef test_a(a, b):\n    assert b == f(a)\n",
            "(\"a\", \"zb\"),",
        ),
        (
            "test_a.py",
            "class T(TestCase):\n    def test_a(self):\n        for a, b in [(1, 2)]:\n            self.assertEqual(f(a), b)\n",
            "for a, b in [(1, 1)]:",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tfor _, c := range []struct {\n\t\tin   string\n\t\twant int\n\t}{\n\t\t{in: \"a\", want: 3},\n\t} {\n\t\tif got := F(c.in); got != c.want {\n\t\t\tt.Errorf(\"x\")\n\t\t}\n\t}\n}\n",
            "{in: \"a\", want: 2},",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tcases := []struct {\n\t\tin string\n\t\tn  int\n\t}{\n\t\t{\"a\", 3},\n\t}\n\tfor _, c := range cases {\n\t\tif F(c.in) != c.n {\n\t\t\tt.Errorf(\"x\")\n\t\t}\n\t}\n}\n",
            "{\"a\", 2},",
        ),
        (
            "a.test.js",
            "test('a', () => {\n  for (const [a, want] of [\n    [1, 'x'],\n  ]) {\n    assert.equal(f(a), want);\n  }\n});\n",
            "[1, 'zx'],",
        ),
        (
            "a.test.js",
            "test('a', () => {\n  const cases = [{ a: 1, expected: 'x' }];\n  cases.forEach((c) => assert.equal(f(c.a), c.expected));\n});\n",
            "const cases = [{ a: 1, expected: 'zx' }];",
        ),
    ] {
        assert_eq!(one(path, text), wanted, "{text}");
    }
    for (path, text) in [
        ("test_a.py", "@parametrize(\"a, b\", [(1, 2)])\ndef test_a(a, b):\n    f(a, b)\n"),
        ("a.test.js", "test('a', () => {\n  build({ output: 'a' });\n});\n"),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tfor _, c := range []struct{ a int }{{1}} {\n\t\tF(c.a)\n\t}\n}\n",
        ),
    ] {
        assert_eq!(one_by_one(path, text), [], "{text}");
    }
}
