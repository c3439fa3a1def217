//! Read-only command lines, which may run concurrently. A short list of programs and of git subcommands; anything
//! uncertain is not read-only. Permits nothing: that is for the rules.

use super::part::Part;
use super::word::Word;
use super::{programs, read};

/// Programs that only read, as long as no argument is dangerous.
const PROGRAMS: [&str; 38] = [
    "basename",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "fgrep",
    "file",
    "find",
    "fold",
    "grep",
    "head",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sed",
    "sha256sum",
    "sort",
    "stat",
    "tail",
    "tr",
    "uname",
    "uniq",
    "wc",
];
/// Read-only subcommands of git.
const GIT: [&str; 9] =
    ["blame", "cat-file", "diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/// Whether a command line is certainly read-only.
#[must_use]
pub fn only_looks(line: &str) -> bool {
    read(line).iter().all(is_look)
}

fn is_look(part: &Part) -> bool {
    let plain = part.unclear.is_none()
        && part.risks.is_empty()
        && part.assigns.is_empty()
        && !part.is_wrapper
        && !part.background;
    let Some((first, arguments)) = part.words.split_first().filter(|_| plain) else { return false };
    match programs::certain(first).as_deref() {
        Some("git") => {
            let mut words = arguments.iter().map(Word::known);
            let subcommand =
                words.find(|word| !word.as_ref().is_some_and(|word| word.starts_with('-')));
            subcommand.flatten().is_some_and(|word| GIT.contains(&word.as_str()))
        }
        Some(name) => PROGRAMS.contains(&name),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::only_looks;

    #[test]
    fn what_only_looks_is_known_and_anything_else_is_not() {
        for line in [
            "cat a.rs",
            "grep -rn foo src | head -20",
            "git status && git log --oneline -5",
            "sed -n 1,40p a.rs",
            "find . -name '*.rs'",
            "ls; wc -l src/*.rs 2>&1",
        ] {
            assert!(only_looks(line), "{line}");
        }
        for line in [
            "make",
            "cat a > b",
            "sed -i s/a/b/ f",
            "find . -delete",
            "git commit -m x",
            "git branch new",
            "git diff --output=f",
            "sort -o f f",
            "A=b cat f",
            "cat $(make list)",
            "xargs cat",
            "cat f &",
            "$X f",
            "",
        ] {
            assert!(!only_looks(line), "{line}");
        }
    }
}
