//! What a person runs on their own machine: a command line, or an editor. Nothing holds it, and it has the person's own
//! environment. Nothing that an agent has said may get here.

use std::io;
use std::path::Path;
use std::process::Command;

use tokio_util::sync::CancellationToken;
use types::{ExecResult, Millis};

use crate::process::{self, Shell};
use crate::{EnvError, Listener};

/// Runs a command line of the person's in a folder, without input, until it ends or is stopped.
pub async fn run_for_person(
    folder: &Path,
    line: &str,
    listener: Option<Listener>,
    stop: &CancellationToken,
) -> Result<ExecResult, EnvError> {
    let command = Shell::find().command(line, folder, std::env::vars_os().collect());
    process::run(command, listener, Millis::seconds(24 * 60 * 60), stop).await
}

/// Opens a file in the person's editor, which has the terminal meanwhile; whether it ended well. Blocks.
pub fn edit_for_person(editor: &str, file: &Path) -> io::Result<bool> {
    // An editor may come with arguments of its own: `code --wait`.
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
