//! Integrity of the journal: the chain of every log, open ones too, the recorded ends of attempts, and the blobs that
//! lines refer to. Visits everything and lists all flaws; repairs nothing.

use std::collections::{BTreeMap, BTreeSet};

use store::{Journal, JournalError, LogSummary};
use types::{Digest, Event, LogId, ModelRef, RunId};

use crate::models::SCRIPT;

const PAGE: usize = 1_000;

/// The result of checking the journal.
#[derive(Debug, Default)]
pub struct Integrity {
    /// The logs that are unchanged.
    pub intact: Vec<LogSummary>,
    /// The number of blobs compared with their hashes.
    pub blobs: usize,
    pub flaws: Vec<Flaw>,
}

/// A difference from the record, or something that cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    #[error(transparent)]
    Log(JournalError),
    #[error("log {log} references a missing or altered blob: {source}")]
    Blob {
        log: LogId,
        #[source]
        source: JournalError,
    },
    #[error(
        "log {log} does not match the end recorded in its run's log; it was changed afterwards"
    )]
    End { log: LogId },
    #[error("log {log} is missing, but its run's log records its end")]
    Gone { log: LogId },
}

impl Flaw {
    /// The log concerned.
    #[must_use]
    pub fn log(&self) -> Option<&LogId> {
        match self {
            Self::Log(JournalError::Damaged { log, .. } | JournalError::UnknownLog { log }) => {
                Some(log)
            }
            Self::Log(JournalError::Lost { loss }) => Some(&loss.log),
            Self::Log(_) => None,
            Self::Blob { log, .. } | Self::End { log } | Self::Gone { log } => Some(log),
        }
    }

    /// Whether it cannot be checked because a newer version wrote it.
    #[must_use]
    pub fn is_newer(&self) -> bool {
        matches!(self, Self::Log(JournalError::TooNew { .. }))
    }
}

/// Checks the logs of one run, or of all, with everything that they refer to.
pub async fn integrity(
    journal: &dyn Journal,
    of: Option<&RunId>,
) -> Result<Integrity, JournalError> {
    let mut checked = Integrity::default();
    for loss in journal.losses(of).await? {
        checked.flaws.push(Flaw::Log(JournalError::Lost { loss }));
    }
    let mut known = BTreeMap::new();
    // Blobs already checked: many runs share a policy.
    let mut seen = BTreeSet::new();
    let logs = journal.logs(of).await?;
    for found in &logs {
        known.extend(check(journal, &found.log, &mut seen, &mut checked).await?);
    }
    for (log, head) in known {
        match logs.iter().find(|found| found.log == log) {
            Some(found) if found.head == head => {}
            Some(_) => checked.flaws.push(Flaw::End { log }),
            None => checked.flaws.push(Flaw::Gone { log }),
        }
    }
    checked.blobs = seen.len();
    Ok(checked)
}

/// Checks one log; returns the ends of attempts recorded in it.
async fn check(
    journal: &dyn Journal,
    log: &LogId,
    seen: &mut BTreeSet<Digest>,
    checked: &mut Integrity,
) -> Result<Vec<(LogId, Digest)>, JournalError> {
    match journal.verify(log).await {
        Ok(summary) => checked.intact.push(summary),
        // Already listed by `integrity`.
        Err(JournalError::Lost { .. }) => {}
        Err(error) => checked.flaws.push(Flaw::Log(flaw(error)?)),
    }
    let mut ends = Vec::new();
    let mut after = 0;
    loop {
        let page = match journal.read(log, after, PAGE).await {
            Ok(page) => page,
            // Reported above.
            Err(error) => return flaw(error).map(|_| ends),
        };
        let Some(last) = page.last() else { return Ok(ends) };
        after = last.seq;
        for line in &page {
            if let Event::AttemptFinished { attempt, log_head, .. } = &line.event
                && *log_head != Digest::ZERO
            {
                let of = LogId::attempt(log.run.clone(), attempt.clone());
                ends.push((of, *log_head));
            }
            for digest in blobs(&line.event) {
                if seen.insert(digest)
                    && let Err(error) = journal.blob(&digest).await
                {
                    let (log, source) = (log.clone(), flaw(error)?);
                    checked.flaws.push(Flaw::Blob { log, source });
                }
            }
        }
    }
}

