//! Space available to this process on a file system, determined without writing anything.

use std::path::Path;

/// Free bytes of the file system that a folder is on, or will be on once it is created; `None` if unknown.
#[must_use]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|above| above.exists())?;
    let found = rustix::fs::statvfs(there).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_yet_has_the_room_of_the_one_above() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(free_bytes(&dir.path().join("a/b")).is_some_and(|free| free > 0));
    }
}
