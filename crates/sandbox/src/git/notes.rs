//! Notes on commits, under Bosun's own reference: texts that travel with the repository and change no commit.

use types::{CommitId, Timestamp};

use super::call::With;
use super::{GitError, Repo, hash};

/// Reference of the notes.
const NOTES: &str = "refs/notes/bosun-audit";

impl Repo {
    /// Appends a text to the note on a commit.
    pub async fn add_note(
        &self,
        commit: &CommitId,
        text: &str,
        at: Timestamp,
    ) -> Result<(), GitError> {
        let reference = format!("--ref={NOTES}");
        let args = ["notes", &reference, "append", "--file=-", hash(commit)?];
        let with = With { stdin: text.as_bytes(), date: Some(at), ..With::default() };
        self.git().run_with(self.here(), &args, with).await?;
        Ok(())
    }

    /// The note on a commit, if there is one.
    pub async fn note(&self, commit: &CommitId) -> Result<Option<String>, GitError> {
        let reference = format!("--ref={NOTES}");
        let args = ["notes", &reference, "show", hash(commit)?];
        let answer = self.git().try_run(self.here(), &args).await?;
        let text = || String::from_utf8_lossy(&answer.stdout).into_owned();
        Ok(answer.succeeded().then(text))
    }
}
