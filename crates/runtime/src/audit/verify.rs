//! Verifies an untrusted bundle: sizes are bounded before anything is kept, no name in it becomes a path, every line is
//! checked against its chain and every blob against its hash, and then the whole run is replayed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read as _};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::export::replay::{Logs, Report, Retraced};
use store::JournalError;
use types::{CommitId, Digest, Envelope, Event, LogId, Policy, RunId, Timestamp};

use super::anchor::Held;
use super::{
    AuditError, FORMAT, Head, Header, MAX_BLOBS, MAX_LOG_BYTES, MAX_LOGS, MAX_RECORD_BYTES, Record,
};
use crate::integrity;
use crate::replay::{Torn, policy_digest, replayed};

/// The contents of a verified bundle.
#[derive(Debug)]
pub struct Verified {
    pub run: RunId,
    /// The program that wrote it, and when, by its own claim.
    pub by: String,
    pub made: Timestamp,
    pub logs: Vec<Head>,
    pub blobs: usize,
    /// Blobs that were already missing when it was written.
    pub absent: usize,
    pub report: Report,
    /// The base commit of the run; a session has none.
    pub base: Option<CommitId>,
    hashes: BTreeMap<LogId, Vec<Digest>>,
}

impl Verified {
    /// The hash of a line, for comparison with an anchor.
    #[must_use]
    pub fn held(&self, log: &LogId, line: u64) -> Held {
        let Some(hashes) = self.hashes.get(log) else { return Held::NoLog };
        let place = usize::try_from(line).ok().and_then(|line| line.checked_sub(1));
        match place.and_then(|place| hashes.get(place)) {
            Some(hash) => Held::Hash(*hash),
            None => Held::Shorter(hashes.len() as u64),
        }
    }
}

/// Reads and checks a whole bundle. A differing decision is not an error: it is in the report.
pub fn verify(mut from: impl BufRead) -> Result<Verified, AuditError> {
    let header = header(&mut from)?;
    let lines = header.logs.iter().map(|head| (head.log.clone(), Vec::new())).collect();
    let mut read = Contents { lines, ..Contents::default() };
    let mut number = 1;
    while let Some(text) = next(&mut from, MAX_RECORD_BYTES)? {
        number += 1;
        let why = |error: serde_json::Error| error.to_string();
        let record = serde_json::from_str(&text)
            .map_err(|error| AuditError::Record { record: number, why: why(error) })?;
        read.take(number, record)?;
    }
    read.checked(header)
}

/// The part of the first record that says how to read it.
#[derive(serde::Deserialize)]
struct Format {
    format: String,
}

fn header(from: &mut impl BufRead) -> Result<Header, AuditError> {
    let not = |why: &str| AuditError::NotABundle { why: why.to_owned() };
    // Avoids reading a foreign file to its end in search of the first line.
    let first = match next(from, MAX_RECORD_BYTES) {
        Ok(first) => first.ok_or_else(|| not("it is empty"))?,
        Err(AuditError::Io(error)) => return Err(error.into()),
        Err(_) => return Err(not("the first line is not a header")),
    };
    let Ok(Format { format }) = serde_json::from_str(&first) else {
        return Err(not("the first line is not a header"));
    };
    if format != FORMAT {
        return Err(AuditError::OtherFormat { found: types::one_line(&format, 100) });
    }
    let header: Header = serde_json::from_str(&first).map_err(|error| not(&error.to_string()))?;
    if header.logs.len() > MAX_LOGS {
        return Err(AuditError::TooLarge { what: format!("it has more than {MAX_LOGS} logs") });
    }
    if header.logs.first().is_none_or(|head| head.log != LogId::run(header.run.clone())) {
        return Err(not("it does not begin with the log of its run"));
    }
    let own = |head: &Head| head.log.run == header.run;
    let names: BTreeSet<&LogId> = header.logs.iter().map(|head| &head.log).collect();
    if !header.logs.iter().all(own) || names.len() != header.logs.len() {
        return Err(not("it has logs twice, or of another run"));
    }
    Ok(header)
}

