//! The paths of runs' repositories and sessions' folders on this machine: one file beside the journal, with a line
//! appended for each run that starts or moves. Logs do not contain them, because they are specific to this machine. The
//! last line for a run wins; a line torn by a power cut is skipped.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use types::RunId;

/// The file's name, in the product's home.
const FILE: &str = "places";

/// Adds the path of a run, durably. An empty path removes it.
pub(crate) fn keep(home: &Path, run: &RunId, place: &Path) -> io::Result<()> {
    std::fs::create_dir_all(home)?;
    let path = home.join(FILE);
    let new = !path.exists();
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let place = place.as_os_str().as_bytes();
    // The leading line break ends a torn line; the length shows that this one is complete.
    let mut line = format!("\n{run} {} ", place.len()).into_bytes();
    line.extend_from_slice(place);
    line.push(b'\n');
    file.write_all(&line)?;
    file.sync_data()?;
    if new { File::open(home)?.sync_all() } else { Ok(()) }
}

/// The path of one run, if known.
pub(crate) fn find(home: &Path, run: &RunId) -> Option<PathBuf> {
    read(home).remove(run)
}

/// All known paths of runs.
pub(crate) fn read(home: &Path) -> BTreeMap<RunId, PathBuf> {
    let bytes = std::fs::read(home.join(FILE)).unwrap_or_default();
    let (mut places, mut rest) = (BTreeMap::new(), bytes.as_slice());
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        rest = &rest[end + 1..];
        let Some((run, place)) = entry(rest) else { continue };
        match &rest[place.clone()] {
            [] => places.remove(&run),
            bytes => places.insert(run, PathBuf::from(OsStr::from_bytes(bytes))),
        };
        rest = &rest[place.end..];
    }
    places
}

/// The run of the entry that starts here, and where its path is, if the entry is complete.
fn entry(text: &[u8]) -> Option<(RunId, Range<usize>)> {
    let first = text.iter().position(|byte| *byte == b' ')?;
    let second = first + 1 + text[first + 1..].iter().position(|byte| *byte == b' ')?;
    let run = std::str::from_utf8(&text[..first]).ok()?.parse().ok()?;
    let length: usize = std::str::from_utf8(&text[first + 1..second]).ok()?.parse().ok()?;
    let start = second + 1;
    let end = start.checked_add(length)?;
    let whole = text.get(end) == Some(&b'\n');
    whole.then_some((run, start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> RunId {
        text.parse().expect("a run")
    }

    #[test]
    fn the_last_place_holds_whatever_is_in_its_name() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path();
        let odd = Path::new(OsStr::from_bytes(b"/a\nr_0b 4 /lie\n/\xff"));
        for (id, place) in [("r_0a", Path::new("/one")), ("r_0a", odd), ("r_0c", Path::new("/c"))] {
            keep(home, &run(id), place).expect("it is kept");
        }
        assert_eq!(find(home, &run("r_0a")).as_deref(), Some(odd));
        assert_eq!(find(home, &run("r_0b")), None);
        keep(home, &run("r_0c"), Path::new("")).expect("it is forgotten");
        assert_eq!(read(home).len(), 1);
    }

    #[test]
    fn a_torn_line_hides_no_other() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path();
        keep(home, &run("r_0a"), Path::new("/one")).expect("it is kept");
        let whole = std::fs::read(home.join(FILE)).expect("a file");
        keep(home, &run("r_0b"), Path::new("/two")).expect("it is kept");
        let both = std::fs::read(home.join(FILE)).expect("a file");
        for cut in whole.len()..both.len() {
            std::fs::write(home.join(FILE), &both[..cut]).expect("it is cut");
            assert_eq!(read(home).len(), 1, "cut after {cut} bytes");
            keep(home, &run("r_0c"), Path::new("/three")).expect("it is kept");
            let found = read(home);
            assert_eq!(found.get(&run("r_0c")).map(PathBuf::as_path), Some(Path::new("/three")));
            // Only the final line break was missing, and the next line supplies one.
            let complete = cut + 1 == both.len();
            assert_eq!(found.contains_key(&run("r_0b")), complete, "cut after {cut} bytes");
        }
    }
}
