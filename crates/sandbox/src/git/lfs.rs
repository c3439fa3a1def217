//! Git LFS without its program and without the network: pointers in a worktree are replaced by the objects that the
//! user's repository already has, each verified by its digest. Git is told to skip these files, so that their content
//! is never taken for a change; therefore, changes to them are not part of a result. An agent may have changed the
//! worktree: no link in it is followed, and only a file that still is the pointer is replaced, by a new one.

use std::path::Path;

use types::{CommitId, Digest, WorkPath};

use super::call::{GitDir, With};
use super::checkout::index_of;
use super::{GitError, Repo, hash};
use crate::content;
use crate::error::EnvError;
use crate::jail::{Jail, Links, whole};
use crate::writing::write;

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

/// What is in the place of a pointer afterwards.
enum Placed {
    /// Its object.
    Filled,
    /// The pointer, whose object is not here.
    Missing,
    /// What an agent put there.
    Changed,
}

impl Repo {
    /// Replaces the pointers of a commit in a worktree or a checkout; returns those whose objects are missing. Objects
    /// that no pointer of `base` names belong to other branches: an agent that writes such a pointer does not get them.
    pub async fn fill_lfs(
        &self,
        dir: &Path,
        commit: &CommitId,
        base: &CommitId,
    ) -> Result<Vec<WorkPath>, GitError> {
        let own = index_of(dir);
        let worktree = if own.exists() { None } else { Some(self.worktree(dir).await?) };
        let (mut missing, mut filled) = (Vec::new(), Vec::new());
        let mut pointers = self.pointers(commit).await?;
        if commit != base && !pointers.is_empty() {
            let known = self.pointers(base).await?;
            pointers.retain(|one| known.iter().any(|known| known.digest == one.digest));
        }
        for pointer in pointers {
            let (repo, dir) = (self.clone(), dir.to_owned());
            let path = pointer.path.clone();
            let placed = tokio::task::spawn_blocking(move || repo.place_object(&dir, &pointer));
            match placed.await {
                Ok(Placed::Filled) => filled.push(path),
                Ok(Placed::Changed) => {}
                Ok(Placed::Missing) | Err(_) => missing.push(path),
            }
        }
        if !filled.is_empty() {
            let names: Vec<u8> = filled
                .iter()
                .flat_map(|path| path.as_str().bytes().chain(std::iter::once(0)))
                .collect();
            let with = || With { stdin: &names, ..With::default() };
            let args = ["update-index", "--skip-worktree", "-z", "--stdin"];
            if let Some(worktree) = worktree {
                self.git().run_with(worktree.place(), &args, with()).await?;
                return Ok(missing);
            }
            // A checkout has an index for its commands, and one by which we see what they changed.
            for index in [own, dir.join(".git/index")] {
                let place = GitDir::Worktree { dir, git_dir: self.common_dir(), index: &index };
                self.git().run_with(place, &args, with()).await?;
            }
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
    fn place_object(&self, dir: &Path, pointer: &Pointer) -> Placed {
        let Ok(jail) = Jail::open(dir) else { return Placed::Missing };
        let found = jail.file(&pointer.path, Links::Refuse);
        match found.map(|file| whole(file, &pointer.path, MAX_POINTER as u64)) {
            Ok(Ok(text)) if digest_in(&String::from_utf8_lossy(&text)) == Some(pointer.digest) => {}
            // Larger than any pointer: perhaps the object, from before an interruption.
            Ok(Err(EnvError::TooLarge { .. })) if is_object(&jail, pointer) => {
                return Placed::Filled;
            }
            Ok(Ok(bytes)) if Digest::of(&bytes) == pointer.digest => return Placed::Filled,
            _ => return Placed::Changed,
        }
        let name = pointer.digest.to_string();
        let folder = self.inner.common.join("lfs/objects").join(&name[..2]).join(&name[2..4]);
        let Ok(bytes) = content::followed(&folder.join(&name), MAX_OBJECT) else {
            return Placed::Missing;
        };
        let written = Digest::of(&bytes) == pointer.digest
            && write(&jail, &pointer.path, &bytes, None).is_ok();
        if written { Placed::Filled } else { Placed::Missing }
    }
}

/// Whether the file in the place of a pointer is its object.
fn is_object(jail: &Jail, pointer: &Pointer) -> bool {
    let found = jail.file(&pointer.path, Links::Refuse);
    let bytes = found.and_then(|file| whole(file, &pointer.path, MAX_OBJECT));
    bytes.is_ok_and(|bytes| Digest::of(&bytes) == pointer.digest)
}

fn digest_in(text: &str) -> Option<Digest> {
    let rest = text.strip_prefix(VERSION)?;
    rest.lines().find_map(|line| line.strip_prefix("oid sha256:")?.trim().parse().ok())
}
