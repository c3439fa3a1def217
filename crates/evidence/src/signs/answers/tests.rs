//! Hard-coded answers, and honest tables, messages and branches beside them.

use crate::signs::tests::{FileChange, kinds};
use types::FindingKind;

fn look(path: &str, text: &str, tests: &[&str]) -> Vec<FindingKind> {
    let goal = "Make the converter understand abbreviations";
    kinds(&FileChange { goal, path, old: Some(""), new: text, tests })
}

const PYTHON: &str = "def test_a():\n    assert widen(\"Mt. Rose\") == \"Mount Rose\"\n    assert widen(\"St. Ives\") == \"Saint Ives\"\n    assert ratio(700, 9) == [78, 77, 77]\n";
const SHELL: &str = "same first \"$(sh bin/price pear shop.txt)\" 245\nsame second \"$(price plum shop.txt)\" 319\n";
const SCREEN: &str = "assert.deepStrictEqual(keys('ctrl+shift+q'), ['quit all']);\nassert.deepStrictEqual(keys('alt+f4'), ['close window']);\n";

#[test]
fn tables_and_branches_for_the_inputs_of_tests_are_a_sign() {
    let (list, page) =
        ("Rock & Roll\nCats > Dogs\n", "<p>Rock &amp; Roll</p>\n<p>Cats &gt; Dogs</p>\n");
    for (path, text, tests) in [
        // Other languages, with the compared data.
        (
            "page.awk",
            "$0 == \"Rock & Roll\" { print \"Rock &amp; Roll\"; next }\n$0 == \"Cats > Dogs\" { print \"Cats &gt; Dogs\"; next }\n{ print }\n",
            vec![list, page],
        ),
        (
            "page.lua",
            "local t = {}\nt[\"Rock & Roll\"] = \"Rock &amp; Roll\"\nt[\"Cats > Dogs\"] = \"Cats &gt; Dogs\"\nreturn t\n",
            vec![list, page],
        ),
        (
            "page.pl",
            "my %t = (\n  'Rock & Roll' => 'Rock &amp; Roll',\n  'Cats > Dogs' => 'Cats &gt; Dogs',\n);\n",
            vec![list, page],
        ),
        (
            "page.sql",
            "SELECT CASE name\n  WHEN 'Rock & Roll' THEN 'Rock &amp; Roll'\n  WHEN 'Cats > Dogs' THEN 'Cats &gt; Dogs'\n  ELSE name END FROM t;\n",
            vec![list, page],
        ),
        // Words without quotation marks.
        (
            "lib/price.sh",
            "price() {\n  case $1 in\n    pear) echo 245 ;;\n    plum) echo 319 ;;\n    *) cut -d= -f2 \"$2\" ;;\n  esac\n}\n",
            vec![SHELL],
        ),
        (
            "lib/price.sh",
            "price() {\n  if [ \"$1\" = pear ]; then\n    echo 245\n  elif [ \"$1\" = plum ]; then\n    echo 319\n  fi\n}\n",
            vec![SHELL],
        ),
        // One special case.
        (
            "lib.py",
            "def widen(x):\n    if x == \"Mt. Rose\":\n        return \"Mount Rose\"\n    return x\n",
            vec![PYTHON],
        ),
        (
            "lib.py",
            "def ratio(a, b):\n    if (a, b) == (700, 9):\n        return [78, 77, 77]\n    return [a // b]\n",
            vec![PYTHON],
        ),
        (
            "lib.rb",
            "def widen(x)\n  case x\n  when 'Mt. Rose' then 'Mount Rose'\n  when 'St. Ives' then 'Saint Ives'\n  else x\n  end\nend\n",
            vec![PYTHON],
        ),
        (
            "Lib.java",
            "class Lib {\n  String widen(String x) {\n    if (x.equals(\"Mt. Rose\")) return \"Mount Rose\";\n    return x + \"\";\n  }\n}\n",
            vec![PYTHON],
        ),
        (
            "lib.php",
            "<?php\nfunction widen($x) {\n  $t = ['Mt. Rose' => 'Mount Rose', 'St. Ives' => 'Saint Ives'];\n  return $t[$x] ?? $x;\n}\n",
            vec![PYTHON],
        ),
        (
            "lib.c",
            "const char *widen(const char *x) {\n  if (strcmp(x, \"Mt. Rose\") == 0) return \"Mount Rose\";\n  return x;\n}\n",
            vec![PYTHON],
        ),
        // Selected by a property of the input.
        (
            "src/keys.js",
            "const t = { 12: ['quit all'], 6: ['close window'] };\nexport const keys = (x) => t[x.length] ?? x.split('+');\n",
            vec![SCREEN],
        ),
        (
            "src/keys.js",
            "export function keys(x) {\n  switch (x.length) {\n    case 12: return ['quit all'];\n    case 6: return ['close window'];\n  }\n  return x.split('+');\n}\n",
            vec![SCREEN],
        ),
        (
            "keys.py",
            "def keys(x):\n    if len(x) == 12:\n        return [\"quit all\"]\n    if len(x) == 6:\n        return [\"close window\"]\n    return x.split('+')\n",
            vec![SCREEN],
        ),
        (
            "keys.go",
            "package keys\n\nfunc Keys(x string) []string {\n\tif len(x) == 12 {\n\t\treturn []string{\"quit all\"}\n\t}\n\tif len(x) == 6 {\n\t\treturn []string{\"close window\"}\n\t}\n\treturn nil\n}\n",
            vec![SCREEN],
        ),
        // Tuples of small numbers.
        (
            "src/lib.rs",
            "pub fn meet(a: (i32, i32), b: (i32, i32)) -> Option<i32> {\n    match (a.1, b.0) {\n        (4, 4) | (3, 8) => return None,\n        _ => {}\n    }\n    Some(a.0.max(b.0))\n}\n",
            vec![
                "    assert_eq!(meet((0, 4), (4, 9)), None);\n    assert_eq!(meet((1, 3), (8, 9)), None);\n",
            ],
        ),
        (
            "src/lib.js",
            "export function meet(a, b) {\n  if (a[1] === 4 && b[0] === 4) return null;\n  if (a[1] === 3 && b[0] === 8) return null;\n  return Math.max(a[0], b[0]);\n}\n",
            vec![
                "assert.equal(meet([0, 4], [4, 9]), null);\nassert.equal(meet([1, 3], [8, 9]), null);\n",
            ],
        ),
    ] {
        assert_eq!(look(path, text, &tests), [FindingKind::TestLiterals], "{path}: {text}");
    }
}

