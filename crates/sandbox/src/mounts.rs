//! Mounts below a folder that show another one a second time. Only Linux lists its mounts in a file; elsewhere, none are
//! found.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A mount below a folder that shows one of these places, something above it, or an entry of it.
#[must_use]
pub fn mounted_below(folder: &Path, places: &[PathBuf]) -> Option<PathBuf> {
    let listed = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    shown_by(listed.lines().filter_map(mount_point), folder, places)
}

/// The first of some mounts that does. One on the way to a place shows it where it is.
fn shown_by(
    mounts: impl Iterator<Item = PathBuf>,
    folder: &Path,
    places: &[PathBuf],
) -> Option<PathBuf> {
    let elsewhere = |at: &PathBuf| !places.iter().any(|place| place.starts_with(at));
    let below = |at: &PathBuf| at != folder && at.starts_with(folder);
    let mut inside = mounts.filter(below).filter(elsewhere).peekable();
    inside.peek()?;
    let shown: BTreeSet<(u64, u64)> = places.iter().flat_map(|place| around(place)).collect();
    inside.find(|at| id(at).is_some_and(|id| shown.contains(&id)))
}

/// A place, everything above it that is not the root, and its entries.
fn around(place: &Path) -> Vec<(u64, u64)> {
    let above = place.ancestors().filter(|above| above.parent().is_some()).map(Path::to_owned);
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    above.chain(entries.map(|entry| entry.path())).filter_map(|path| id(&path)).collect()
}

fn id(path: &Path) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Where a mount is, by its line: the fifth word, with some characters as octal numbers.
fn mount_point(line: &str) -> Option<PathBuf> {
    let word = line.split(' ').nth(4)?.as_bytes();
    let (mut bytes, mut at) = (Vec::with_capacity(word.len()), 0);
    while let Some(byte) = word.get(at) {
        let octal = word.get(at + 1..at + 4).filter(|_| *byte == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                at += 4;
            }
            None => {
                bytes.push(*byte);
                at += 1;
            }
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_point_is_read_with_its_blanks() {
        let line = r"36 35 98:0 /m /mnt/a\040b\134c rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_point(line), Some(PathBuf::from(r"/mnt/a b\c")));
        assert_eq!(mount_point("36 35"), None);
    }

    #[test]
    fn a_place_is_found_where_it_is_shown_a_second_time() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path();
        let (folder, state) = (top.join("work"), top.join("state/bosun"));
        std::fs::create_dir_all(folder.join("x")).expect("a folder");
        std::fs::create_dir_all(state.join("history")).expect("a folder");
        // Another path to the same folder stands for a mount.
        let found = |folder: &Path, at: &str| {
            shown_by([folder.join(at)].into_iter(), folder, std::slice::from_ref(&state)).is_some()
        };
        for shown in ["x/../../state/bosun", "x/../../state", "x/../../state/bosun/history"] {
            assert!(found(&folder, shown), "{shown}");
        }
        assert!(!found(&folder, "x") && !found(&folder, "x/../../missing"));
        assert!(!found(top, "state"), "it is on the way to the place itself");
        assert_eq!(mounted_below(&folder, &[state]), None);
    }
}
