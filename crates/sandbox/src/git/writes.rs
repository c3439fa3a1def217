//! Git commands that change a repository, for agents: only those in a table, with only the options in that table, so
//! that no argument of an agent makes git run, read or write anything else. No hook, filter, editor, signer or alias
//! runs. There is no network here: fetching and pushing are up to the user.

use std::ffi::OsString;
use std::path::Path;

use super::GitError;
use super::call::{Git, GitDir, With};

/// One command: its flags and its options with a value, separated by spaces, and the maximum number of other arguments.
struct Known {
    name: &'static str,
    flags: &'static str,
    values: &'static str,
    others: usize,
}

const ANY: usize = usize::MAX;
/// Maximum number of arguments of a command, and maximum length of each.
const MOST_WORDS: usize = 1_000;
const LONGEST: usize = 64 * 1024;

const KNOWN: [Known; 16] = [
    Known::new("init", "-q --quiet", "-b --initial-branch", 0),
    Known::new("add", "-A --all -u --update -N --intent-to-add -v", "", ANY),
    Known::new("rm", "--cached -r -q --quiet", "", ANY),
    Known::new("mv", "-v", "", ANY),
    Known::new(
        "commit",
        "-a --all --amend --no-edit --allow-empty -q --quiet -s --signoff",
        "-m --message",
        ANY,
    ),
    Known::new(
        "branch",
        "-a --all -r --remotes -l --list -v --show-current -d --delete -D -m --move",
        "",
        2,
    ),
    Known::new("switch", "-d --detach -q --quiet", "-c --create", 1),
    Known::new("checkout", "-q --quiet --detach --ours --theirs", "-b", ANY),
    Known::new(
        "restore",
        "-S --staged -W --worktree --ours --theirs -q --quiet",
        "-s --source",
        ANY,
    ),
    Known::new("reset", "--soft --mixed --hard --keep -q --quiet", "", ANY),
    Known::new(
        "stash",
        "-u --include-untracked -k --keep-index -S --staged --index -q --quiet",
        "-m --message",
        ANY,
    ),
    Known::new("tag", "-l --list -a --annotate -d --delete", "-m --message", ANY),
    Known::new(
        "merge",
        "--no-ff --ff --ff-only --squash --no-commit --abort --continue --no-edit -q",
        "-m",
        ANY,
    ),
    Known::new("cherry-pick", "-x -n --no-commit --abort --continue --skip", "", ANY),
    Known::new("revert", "-n --no-commit --no-edit --abort --continue --skip", "", ANY),
    // Continuing a rebase would run the commands in its list.
    Known::new("rebase", "--abort -q --quiet", "--onto", 2),
];

/// Subcommands of `git stash` that are permitted.
const STASHES: [&str; 6] = ["push", "pop", "apply", "list", "drop", "branch"];
/// Read-only commands, which agents can run as commands in the sandbox.
const LOOKS: [&str; 9] =
    ["status", "log", "diff", "show", "blame", "grep", "ls-files", "rev-parse", "describe"];

/// Reason why a command, given without `git` itself, is not run; `None` if it is.
#[must_use]
pub fn unsupported(words: &[String]) -> Option<String> {
    let Some((name, rest)) = words.split_first() else {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        return Some(format!("say what to do: {}", names.join(", ")));
    };
    if words.len() > MOST_WORDS
        || words.iter().any(|word| word.len() > LONGEST || word.contains('\0'))
    {
        return Some("that is too long for one command".to_owned());
    }
    let shown: String = name.chars().take(40).collect();
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        return Some(match name.as_str() {
            look if LOOKS.contains(&look) => format!("git {shown} only looks: run it as a command"),
            "push" | "pull" | "fetch" | "clone" | "remote" => format!(
                "git {shown} needs the network and the person's keys, which are not here; ask the person to run it"
            ),
            _ => format!("git {shown} is not among the commands that can be run here"),
        });
    };
    known.complaint(rest)
}

impl Known {
    const fn new(
        name: &'static str,
        flags: &'static str,
        values: &'static str,
        others: usize,
    ) -> Self {
        Self { name, flags, values, others }
    }

    fn complaint(&self, words: &[String]) -> Option<String> {
        let mut words = words.iter();
        let (mut others, mut first) = (0_usize, None);
        while let Some(word) = words.next() {
            if word == "--" {
                others = others.saturating_add(words.len());
                break;
            }
            if !word.starts_with('-') || word == "-" {
                first = first.or(Some(word));
                others += 1;
                continue;
            }
            match self.takes(word) {
                Takes::Nothing => {}
                Takes::Next if words.next().is_some() => {}
                Takes::Next => return Some(format!("{word} needs a value")),
                Takes::Unknown => {
                    let word: String = word.chars().take(40).collect();
                    return Some(format!("git {} is not run with {word} here", self.name));
                }
            }
        }
        let verb = first.is_none_or(|verb| STASHES.contains(&verb.as_str()));
        if self.name == "stash" && !verb {
            return Some(format!("git stash is followed by {}", STASHES.join(", ")));
        }
        (others > self.others).then(|| format!("git {} takes fewer words than that", self.name))
    }

