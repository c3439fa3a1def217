//! The conversations of a run's attempts, or of a session, as entries for people. Reads the journal; the caller escapes
//! them for display.

use engine::export::{TranscriptEntry, TranscriptReader, whole_output};
use types::{AttemptId, LogId, RunId, TaskId};

use crate::api::Bosun;
use crate::error::Error;
use crate::watch::whole;

/// The conversations in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptOf {
    /// All attempts of a run, or the conversation of a session.
    Whole,
    Task(TaskId),
    Attempt(AttemptId),
}

impl TranscriptOf {
    fn has(&self, log: &LogId) -> bool {
        match (self, &log.attempt) {
            (Self::Whole, _) => true,
            (Self::Task(task), Some(attempt)) => attempt.task == *task,
            (Self::Attempt(wanted), Some(attempt)) => attempt == wanted,
            (Self::Task(_) | Self::Attempt(_), None) => false,
        }
    }
}

impl Bosun {
    /// The transcript of a run or session, oldest attempt first. With `everything`, also prompts and thinking, and
    /// outputs at full length.
    pub async fn transcript(
        &self,
        run: &RunId,
        of: &TranscriptOf,
        everything: bool,
    ) -> Result<Vec<TranscriptEntry>, Error> {
        let journal = &*self.services.journal;
        let mut logs = journal.logs(Some(run)).await?;
        if logs.is_empty() {
            return Err(self.unknown(run).await);
        }
        let is_session = self.is_session(run).await?;
        // The run's own log has no conversation.
        logs.retain(|log| of.has(&log.log) && (is_session || log.log.attempt.is_some()));
        logs.sort_by(|a, b| a.created.cmp(&b.created).then_with(|| a.log.cmp(&b.log)));
        let (mut reader, mut entries) = (TranscriptReader::default(), Vec::new());
        for log in logs {
            for line in whole(journal, &log.log).await? {
                let mut told = reader.line(&line);
                if let (true, Some(blob), [entry]) =
                    (everything, whole_output(&line), told.as_mut_slice())
                    && let Ok(bytes) = journal.blob(&blob.digest).await
                {
                    entry.text = String::from_utf8_lossy(&bytes).into_owned();
                    entry.left_out = 0;
                }
                told.retain(|entry| everything || !entry.kind.is_detail());
                entries.extend(told);
            }
        }
        Ok(entries)
    }
}
