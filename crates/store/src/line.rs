//! Lines and their chain: an event becomes a line with the hash of the previous line, and stored lines are checked
//! against that chain and the recorded end of their log. Pure; storage is elsewhere.

use serde::Deserialize;
use types::{Digest, Envelope, LogId, Timestamp};

use crate::{Clean, Damage, JournalError, MAX_LINE_BYTES};

/// The end of a log: the number and the hash of its last line; zeros for an empty one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tip {
    pub(crate) seq: u64,
    pub(crate) head: Digest,
}

/// Lines that continue a log, and its new end.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) lines: Vec<String>,
    pub(crate) envelopes: Vec<Envelope>,
    pub(crate) tip: Tip,
}

/// Makes the next lines of a log.
///
/// Each line is parsed again, and the parsed value is returned to the writer: so the running state and the state loaded
/// after a crash are made of the same values, and no unreadable line is stored (a model's arguments may be nested more
/// deeply than the parser allows).
pub(crate) fn write(
    log: &LogId,
    mut tip: Tip,
    at: Timestamp,
    events: &[Clean],
) -> Result<Written, JournalError> {
    let (mut lines, mut envelopes) = (Vec::new(), Vec::new());
    for clean in events {
        let envelope = Envelope {
            v: Envelope::VERSION,
            seq: tip.seq + 1,
            at,
            run: log.run.clone(),
            attempt: log.attempt.clone(),
            by: clean.event().by(),
            prev: tip.head,
            event: clean.event().clone(),
        };
        let unreadable =
            |source| JournalError::Unreadable { log: log.clone(), seq: tip.seq + 1, source };
        let line = serde_json::to_string(&envelope).map_err(unreadable)?;
        if line.len() > MAX_LINE_BYTES {
            return Err(JournalError::TooLarge { bytes: line.len(), max: MAX_LINE_BYTES });
        }
        envelopes.push(Envelope::parse(&line).map_err(unreadable)?);
        tip = Tip { seq: tip.seq + 1, head: Digest::of(line.as_bytes()) };
        lines.push(line);
    }
    Ok(Written { lines, envelopes, tip })
}

/// A requested page of a log, and the rows needed to check it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    pub(crate) after: u64,
    pub(crate) limit: usize,
}

impl Page {
    /// The first row to fetch: the line before the page, whose hash the first line holds.
    pub(crate) fn first(self) -> u64 {
        self.after.max(1)
    }

    /// How many rows to fetch: includes the line after the page, which holds the hash of the page's last line.
    pub(crate) fn rows(self) -> usize {
        self.limit.saturating_add(1).saturating_add(usize::from(self.after > 0))
    }

    /// Checks the fetched rows and returns the page's own lines. Rows and tip must come from one snapshot.
    pub(crate) fn check(
        self,
        log: &LogId,
        tip: Tip,
        rows: &[(u64, String)],
    ) -> Result<Vec<Envelope>, JournalError> {
        let damaged = |seq, why| JournalError::Damaged { log: log.clone(), seq, why };
        let mut envelopes = Vec::new();
        let mut expected = self.first();
        let mut before = (self.after == 0).then_some(Digest::ZERO);
        for (place, (seq, line)) in rows.iter().enumerate() {
            if *seq > tip.seq {
                return Err(damaged(*seq, Damage::BeyondEnd));
            }
            if *seq != expected {
                return Err(damaged(expected, Damage::Missing));
            }
            if *seq > self.after {
                let recorded = || {
                    let next = rows.get(place + 1).and_then(|(_, line)| link(line));
                    next.or_else(|| (*seq == tip.seq).then_some(tip.head))
                };
                let parsed =
                    || parse(log, *seq, line).map_err(|error| error.or_newer(line, recorded()));
                // Of the line after the page only its link matters.
                let behind = if envelopes.len() < self.limit { None } else { link(line) };
                let prev = match behind {
                    Some(prev) => prev,
                    None => {
                        let envelope = parsed()?;
                        let prev = envelope.prev;
                        envelopes.push(envelope);
                        prev
                    }
                };
                if before.is_some_and(|digest| prev != digest) {
                    return Err(damaged((*seq - 1).max(1), Damage::Changed));
                }
            }
            before = Some(Digest::of(line.as_bytes()));
            expected += 1;
        }
        if expected <= tip.seq && rows.len() < self.rows() {
            return Err(damaged(expected, Damage::Missing));
        }
        if expected == tip.seq + 1 && before != Some(tip.head) && !rows.is_empty() {
            return Err(damaged(tip.seq, Damage::Changed));
        }
        envelopes.truncate(self.limit);
        Ok(envelopes)
    }
}

