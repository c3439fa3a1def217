//! Writes a bundle: the end of each log, then every stored line, then the blobs. Each chain is checked before it is
//! written.

use std::collections::BTreeSet;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use store::{Journal, JournalError};
use types::{Digest, Envelope, LogId, RunId, Timestamp};

use super::{AuditError, FORMAT, Head, Header, MAX_LOG_BYTES, Record};
use crate::integrity;

/// The lines read at a time.
const PAGE: usize = 1_000;

/// Figures of the written bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    pub logs: Vec<Head>,
    pub blobs: usize,
    /// Blobs that lines name and the journal no longer has.
    pub absent: usize,
}

/// Writes a run or session with all its logs and blobs. `by` names the writing program.
pub async fn export(
    journal: &dyn Journal,
    run: &RunId,
    by: &str,
    now: Timestamp,
    to: &mut (dyn Write + Send),
) -> Result<Exported, AuditError> {
    let logs = heads(journal, run).await?;
    let header =
        Header { format: FORMAT.to_owned(), run: run.clone(), made: now, by: by.to_owned(), logs };
    put(to, &header)?;
    let mut named = BTreeSet::new();
    let mut bytes = 0;
    for head in &header.logs {
        bytes += lines(journal, head, to, &mut named).await?;
        if bytes > MAX_LOG_BYTES {
            let what = format!("its logs have more than {MAX_LOG_BYTES} bytes");
            return Err(AuditError::TooLarge { what });
        }
    }
    let (mut blobs, mut absent) = (0, 0);
    for blob in named {
        match journal.blob(&blob).await {
            Ok(bytes) => {
                put(to, &Record::Blob { blob, base64: STANDARD.encode(bytes) })?;
                blobs += 1;
            }
            Err(JournalError::NoBlob { .. }) => {
                put(to, &Record::Absent { blob, absent: true })?;
                absent += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
    to.flush()?;
    Ok(Exported { logs: header.logs, blobs, absent })
}

/// The ends of a run's logs, the run's own first, each checked against its chain.
pub(super) async fn heads(journal: &dyn Journal, run: &RunId) -> Result<Vec<Head>, AuditError> {
    let own = LogId::run(run.clone());
    let mut heads = vec![head(journal, &own).await?];
    let mut attempts: Vec<LogId> =
        journal.logs(Some(run)).await?.into_iter().map(|s| s.log).collect();
    attempts.retain(|log| *log != own);
    attempts.sort();
    for log in attempts {
        heads.push(head(journal, &log).await?);
    }
    Ok(heads)
}

async fn head(journal: &dyn Journal, log: &LogId) -> Result<Head, AuditError> {
    let summary = journal.verify(log).await?;
    Ok(Head { log: summary.log, lines: summary.last_seq, head: summary.head })
}

async fn lines(
    journal: &dyn Journal,
    head: &Head,
    to: &mut (dyn Write + Send),
    named: &mut BTreeSet<Digest>,
) -> Result<usize, AuditError> {
    let (mut after, mut bytes) = (0, 0);
    while after < head.lines {
        let left = usize::try_from(head.lines - after).unwrap_or(PAGE);
        let page = journal.lines(&head.log, after, PAGE.min(left)).await?;
        if page.is_empty() {
            return Err(AuditError::Changed(format!("{} became shorter meanwhile", head.log)));
        }
        after += page.len() as u64;
        for line in page {
            bytes += line.len();
            if let Ok(Envelope { event, .. }) = Envelope::parse(&line) {
                named.extend(integrity::blobs(&event));
            }
            put(to, &Record::Line { log: head.log.clone(), line })?;
        }
    }
    Ok(bytes)
}

fn put(to: &mut (dyn Write + Send), record: &impl serde::Serialize) -> Result<(), AuditError> {
    let mut text = serde_json::to_vec(record).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(to.write_all(&text)?)
}