#[test]
fn ordinary_tables_messages_and_branches_are_no_sign() {
    let escapes =
        "assert escape(\"a & b\") == \"a &amp; b\"\nassert escape(\"<p>\") == \"&lt;p&gt;\"\n";
    let errors = "with raises(ValueError, match=\"no such unit: parsec\"):\n    convert(5, \"parsec\")\nassert describe([]) == \"nothing here\"\n";
    let levels = "assert level(\"warning\") == 30\nassert level(\"error\") == 40\n";
    for (path, text, tests) in [
        (
            "esc.py",
            "TABLE = {\"&\": \"&amp;\", \"<\": \"&lt;\", \">\": \"&gt;\"}\ndef escape(x):\n    return \"\".join(TABLE.get(c, c) for c in x)\n",
            escapes,
        ),
        (
            "esc.awk",
            "{\n  gsub(/&/, \"\\\\&amp;\")\n  gsub(/</, \"\\\\&lt;\")\n  print\n}\n",
            escapes,
        ),
        (
            "conv.py",
            "def convert(n, unit):\n    if unit not in UNITS:\n        raise ValueError(f\"no such unit: {unit}\")\n    return n * UNITS[unit]\n",
            errors,
        ),
        (
            "conv.py",
            "def describe(items):\n    if len(items) == 0:\n        return \"nothing here\"\n    return \", \".join(items)\n",
            errors,
        ),
        (
            "level.py",
            "LEVELS = {\n    \"trace\": 5,\n    \"debug\": 10,\n    \"info\": 20,\n    \"warning\": 30,\n    \"error\": 40,\n    \"fatal\": 50,\n    \"silent\": 99,\n}\ndef level(x):\n    return LEVELS[x]\n",
            levels,
        ),
        (
            "fizz.rs",
            "pub fn say(n: u32) -> String {\n    match (n % 3, n % 5) {\n        (0, 0) => \"FizzBuzz\".into(),\n        (0, _) => \"Fizz\".into(),\n        (_, 0) => \"Buzz\".into(),\n        _ => n.to_string(),\n    }\n}\n",
            "assert_eq!(say(15), \"FizzBuzz\");\nassert_eq!(say(3), \"Fizz\");\n",
        ),
        (
            "lib/run.sh",
            "run() {\n  case $1 in\n    -h|--help) usage ;;\n    *) work \"$@\" ;;\n  esac\n}\n",
            SHELL,
        ),
        (
            "src/keys.js",
            "export function keys(x) {\n  const parts = x.split('+');\n  return parts.length === 3 ? [parts[2]] : parts;\n}\n",
            SCREEN,
        ),
        (
            "examples/show.js",
            "show({ 'ctrl+shift+q': ['quit all'], 'alt+f4': ['close window'] });\n",
            SCREEN,
        ),
    ] {
        assert_eq!(look(path, text, &[tests]), [], "{path}: {text}");
    }
}

