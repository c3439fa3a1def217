//! The conversations of a run's attempts, or of a session, as entries for people. Reads the journal; the caller escapes
//! them for display.

use engine::export::{TranscriptEntry, TranscriptReader, whole_output};
use types::RunId;

use crate::api::Bosun;
use crate::diff::RunPart;
use crate::error::Error;
use crate::watch::whole;

impl Bosun {
    /// The transcript of a run or session, oldest attempt first. With `everything`, also prompts and thinking, and
    /// outputs at full length.
    pub async fn transcript(
        &self,
        run: &RunId,
        of: &RunPart,
        everything: bool,
    ) -> Result<Vec<TranscriptEntry>, Error> {
        let journal = &*self.services.journal;
        let mut logs = journal.logs(Some(run)).await?;
        if logs.is_empty() {
            return Err(self.unknown(run).await);
        }
        let is_session = self.is_session(run).await?;
        // The run's own log has no conversation.
        logs.retain(|log| match (of, &log.log.attempt) {
            (RunPart::Whole, attempt) => is_session || attempt.is_some(),
            (RunPart::Task(task), Some(attempt)) => attempt.task == *task,
            (RunPart::Attempt(wanted), Some(attempt)) => attempt == wanted,
            (RunPart::Task(_) | RunPart::Attempt(_), None) => false,
        });
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
