//! Hands the output of a build to another checkout, as a copy of its own: times are kept, because builds compare them,
//! files that are already there stay, and no link of the checkout is followed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

use types::WorkPath;

use crate::bring::Most;
use crate::jail::{Jail, Missing};

/// Copies these entries of a folder into another one. Returns whether it was not too much; then nothing is copied.
pub fn hand_out(from: &Path, entries: &[WorkPath], to: &Path, most: Most) -> io::Result<bool> {
    let Some(files) = find(from, entries, most)? else { return Ok(false) };
    let jail = Jail::open(to)?;
    for (file, above, name) in &files {
        let names = above.iter();
        match jail.enter(names, Missing::Make) {
            Ok(folder) => copy(file, &folder, name)?,
            // A file or a link of the checkout is in the way.
            Err(Errno::NOTDIR | Errno::LOOP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(true)
}

/// The files and links of these entries of a folder: the path, the folder relative to the top, the name; `None` if it
/// is too much.
fn find(
    top: &Path,
    entries: &[WorkPath],
    mut most: Most,
) -> io::Result<Option<Vec<(PathBuf, PathBuf, OsString)>>> {
    let (mut open, mut files) = (vec![PathBuf::new()], Vec::new());
    let wanted = |name: &OsString| entries.iter().any(|entry| name == entry.as_str());
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(top.join(&at))? {
            let entry = entry?;
            let (kind, name) = (entry.metadata()?, entry.file_name());
            if at.as_os_str().is_empty() && !wanted(&name) {
                continue;
            }
            if kind.is_dir() {
                open.push(at.join(name));
            } else if kind.is_file() || kind.is_symlink() {
                let (Some(bytes), Some(count)) =
                    (most.bytes.checked_sub(kind.len()), most.files.checked_sub(1))
                else {
                    return Ok(None);
                };
                most = Most { bytes, files: count };
                files.push((entry.path(), at.clone(), name));
            }
        }
    }
    Ok(Some(files))
}

fn copy(from: &Path, folder: &std::os::fd::OwnedFd, name: &OsString) -> io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        let done = rustix::fs::symlinkat(fs::read_link(from)?, folder, name);
        return if done == Err(Errno::EXIST) { Ok(()) } else { Ok(done?) };
    }
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(found.permissions().mode() & 0o777);
    let new = match rustix::fs::openat(folder, name, flags, mode) {
        Ok(new) => new,
        Err(Errno::EXIST) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    io::copy(&mut File::open(from)?, &mut File::from(new))?;
    let at = Timespec { tv_sec: found.mtime(), tv_nsec: found.mtime_nsec() };
    let times = Timestamps { last_access: at, last_modification: at };
    rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_keeps_times_and_follows_no_link_of_the_checkout() {
        let dir = tempfile::tempdir().expect("a folder");
        let [from, to, outside] = ["from", "to", "outside"].map(|name| {
            fs::create_dir_all(dir.path().join(name).join("out")).expect("a folder");
            dir.path().join(name)
        });
        fs::create_dir(from.join("away")).expect("a folder");
        for (path, text) in [("out/a", "new"), ("out/b", "b"), ("away/x", "x"), ("c.o", "c")] {
            fs::write(from.join(path), text).expect("a file");
        }
        std::os::unix::fs::symlink(&outside, to.join("away")).expect("a link");
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        let file = File::options().write(true).open(from.join("out/a")).expect("a file");
        file.set_modified(past).expect("a time");
        let entries = ["out", "away"].map(|name| name.parse().expect("a path"));
        let most = Most { bytes: 100, files: 10 };
        assert!(!hand_out(&from, &entries, &to, Most { files: 2, ..most }).expect("too much"));
        assert!(!to.join("out/a").exists());
        assert!(hand_out(&from, &entries, &to, most).expect("copied"));
        assert_eq!(fs::read_to_string(to.join("out/a")).expect("a file"), "new");
        assert_eq!(
            fs::metadata(to.join("out/a")).and_then(|it| it.modified()).expect("a time"),
            past
        );
        assert!(to.join("out/b").exists() && !outside.join("x").exists());
        assert!(!to.join("c.o").exists(), "only what was named");
    }
}
