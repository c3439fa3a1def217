//! User-defined commands that run on events: a shell line or a program from the user's settings, with the facts in
//! environment variables and as JSON on standard input. Facts never become part of the command. Hooks run unsandboxed,
//! so they must never come from a repository or a model.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::programs::programs;

/// A user-defined command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hook {
    /// A line for `sh -c`.
    Line(String),
    /// A program and its arguments, run without a shell.
    Program(Vec<String>),
}

impl Hook {
    fn command(&self) -> io::Result<Command> {
        match self {
            Self::Line(line) => {
                let mut shell = Command::new("/bin/sh");
                shell.arg("-c").arg(line);
                Ok(shell)
            }
            Self::Program(words) => {
                let nothing = || io::Error::new(io::ErrorKind::InvalidInput, "it names no program");
                let missing =
                    || io::Error::new(io::ErrorKind::NotFound, "its program is not on PATH");
                let (program, arguments) = words.split_first().ok_or_else(nothing)?;
                let mut command = if program.contains('/') {
                    Command::new(program)
                } else {
                    Command::from(programs().find(program, None).ok_or_else(missing)?.command())
                };
                command.args(arguments);
                Ok(command)
            }
        }
    }
}

/// Runs a hook with this input, discards its output, and kills it after `limit`. Returns whether it succeeded. The hook
/// need not read its input.
pub async fn run_hook(
    hook: &Hook,
    facts: &[(&str, &str)],
    input: &str,
    limit: Duration,
) -> io::Result<bool> {
    let mut command = hook.command()?;
    command.env("PATH", programs().path(None)).kill_on_drop(true);
    for (name, value) in facts {
        // A value with a NUL cannot be passed, and must not keep the hook from running.
        command.env(name, value.replace('\0', ""));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let told = async move {
        if let Some(mut stdin) = stdin {
            // A hook that does not read its input closes the pipe.
            let _unread = stdin.write_all(input.as_bytes()).await;
        }
        std::future::pending().await
    };
    let ended = async {
        tokio::select! {
            status = child.wait() => status,
            never = told => never,
        }
    };
    let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, "it did not end in time");
    let status = tokio::time::timeout(limit, ended).await.map_err(timed_out)??;
    Ok(status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn facts_reach_a_hook_as_they_are_and_are_never_run() {
        let dir = tempfile::tempdir().expect("a folder");
        let (file, trap) = (dir.path().join("said"), dir.path().join("trap"));
        let (said, text) = (file.display().to_string(), format!("$(touch {})`; x", trap.display()));
        let facts = [("SAID", said.as_str()), ("BOSUN_TEXT", text.as_str())];
        let line = Hook::Line("printf %s \"$BOSUN_TEXT\" > \"$SAID\"".to_owned());
        let done = run_hook(&line, &facts, "", LONG).await;
        assert!(done.expect("it ran"), "it succeeded");
        assert_eq!(std::fs::read_to_string(file).expect("a file"), text);
        assert!(!trap.exists(), "a fact was run");
    }

    #[tokio::test]
    async fn a_hook_that_does_not_end_is_ended() {
        let ended = run_hook(&words(&["sleep", "600"]), &[], "", Duration::from_millis(50)).await;
        assert_eq!(ended.expect_err("no time").kind(), io::ErrorKind::TimedOut);
        assert!(!run_hook(&Hook::Line("exit 3".to_owned()), &[], "", LONG).await.expect("it ran"));
    }

    fn words(words: &[&str]) -> Hook {
        Hook::Program(words.iter().map(|&word| word.to_owned()).collect())
    }

    #[tokio::test]
    async fn a_program_has_no_shell_around_it_and_reads_its_input_if_it_likes() {
        let dir = tempfile::tempdir().expect("a folder");
        let said = dir.path().join("$(said); x");
        let input = "x".repeat(300_000);
        let path = said.display().to_string();
        let copy = words(&["tee", &path]);
        assert!(run_hook(&copy, &[], &input, LONG).await.expect("it ran"));
        assert_eq!(std::fs::read_to_string(said).expect("a file"), input);
        assert!(run_hook(&words(&["true"]), &[], &input, LONG).await.expect("it ran"));
        assert!(run_hook(&words(&[]), &[], "", LONG).await.is_err());
    }
}
