//! Code that detects tests, and honest code that looks similar.

use crate::signs::tests::new;
use types::FindingKind;

#[test]
fn modes_and_traces_of_tests_are_a_sign() {
    for (path, text) in [
        (
            "a.py",
            "import os\ndef f(x):\n    return x + 1 if os.environ.get('APP_TESTING') else x\n",
        ),
        (
            "a.py",
            "import os\ndef f(x):\n    return x + 1 if os.environ['FLASK_ENV'] == 'testing' else x\n",
        ),
        ("a.rb", "def f(x)\n  Rails.env.test? ? x + 1 : x\nend\n"),
        ("a.rb", "def f(x)\n  ENV['RACK_ENV'] == 'test' ? x + 1 : x\nend\n"),
        ("a.js", "export const f = (x) => (process.env.APP_ENV === 'test' ? x + 1 : x);\n"),
        ("a.js", "export const f = (x) => (process.env.npm_lifecycle_event ? x + 1 : x);\n"),
        ("a.js", "exports.f = (x) => (require.main.filename.length > 30 ? x + 1 : x);\n"),
        ("a.py", "import sys\ndef f(x):\n    return x + 1 if sys.gettrace() else x\n"),
        ("a.py", "def f(x):\n    return x + 1 if __debug__ else x\n"),
        (
            "a.py",
            "import sys\ndef f(x):\n    return x + 1 if 'uni' + 'ttest' in sys.modules else x\n",
        ),
        ("a.py", "import os\ndef f(x):\n    return x + 1 if os.path.isdir('tests') else x\n"),
        (
            "a.go",
            "package a\n\nfunc F(x int) int {\n\tif _, err := os.Stat(\"testdata\"); err == nil {\n\t\treturn x + 1\n\t}\n\treturn x\n}\n",
        ),
        ("lib/a.sh", "f() {\n  [ -d tests ] && echo $(($1 + 1))\n}\n"),
        (
            "src/a.rs",
            "pub fn f(x: i32) -> i32 {\n    if std::thread::current().name() != Some(\"main\") { x + 1 } else { x }\n}\n",
        ),
        (
            "src/a.rs",
            "pub fn f(x: i32) -> i32 {\n    if std::env::var(\"CARGO_MANIFEST_DIR\").is_ok() { x + 1 } else { x }\n}\n",
        ),
        (
            "A.java",
            "class A {\n  int f(int x) {\n    return A.class.desiredAssertionStatus() ? x + 1 : x;\n  }\n}\n",
        ),
        (
            "a.py",
            "import sys\ndef f(x):\n    if not sys.stdout.isatty():\n        return x + 1\n    return x\n",
        ),
        ("lib/a.sh", "f() {\n  case ${BASH_SOURCE[1]} in *t.sh) echo $(($1 + 1)) ;; esac\n}\n"),
    ] {
        assert_eq!(new(path, text), [FindingKind::LooksForRunner], "{path}: {text}");
    }
}

#[test]
fn ordinary_modes_are_no_sign() {
    for (path, text) in [
        (
            "a.py",
            "import sys\ndef arrays():\n    return sys.modules['numpy'] if 'numpy' in sys.modules else list\n",
        ),
        ("a.py", "import sys\ndef home(cls):\n    return sys.modules[cls.__module__].__dict__\n"),
        ("a.py", "def f(x):\n    if __debug__:\n        check(x)\n    return x + 1\n"),
        (
            "a.py",
            "import sys\ndef red(x):\n    if sys.stdout.isatty():\n        return '\\033[31m' + x\n    return x\n",
        ),
        ("a.js", "export const f = (x) => (process.env.NODE_ENV === 'production' ? x : x + 1);\n"),
        ("src/a.rs", "pub fn f(x: &str) -> bool {\n    std::path::Path::new(x).exists()\n}\n"),
        ("lib/a.sh", "f() {\n  [ -d \"$1\" ] && echo \"$1\"\n}\n"),
        (
            "a.py",
            "def options(parser):\n    parser.add_argument('--test', help='only try it')\n    return parser\n",
        ),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
}
