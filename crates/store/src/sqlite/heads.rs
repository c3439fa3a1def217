//! The heads file: beside the database, the end of every log as it was last acknowledged. It is written after the commit
//! is durable and not synced itself, so it never claims more than was durable, and after a power cut it may only be
//! older. Damage to the write-ahead log silently cuts what SQLite recovers; a head beyond the recovered end shows it.
//!
//! One record of fixed length for each row of `logs`, at the place of its number, as text with a checksum. They are
//! not evidence against somebody who can write this file: that is what a head that was noted elsewhere is for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use types::{Digest, LogId, Timestamp};

use super::files::with_suffix;
use crate::Loss;
use crate::line::Tip;

/// The length of a record. It divides the sector of a disk, so that a record is written whole or not at all.
const RECORD: usize = 256;
const NAME: usize = 152;
const CHECKSUM: usize = 16;
/// What the record at place 0 is called. It counts how often the file had to be made anew.
const TITLE: &str = "bosun-heads-1";

/// The file, open for writing.
#[derive(Debug)]
pub(super) struct Heads {
    file: File,
    path: PathBuf,
}

/// What the file says.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) logs: BTreeMap<i64, (LogId, Tip)>,
    /// How often the file was made anew; nothing if there is no readable file.
    pub(super) remade: Option<u64>,
    /// How many records cannot be read.
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
        let path = beside(database);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        match options.open(&path) {
            Ok(file) => Ok(Self { file, path }),
            Err(error) => Err((path, error)),
        }
    }

    /// Begin anew, on purpose.
    pub(super) fn begin(&self) {
        self.put(0, &record(0, &Digest::ZERO, TITLE));
        self.sync();
    }

    /// Note the end of a log. A note that cannot be written leaves an older one, which claims less.
    pub(super) fn note(&self, row: i64, log: &LogId, tip: Tip) {
        self.put(row, &record(tip.seq, &tip.head, &log.to_string()));
    }

    /// Forget a log.
    pub(super) fn erase(&self, row: i64) {
        self.put(row, &[0; RECORD]);
    }

    pub(super) fn sync(&self) {
        // What is not synced may be older after a power cut, which is no harm.
        self.file.sync_data().ok();
    }

    /// Forget every log of the file that is in this list.
    pub(super) fn erase_all(&self, recorded: &mut Recorded, names: &BTreeSet<String>) {
        recorded.logs.retain(|row, (log, _)| {
            let gone = names.contains(&log.to_string());
            if gone {
                self.erase(*row);
            }
            !gone
        });
    }

    /// Bring the file in line with the database, except for logs that lost something, and count if it had to be made
    /// anew. Returns the losses.
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

    /// Keep a note of losses that a person accepted, for whoever audits the journal.
    pub(super) fn accepted(&self, at: Timestamp, losses: &[Loss]) -> io::Result<()> {
        let mut path = self.path.as_os_str().to_owned();
        path.push(".accepted");
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
    /// What the heads file of a database says. To compare it with the database, read it first: what is acknowledged
    /// in between is then in the database, too.
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

    /// What the file says of one log.
    pub(super) fn at(database: &Path, row: i64) -> Option<(LogId, Tip)> {
        let place = u64::try_from(row).ok()?.checked_mul(RECORD as u64)?;
        let mut record = [0; RECORD];
        File::open(beside(database)).ok()?.read_exact_at(&mut record, place).ok()?;
        let (seq, head, name) = parse(&record)?;
        Some((name.parse().ok()?, Tip { seq, head }))
    }

    /// How many logs there are, and how many lines they have together.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.logs.len() as u64, self.logs.values().map(|(_, tip)| tip.seq).sum())
    }

    pub(super) fn is_sound(&self) -> bool {
        self.remade.is_some() && self.damaged == 0
    }

    /// The highest row that the file knows.
    pub(super) fn last_row(&self) -> i64 {
        self.logs.keys().next_back().copied().unwrap_or(0)
    }

    /// The logs that the database no longer has to their acknowledged ends.
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

/// FNV-1a: any single changed byte changes it, and it costs little. It is against damage, not against people.
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
