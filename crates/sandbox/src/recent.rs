//! Lists files that changed since a time, independent of git: for the report on a call whose outcome is unknown. It
//! relies on timestamps, which a command can forge: listed files did change, others may have.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use types::{Timestamp, WorkPath};

use crate::names::shown;

/// Maximum number of names inspected, and of names listed.
const MOST_LOOKED_AT: usize = 50_000;
const MOST_TOLD: usize = 50;
/// Tolerance for the time resolution of file systems.
const SLACK_MS: i64 = 50;

/// The files below some paths of a folder that changed since a time, sorted, with trailing lines for omissions. No link
/// is followed, and git's own files are skipped.
#[must_use]
pub fn changed_since(root: &Path, below: &[WorkPath], since: Timestamp) -> Vec<String> {
    let mut open: Vec<PathBuf> = below.iter().map(|path| root.join(path.as_str())).collect();
    let (mut found, mut looked_at) = (Vec::new(), 0);
    while let Some(path) = open.pop() {
        looked_at += 1;
        if looked_at > MOST_LOOKED_AT {
            break;
        }
        let Ok(facts) = std::fs::symlink_metadata(&path) else { continue };
        if !facts.is_dir() {
            if is_newer(&facts, since) {
                found.extend(path.strip_prefix(root).ok().map(Path::to_owned));
            }
            continue;
        }
        let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        open.extend(entries.filter(|entry| entry.file_name() != ".git").map(|entry| entry.path()));
    }
    found.sort();
    let told = found.iter().take(MOST_TOLD);
    let mut lines: Vec<String> = told.map(|path| shown(path.as_os_str().as_bytes())).collect();
    if found.len() > MOST_TOLD {
        lines.push(format!("and {} more", found.len() - MOST_TOLD));
    }
    if !open.is_empty() {
        lines.push(format!("(only {MOST_LOOKED_AT} names were looked at)"));
    }
    lines
}

fn is_newer(facts: &Metadata, since: Timestamp) -> bool {
    let after = |seconds: i64, nanos: i64| {
        seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000).saturating_add(SLACK_MS)
            >= since.millis()
    };
    // A hard-linked file changes its status with every new link elsewhere.
    let state = facts.nlink() == 1 && after(facts.ctime(), facts.ctime_nsec());
    after(facts.mtime(), facts.mtime_nsec()) || state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_since_is_told_and_links_are_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("out/deep")).expect("folders");
        std::fs::create_dir_all(dir.path().join(".git")).expect("folders");
        for name in ["out/deep/a", "b", ".git/index"] {
            std::fs::write(dir.path().join(name), name).expect("a file");
        }
        std::os::unix::fs::symlink("/etc", dir.path().join("out/link")).expect("a link");
        let ever = Timestamp::from_millis(0);
        let all = changed_since(dir.path(), &[WorkPath::root()], ever);
        assert_eq!(all, ["b", "out/deep/a", "out/link"]);
        let out = changed_since(dir.path(), &["out".parse().expect("a path")], ever);
        assert_eq!(out, ["out/deep/a", "out/link"]);
        let later = Timestamp::from_millis(i64::MAX / 2);
        assert!(changed_since(dir.path(), &[WorkPath::root()], later).is_empty());
        for n in 0..60 {
            std::fs::write(dir.path().join(format!("n{n}")), "").expect("a file");
        }
        let many = changed_since(dir.path(), &[WorkPath::root()], ever);
        assert_eq!(many.last().map(String::as_str), Some("and 13 more"));
    }
}
