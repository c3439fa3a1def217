//! Programs that the user runs on their own machine: a command line, or an editor. They run unsandboxed, with the
//! user's own environment, so no output of an agent may reach this module. A command line finds programs of the folder
//! only under names that no other program has, so that an agent cannot put its own `git` in front.

use std::io;
use std::path::Path;
use std::process::Command;

use tokio_util::sync::CancellationToken;
use types::{ExecResult, Millis};

use crate::process::{self, Shell};
use crate::programs::programs;
use crate::{EnvError, Listener};

/// Runs the user's command line in a folder, without input, until it ends or is stopped.
pub async fn run_for_person(
    folder: &Path,
    line: &str,
    listener: Option<Listener>,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let mut command = Shell::find().command(line, folder, std::env::vars_os().collect());
    command.env("PATH", programs().path_with_workspace(folder));
    process::run(command, listener, Millis::seconds(24 * 60 * 60), stop).await
}

/// Opens a file in the user's editor, which owns the terminal meanwhile. Returns whether the editor succeeded. Blocks.
pub fn edit_for_person(editor: &str, file: &Path) -> io::Result<bool> {
    // The editor setting may include arguments: `code --wait`.
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file);
    Ok(command.status()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_persons_command_runs_in_the_folder_and_can_be_stopped() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("a.txt"), "").expect("a file");
        let stop = CancellationToken::new();
        let ran = run_for_person(dir.path(), "ls; exit 3", None, &stop).await.expect("it ran");
        assert_eq!((ran.output.as_str(), ran.ended), ("a.txt\n", types::Ended::Exited(3)));
        stop.cancel();
        let ran = run_for_person(dir.path(), "sleep 600", None, &stop).await.expect("it ran");
        assert_eq!(ran.ended, types::Ended::Stopped);
    }

    #[test]
    fn an_editor_may_have_arguments() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("a b.md");
        assert!(edit_for_person("touch -a", &file).expect("it ran") && file.exists());
        assert!(!edit_for_person("false", &file).expect("it ran"));
    }
}
