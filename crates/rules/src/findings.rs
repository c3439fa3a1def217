//! Findings in a diff: tests that are changed, deleted or skipped, lost assertions, checks that can no longer fail.
//! Recognised line by line for each language; whether a finding is a violation is decided elsewhere.

use types::{Changes, Finding, FindingKind, Findings, VerifyPolicy, WorkPath};

mod diff;
mod marks;
pub mod unchanged;

use diff::{FileDiff, files};

/// Maximum number of lost assertions, and of skipped tests, kept for one attempt. Findings about whole files are never
/// dropped: there are no more of them than changes, and some may be allowed while others are not.
pub const MOST: usize = 50;
/// Maximum number of characters kept of a line.
const LONGEST: usize = 160;

/// The changed files that may have findings.
#[must_use]
pub fn watched(changes: &Changes, policy: &VerifyPolicy) -> Vec<WorkPath> {
    let paths = changes.0.iter().map(|change| &change.path);
    let wanted = |path: &&WorkPath| {
        let text = path.as_str();
        is_test(text, policy) || marks::may_hold_tests(text) || marks::is_recipe(text)
    };
    paths.filter(wanted).cloned().collect()
}

/// Whether the lines of a file are read even if it looks binary, so that no byte can hide an assertion.
#[must_use]
pub fn is_read(path: &WorkPath) -> bool {
    marks::is_code(path.as_str()) || marks::is_recipe(path.as_str())
}

/// The findings in a git diff without context lines.
#[must_use]
pub fn findings(diff: &str, policy: &VerifyPolicy) -> Findings {
    let files = files(diff);
    let mut found: Vec<Finding> = files.iter().flat_map(|file| of_file(file, policy)).collect();
    found.extend(assertions(&files, policy).into_iter().take(MOST));
    found.extend(skips(&files).into_iter().take(MOST));
    Findings(found)
}

/// Whether a path is that of a test.
#[must_use]
pub fn is_test(path: &str, policy: &VerifyPolicy) -> bool {
    evidence::files::is_test(path, &policy.tests)
}

fn finding(kind: FindingKind, path: &str, line: &str) -> Option<Finding> {
    let line: String = line.trim().chars().take(LONGEST).collect();
    // An invalid path was refused when the changes were listed.
    Some(Finding { kind, path: path.parse().ok()?, line })
}

fn of_file(file: &FileDiff<'_>, policy: &VerifyPolicy) -> Vec<Finding> {
    let was_test = file.old.filter(|path| is_test(path, policy));
    let is_test_still = file.new.is_some_and(|path| is_test(path, policy));
    let tests = match was_test {
        Some(old) if !is_test_still => finding(FindingKind::TestDeleted, old, ""),
        Some(old) => finding(FindingKind::TestChanged, file.new.unwrap_or(old), ""),
        None => None,
    };
    let recipe = file.new.filter(|path| marks::is_recipe(path));
    let weakened = recipe.and_then(|path| {
        let toothless = file.added.iter().find(|line| marks::cannot_fail(line));
        let line = toothless.copied().or_else(|| dropped_script(file))?;
        finding(FindingKind::CheckWeakened, path, line)
    });
    tests.into_iter().chain(weakened).collect()
}

/// The test script that a package has lost.
fn dropped_script<'a>(file: &FileDiff<'a>) -> Option<&'a str> {
    let is_script = |line: &&&str| line.trim_start().starts_with("\"test\":");
    let gone = file.removed.iter().find(is_script)?;
    file.added.iter().find(is_script).is_none().then_some(gone)
}