    /// Whether an option is known, and whether the next argument is its value.
    fn takes(&self, word: &str) -> Takes {
        let lists = |words: &str, word: &str| words.split(' ').any(|known| known == word);
        if let Some((name, _)) = word.split_once('=').filter(|_| word.starts_with("--")) {
            return if lists(self.values, name) { Takes::Nothing } else { Takes::Unknown };
        }
        if lists(self.flags, word) {
            return Takes::Nothing;
        }
        if lists(self.values, word) {
            return Takes::Next;
        }
        if word.starts_with("--") {
            return Takes::Unknown;
        }
        // `-am` is `-a -m`.
        for (at, letter) in word[1..].char_indices() {
            let one = format!("-{letter}");
            if lists(self.values, &one) {
                let rest = &word[1 + at + letter.len_utf8()..];
                return if rest.is_empty() { Takes::Next } else { Takes::Nothing };
            }
            if !lists(self.flags, &one) {
                return Takes::Unknown;
            }
        }
        Takes::Nothing
    }
}

enum Takes {
    Nothing,
    Next,
    Unknown,
}

/// Whether a command creates a repository where there is none.
pub(super) fn begins(words: &[String]) -> bool {
    words.first().is_some_and(|word| word == "init")
}

/// Runs the command and returns its output.
pub(super) async fn change(git: &Git, root: &Path, words: &[String]) -> Result<String, GitError> {
    if let Some(why) = unsupported(words) {
        return Err(GitError::Failed { command: "change".to_owned(), stderr: why });
    }
    let person = git.person(root).await;
    // Without a given message, the one proposed by git is used.
    let settings =
        ["core.editor=true", "tag.gpgSign=false", "init.templateDir="].map(OsString::from);
    let with = With { settings: &settings, person: person.as_ref(), ..With::default() };
    let answer = git.try_run_with(GitDir::Inside(root), words, with).await?;
    let said = answer.said();
    if answer.succeeded() {
        return Ok(if said.trim().is_empty() { "(done)".to_owned() } else { said });
    }
    let command = words.first().cloned().unwrap_or_default();
    Err(GitError::Failed { command, stderr: said.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn everyday_commands_are_known() {
        for line in [
            "add -A",
            "add -- src/a.rs b",
            "commit -m x",
            "commit -am x",
            "commit --amend --no-edit",
            "commit --message=x -- a",
            "switch -c feature",
            "checkout -b feature main",
            "stash",
            "stash push -u -m x",
            "stash pop",
            "branch -d old",
            "restore --staged a",
            "reset --hard HEAD~1",
            "merge --no-ff topic",
            "rebase main",
            "tag -a v1 -m x",
            "cherry-pick abc",
            "init -b main",
        ] {
            assert_eq!(unsupported(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn options_that_run_read_or_write_something_else_are_not() {
        for line in [
            "commit -F /etc/passwd",
            "commit -mx --template=/etc/passwd",
            "commit -t x",
            "commit --author=x",
            "add --pathspec-from-file=/etc/passwd",
            "rebase --exec id main",
            "rebase -i main",
            "rebase -x id",
            "rebase --continue",
            "merge -s evil topic",
            "merge -Xfind topic",
            "init --template=/tmp/x",
            "init ../elsewhere",
            "-c alias.x=!id x",
            "--exec-path=/tmp add",
            "stash create",
            "config core.hooksPath /tmp",
            "push origin main",
            "log -1",
            "submodule add x",
            "commit -m",
            "switch a b",
        ] {
            assert!(unsupported(&words(line)).is_some(), "{line}");
        }
        assert!(unsupported(&[]).is_some());
        assert!(unsupported(&words("push")).is_some_and(|why| why.contains("the person")));
    }

    #[tokio::test]
    async fn a_commit_is_made_without_hooks_and_filters() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().canonicalize().expect("a path");
        let git = Git::find(&root).await.expect("git");
        let run = async |line: &str| change(&git, &root, &words(line)).await;
        run("init -b main").await.expect("a repository");
        let hook = root.join(".git/hooks/pre-commit");
        std::fs::create_dir_all(root.join(".git/hooks")).expect("a folder");
        std::fs::write(&hook, format!("#!/bin/sh\ntouch {}/ran\nexit 1\n", root.display()))
            .expect("a hook");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&hook, mode).expect("a mode");
        let config = root.join(".git/config");
        let mut text = std::fs::read_to_string(&config).expect("settings");
        let filter = format!("[filter \"f\"]\n\tclean = touch {}/ran; cat\n", root.display());
        text.push_str(&format!("{filter}[user]\n\tname = Ada\n\temail = ada@example.org\n"));
        std::fs::write(&config, text).expect("settings");
        std::fs::write(root.join(".gitattributes"), "* filter=f\n").expect("a file");
        std::fs::write(root.join("a.txt"), "one\n").expect("a file");
        run("add -A").await.expect("it is added");
        let said = run("commit -m First").await.expect("a commit");
        assert!(said.contains("First"), "{said}");
        assert!(!root.join("ran").exists(), "neither hook nor filter ran");
        let log = git.run(GitDir::Inside(&root), &["log", "-1", "--format=%an %ae %cn"]).await;
        let line = log.expect("a log").line().expect("a line");
        assert_eq!(line.to_string_lossy(), "Ada ada@example.org Ada");
        let nothing = run("commit -m again").await.expect_err("nothing to commit").to_string();
        assert!(nothing.contains("nothing to commit"), "{nothing}");
    }
}
