//! Anchors: the end of a log at some time, kept out of reach of anyone who can write the journal. A log rewritten
//! since, with new hashes, no longer has the anchored line. Anchors are made, read and compared here; the caller stores
//! them.

use serde::{Deserialize, Serialize};
use store::Journal;
use types::{Digest, LogId, RunId, Timestamp};

use super::{AuditError, as_text, export};

/// The most anchors that are read from one text.
const MOST: usize = 100_000;

/// The hash of a log's line at some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    #[serde(with = "as_text")]
    pub log: LogId,
    pub lines: u64,
    pub head: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A log's content at a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    Hash(Digest),
    /// The log has only this many lines.
    Shorter(u64),
    NoLog,
}

/// The current ends of a run's logs, each checked against its chain.
pub async fn anchors(
    journal: &dyn Journal,
    run: &RunId,
    now: Timestamp,
) -> Result<Vec<Anchor>, AuditError> {
    let heads = export::heads(journal, run).await?.into_iter();
    let anchor = |head: super::Head| Anchor {
        log: head.log,
        lines: head.lines,
        head: head.head,
        at: Some(now),
    };
    Ok(heads.map(anchor).collect())
}

/// Reads anchors, one JSON object per line. Empty lines are skipped.
pub fn read_anchors(text: &str) -> Result<Vec<Anchor>, AuditError> {
    let mut all = Vec::new();
    for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let anchor = serde_json::from_str(line)
            .map_err(|error| AuditError::Anchor(format!("line {number}: {error}")))?;
        if all.len() == MOST {
            return Err(AuditError::Anchor(format!("there are more than {MOST}")));
        }
        all.push(anchor);
    }
    Ok(all)
}

/// Why a log is not the anchored one; `None` if it is.
#[must_use]
pub fn compare(anchor: &Anchor, held: Held) -> Option<String> {
    let Anchor { log, lines, head, .. } = anchor;
    match held {
        Held::Hash(hash) if hash == *head => None,
        Held::Hash(hash) => Some(format!(
            "line {lines} of {log} had the hash {head} when it was anchored, and has {hash} now"
        )),
        Held::Shorter(now) => {
            Some(format!("{log} had {lines} lines when it was anchored, and has {now} now"))
        }
        Held::NoLog => {
            Some(format!("there was a log {log} when it was anchored, and there is none now"))
        }
    }
}

/// A journal's content at an anchored line.
pub async fn held(journal: &dyn Journal, log: &LogId, line: u64) -> Result<Held, AuditError> {
    let found = journal.lines(log, line.saturating_sub(1), 1).await?;
    if let Some(text) = found.first() {
        return Ok(Held::Hash(Digest::of(text.as_bytes())));
    }
    let all = journal.logs(Some(&log.run)).await?;
    let known = all.into_iter().find(|summary| summary.log == *log);
    Ok(known.map_or(Held::NoLog, |summary| Held::Shorter(summary.last_seq)))
}