/// Lost assertions. One that moved, or was replaced by another anywhere in the changes, is not lost.
fn assertions(files: &[FileDiff<'_>], policy: &VerifyPolicy) -> Vec<Finding> {
    let mut added: Vec<&str> = Vec::new();
    let mut removed: Vec<(&str, &str)> = Vec::new();
    for file in files {
        let path = file.new.or(file.old).unwrap_or_default();
        let counts = |line: &&str| marks::asserts(path, line);
        added.extend(file.added.iter().copied().filter(counts).map(str::trim));
        // A deleted test file is one finding, not one for each line.
        let gone = file.new.is_none() && file.old.is_some_and(|old| is_test(old, policy));
        let lines = file.removed.iter().copied().filter(|_| !gone).filter(counts);
        removed.extend(lines.map(|line| (path, line.trim())));
    }
    removed.retain(|(_, line)| match added.iter().position(|other| other == line) {
        Some(place) => {
            added.swap_remove(place);
            false
        }
        None => true,
    });
    let lost = removed.len().saturating_sub(added.len());
    let last = removed.len() - lost;
    removed[last..]
        .iter()
        .filter_map(|(path, line)| finding(FindingKind::AssertionDeleted, path, line))
        .collect()
}

/// Newly skipped tests.
fn skips(files: &[FileDiff<'_>]) -> Vec<Finding> {
    let skipped = |lines: &[&str], path: &str| -> Vec<String> {
        let lines = lines.iter().filter(|line| marks::skips(path, line));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    let old = |file: &FileDiff<'_>| skipped(&file.removed, file.old.unwrap_or_default());
    let mut before: Vec<String> = files.iter().flat_map(old).collect();
    let mut found = Vec::new();
    for file in files {
        let Some(path) = file.new else { continue };
        for line in skipped(&file.added, path) {
            match before.iter().position(|other| *other == line) {
                Some(place) => drop(before.swap_remove(place)),
                None => found.extend(finding(FindingKind::TestSkipped, path, &line)),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str, removed: &[&str], added: &[&str]) -> String {
        let name = |side: &str, path: &str| match path {
            "" => "/dev/null".to_owned(),
            path => format!("{side}/{path}"),
        };
        let lines = |sign: char, lines: &[&str]| -> String {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect()
        };
        format!(
            "diff --git a/{old} b/{new}\nindex 1..2 100644\n--- {}\n+++ {}\n@@ -1,{} +1,{} @@ fn x\n{}{}",
            name("a", old),
            name("b", new),
            removed.len(),
            added.len(),
            lines('-', removed),
            lines('+', added),
        )
    }

    fn found(diff: &str) -> Vec<String> {
        let all = findings(diff, &VerifyPolicy::default());
        let line = |finding: &Finding| {
            format!("{:?} {} {}", finding.kind, finding.path, finding.line).trim_end().to_owned()
        };
        all.0.iter().map(line).collect()
    }

    #[test]
    fn files_of_tests_are_known_by_their_names_and_folders() {
        let policy = VerifyPolicy::default();
        for test in [
            "tests/a.txt",
            "crates/x/tests/b.rs",
            "pkg/test_user.py",
            "a/user_test.go",
            "ui/app.test.tsx",
            "src/app.spec.js",
            "src/__tests__/a.js",
            "src/parse/tests.rs",
            "UserTest.java",
            "test.sh",
        ] {
            assert!(is_test(test, &policy), "{test} is a test");
        }
        for other in ["src/latest/a.rs", "contest.py", "testing.md", "src/attest.go", "tests"] {
            assert!(!is_test(other, &policy), "{other} is none");
        }
    }

    /// K31 and X26: changes to an existing test are found, and a new test is not.
    #[test]
    fn a_test_that_was_there_and_is_changed_or_gone_is_found() {
        let changed = diff("tests/a.py", "tests/a.py", &["x = 1"], &["x = 2"]);
        assert_eq!(found(&changed), ["TestChanged tests/a.py"]);
        let gone = diff("tests/a.py", "", &["assert x", "assert y"], &[]);
        assert_eq!(found(&gone), ["TestDeleted tests/a.py"]);
        assert!(found(&diff("", "tests/b.py", &[], &["assert x"])).is_empty());
        let moved = "diff --git a/tests/a.py b/old/a.txt\nsimilarity index 100%\nrename from tests/a.py\nrename to old/a.txt\n";
        assert_eq!(found(moved), ["TestDeleted tests/a.py"]);
    }

    #[test]
    fn an_assertion_that_is_gone_is_found_in_every_language() {
        for (path, line) in [
            ("src/a.rs", "    assert_eq!(a, b);"),
            ("a/test_x.py", "    assert user.name == 'x'"),
            ("a/test_x.py", "        self.assertEqual(a, b)"),
            ("ui/a.test.ts", "  expect(a).toBe(3);"),
            ("a_test.go", "\t\tt.Errorf(\"got %v\", x)"),
            ("src/test/java/UserTest.java", "    assertEquals(1, x);"),
            ("tests/run.sh", "grep -q hello greeting.txt"),
        ] {
            let text = diff(path, path, &[line, "let x = 1;"], &["let x = 2;"]);
            let expected = format!("AssertionDeleted {path} {}", line.trim());
            assert!(found(&text).contains(&expected), "{path}: {:?}", found(&text));
        }
    }

    #[test]
    fn an_assertion_that_moved_or_was_replaced_is_not_missed() {
        let moved = format!(
            "{}{}",
            diff("src/a.rs", "src/a.rs", &["assert!(one);"], &[]),
            diff("src/b.rs", "src/b.rs", &[], &["    assert!(one);"])
        );
        assert!(found(&moved).is_empty(), "{:?}", found(&moved));
        let replaced = diff("src/a.rs", "src/a.rs", &["assert!(one);"], &["assert_eq!(one, 1);"]);
        assert!(found(&replaced).is_empty());
        for empty in ["// assert!(one);", "assert!(true);", "assert!(true, \"fine\");"] {
            let hollow = diff("src/a.rs", "src/a.rs", &["assert!(one);"], &[empty]);
            assert_eq!(found(&hollow), ["AssertionDeleted src/a.rs assert!(one);"], "{empty}");
        }
    }

    #[test]
    fn a_test_that_is_skipped_now_is_found_in_every_language() {
        for (path, line) in [
            ("src/a.rs", "#[ignore]"),
            ("src/a.rs", "#[ignore = \"slow\"]"),
            ("test_a.py", "@pytest.mark.skip(reason='x')"),
            ("test_a.py", "@unittest.skipIf(True, 'x')"),
            ("a.test.js", "  it.skip('works', () => {"),
            ("a.spec.ts", "xdescribe('all', () => {"),
            ("a.test.js", "  it.only('works', () => {"),
            ("a_test.go", "\tt.Skip(\"later\")"),
            ("UserTest.java", "    @Disabled"),
        ] {
            let text = diff("", path, &[], &[line]);
            let expected = format!("TestSkipped {path} {}", line.trim());
            assert_eq!(found(&text), [expected]);
            let kept = diff(path, path, &[line], &[&format!(" {line}")]);
            assert!(!found(&kept).iter().any(|found| found.starts_with("TestSkipped")));
        }
        assert!(found(&diff("", "src/a.go", &[], &["list.Skip(3)"])).is_empty());
    }

    #[test]
    fn nothing_is_hidden_behind_many_changes() {
        let test = |n: usize| format!("tests/{n}.py");
        let changed = (0..60).map(|n| diff(&test(n), &test(n), &["a = 1"], &[]));
        let mut text: String = changed.collect();
        text.push_str(&diff("src/a.rs", "src/a.rs", &["assert!(x);"; 60], &["#[ignore]"; 60]));
        text.push_str(&diff("Makefile", "Makefile", &[], &["\tpytest || true"]));
        let found = found(&text);
        let count = |kind: &str| found.iter().filter(|line| line.starts_with(kind)).count();
        assert_eq!((count("TestChanged"), count("CheckWeakened")), (60, 1));
        assert_eq!((count("AssertionDeleted"), count("TestSkipped")), (50, 50));
    }

    #[test]
    fn a_check_that_cannot_fail_any_more_is_found() {
        for (path, line) in [
            ("package.json", "    \"test\": \"true\","),
            ("package.json", "    \"test\": \"echo ok\","),
            ("web/package.json", "    \"test\": \"jest || true\","),
            ("Makefile", "\tpytest || true"),
        ] {
            let text = diff(path, path, &["    \"test\": \"jest\","], &[line]);
            assert_eq!(found(&text), [format!("CheckWeakened {path} {}", line.trim())]);
        }
        let gone = diff("package.json", "package.json", &["  \"test\": \"jest\""], &[]);
        assert_eq!(found(&gone), ["CheckWeakened package.json \"test\": \"jest\""]);
        let other =
            diff("package.json", "package.json", &["\"a\": 1"], &["\"test\": \"vitest run\""]);
        assert!(found(&other).is_empty());
    }

    #[test]
    fn a_line_that_looks_like_a_header_is_a_line() {
        let text =
            diff("src/a.rs", "src/a.rs", &["-- a/tests/x.py", "assert!(x);"], &["++ /dev/null"]);
        assert_eq!(found(&text), ["AssertionDeleted src/a.rs assert!(x);"]);
    }

    #[test]
    fn a_test_without_lines_is_known_to_have_changed() {
        let text = "diff --git a/tests/a and b.bin b/tests/a and b.bin\nindex 1..2 100644\n\
                    Binary files a/tests/a and b.bin and b/tests/a and b.bin differ\n";
        assert_eq!(found(text), ["TestChanged tests/a and b.bin"]);
        let gone = "diff --git a/tests/x.png b/tests/x.png\nBinary files a/tests/x.png and /dev/null differ\n";
        assert_eq!(found(gone), ["TestDeleted tests/x.png"]);
        assert!(is_read(&"src/a.rs".parse().expect("a path")));
        assert!(!is_read(&"tests/x.png".parse().expect("a path")));
    }

    #[test]
    fn any_text_is_read_without_harm() {
        for odd in [
            "",
            "@@",
            "@@ -1 +1 @@",
            "diff --git",
            "--- a/x",
            "+++ b/x\n@@ -9999999999999999999 +1 @@\n+x",
            "\n\n\u{0}",
        ] {
            assert!(found(odd).is_empty(), "{odd:?}");
        }
    }

    #[test]
    fn only_files_in_which_something_could_be_found_are_looked_at() {
        let change = |path: &str| types::FileChange {
            path: path.parse().expect("a path"),
            added: 1,
            removed: 0,
            how: types::ChangeKind::Modified,
            only_comments: false,
        };
        let paths = ["README.md", "src/a.rs", "src/a.py", "tests/data.json", "package.json"];
        let changes = Changes(paths.map(change).to_vec());
        let watched: Vec<String> =
            watched(&changes, &VerifyPolicy::default()).iter().map(ToString::to_string).collect();
        assert_eq!(watched, ["src/a.rs", "tests/data.json", "package.json"]);
    }
}