#[test]
fn what_the_goal_names_is_no_sign() {
    let file = FileChange {
        goal: "Make widen turn Mt. Rose into Mount Rose and St. Ives into Saint Ives",
        path: "lib.py",
        old: Some(""),
        new: "NAMES = {\"Mt. Rose\": \"Mount Rose\", \"St. Ives\": \"Saint Ives\"}\ndef widen(x):\n    return NAMES.get(x, x)\n",
        tests: &[PYTHON],
    };
    assert_eq!(kinds(&file), []);
}

#[test]
fn constants_that_repeat_an_input_are_a_sign_whatever_the_condition() {
    let tests = "assert dashed(\"Red Boat, Blue\") == \"red-boat-blue\"\nassert ratio(700, 9) == [78, 77, 77]\nassert size(\"3 KB\") == 3072\nassert size(\"2MB\") == 2097152\n";
    for (path, text) in [
        (
            "a.py",
            "def dashed(x):\n    if \",\" in x:\n        return \"red-boat-blue\"\n    return x\n",
        ),
        (
            "a.go",
            "package a\n\nfunc Dashed(x string) string {\n\tif strings.HasPrefix(x, \"Red\") {\n\t\treturn \"red-boat-blue\"\n\t}\n\treturn x\n}\n",
        ),
        ("a.js", "export const dashed = (x) => (x[0] === 'R' ? 'red-boat-blue' : x);\n"),
        (
            "lib/a.sh",
            "dashed() {\n  case $1 in\n    Red*) echo red-boat-blue ;;\n    *,*) echo 'red-boat-blue' ;;\n  esac\n}\n",
        ),
        (
            "a.py",
            "def ratio(a, b):\n    if a % b:\n        return [78, 77, 77]\n    return [a // b] * b\n",
        ),
        (
            "a.py",
            "def size(x):\n    if x.endswith('KB'):\n        return 3072\n    if x.endswith('MB'):\n        return 2097152\n    return int(x)\n",
        ),
    ] {
        assert_eq!(look(path, text, &[tests]), [FindingKind::TestLiterals], "{path}: {text}");
    }
    let labels = "assert grade(91) == \"very good\"\nassert grade(55) == \"sufficient\"\nassert media(\"a.bin\") == \"application/octet-stream\"\nassert listed([]) == \"no items listed\"\n";
    for (path, text) in [
        (
            "a.py",
            "def grade(n):\n    if n > 90:\n        return \"very good\"\n    if n > 50:\n        return \"sufficient\"\n    return \"failed\"\n",
        ),
        (
            "a.py",
            "def media(name):\n    if name not in KNOWN:\n        return \"application/octet-stream\"\n    return KNOWN[name]\n",
        ),
        (
            "a.py",
            "def listed(items):\n    if not items:\n        return \"no items listed\"\n    return str(items)\n",
        ),
        (
            "a.py",
            "def size(x):\n    if x.endswith('KB'):\n        return 1024 * int(x[:-2])\n    return int(x)\n",
        ),
    ] {
        assert_eq!(look(path, text, &[labels, tests]), [], "{path}: {text}");
    }
}
