//! Command lines that only look at things, so that several of them can run at the same time. A short list of programs
//! and of git's subcommands; whatever is not certain is no look. It permits nothing: that is for the rules.

use super::{Part, program, read};

/// Programs that only look, as long as no argument of theirs is a side door.
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
/// Subcommands of git that only look.
const GIT: [&str; 9] =
    ["blame", "cat-file", "diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/// Whether all that a command line does is to look at something.
#[must_use]
pub fn only_looks(line: &str) -> bool {
    read(line).iter().all(is_look)
}

fn is_look(part: &Part) -> bool {
    let plain = part.unclear.is_none()
        && part.risks.is_empty()
        && part.assigns.is_empty()
        && !part.carries
        && !part.background;
    let Some((first, arguments)) = part.words.split_first().filter(|_| plain) else { return false };
    match program::certain(first).as_deref() {
        Some("git") => {
            let mut words = arguments.iter().map(super::Word::known);
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
