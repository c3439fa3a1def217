//! The heads file: beside the database, the last acknowledged end of every log. It is written after the commit is
//! durable and not synced itself, so it never claims more than was durable, and after a power cut it may only be older.
//! Damage to the write-ahead log silently truncates the data that SQLite recovers; a head beyond the recovered end
//! reveals it.
//!
//! One record of fixed length for each row of `logs`, at the position of its number, as text with a checksum. They are
//! no evidence against an attacker who can write this file: a head noted elsewhere is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use types::{Digest, LogId, Timestamp};

use super::files::{open_beside, with_suffix};
use crate::Loss;
use crate::line::Tip;

/// The length of a record. It divides a disk sector, so that a record is written whole or not at all.
const RECORD: usize = 256;
const NAME: usize = 152;
const CHECKSUM: usize = 16;
/// The name in record 0, which counts how often the file had to be recreated.
const TITLE: &str = "bosun-heads-1";

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Heads {
    file: File,
    path: PathBuf,
}

/// The contents of the file.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) logs: BTreeMap<i64, (LogId, Tip)>,
    /// How often the file was recreated; `None` if there is no readable file.
    pub(super) remade: Option<u64>,
    /// The number of unreadable records.
    pub(super) damaged: usize,
}

/// The end of each log in the database, by row.
pub(super) type Stored = BTreeMap<i64, (LogId, Tip)>;

/// The heads file of a database.
pub(super) fn beside(database: &Path) -> PathBuf {
    with_suffix(database, ".heads")
}

impl Heads {
    pub(super) fn open(database: &Path) -> Result<Self, (PathBuf, io::Error)> {
        let (file, path) = open_beside(beside(database))?;
        Ok(Self { file, path })
    }

    /// Starts over, on purpose.
    pub(super) fn begin(&self) {
        self.put(0, &record(0, &Digest::ZERO, TITLE));
        self.sync();
    }

    /// Notes the end of a log. A failed write leaves an older note, which claims less.
    pub(super) fn note(&self, row: i64, log: &LogId, tip: Tip) {
        self.put(row, &record(tip.seq, &tip.head, &log.to_string()));
    }

    /// Erases a log.
    pub(super) fn erase(&self, row: i64) {
        self.put(row, &[0; RECORD]);
    }

    pub(super) fn sync(&self) {
        // Without a sync it may be older after a power cut, which is harmless.
        self.file.sync_data().ok();
    }

    /// Erases every log in this list.
    pub(super) fn erase_all(&self, recorded: &mut Recorded, names: &BTreeSet<String>) {
        recorded.logs.retain(|row, (log, _)| {
            let gone = names.contains(&log.to_string());
            if gone {
                self.erase(*row);
            }
            !gone
        });
    }

    /// Updates the file from the database, except for logs with losses, and counts if it had to be recreated. Returns
    /// the losses.
    pub(super) fn reconcile(&self, recorded: &Recorded, stored: &Stored) -> Vec<Loss> {
        let losses = recorded.losses(stored);
        for (row, (log, tip)) in stored {
            let lost = losses.iter().any(|loss| loss.log == *log);
            let same = recorded.logs.get(row).is_some_and(|(name, old)| name == log && old == tip);
            if !lost && !same {
                self.note(*row, log, *tip);
            }
        }
        let remade = match recorded.remade {
            Some(remade) => remade + u64::from(recorded.damaged > 0),
            None => u64::from(!stored.is_empty() || !recorded.logs.is_empty()),
        };
        if recorded.remade != Some(remade) {
            self.put(0, &record(remade, &Digest::ZERO, TITLE));
            self.sync();
        }
        losses
    }

    /// Records losses that a person accepted, for auditors of the journal.
    pub(super) fn accepted(&self, at: Timestamp, losses: &[Loss]) -> io::Result<()> {
        let path = with_suffix(&self.path, ".accepted");
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        for loss in losses {
            writeln!(file, "{at} {loss}, head {}", loss.head)?;
        }
        file.sync_all()
    }

