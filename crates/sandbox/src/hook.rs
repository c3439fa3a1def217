//! Commands of the person's own that are run when something happens: a shell line from the person's settings, with the
//! facts in environment variables. Nothing of those facts becomes part of the line, and no sandbox is around it, so the
//! line must never come from a repository or a model.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// Runs a line with `sh -c`, without input or output, and ends it after `limit`. Whether it succeeded.
pub async fn run_hook(line: &str, facts: &[(&str, &str)], limit: Duration) -> io::Result<bool> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).kill_on_drop(true);
    for (name, value) in facts {
        // A value with a NUL cannot be handed over, and must not keep the hook from running.
        command.env(name, value.replace('\0', ""));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    let timed_out = |_| io::Error::new(io::ErrorKind::TimedOut, "it did not end in time");
    let status = tokio::time::timeout(limit, child.wait()).await.map_err(timed_out)??;
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
        let done = run_hook("printf %s \"$BOSUN_TEXT\" > \"$SAID\"", &facts, LONG).await;
        assert!(done.expect("it ran"), "it succeeded");
        assert_eq!(std::fs::read_to_string(file).expect("a file"), text);
        assert!(!trap.exists(), "a fact was run");
    }

    #[tokio::test]
    async fn a_hook_that_does_not_end_is_ended() {
        let ended = run_hook("sleep 600", &[], Duration::from_millis(50)).await;
        assert_eq!(ended.expect_err("no time").kind(), io::ErrorKind::TimedOut);
        assert!(!run_hook("exit 3", &[], LONG).await.expect("it ran"));
    }
}
