//! Mutants by language, and the parts of a change.

use super::*;

/// The lines with a fault, part by part.
fn lines(path: &str, old: &str, new: &str) -> Vec<Vec<String>> {
    let of_part = |part: Vec<Mutant>| part.into_iter().map(|mutant| mutant.is).collect();
    mutants(path, old, new).into_iter().map(of_part).collect()
}

fn of_line(path: &str, line: &str) -> Vec<String> {
    lines(path, "", line).into_iter().flatten().collect()
}

#[test]
fn a_line_has_the_faults_of_its_language() {
    for (path, line, faults) in [
        (
            "a.py",
            "if n <= 3 and not done:",
            &["if n > 3 and not done:", "if n <= 3 or not done:"][..],
        ),
        ("a.py", "return total(basket)", &["return None"]),
        ("a.py", "rate = load(path)", &["rate = None"]),
        ("a.py", "log.write(line)", &["pass"]),
        ("a.py", "LIMIT = 30", &["LIMIT = 31", "LIMIT = None"]),
        ("a.py", "print_it('all done')", &["pass", "print_it('all donex')"]),
        ("a.js", "  return a === b;", &["return a !== b;", "return undefined;"]),
        ("a.js", "const rate = read();", &["const rate = undefined;"]),
        ("a.rs", "    if left < right {", &["if left >= right {"]),
        ("a.rs", "    self.flush()?;", &[";"]),
        ("a.rs", "    ready: true,", &["ready: false,"]),
        ("a.go", "\treturn n * 2", &["return n + 2", "return nil", "return 0"]),
        ("a.go", "\treturn sum(all)", &["return nil", "return 0"]),
        ("a.rs", "    total(&all)\n}", &["Default::default()"]),
        ("a.sh", "echo bye", &[":"]),
        ("a.sh", "  fi", &[]),
        ("a.c", "  size = size - 4;", &["size = size + 4;", "size = size - 5;"]),
        (
            "a.sh",
            "if [ \"$n\" -gt 9 ]; then",
            &["if [ \"$n\" -le 9 ]; then", "if [ \"$n\" -gt 10 ]; then"],
        ),
    ] {
        let found = of_line(path, line);
        let first: Vec<&str> = found.iter().take(faults.len().max(1)).map(String::as_str).collect();
        assert_eq!(first, faults, "{path}: {line}");
    }
}

#[test]
fn what_only_declares_has_no_fault() {
    for (path, line) in [
        ("a.py", "from shop import total as sum_of"),
        ("a.py", "@cache"),
        ("a.py", "__all__ = [\"mean\"]"),
        ("a.py", "__all__ = [\n    \"mean\",\n    \"mode\",\n]"),
        ("a.py", "# n == 3"),
        ("a.js", "import { a } from './a.js';"),
        ("a.rs", "use std::fmt;"),
        ("a.rs", "#[serde(default = \"one\")]"),
        ("a.go", "package shop"),
        ("a.c", "#include <stdio.h>"),
        ("a.rs", "fn first<'a>(a: &'a str) -> &'a str {"),
        ("a.txt", "n == 3"),
    ] {
        assert!(of_line(path, line).is_empty(), "{path}: {line}: {:?}", of_line(path, line));
    }
}

#[test]
fn only_changed_lines_have_faults_part_by_part() {
    let old = "def a(n):\n    return n + 1\n\n\ndef b(n):\n    return n * 2\n\n\ndef c(n):\n    return n - 3\n";
    let new = old.replace("n + 1", "n + 2").replace("n - 3", "n - 4");
    let parts = lines("a.py", old, &new);
    let firsts: Vec<&str> = parts.iter().map(|part| part[0].as_str()).collect();
    assert_eq!(firsts, ["return n - 2", "return n + 4"]);
    // A long part is divided, so that no test of its first lines vouches for the last.
    let long: String = (0..30).map(|n| format!("x{n} = {n}\n")).collect();
    assert_eq!(lines("a.py", "", &long).len(), 3);
    let mutant = &mutants("a.py", old, &new)[0][0];
    assert_eq!((mutant.line, mutant.was.as_str()), (2, "return n + 2"));
    assert_eq!(mutant.text, new.replace("n + 2", "n - 2"));
}

#[test]
fn unit_tests_are_no_part_of_the_code() {
    let new = "pub fn a() -> u8 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {\n        assert!(super::a() == 1);\n    }\n}\n";
    assert_eq!(lines("a.rs", "", new), [["pub fn a() -> u8 { 2 }"]]);
}

#[test]
fn documentation_and_names_of_types_have_no_faults() {
    for line in [
        "\"\"\"The fee of the first tier.\"\"\"",
        "T = TypeVar(\"T\")",
        "Id = typing.NewType('Id', int)",
    ] {
        assert_eq!(of_line("a.py", line), [""; 0], "{line}");
    }
    assert!(!of_line("a.py", "\"one\",").is_empty());
}