/// A flaw of the record itself; any other error, such as an unreadable disk, ends the check.
fn flaw(error: JournalError) -> Result<JournalError, JournalError> {
    match error {
        JournalError::Damaged { .. }
        | JournalError::Lost { .. }
        | JournalError::NoBlob { .. }
        | JournalError::DamagedBlob { .. }
        | JournalError::Corrupt { .. }
        | JournalError::UnknownLog { .. }
        | JournalError::TooNew { .. } => Ok(error),
        _ => Err(error),
    }
}

/// The blobs that an event refers to: outputs, reports, policies, scripts.
pub(crate) fn blobs(event: &Event) -> Vec<Digest> {
    let script = |model: &ModelRef| {
        let name = (model.provider() == SCRIPT).then(|| model.name());
        name.and_then(|name| name.parse().ok())
    };
    match event {
        Event::RunRequested { request, policy, .. } => {
            [Some(*policy), script(&request.model)].into_iter().flatten().collect()
        }
        Event::SessionStarted { brief, .. } => {
            [brief.policy, script(&brief.model)].into_iter().flatten().collect()
        }
        Event::AttemptStarted { model: Some(model), .. } => script(model).into_iter().collect(),
        Event::SessionChanged { change, .. } => {
            change.model.as_ref().and_then(script).into_iter().collect()
        }
        Event::ToolFinished { output, .. } => output.blob.iter().map(|blob| blob.digest).collect(),
        Event::CheckFinished { end, .. } => {
            let report = end.tests.as_ref().and_then(|tests| tests.all.as_ref());
            end.output.blob.iter().chain(report).map(|blob| blob.digest).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use store::{Batch, MemoryJournal, Redactor};
    use types::{BlobRef, CallId, CallOutcome, SessionId, Shown, Timestamp};

    use super::*;

    async fn output(journal: &MemoryJournal, log: &str, bytes: &[u8]) {
        let log: LogId = log.parse().expect("a log id");
        let blob = BlobRef { digest: Digest::of(bytes), bytes: bytes.len() as u64 };
        let event = Event::ToolFinished {
            call: CallId { session: SessionId::ROOT, turn: 1, index: 1 },
            outcome: CallOutcome::Ok,
            output: Shown { text: "cut".into(), removed: 1, blob: Some(blob) },
            images: vec![],
            files: vec![],
            trees: None,
            metadata: Box::default(),
            note: None,
        };
        let lease = journal.lease(&log).await.expect("a lease");
        let events = [Redactor::none().clean(event)];
        let at = Timestamp::from_millis(0);
        let batch = Batch { expect: 0, at, events: &events, taken: None };
        journal.append(&lease, batch).await.expect("an append");
    }

    #[tokio::test]
    async fn an_output_that_is_gone_is_a_flaw_and_the_check_goes_on() {
        let journal = MemoryJournal::new();
        for (log, bytes) in [("r_aa/T1.1", "gone"), ("r_bb", "kept"), ("r_cc", "gone too")] {
            output(&journal, log, bytes.as_bytes()).await;
        }
        journal.put_blob(b"kept").await.expect("a blob");
        let checked = integrity(&journal, None).await.expect("a check");
        assert_eq!(checked.intact.len(), 3, "also the log of an open attempt");
        let flawed: Vec<String> =
            checked.flaws.iter().filter_map(Flaw::log).map(LogId::to_string).collect();
        assert_eq!(flawed, ["r_cc", "r_aa/T1.1"]);
        let run = "r_bb".parse().expect("an id");
        let one = integrity(&journal, Some(&run)).await.expect("a check");
        assert!(one.flaws.is_empty() && one.intact.len() == 1 && one.blobs == 1);
    }
}
