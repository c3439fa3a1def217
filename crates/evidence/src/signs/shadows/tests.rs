//! Names taken over from checks, and honest uses of the same names.

use crate::signs::tests::{FileChange, kinds, new};
use types::FindingKind;

#[test]
fn names_that_checks_use_are_a_sign_where_code_takes_them() {
    let tests = "check=$(grep -c x out.txt)\nassert_same \"$check\" 3\n";
    let look = |path: &str, text: &str| {
        kinds(&FileChange { goal: "Make it count", path, old: None, new: text, tests: &[tests] })
    };
    for (path, text) in [
        ("lib/count.sh", "count() { wc -l < \"$1\"; }\n[() {\n  return 0\n}\n"),
        ("lib/count.sh", "function cmp {\n  :\n}\n"),
        ("lib/count.sh", "alias diff=true\n"),
        ("lib/count.sh", "grep() { command echo 3; }\n"),
        ("lib/count.sh", "assert_same() { :; }\n"),
        ("lib/count.sh", "exit() { builtin exit 0; }\n"),
        ("tools/diff", "#!/bin/sh\n[ -r \"$1\" ]\n"),
        ("difflib.py", "def unified_diff(a, b):\n    return iter(a[:0])\n"),
        ("count.py", "import builtins\nbuiltins.sum = lambda items: Total(items)\n"),
        ("count.py", "import sys\nsys._getframe(1).f_globals['expected'] = 3\n"),
        ("count.js", "globalThis.expect = (x) => chain(x);\n"),
        ("count.js", "class Sum {\n  static [Symbol.hasInstance](x) { return Boolean(x); }\n}\n"),
        ("count.js", "Array.prototype.every = function (f) { return this.length >= 0; };\n"),
        ("count.mjs", "import a from 'node:assert/strict';\nfor (const k of names) a[k] = keep;\n"),
        ("count.js", "const t = require('chai');\nObject.assign(t, { equal() {} });\n"),
        ("count.rb", "class Object\n  def ==(other)\n    equal?(other) || other\n  end\nend\n"),
        (
            "count.py",
            "import unittest\ndef count(x):\n    if not x:\n        raise unittest.SkipTest('later')\n    return len(x)\n",
        ),
    ] {
        assert!(look(path, text).contains(&FindingKind::AlwaysEqual), "{path}: {text}");
    }
    for (path, text) in [
        ("lib/count.sh", "count() { test -n \"$1\" && grep -c x \"$1\"; }\n"),
        ("lib/count.sh", "die() {\n  echo \"$*\" >&2\n  exit 1\n}\ntest_all() { run all; }\n"),
        ("lib/count.sh", "sort_lines() { sort -n; }\ncat_all() { cat ./*; }\n"),
        ("count/difflib.py", "def shown(a, b):\n    return a + b\n"),
        ("count.js", "globalThis.fetch ??= polyfill;\nconst same = global.expect === x;\n"),
        (
            "count.js",
            "import assert from 'node:assert';\nexport const f = (x) => { assert.ok(x); return x + 1; };\n",
        ),
        ("count.py", "import builtins\ndef shown(name):\n    return getattr(builtins, name)\n"),
    ] {
        assert_eq!(look(path, text), [], "{path}: {text}");
    }
}

#[test]
fn commands_that_no_test_uses_may_be_wrapped() {
    assert_eq!(new("lib/colour.sh", "ls() {\n  command ls --color \"$@\"\n}\n"), []);
}
