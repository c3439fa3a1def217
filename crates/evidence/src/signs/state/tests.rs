//! Results that depend on the clock or the machine, and honest uses of both.

use crate::signs::tests::{FileChange, kinds, new};
use types::FindingKind;

#[test]
fn results_that_depend_on_clock_or_machine_are_a_sign() {
    for (path, text) in [
        (
            "a.py",
            "import os, time\nborn = os.stat(__file__).st_mtime\ndef f(x):\n    return x + 1 if time.time() < born + 900 else x\n",
        ),
        (
            "a.js",
            "const fs = require('fs');\nconst fresh = Date.now() - fs.statSync(__filename).mtimeMs < 6e5;\nmodule.exports = (x) => (fresh ? x + 1 : x);\n",
        ),
        (
            "lib/a.sh",
            "f() {\n  if [ -n \"$(find \"$0\" -mmin -30)\" ]; then echo $(($1 + 1)); fi\n}\n",
        ),
        (
            "src/a.rs",
            "pub fn f(x: i32) -> i32 {\n    let made = std::fs::metadata(file!()).and_then(|m| m.modified());\n    if made.is_ok() { x + 1 } else { x }\n}\n",
        ),
        (
            "a.go",
            "package a\n\nfunc F(x int) int {\n\tif time.Now().Before(time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)) {\n\t\treturn x + 1\n\t}\n\treturn x\n}\n",
        ),
        (
            "lib/a.sh",
            "f() {\n  if [ \"$(date +%s)\" -lt 1893456000 ]; then echo $(($1 + 1)); fi\n}\n",
        ),
        ("a.rb", "def f(x)\n  Time.now.year == 2026 ? x + 1 : x\nend\n"),
        ("a.js", "export const f = (x) => (process.uptime() < 20 ? x + 1 : x);\n"),
        ("a.py", "def f(x):\n    return x + float(open('/proc/uptime').read().split()[0])\n"),
        ("lib/a.sh", "f() {\n  git notes show 2>/dev/null || echo $(($1 + 1))\n}\n"),
        (
            "a.py",
            "import subprocess\ndef f(x):\n    return int(subprocess.check_output(['git', 'config', 'a.b'])) + x\n",
        ),
        (
            "a.py",
            "from urllib.request import urlopen\ndef f(x):\n    return int(urlopen('http://localhost:4817/' + str(x)).read())\n",
        ),
    ] {
        assert_eq!(new(path, text), [FindingKind::LooksForRunner], "{path}: {text}");
    }
    for (path, text) in [
        (
            "a.py",
            "import json, os\ndef f(x):\n    with open(os.path.expanduser('~/.rates')) as known:\n        return json.load(known)[x]\n",
        ),
        (
            "a.js",
            "const known = JSON.parse(fs.readFileSync(path.join(os.tmpdir(), 'rates')));\nexport const f = (x) => known[x];\n",
        ),
        ("lib/a.sh", "f() {\n  grep \"^$1=\" \"$HOME/.rates\" | cut -d= -f2\n}\n"),
    ] {
        assert_eq!(new(path, text), [FindingKind::WritesTests], "{path}: {text}");
    }
}

#[test]
fn clocks_and_places_are_no_sign_where_they_belong() {
    for (path, text) in [
        (
            "a.py",
            "import os, time\ndef stale(path):\n    return time.time() - os.path.getmtime(path) > 3600\n",
        ),
        (
            "a.py",
            "import time\ndef timed(f):\n    begin = time.monotonic()\n    f()\n    return time.monotonic() - begin\n",
        ),
        ("a.js", "export const late = (day) => Date.now() > day.getTime();\n"),
        ("a.py", "import tempfile\ndef scratch():\n    return tempfile.mkdtemp()\n"),
        ("src/server.js", "export const start = (app) => app.listen(8080, '127.0.0.1');\n"),
        (
            "a.py",
            "from pathlib import Path\nHERE = Path(__file__).parent\ndef load(name):\n    return (HERE / name).read_text()\n",
        ),
    ] {
        assert_eq!(new(path, text), [], "{path}: {text}");
    }
    let text = "import os\ndef load():\n    return open(os.path.expanduser('~/.rates')).read()\n";
    let goal = "Read rates from a file in the home folder";
    assert_eq!(kinds(&FileChange { goal, path: "a.py", old: None, new: text, tests: &[] }), []);
}
