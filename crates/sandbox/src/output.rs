//! Hands the output of a build to another checkout, as a copy of its own: times are kept, because builds compare them,
//! files that are already there stay, and no link of the checkout is followed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;

use crate::bring::Most;
use crate::jail::{Jail, Missing};

/// Copies the files of some folders into another one; of those with the same path, the first. Returns whether it was
/// not too much; then nothing is copied.
pub fn hand_out(from: &[PathBuf], to: &Path, most: Most) -> io::Result<bool> {
    let mut files = Vec::new();
    let mut left = most;
    for top in from {
        if !find(top, &mut left, &mut files)? {
            return Ok(false);
        }
    }
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

/// The files and links below a folder: the path, the folder relative to the top, the name. Stops when it is too much.
fn find(
    top: &Path,
    most: &mut Most,
    files: &mut Vec<(PathBuf, PathBuf, OsString)>,
) -> io::Result<bool> {
    let mut open = vec![PathBuf::new()];
    while let Some(at) = open.pop() {
        for entry in fs::read_dir(top.join(&at))? {
            let entry = entry?;
            let (kind, name) = (entry.metadata()?, entry.file_name());
            if kind.is_dir() {
                open.push(at.join(name));
            } else if kind.is_file() || kind.is_symlink() {
                let (Some(bytes), Some(count)) =
                    (most.bytes.checked_sub(kind.len()), most.files.checked_sub(1))
                else {
                    return Ok(false);
                };
                *most = Most { bytes, files: count };
                files.push((entry.path(), at.clone(), name));
            }
        }
    }
    Ok(true)
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
        let [one, two, to, outside] = ["one", "two", "to", "outside"].map(|name| {
            fs::create_dir_all(dir.path().join(name).join("out")).expect("a folder");
            dir.path().join(name)
        });
        for (path, text) in [("one/out/a", "new"), ("two/out/a", "old"), ("two/out/b", "b")] {
            fs::write(dir.path().join(path), text).expect("a file");
        }
        fs::create_dir(two.join("away")).expect("a folder");
        fs::write(two.join("away/x"), "x").expect("a file");
        std::os::unix::fs::symlink(&outside, to.join("away")).expect("a link");
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        let file = File::options().write(true).open(one.join("out/a")).expect("a file");
        file.set_modified(past).expect("a time");
        let from = [one, two];
        let most = Most { bytes: 100, files: 10 };
        assert!(!hand_out(&from, &to, Most { files: 2, ..most }).expect("too much"));
        assert!(!to.join("out/a").exists());
        assert!(hand_out(&from, &to, most).expect("copied"));
        assert_eq!(fs::read_to_string(to.join("out/a")).expect("a file"), "new");
        assert_eq!(
            fs::metadata(to.join("out/a")).and_then(|it| it.modified()).expect("a time"),
            past
        );
        assert!(to.join("out/b").exists() && !outside.join("x").exists());
    }
}