/// The next record that is not empty, if it is not too long.
fn next(from: &mut impl BufRead, most: usize) -> Result<Option<String>, AuditError> {
    loop {
        let mut bytes = Vec::new();
        from.by_ref().take(most as u64 + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if bytes.len() > most {
            return Err(AuditError::TooLarge {
                what: format!("a record has more than {most} bytes"),
            });
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| AuditError::NotABundle { why: "it is not UTF-8 text".to_owned() })?;
        if !text.trim().is_empty() {
            return Ok(Some(text));
        }
    }
}

/// The contents read so far.
#[derive(Default)]
struct Contents {
    lines: BTreeMap<LogId, Vec<String>>,
    bytes: usize,
    blobs: BTreeSet<Digest>,
    absent: BTreeSet<Digest>,
    policy: Option<Vec<u8>>,
    /// The policy digest in the run's first line; lines come before blobs.
    policy_digest: Option<Digest>,
}

impl Contents {
    fn take(&mut self, record: u64, taken: Record) -> Result<(), AuditError> {
        match taken {
            Record::Line { log, line } => {
                self.bytes += line.len();
                if self.bytes > MAX_LOG_BYTES {
                    let what = format!("its logs have more than {MAX_LOG_BYTES} bytes");
                    return Err(AuditError::TooLarge { what });
                }
                let of_run = log.attempt.is_none();
                let Some(lines) = self.lines.get_mut(&log) else {
                    let why = format!("the header names no log {log}");
                    return Err(AuditError::Record { record, why });
                };
                if of_run && lines.is_empty() {
                    let first = Envelope::parse(&line).ok();
                    self.policy_digest = first.and_then(|line| policy_digest(&line.event));
                }
                lines.push(line);
            }
            Record::Blob { blob, base64 } => {
                let bytes = STANDARD.decode(base64);
                let bytes =
                    bytes.map_err(|error| AuditError::Record { record, why: error.to_string() })?;
                if Digest::of(&bytes) != blob {
                    return Err(AuditError::Changed(format!("blob {blob} is not what it was")));
                }
                if self.policy_digest == Some(blob) {
                    self.policy = Some(bytes);
                }
                self.blobs.insert(blob);
            }
            Record::Absent { blob, .. } => {
                self.absent.insert(blob);
            }
        }
        if self.blobs.len() + self.absent.len() > MAX_BLOBS {
            return Err(AuditError::TooLarge {
                what: format!("it has more than {MAX_BLOBS} blobs"),
            });
        }
        Ok(())
    }

    fn checked(mut self, header: Header) -> Result<Verified, AuditError> {
        let (mut logs, mut hashes) = (Logs::default(), BTreeMap::new());
        let mut named = BTreeSet::new();
        for head in &header.logs {
            let lines = self.lines.remove(&head.log).unwrap_or_default();
            if lines.len() as u64 != head.lines {
                let (there, said) = (lines.len(), head.lines);
                let what = format!("{} has {there} lines, and the header says {said}", head.log);
                return Err(AuditError::Changed(what));
            }
            let own = lines.iter().map(|line| Digest::of(line.as_bytes())).collect();
            hashes.insert(head.log.clone(), own);
            let envelopes = store::read_chain(&head.log, head.head, lines).map_err(changed)?;
            named.extend(envelopes.iter().flat_map(|line| integrity::blobs(&line.event)));
            match &head.log.attempt {
                None => logs.run = envelopes,
                Some(attempt) => {
                    let retraced = Retraced { lines: envelopes, head: head.head };
                    logs.attempts.insert(attempt.clone(), retraced);
                }
            }
        }
        every_attempt(&logs)?;
        named.retain(|blob| !self.blobs.contains(blob) && !self.absent.contains(blob));
        if let Some(missing) = named.first() {
            return Err(AuditError::Changed(format!("blob {missing} is missing")));
        }
        let policy = self.policy.ok_or_else(|| AuditError::Policy("it is not there".to_owned()))?;
        let policy =
            Policy::parse(&policy).map_err(|error| AuditError::Policy(error.to_string()))?;
        let report = replayed(Arc::new(policy), &header.run, &logs, Torn::Refused);
        let base = logs.run.first().and_then(|line| match &line.event {
            Event::RunRequested { survey, .. } => Some(survey.base.clone()),
            _ => None,
        });
        let Header { run, by, made, logs, .. } = header;
        let (blobs, absent) = (self.blobs.len(), self.absent.len());
        Ok(Verified { run, by, made, logs, blobs, absent, report, base, hashes })
    }
}

/// The error for a line of the file, where no journal can be restored.
fn changed(error: JournalError) -> AuditError {
    match error {
        JournalError::Damaged { log, seq, why } => {
            AuditError::Changed(format!("line {seq} of {log}: {why}"))
        }
        error => error.into(),
    }
}

/// Checks that every attempt that the run's log calls finished is present and ends as recorded.
fn every_attempt(logs: &Logs) -> Result<(), AuditError> {
    for line in &logs.run {
        let Event::AttemptFinished { attempt, log_head, .. } = &line.event else { continue };
        if *log_head == Digest::ZERO {
            continue;
        }
        match logs.attempts.get(attempt) {
            None => {
                return Err(AuditError::Changed(format!(
                    "the log of attempt {attempt} is missing"
                )));
            }
            Some(log) if log.head != *log_head => {
                let what = format!("attempt {attempt} does not end as the run's log says");
                return Err(AuditError::Changed(what));
            }
            Some(_) => {}
        }
    }
    Ok(())
}