/// Reads a whole log stored elsewhere, checking each line against the chain and the last one against `head`.
pub fn read_chain(
    log: &LogId,
    head: Digest,
    lines: Vec<String>,
) -> Result<Vec<Envelope>, JournalError> {
    let tip = Tip { seq: lines.len() as u64, head };
    let rows: Vec<(u64, String)> = (1..).zip(lines).collect();
    Page { after: 0, limit: usize::MAX }.check(log, tip, &rows)
}

/// Checks a line by itself: its place, and its hash against the one that the next line holds, or against the recorded
/// end if it is the last. Rows and tip must come from one snapshot.
pub(crate) fn check_alone(
    log: &LogId,
    seq: u64,
    line: &str,
    tip: Tip,
    next: Option<&str>,
) -> Result<Envelope, JournalError> {
    let damaged = |seq, why| JournalError::Damaged { log: log.clone(), seq, why };
    if seq > tip.seq {
        return Err(damaged(seq, Damage::BeyondEnd));
    }
    let recorded = match next {
        _ if seq == tip.seq => tip.head,
        None => return Err(damaged(seq + 1, Damage::Missing)),
        Some(next) => match link(next) {
            Some(recorded) => recorded,
            None => parse(log, seq + 1, next)?.prev,
        },
    };
    let envelope = parse(log, seq, line).map_err(|error| error.or_newer(line, Some(recorded)))?;
    if recorded != Digest::of(line.as_bytes()) {
        return Err(damaged(seq, Damage::Changed));
    }
    Ok(envelope)
}

/// Reads one stored line, which must have this position.
fn parse(log: &LogId, seq: u64, line: &str) -> Result<Envelope, JournalError> {
    let damaged = |why| JournalError::Damaged { log: log.clone(), seq, why };
    let envelope = match Envelope::parse(line) {
        Ok(envelope) => envelope,
        Err(source) => {
            too_new(line)?;
            return Err(damaged(Damage::NotAnEvent(source)));
        }
    };
    if envelope.v > Envelope::VERSION {
        return Err(JournalError::TooNew { version: envelope.v });
    }
    if envelope.seq != seq || envelope.log() != *log {
        return Err(damaged(Damage::OutOfPlace));
    }
    Ok(envelope)
}

/// The previous hash in a stored line, if readable.
fn link(line: &str) -> Option<Digest> {
    #[derive(Deserialize)]
    struct Link {
        prev: Digest,
    }
    serde_json::from_str::<Link>(line).ok().map(|link| link.prev)
}

impl JournalError {
    /// An unreadable line with the recorded hash is exactly as written: by a newer version, not by damage.
    fn or_newer(self, line: &str, recorded: Option<Digest>) -> Self {
        match self {
            Self::Damaged { log, seq, why: Damage::NotAnEvent(source) }
                if link(line).is_some() && recorded == Some(Digest::of(line.as_bytes())) =>
            {
                Self::Newer { log, seq, source }
            }
            other => other,
        }
    }
}

/// A line of a newer version need not parse as a known event, but it has a version.
fn too_new(line: &str) -> Result<(), JournalError> {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    match serde_json::from_str::<Version>(line) {
        Ok(Version { v }) if v > Envelope::VERSION => Err(JournalError::TooNew { version: v }),
        _ => Ok(()),
    }
}