    fn put(&self, row: i64, record: &[u8]) {
        if let Ok(row) = u64::try_from(row) {
            self.file.write_all_at(record, row * RECORD as u64).ok();
        }
    }
}

impl Recorded {
    /// The heads file of a database. To compare it with the database, read it first: lines acknowledged in between are
    /// then in the database, too.
    pub(super) fn read(database: &Path) -> Self {
        let mut recorded = Self::default();
        let Ok(bytes) = fs::read(beside(database)) else { return recorded };
        for (row, record) in (0..).zip(bytes.chunks(RECORD)) {
            match (row, parse(record)) {
                (0, Some((remade, _, title))) if title == TITLE => recorded.remade = Some(remade),
                (0, _) => {}
                (_, Some((seq, head, name))) if name.parse::<LogId>().is_ok() => {
                    let log = name.parse();
                    recorded.logs.extend(log.ok().map(|log| (row, (log, Tip { seq, head }))));
                }
                (_, _) if record.iter().all(|byte| *byte == 0) => {}
                _ => recorded.damaged += 1,
            }
        }
        recorded
    }

    /// The file's record of one log.
    pub(super) fn at(database: &Path, row: i64) -> Option<(LogId, Tip)> {
        let place = u64::try_from(row).ok()?.checked_mul(RECORD as u64)?;
        let mut record = [0; RECORD];
        File::open(beside(database)).ok()?.read_exact_at(&mut record, place).ok()?;
        let (seq, head, name) = parse(&record)?;
        Some((name.parse().ok()?, Tip { seq, head }))
    }

    /// The number of logs, and of all their lines.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.logs.len() as u64, self.logs.values().map(|(_, tip)| tip.seq).sum())
    }

    pub(super) fn is_sound(&self) -> bool {
        self.remade.is_some() && self.damaged == 0
    }

    /// The highest row in the file.
    pub(super) fn last_row(&self) -> i64 {
        self.logs.keys().next_back().copied().unwrap_or(0)
    }

    /// The logs that end before their acknowledged ends in the database.
    pub(super) fn losses(&self, stored: &Stored) -> Vec<Loss> {
        let stored: BTreeMap<String, u64> =
            stored.values().map(|(log, tip)| (log.to_string(), tip.seq)).collect();
        let loss = |(log, tip): &(LogId, Tip)| {
            let kept = stored.get(&log.to_string()).copied().unwrap_or(0);
            let lost = kept < tip.seq;
            lost.then(|| Loss { log: log.clone(), kept, acknowledged: tip.seq, head: tip.head })
        };
        self.logs.values().filter_map(loss).collect()
    }
}

fn record(seq: u64, head: &Digest, name: &str) -> Vec<u8> {
    let said = format!("{seq:020} {head} {name:<NAME$} ");
    format!("{said}{:016x}\n", checksum(&said)).into_bytes()
}

/// FNV-1a: any single changed byte changes it, and it is cheap. It detects damage, not attacks.
fn checksum(said: &str) -> u64 {
    said.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn parse(record: &[u8]) -> Option<(u64, Digest, &str)> {
    let text = std::str::from_utf8(record).ok().filter(|text| text.len() == RECORD)?;
    let (said, sum) = text.strip_suffix('\n')?.split_at_checked(RECORD - CHECKSUM - 1)?;
    if format!("{:016x}", checksum(said)) != sum {
        return None;
    }
    let mut words = said.split_ascii_whitespace();
    let (seq, head, name) = (words.next()?, words.next()?, words.next()?);
    Some((seq.parse().ok()?, head.parse().ok()?, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_length_and_any_flipped_bit_is_noticed() {
        let head = Digest::of(b"a line");
        let written = record(17, &head, "r_0a1b2c3d/T1.1");
        assert_eq!(written.len(), RECORD);
        assert_eq!(parse(&written), Some((17, head, "r_0a1b2c3d/T1.1")));
        for bit in 0..RECORD * 8 {
            let mut flipped = written.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(parse(&flipped), None, "bit {bit}");
        }
    }
}
