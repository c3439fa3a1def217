//! The folder `runs/` of a strict project: the communication log of a run, append-only, and a snapshot of its plan.
//! Both derive from the journal, so after a crash the log continues where it stopped. Whether git ignores the folder is
//! up to the person; files of these names never count as uncommitted work.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use engine::export::StrictLog;
use futures::StreamExt as _;
use store::JournalError;
use types::{Event, RunId, Timestamp};

use crate::api::Bosun;
use crate::watch::Mix;

/// The most runs that may start within one second.
const MOST_ALIKE: u32 = 100;
/// The most plans that one folder keeps for one id.
const MOST_PLANS: u64 = 10_000;

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    #[error("writing {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Bosun {
    /// Writes the log and the plan of a run into a folder, until the run is over.
    pub async fn write_runs(&self, run: &RunId, folder: &Path) -> Result<(), RunsError> {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let (mut told, mut log) = (StrictLog::default(), None);
        let mut lines = Box::pin(self.watch(run, Mix::Grouped));
        while let Some(line) = lines.next().await {
            let line = line?;
            for record in told.line(&line) {
                let text = format!("{record}\n");
                let log = match &mut log {
                    Some(log) => log,
                    None => log.insert(Log::open(folder, line.at, &text)?),
                };
                log.add(&text)?;
            }
            if let (Event::PlanAdopted { .. }, Some((id, plan))) = (&line.event, told.snapshot()) {
                let text = format!("{}\n", serde_json::to_string_pretty(plan).unwrap_or_default());
                snapshot(folder, &plain(id), &text)?;
            }
        }
        Ok(())
    }
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> RunsError {
    let path = path.to_owned();
    move |source| RunsError::Io { path: path.clone(), source }
}

/// Stores a plan under its id, or under the next free number. An identical file is left alone.
fn snapshot(folder: &Path, id: &str, text: &str) -> Result<PathBuf, RunsError> {
    let (stem, digits) = id.rsplit_once('_').unwrap_or((id, ""));
    let first: Option<u64> = digits.parse().ok();
    for n in 0..MOST_PLANS {
        let name = match first {
            Some(first) => format!("{stem}_{:0width$}", first + n, width = digits.len()),
            None if n == 0 => id.to_owned(),
            None => format!("{id}-{}", n + 1),
        };
        let path = folder.join(format!("{name}.json"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(text.as_bytes()).map_err(failed(&path))?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                let there = std::fs::read(&path).map_err(failed(&path))?;
                if there == text.as_bytes() {
                    return Ok(path);
                }
                // A crash may have truncated it; it is completed, and other files are left alone.
                if text.as_bytes().starts_with(&there) {
                    std::fs::write(&path, text).map_err(failed(&path))?;
                    return Ok(path);
                }
            }
            Err(source) => return Err(RunsError::Io { path, source }),
        }
    }
    let source = std::io::Error::other("there are too many plans");
    Err(RunsError::Io { path: folder.to_owned(), source })
}

/// The id as a file name, without path separators.
fn plain(id: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    id.chars().take(80).map(|c| if fits(c) { c } else { '_' }).collect()
}

struct Log {
    path: PathBuf,
    file: File,
    /// The existing content of the file, and how much of it was matched.
    known: Vec<u8>,
    told: usize,
}

impl Log {
    /// The log that starts with this record, or a new one. Names are times; two runs may start in the same second.
    fn open(folder: &Path, at: Timestamp, first: &str) -> Result<Self, RunsError> {
        let time: String = at.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
        let (day, hour) = time.split_at(8.min(time.len()));
        for n in 1..=MOST_ALIKE {
            let more = if n == 1 { String::new() } else { format!("-{n}") };
            let path = folder.join(format!("{day}-{hour}{more}.log.jsonl"));
            let known = match std::fs::read(&path) {
                Ok(known) => known,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => vec![],
                Err(source) => return Err(RunsError::Io { path, source }),
            };
            if known.starts_with(first.as_bytes()) || first.as_bytes().starts_with(&known) {
                let file = OpenOptions::new().append(true).create(true).open(&path);
                let file = file.map_err(failed(&path))?;
                return Ok(Self { path, file, known, told: 0 });
            }
        }
        let source = std::io::Error::other("too many runs began in the same second");
        Err(RunsError::Io { path: folder.to_owned(), source })
    }

    /// Adds a record, or the missing rest of it.
    fn add(&mut self, text: &str) -> Result<(), RunsError> {
        let (text, known) = (text.as_bytes(), self.known.get(self.told..).unwrap_or_default());
        if known.starts_with(text) {
            self.told += text.len();
            return Ok(());
        }
        let rest = text.strip_prefix(known).unwrap_or(text);
        self.told = self.known.len();
        self.file.write_all(rest).map_err(failed(&self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// M25: existing text stays; a truncated record is completed.
    #[test]
    fn a_log_is_only_added_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = Timestamp::from_millis(1_759_402_800_000);
        let write = |records: &[&str]| {
            let mut log = Log::open(folder.path(), at, records[0]).expect("a log");
            records.iter().for_each(|record| log.add(record).expect("it can be written"));
            log.path
        };
        let path = write(&["{\"a\":1}\n", "{\"b\":2}\n"]);
        assert_eq!(
            path.file_name().and_then(|name| name.to_str()),
            Some("20251002-110000.log.jsonl")
        );
        let read = || std::fs::read_to_string(&path).expect("a file");
        assert_eq!(write(&["{\"a\":1}\n", "{\"b\":2}\n", "{\"c\":3}\n"]), path);
        assert_eq!(read(), "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
        std::fs::write(&path, "{\"a\":1}\n{\"b\"").expect("a file");
        write(&["{\"a\":1}\n", "{\"b\":2}\n"]);
        assert_eq!(read(), "{\"a\":1}\n{\"b\":2}\n");
        // A crash may cut within a character.
        std::fs::write(&path, b"{\"a\":1}\n{\"\xc3").expect("a file");
        write(&["{\"a\":1}\n", "{\"ä\":2}\n"]);
        assert_eq!(read(), "{\"a\":1}\n{\"ä\":2}\n");
        let other = write(&["{\"z\":9}\n"]);
        assert_ne!(other, path);
        assert_eq!(read(), "{\"a\":1}\n{\"ä\":2}\n");
    }

    /// M9: a later plan with the same id gets the next number; nothing is overwritten.
    #[test]
    fn plans_are_numbered_and_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let keep = |id: &str, text: &str| {
            let path = snapshot(folder.path(), id, text).expect("it can be written");
            path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned()
        };
        assert_eq!(keep("plan_0001", "one\n"), "plan_0001.json");
        assert_eq!(keep("plan_0001", "two\n"), "plan_0002.json");
        assert_eq!(keep("plan_0001", "one\n"), "plan_0001.json", "it is there");
        assert_eq!(keep("plan_x", "one\n"), "plan_x.json");
        assert_eq!(keep("plan_x", "two\n"), "plan_x-2.json");
        let first = std::fs::read_to_string(folder.path().join("plan_0001.json"));
        assert_eq!(first.expect("a file"), "one\n");
    }

    #[test]
    fn a_plans_id_cannot_lead_elsewhere() {
        assert_eq!(plain("plan_0001"), "plan_0001");
        assert_eq!(plain("plan_../../x"), "plan_______x");
    }
}
