//! Git LFS without its program and without the network: pointers in a worktree are replaced by the objects that the
//! user's repository already has, each verified by its digest. Git is told to skip these files, so that their content
//! is never taken for a change; therefore, changes to them are not part of a result.

use std::path::Path;

use types::{CommitId, Digest, WorkPath};

use super::call::With;
use super::{GitError, Repo, hash};
use crate::content;

/// Maximum size of a pointer; the specification allows no more than a few lines.
const MAX_POINTER: usize = 1024;
/// Maximum size of an object.
const MAX_OBJECT: u64 = u32::MAX as u64;
const VERSION: &str = "version https://git-lfs.github.com/spec/v1";

/// A parsed pointer file.
struct Pointer {
    path: WorkPath,
    digest: Digest,
}

impl Repo {
    /// Replaces the pointers of a commit in a worktree; returns those whose objects are missing.
    pub async fn fill_lfs(&self, dir: &Path, commit: &CommitId) -> Result<Vec<WorkPath>, GitError> {
        let worktree = self.worktree(dir).await?;
        let (mut missing, mut filled) = (Vec::new(), Vec::new());
        for pointer in self.pointers(commit).await? {
            let (repo, dir) = (self.clone(), dir.to_owned());
            let path = pointer.path.clone();
            let placed = tokio::task::spawn_blocking(move || repo.place_object(&dir, &pointer));
            if matches!(placed.await, Ok(true)) { filled.push(path) } else { missing.push(path) }
        }
        if !filled.is_empty() {
            let names: Vec<u8> = filled
                .iter()
                .flat_map(|path| path.as_str().bytes().chain(std::iter::once(0)))
                .collect();
            let with = With { stdin: &names, ..With::default() };
            let args = ["update-index", "--skip-worktree", "-z", "--stdin"];
            self.git().run_with(worktree.place(), &args, with).await?;
        }
        Ok(missing)
    }

    /// The pointers in a commit: small files that begin with the version line.
    async fn pointers(&self, commit: &CommitId) -> Result<Vec<Pointer>, GitError> {
        let commit = hash(commit)?;
        let args = ["grep", "--name-only", "-z", "--fixed-strings", "-e", VERSION, commit];
        let answer = self.git().try_run(self.here(), &args).await?;
        let mut found = Vec::new();
        // Finding nothing has its own exit code.
        for name in answer.names().filter(|_| answer.succeeded()) {
            let text = String::from_utf8_lossy(name).into_owned();
            let path = text.split_once(':').and_then(|(_, path)| path.parse::<WorkPath>().ok());
            let Some(path) = path else { continue };
            let blob = self.git().run(self.here(), &["cat-file", "blob", &text]).await?;
            let pointer = String::from_utf8_lossy(&blob.stdout).into_owned();
            let small = blob.stdout.len() <= MAX_POINTER;
            found.extend(
                digest_in(&pointer).filter(|_| small).map(|digest| Pointer { path, digest }),
            );
        }
        Ok(found)
    }

    /// Replaces a pointer by its object, if that exists and matches its digest.
    fn place_object(&self, dir: &Path, pointer: &Pointer) -> bool {
        let name = pointer.digest.to_string();
        let folder = self.inner.common.join("lfs/objects").join(&name[..2]).join(&name[2..4]);
        let Ok(bytes) = content::followed(&folder.join(&name), MAX_OBJECT) else { return false };
        let target = dir.join(pointer.path.as_str());
        // Only a regular file of the commit is replaced; a symlink would lead elsewhere.
        let plain = std::fs::symlink_metadata(&target).is_ok_and(|found| found.is_file());
        plain && Digest::of(&bytes) == pointer.digest && std::fs::write(&target, bytes).is_ok()
    }
}

fn digest_in(text: &str) -> Option<Digest> {
    let rest = text.strip_prefix(VERSION)?;
    rest.lines().find_map(|line| line.strip_prefix("oid sha256:")?.trim().parse().ok())
}
