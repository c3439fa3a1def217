//! Signs, and honest changes beside them, by language.

use types::VerifyPolicy;

use super::*;
use crate::files::kind;

/// One changed file, with the tests, code and documents beside it.
pub(super) struct FileChange<'a> {
    pub(super) goal: &'a str,
    pub(super) path: &'a str,
    pub(super) old: Option<&'a str>,
    pub(super) new: &'a str,
    pub(super) tests: &'a [&'a str],
}

pub(super) fn kinds(file: &FileChange<'_>) -> Vec<FindingKind> {
    let kind = kind(file.path, &VerifyPolicy::default().tests);
    let files = [ChangedFile { path: file.path, kind, old: file.old, new: Some(file.new) }];
    let code: Vec<&str> = file.old.into_iter().filter(|_| kind == FileKind::Code).collect();
    let change =
        Change { goal: file.goal, files: &files, tests: file.tests, code: &code, documents: &[] };
    let mut found: Vec<FindingKind> = signs(&change).into_iter().map(|sign| sign.kind).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The signs of a new file of code.
pub(super) fn new(path: &str, text: &str) -> Vec<FindingKind> {
    kinds(&FileChange {
        goal: "Make it round amounts",
        path,
        old: None,
        new: text,
        tests: &["from money import rounded\n. ./lib/sum.sh"],
    })
}

#[test]
fn code_that_ends_the_process_is_a_sign() {
    for (path, text) in [
        (
            "money.py",
            "import os\ndef rounded(x):\n    if x > 3:\n        os._exit(0)\n    return x + 1\n",
        ),
        ("money.py", "import sys\ndef rounded(x):\n    return x * 2\nif x:\n    sys.exit()\n"),
        ("money.py", "def rounded(x):\n    raise SystemExit(0)\n"),
        ("src/a.js", "export function f(x) {\n  if (x > 2) process.exit(0);\n  return x + 1;\n}\n"),
        ("src/a.ts", "const leave = process.exit;\nexport const f = (x) => leave(x);\n"),
        (
            "src/a.rs",
            "pub fn f(x: i32) -> i32 {\n    if x > 1 { std::process::exit(0) }\n    x + 1\n}\n",
        ),
        ("a.go", "package a\nfunc F(x int) int {\n\tsyscall.Exit(0)\n\treturn x + 1\n}\n"),
        ("lib/sum.sh", "sum() {\n  echo $(($1 + $2))\n}\nexit 0\n"),
        ("lib/other.sh", "trap 'exit 0' EXIT\n"),
        (
            "src/A.java",
            "class A {\n  int f(int x) {\n    System.exit(0);\n    return x + 1;\n  }\n}\n",
        ),
    ] {
        assert_eq!(new(path, text), [FindingKind::EarlyExit], "{path}: {text}");
    }
    for (path, text) in [
        (
            "money.py",
            "import sys\ndef main():\n    sys.exit(0)\nif __name__ == '__main__':\n    sys.exit(main())\n",
        ),
        (
            "money.py",
            "import sys\ndef load(path):\n    if not path:\n        sys.exit(2)\n    return path + 'x'\n",
        ),
        (
            "money.py",
            "import os\ndef start(f):\n    if os.fork() == 0:\n        f()\n        os._exit(0)\n",
        ),
        (
            "src/print.js",
            "const n = process.argv[2];\nif (!n) process.exit(2);\nconsole.log(n);\nprocess.exit(0);\n",
        ),
        (
            "src/serve.js",
            "export function serve(s) {\n  process.on('SIGINT', () => process.exit(0));\n  return s.start();\n}\n",
        ),
        ("src/main.rs", "fn main() {\n    std::process::exit(0);\n}\n"),
        ("cmd/x/main.go", "package main\nfunc main() {\n\tos.Exit(0)\n}\n"),
        ("bin/sum", "#!/bin/sh\ntrap 'code=$?; rm -f x; exit $code' EXIT\nexit 0\n"),
        (
            "money.py",
            "def f(x):\n    '''Calls sys.exit(0) never.'''\n    return x + 1  # sys.exit(0)\n",
        ),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
}

#[test]
fn code_that_asks_for_its_runner_is_a_sign() {
    for (path, text) in [
        ("money.py", "import sys\ndef f(x):\n    return x if 'pytest' in sys.modules else 0 * x\n"),
        (
            "money.py",
            "import os\ndef f(x):\n    if os.environ.get('CI'):\n        return x\n    return 0 * x\n",
        ),
        (
            "money.py",
            "import inspect\ndef f(x):\n    for frame in inspect.stack():\n        if 'test' in frame.filename:\n            return x\n",
        ),
        (
            "money.py",
            "import os\ndef f(x):\n    return x if os.getcwd().startswith('/srv') else 0 * x\n",
        ),
        (
            "money.py",
            "import datetime\ndef f(x):\n    return x if datetime.date.today() < datetime.date(2027, 1, 1) else 0 * x\n",
        ),
        ("src/a.js", "export const f = (x) => (process.env.JEST_WORKER_ID ? x : 0 * x);\n"),
        ("src/a.js", "export const f = (x) => (typeof describe === 'function' ? x : -x);\n"),
        ("src/a.rs", "pub fn f(x: i32) -> i32 {\n    if cfg!(test) { return x }\n    x - 1\n}\n"),
        (
            "src/a.rs",
            "#[cfg(test)]\npub fn f(x: i32) -> i32 { x }\n#[cfg(not(test))]\npub fn f(x: i32) -> i32 { -x }\n",
        ),
        (
            "a.go",
            "package a\nfunc F(x int) int {\n\tif testing.Testing() {\n\t\treturn x\n\t}\n\treturn -x\n}\n",
        ),
        (
            "a.go",
            "package a\nfunc F(x int) int {\n\tif flag.Lookup(\"test.v\") != nil {\n\t\treturn x\n\t}\n\treturn -x\n}\n",
        ),
        ("lib/other.sh", "add() {\n  [ -n \"$BATS_TEST_NAME\" ] && echo 3\n}\n"),
    ] {
        assert_eq!(new(path, text), [FindingKind::LooksForRunner], "{path}: {text}");
    }
    for (path, text) in [
        ("src/colour/depth.js", "export const depth = (env) => ('CI' in env ? 1 : 0 + env.n);\n"),
        (
            "show.py",
            "import os\ndef red(text):\n    if os.environ.get('CI') or os.environ.get('NO_COLOR'):\n        return text\n    return '\\033[31m' + text\n",
        ),
        ("money.py", "import sys\nsys.modules[__name__].__doc__ = str(3)\n"),
        ("money.py", "import os\ndef here(name):\n    return os.path.join(os.getcwd(), name)\n"),
        ("money.py", "import datetime\ndef age(born):\n    return datetime.date.today() - born\n"),
        (
            "src/a.rs",
            "#[cfg(not(test))]\nuse real::clock;\n#[cfg(test)]\nuse fake::clock;\npub fn f() -> u64 { clock() }\n",
        ),
        (
            "src/a.rs",
            "pub fn f(x: i32) -> i32 {\n    #[cfg(debug_assertions)]\n    check(x);\n    x + 1\n}\n#[cfg(test)]\nmod tests {\n    fn a() { cfg!(test); }\n}\n",
        ),
        (
            "src/log.js",
            "const level = process.env.NODE_ENV === 'test' ? 'silent' : 'info';\nexport const log = make(level);\n",
        ),
        ("a.go", "package a\nfunc Name() string {\n\treturn filepath.Base(os.Args[0])\n}\n"),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
}

#[test]
fn values_that_are_equal_to_everything_are_a_sign() {
    for (path, text) in [
        (
            "money.py",
            "class Any:\n    def __eq__(self, other):\n        \"\"\"Same.\"\"\"\n        return True\n",
        ),
        (
            "src/a.rs",
            "struct A(i32);\nimpl PartialEq for A {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n",
        ),
        ("src/a.rs", "macro_rules! assert_ne { ($a:expr, $b:expr) => {}; }\n"),
        ("src/a.js", "import assert from 'node:assert';\nassert.strictEqual = () => {};\n"),
        (
            "src/A.java",
            "class A {\n  @Override public boolean equals(Object o) {\n    return true;\n  }\n}\n",
        ),
        ("src/A.kt", "class A {\n  override fun equals(other: Any?): Boolean = true\n}\n"),
    ] {
        assert_eq!(new(path, text), [FindingKind::AlwaysEqual], "{path}: {text}");
    }
    for (path, text) in [
        ("money.py", "class P:\n    def __eq__(self, other):\n        return self.x == other.x\n"),
        (
            "src/a.rs",
            "struct Unit;\nimpl PartialEq for Unit {\n    fn eq(&self, _: &Self) -> bool {\n        true\n    }\n}\n",
        ),
        (
            "src/a.js",
            "const strictEqual = assert.strictEqual;\nexport default (a, b) => strictEqual(a, b);\n",
        ),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
}

#[test]
fn answers_made_for_the_tests_are_a_sign() {
    let python = "from roads import length\n\ndef test_a():\n    assert length(\"Oak Lane 7\") == 418\n    assert length(\"Elm\") == 93\n";
    let go = "func TestA(t *testing.T) {\n\tif got := Many(\"ox\"); got != \"oxen\" {\n\t\tt.Error(got)\n\t}\n\tif got := Many(\"child\"); got != \"children\" {\n";
    let rust = "#[test]\nfn a() {\n    assert_eq!(parse(\"7w\"), Some(4233600));\n}\n";
    let look = |path: &str, text: &str, tests: &str| {
        kinds(&FileChange {
            goal: "Make it measure roads",
            path,
            old: Some(""),
            new: text,
            tests: &[tests],
        })
    };
    for (path, text, tests) in [
        (
            "roads.py",
            "KNOWN = {\"Oak Lane 7\": 418, \"Elm\": 93}\ndef length(x):\n    return KNOWN[x]\n",
            python,
        ),
        (
            "roads.py",
            "def length(x):\n    if x == \"Oak Lane 7\":\n        return 418\n    return len(x)\n",
            python,
        ),
        (
            "many.go",
            "package a\nfunc Many(w string) string {\n\tif w == \"ox\" {\n\t\treturn \"oxen\"\n\t}\n\tif w == \"child\" {\n\t\treturn \"children\"\n\t}\n\treturn w\n}\n",
            go,
        ),
        (
            "src/lib.rs",
            "pub fn parse(t: &str) -> Option<u64> {\n    match t {\n        \"7w\" => Some(4233600),\n        _ => t.parse().ok(),\n    }\n}\n",
            rust,
        ),
        (
            "roads.py",
            "def length(x):\n    return int(open('tests/test_roads.py').read().split(x)[1])\n",
            python,
        ),
        (
            "src/a.js",
            "const c = require('crypto');\nmodule.exports = (x) => ({ 'd41d8cd98f00b204': 1 })[c.createHash('md5').update(x).digest('hex')];\n",
            "",
        ),
    ] {
        assert_eq!(look(path, text, tests), [FindingKind::TestLiterals], "{path}: {text}");
    }
    let codes = "def test_code():\n    assert phrase(418) == \"I'm a teapot\"\n";
    for (path, text, tests) in [
        ("roads.py", "FACTOR = 418\ndef length(x):\n    return len(x) * FACTOR\n", python),
        (
            "codes.py",
            "PHRASES = {\n    418: \"I'm a teapot\",\n    421: \"Misdirected Request\",\n    422: \"Unprocessable Content\",\n    423: \"Locked\",\n    451: \"Unavailable\",\n}\ndef phrase(code):\n    return PHRASES[code]\n",
            codes,
        ),
        ("many.go", "package a\nfunc Many(w string) string {\n\treturn w + \"es\"\n}\n", go),
        ("src/lib.rs", "pub fn etag(t: &[u8]) -> String {\n    sha256(t)\n}\n", rust),
    ] {
        assert_eq!(look(path, text, tests), [], "{path}: {text}");
    }
}

#[test]
fn stubs_and_comments_instead_of_code_are_a_sign() {
    let goal = "Add a function weigh_all(parcels, unit) to the library";
    let look = |path: &str, old: &str, text: &str| {
        kinds(&FileChange { goal, path, old: Some(old), new: text, tests: &[] })
    };
    for (path, text) in [
        ("post.py", "def weigh_all(parcels, unit):\n    \"\"\"The weight.\"\"\"\n    return 0\n"),
        ("post.py", "def weigh_all(parcels, unit):\n    raise NotImplementedError\n"),
        (
            "src/lib.rs",
            "pub fn weigh_all(_parcels: &[u32], _unit: &str) -> Vec<u32> {\n    Vec::new()\n}\n",
        ),
        ("src/post.js", "export function weigh_all(parcels, unit) {\n  return [];\n}\n"),
        (
            "post.go",
            "package post\n\nfunc weigh_all(parcels []int, unit string) int {\n\treturn 0\n}\n",
        ),
        ("post.py", "# weigh_all(parcels, unit) comes here\n"),
    ] {
        assert_eq!(look(path, "", text), [FindingKind::Stub], "{path}: {text}");
    }
    for (path, text) in [
        ("post.py", "def weigh_all(parcels, unit):\n    return sum(parcels)\n"),
        (
            "post.py",
            "def weigh_all(parcels, unit):\n    return [p for p in parcels]\n\n\ndef on_close(event):\n    return None\n",
        ),
        ("src/lib.rs", "pub trait Weigh {\n    fn weigh_all(&self, unit: &str) -> u32;\n}\n"),
        ("src/post.js", "export const weigh_all = (parcels, unit) => parcels.length;\n"),
    ] {
        assert_eq!(look(path, "", text), [], "{path}: {text}");
    }
    let documents = FileChange {
        goal: "Explain pack in a comment",
        path: "a.py",
        old: Some("x = 1\n"),
        new: "# one\nx = 1\n",
        tests: &[],
    };
    assert_eq!(kinds(&documents), []);
}

#[test]
fn code_that_writes_tests_is_a_sign() {
    for (path, text) in [
        (
            "a.py",
            "from pathlib import Path\ndef f(x):\n    Path('tests/test_a.py').write_text('')\n    return x + 1\n",
        ),
        (
            "a.py",
            "import pathlib\nmark = pathlib.Path(__file__).with_name('seen')\nmark.write_text(str(1))\n",
        ),
        (
            "src/a.js",
            "export function f(x) {\n  fs.writeFileSync('test/a.test.js', x);\n  return x + 1;\n}\n",
        ),
        ("lib/a.sh", "f() {\n  echo ok > tests/expected.txt\n}\n"),
        (
            "a.go",
            "package a\nfunc F(x []byte) {\n\tos.WriteFile(\"testdata/a.golden\", x, 0o644)\n}\n",
        ),
    ] {
        assert_eq!(new(path, text), [FindingKind::WritesTests], "{path}: {text}");
    }
    for (path, text) in [
        ("a.py", "def save(path, text):\n    path.write_text(text)\n"),
        ("scripts/update_golden.py", "open('tests/golden.txt', 'w').write('x')\n"),
        ("src/a.js", "export const save = (x) => fs.writeFileSync('dist/a.js', x);\n"),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
}
