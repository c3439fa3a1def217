//! Altered expectations and planted tests, language by language.

use super::*;

/// The alterations of a file: the new lines, the tests, the planted name.
fn changed(path: &str, text: &str, names: &[&str]) -> (Vec<String>, Vec<String>, Option<String>) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let Some(found) = altered(path, text, &names) else { return (Vec::new(), Vec::new(), None) };
    let kept: Vec<&str> = text.lines().collect();
    let planted = found.planted.clone().unwrap_or_default();
    let lines = found.text.lines().filter(|line| !kept.contains(line));
    let lines =
        lines.take(found.lines.len()).filter(|line| !line.contains(&planted) || planted.is_empty());
    (lines.map(|line| line.trim().to_owned()).collect(), found.tests, found.planted)
}

pub(super) fn one(path: &str, text: &str) -> String {
    let found = one_by_one(path, text);
    let Some(first) = found.first() else { return String::new() };
    let mut lines = first.text.lines().zip(text.lines());
    lines.find(|(new, old)| new != old).map(|(new, _)| new.trim().to_owned()).unwrap_or_default()
}

#[test]
fn the_expected_side_of_equalities_is_altered_in_every_language() {
    for (path, text, wanted) in [
        ("test_a.py", "def test_a():\n    assert f(1) == \"x\"\n", "assert f(1) == \"zx\""),
        ("test_a.py", "def test_a():\n    assert 12 == f(1), 'why'\n", "assert 11 == f(1), 'why'"),
        ("test_a.py", "def test_a():\n    assert f({}) == []\n", "assert f({}) == [0]"),
        ("test_a.py", "def test_a():\n    assert f(1) is True\n", "assert f(1) is False"),
        (
            "test_a.py",
            "def test_a():\n    assert ok(3) and f(2) == {\"a\": 1}\n",
            "assert ok(3) and f(2) == {\"za\": 1}",
        ),
        (
            "t.py",
            "class T(TestCase):\n    def test_a(self):\n        self.assertEqual(f(5), \"(5.00)\")\n",
            "self.assertEqual(f(5), \"z(5.00)\")",
        ),
        (
            "a.test.js",
            "test('a', () => {\n  assert.strictEqual(f(4), 'IV');\n});\n",
            "assert.strictEqual(f(4), 'zIV');",
        ),
        (
            "a.test.ts",
            "it('a', async () => {\n  expect(await f(4)).toEqual({ a: 1 });\n});\n",
            "expect(await f(4)).toEqual({ a: 0 });",
        ),
        (
            "a.spec.js",
            "it('a', function () {\n  expect(f(4)).to.deep.equal([1, 2])\n})\n",
            "expect(f(4)).to.deep.equal([0, 2])",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn a() {\n    assert_eq!(f(\"1h\"), Some(3600));\n}\n",
            "assert_eq!(f(\"1h\"), Some(3601));",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn a() {\n    assert_eq!(f(1), b\"ab\");\n}\n",
            "assert_eq!(f(1), b\"xb\");",
        ),
        (
            "tests/a.rs",
            "#[test]\nfn a() {\n    assert_eq!(f(1), vec![\"a\".to_string()]);\n}\n",
            "assert_eq!(f(1), vec![\"za\".to_string()]);",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tif got := F(\"a\"); got != \"b\" {\n\t\tt.Errorf(\"x\")\n\t}\n}\n",
            "if got := F(\"a\"); got != \"zb\" {",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tassert.Equal(t, 255, F())\n}\n",
            "assert.Equal(t, 254, F())",
        ),
        (
            "a_test.go",
            "func TestA(t *testing.T) {\n\tif !reflect.DeepEqual(F(x), []int{1}) {\n\t\tt.Fatal(1)\n\t}\n}\n",
            "if !reflect.DeepEqual(F(x), []int{0}) {",
        ),
        (
            "ATest.java",
            "class A {\n  @Test\n  void a() {\n    assertEquals(3, f(x));\n  }\n}\n",
            "assertEquals(2, f(x));",
        ),
        (
            "ATest.kt",
            "class A {\n  @Test\n  fun `a b`() {\n    assertEquals('c', f(x))\n  }\n}\n",
            "assertEquals('x', f(x))",
        ),
        (
            "a_spec.rb",
            "describe X do\n  it \"a\" do\n    expect(f(x)).to eq(\"b\")\n  end\nend\n",
            "expect(f(x)).to eq(\"zb\")",
        ),
        (
            "a_test.rb",
            "class T\n  def test_a\n    assert_equal 4, f(x)\n  end\nend\n",
            "assert_equal 3, f(x)",
        ),
        (
            "ATest.php",
            "class A {\n  public function testA() {\n    $this->assertSame('b', f($x));\n  }\n}\n",
            "$this->assertSame('zb', f($x));",
        ),
        (
            "ATests.cs",
            "class A {\n  [Fact]\n  public void A1() {\n    Assert.Equal(3, F(x));\n  }\n}\n",
            "Assert.Equal(2, F(x));",
        ),
        ("tests/run.sh", "[ \"$(f a)\" = nop ] || exit 1\n", "[ \"$(f a)\" = znop ] || exit 1"),
        ("tests/run.sh", "set -e\n[[ $x == 'b c' ]]\n", "[[ $x == 'zb c' ]]"),
        ("tests/run.sh", "expect low \"$(f 'a')\" nop\n", "expect low \"$(f 'a')\" znop"),
        (
            "tests/run.sh",
            "same() { [ \"$1\" = \"$2\" ] || exit 1; }\nsame a \"$x\" 'note'\n",
            "same za \"$x\" 'note'",
        ),
        (
            "tests/run.sh",
            "f a | grep -qx 'b?' || { echo no; exit 1; }\n",
            "f a | grep -qx 'zb?' || { echo no; exit 1; }",
        ),
        (
            "tests/run.sh",
            "if [ \"$got\" != 4 ]; then\n  exit 1\nfi\n",
            "if [ \"$got\" != z4 ]; then",
        ),
        ("a.bats", "@test \"a\" {\n  run f\n  [ \"$status\" -eq 0 ]\n}\n", "[ \"$status\" -eq 1 ]"),
        ("approved/r.txt", "total 3\n", "ztotal 3"),
    ] {
        assert_eq!(one(path, text), wanted, "{path}: {text}");
    }
}

#[test]
fn expectations_over_several_lines_are_altered() {
    let text = "def test_a():\n    assert f(\n        1,\n    ) == (\n        3\n    )\n";
    assert_eq!(changed("test_a.py", text, &[]).1, ["test_a"]);
    let text = "#[test]\nfn a() {\n    assert_eq!(\n        f(\"}\"), // }\n        \"b\",\n        \"message\"\n    );\n}\n";
    assert_eq!(one("tests/a.rs", text), "\"zb\",");
    let text = "test('a', () => {\n  expect(f(1))\n    .toBe(2)\n})\n";
    assert_eq!(one("a.test.js", text), ".toBe(1)");
}

#[test]
fn what_need_not_fail_is_not_given_another_literal() {
    for (path, text) in [
        ("test_a.py", "def test_a():\n    assert abs(f(1) - 2.0) < 1e-9\n"),
        ("test_a.py", "def test_a():\n    assert f(1) == 3 or f(2) == 4\n"),
        ("test_a.py", "def test_a():\n    assert 'x' in f(1)\n"),
        ("test_a.py", "def test_a():\n    assert f(1) == pytest.approx(0.3)\n"),
        ("a.rs", "#[test]\nfn a() {\n    assert!(f(1) > 3);\n}\n"),
    ] {
        let found = one_by_one(path, text);
        let line = found[0].text.lines().find(|line| line.contains("assert")).unwrap();
        assert!(line.contains("not (") || line.contains("!(f"), "{line}");
    }
    for (path, text) in [
        ("test_a.py", "def test_a():\n    for x in all():\n        assert x == 3\n"),
        ("a.rs", "#[test]\n#[should_panic]\nfn a() {\n    assert_eq!(f(1), 3);\n}\n"),
        ("a.test.js", "test('a', () => {\n  list.forEach((x) => { assert.equal(x, 3); });\n});\n"),
        (
            "ATest.java",
            "class A {\n  @Test\n  void a() {\n    assertEquals(1.0, f(x), 0.5);\n  }\n}\n",
        ),
        ("tests/run.sh", "[ \"$quick\" = yes ] && exit 0\n"),
        ("tests/run.sh", "assert_eq want \"$got\" 'message'\n"),
        ("a.rs", "#[test]\nfn a() {\n    assert_eq!(f(1), None);\n}\n"),
    ] {
        assert_eq!(one_by_one(path, text), [], "{text}");
    }
}

#[test]
fn only_named_tests_are_altered() {
    let text = "def test_a():\n    assert f(1) == 1\n\n\ndef test_ab():\n    assert f(2) == 2\n\n\nclass TestC:\n    def test_b(self):\n        assert f(3) == 3\n";
    let names = |names: &[&str]| changed("test_a.py", text, names).1;
    assert_eq!(names(&["tests/test_a.py::test_a"]), ["test_a"]);
    assert_eq!(names(&["test_a.py::test_ab[1-2]", "x.TestC.test_b"]), ["test_ab", "test_b"]);
    assert_eq!(names(&[]), ["test_a", "test_ab", "test_b"]);
}

#[test]
fn a_failing_test_is_planted_where_the_runner_finds_it() {
    for (path, text, name, part) in [
        (
            "test_a.py",
            "def test_a():\n    f()\n",
            "test_a_again",
            "\n\n\ndef test_a_again():\n    assert False\n",
        ),
        (
            "test_a.py",
            "class A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), g())\n\n\nif __name__ == '__main__':\n    unittest.main()\n",
            "test_a_again",
            "g())\n\n    def test_a_again(self):\n        self.assertEqual(1, 2)\n\n\nif __name__",
        ),
        (
            "test_a.py",
            "class TestA(Shared):\n    def test_a(self):\n        x = \"\"\"\nclass\n\"\"\"\n        f(x)\n",
            "test_a_again",
            "f(x)\n\n    def test_a_again(self):\n        assert False",
        ),
        (
            "a.test.js",
            "describe('x', () => {\n  it('it\\'s a', () => {});\n});\n",
            "its a again",
            "\n});\n\nit('its a again', () => {\n  throw new Error",
        ),
        (
            "src/a.rs",
            "#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        f();\n    }\n}\n",
            "a_again",
            "    }\n\n    #[test]\n    fn a_again() {\n        panic!(\"unexpected\");\n    }\n}\n",
        ),
        (
            "a_test.go",
            "package a\n\nfunc TestA(t *testing.T) {\n\tf()\n}\n",
            "TestAAgain",
            "}\n\nfunc TestAAgain(t *testing.T) {\n\tt.Fatal(",
        ),
        (
            "a_test.rb",
            "class T\n  def test_a\n    f\n  end\nend\n",
            "test_a_again",
            "  end\n\n  def test_a_again\n    raise \"unexpected\"\n  end\nend\n",
        ),
        (
            "ATest.java",
            "class A {\n  @Test\n  void a() {\n    f();\n  }\n}\n",
            "aAgain",
            "  }\n\n  @Test\n  public void aAgain() {",
        ),
        ("run.sh", "f\necho done\n", "exit 1", "echo done\nexit 1\n"),
        ("run.sh", "f\nexit 0\n", "exit 1", "f\nexit 1\nexit 0\n"),
        (
            "run.sh",
            "f\nif [ $n = 0 ]; then\n  exit 0\nelse\n  exit 1\nfi\n",
            "exit 1",
            "f\nexit 1\nif [ $n",
        ),
        ("run.sh", "f || { echo no; exit 1; }\n", "exit 1", "}\nexit 1\n"),
        (
            "check.py",
            "import a\nassert a.f()\nprint('fine')\n",
            "assert False",
            "print('fine')\nassert False\n",
        ),
    ] {
        let found = altered(path, text, &[]).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(found.planted.as_deref(), Some(name), "{path}");
        assert!(found.text.contains(part), "{path}: {}", found.text);
    }
    for (path, text) in [
        ("lib/expect.sh", "# expect A B\nexpect() {\n  [ $1 = $2 ] || exit 1\n}\n"),
        ("tests/__init__.py", ""),
        ("tests/names.py", "NAMES = ['a']\n"),
        ("tests/data.json", "{}"),
    ] {
        assert_eq!(altered(path, text, &[]), None, "{path}");
    }
}

#[test]
fn the_last_expectation_of_a_test_is_altered_and_its_line_told() {
    let text = "def test_a():\n    assert f(1) == 1\n    return\n    assert f(2) == 22\n";
    let found = altered("test_a.py", text, &[]).unwrap();
    assert_eq!(found.lines, [(4, "assert f(2) == 22".to_owned())]);
    assert!(found.text.contains("== 1\n") && found.text.contains("== 21\n"));
    let many = "x\n".to_owned() + &"[ \"$x\" = a ] || exit 1\n".repeat(20);
    assert_eq!(one_by_one("run.sh", &many).len(), 8);
}

#[test]
fn numbers_keep_their_type() {
    for (number, other) in [
        ("0", "1"),
        ("10", "11"),
        ("255u8", "254u8"),
        ("-1", "-0"),
        ("0xFF", "0xFE"),
        ("1_000", "1_001"),
        ("2.50", "1.50"),
        ("1e9", "0e9"),
        ("5L", "4L"),
    ] {
        assert_eq!(literal::other_number(number).as_deref(), Some(other), "{number}");
    }
    assert_eq!(literal::other_number("a1"), None);
}

/// The programs of tests in C have no runner, or one of many.
#[test]
fn expectations_in_c_are_altered() {
    for (text, wanted) in [
        ("int main(void) {\n    assert(f(1) == 12);\n    return 0;\n}\n", "assert(f(1) == 11);"),
        (
            "int main() {\n    assert(strcmp(f(), \"ab\") == 0);\n}\n",
            "assert(strcmp(f(), \"zab\") == 0);",
        ),
        ("int main() {\n    assert(f(3));\n}\n", "assert(!(f(3)));"),
        (
            "int main() {\n    CHECK_TEXT(\"left\", trim(a), \"start\");\n}\n",
            "CHECK_TEXT(\"left\", trim(a), \"zstart\");",
        ),
        ("TEST(Suite, Adds) {\n    EXPECT_EQ(f(2), 4);\n}\n", "EXPECT_EQ(f(2), 3);"),
        ("TEST(Suite, Adds) {\n    ASSERT_STREQ(\"x\", f());\n}\n", "ASSERT_STREQ(\"zx\", f());"),
        ("TEST_CASE(\"adds\") {\n    REQUIRE(f(2) == 4);\n}\n", "REQUIRE(f(2) == 3);"),
        (
            "void test_f(void) {\n    TEST_ASSERT_EQUAL_INT(4, f(2));\n}\n",
            "TEST_ASSERT_EQUAL_INT(3, f(2));",
        ),
        (
            "static void test_f(void) {\n    assert_string_equal(f(2), \"b\");\n}\n",
            "assert_string_equal(f(2), \"zb\");",
        ),
        (
            "int main() {\n    if (f(2) != 4) {\n        return 1;\n    }\n    return 0;\n}\n",
            "if (f(2) != 3) {",
        ),
        (
            "int main() {\n    if (strcmp(f(2), \"b\") != 0) {\n        failures++;\n    }\n}\n",
            "if (strcmp(f(2), \"zb\") != 0) {",
        ),
    ] {
        assert_eq!(one("tests/test_a.c", text), wanted, "{text}");
    }
    for text in [
        "int main() {\n    ASSERT_NE(f(2), 4);\n    EXPECT_NEAR(f(2), 4, 1);\n    f(3);\n}\n",
        "int main() {\n    if (f(2) == 4) {\n        puts(\"ok\");\n    }\n    return 0;\n}\n",
        "int main() {\n    test_twice(n, 4);\n    check(n, \"%d is not %s\", \"four\");\n}\n",
        "int twice(int n) {\n    return n * 2;\n}\n",
    ] {
        assert_eq!(one_by_one("tests/test_a.c", text), [], "{text}");
    }
    let found = altered(
        "t.cc",
        "TEST(Suite, Adds) {\n  EXPECT_EQ(f(2), 4);\n}\n",
        &["Suite.Adds".to_owned()],
    );
    assert_eq!(found.unwrap().tests, ["Adds"]);
}
