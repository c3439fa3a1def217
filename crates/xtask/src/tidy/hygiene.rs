//! Content that must never be committed: paths of one machine, unfinished work, ignored tests and tests that wait for
//! the wall clock.

use crate::code;
use crate::finding::Finding;
use crate::tree::Tree;

/// Written in halves, so that this file does not match itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Exceptions: the file, the path, and the reason.
const MEANT: &[(&str, &str, &str)] = &[(
    "crates/sandbox/src/confine.rs",
    concat!("/ho", "me/"),
    "the home that a confined command sees where it has none of its own",
)];

const UNFINISHED: &[(&str, &str)] = &[
    ("todo!(", "finish it, or leave it out"),
    ("unimplemented!(", "finish it, or leave it out"),
    ("dbg!(", "take the trace out again"),
    (
        "#[ignore",
        "assert what happens today, with a comment; a test that is left out proves nothing",
    ),
];

const SLEEPS: &[&str] = &["thread::sleep", "time::sleep"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let paths = tree.under("").flat_map(|(path, text)| machine_paths(path, text));
    let code = tree.rust().flat_map(|(path, text)| unfinished(path, text));
    paths.chain(code).collect()
}

/// Includes comments and strings, where such paths occur.
fn machine_paths(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for machine in MACHINE_PATHS {
            let meant = MEANT.iter().any(|(file, what, _)| *file == path && what == machine);
            if !meant && line.match_indices(machine).any(|(start, _)| is_absolute(&line[..start])) {
                let what = format!(
                    "`{machine}` is a path of one machine: make it relative, or list it with its \
                     reason in crates/xtask/src/tidy/hygiene.rs"
                );
                findings.push(Finding::new(path, at + 1, what));
            }
        }
    }
    findings
}

/// Whether an absolute path may start after this text, unlike in `https://host/x/` or `a/x/`.
fn is_absolute(before: &str) -> bool {
    before.ends_with("://")
        || before
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && !"._-/~*}>".contains(c))
}

fn unfinished(path: &str, text: &str) -> Vec<Finding> {
    let blank = code::without_prose(text);
    let code: Vec<&str> = blank.lines().collect();
    let tests = code::test_blocks(&code);
    let mut findings = Vec::new();
    for (at, line) in code.iter().enumerate() {
        for (mark, remedy) in UNFINISHED.iter().filter(|(mark, _)| line.contains(mark)) {
            findings.push(Finding::new(path, at + 1, format!("`{mark}`: {remedy}")));
        }
        let in_tests = code::is_test_file(path) || tests.iter().any(|block| block.contains(&at));
        if in_tests && SLEEPS.iter().any(|sleep| line.contains(sleep)) {
            let what = "a test does not sleep: wait for the event, or move a manual clock";
            findings.push(Finding::new(path, at + 1, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_path_of_one_machine_is_found_in_any_file() {
        for machine in MACHINE_PATHS {
            for before in ["see ", "(", "\"", "file://"] {
                let text = format!("fine\n{before}{machine}a.txt\n");
                let found = found("docs/a.md", &text);
                assert!(found[0].starts_with("docs/a.md:2: `"), "{found:?}");
            }
        }
    }

    #[test]
    fn a_path_inside_another_path_is_fine() {
        let inside = MACHINE_PATHS[0];
        assert_eq!(
            found("docs/a.md", &format!("https://host{inside} a{inside} ~{inside}")),
            [""; 0]
        );
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_not_in_prose() {
        let text = "//! todo!( is a word here\nfn a() {\n    todo!();\n}\nlet b = \"dbg!(x)\";\n";
        let found = found("crates/a/src/a.rs", text);
        assert_eq!(found, ["crates/a/src/a.rs:3: `todo!(`: finish it, or leave it out"]);
    }

    #[test]
    fn a_test_that_sleeps_or_is_left_out_is_found() {
        let text = "std::thread::sleep(x);\n#[cfg(test)]\nmod tests {\n    #[ignore]\n    \
                    tokio::time::sleep(x).await;\n}\n";
        let inline = found("crates/a/src/a.rs", text);
        assert_eq!(inline.len(), 2, "{inline:?}");
        assert!(inline[1].starts_with("crates/a/src/a.rs:5: a test does not sleep"), "{inline:?}");
        assert_eq!(found("crates/a/tests/it/a.rs", "thread::sleep(x);\n").len(), 1);
    }
}
