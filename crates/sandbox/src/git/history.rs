//! Stores with the objects of one commit and of all that led to it. Commands see such a store in place of the
//! repository's own, which has the objects of every branch, of other attempts and of the person's stashes as well.
//!
//! A store is made once per commit and never changed. It shares the packs of the store of an earlier commit, if there is
//! one, so that the store of a new commit has little more than the objects of that commit. Stores are not cut to a
//! number of commits: the first one of a repository takes as long as a clone of the branch.

#![expect(
    clippy::disallowed_methods,
    reason = "folders of Bosun's own, which no agent can write to"
)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use types::{CommitId, Digest};

use super::call::With;
use super::error::failed;
use super::{GitError, Repo, hash};

/// How many commits back a store is looked for that the new one can share.
const NEAREST: &str = "--max-count=200";
/// The most packs of a store. Git looks into all of them, so from then on there is one again.
pub(super) const MOST_PACKS: usize = 24;
/// The first letters of the name of a store that is being made.
const PART: &str = ".part-";
/// Stores that were not used for so long are removed.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

impl Repo {
    /// The store of a commit below this folder, which is for all repositories; made if it is missing.
    pub async fn history(&self, below: &Path, commit: &CommitId) -> Result<PathBuf, GitError> {
        let name = hash(commit)?;
        let shelf =
            below.join(Digest::of(self.common_dir().as_os_str().as_encoded_bytes()).short());
        let store = shelf.join(name);
        if used(&store) {
            return Ok(store);
        }
        fs::create_dir_all(&shelf).map_err(failed("making", &shelf))?;
        prune(&shelf);
        let (part, _made) = begun(&shelf).map_err(failed("making a folder in", &shelf))?;
        let packs = part.path().join("pack");
        fs::create_dir(&packs).map_err(failed("making", &packs))?;
        let mut wanted = format!("{name}\n");
        if let Some(nearest) = self.nearest(&shelf, name).await? {
            let from = shelf.join(&nearest).join("pack");
            // One that was removed in the meantime is done without.
            if link_all(&from, &packs).is_ok() {
                wanted.push_str(&format!("^{nearest}\n"));
            }
        }
        // Objects that are missing in the repository are missing here as well.
        let args = ["pack-objects", "--revs", "--delta-base-offset", "--missing=allow-any", "-q"];
        let args = args.map(std::ffi::OsString::from).into_iter();
        let args: Vec<_> = args.chain([packs.join("pack").into_os_string()]).collect();
        let with = With { stdin: wanted.as_bytes(), ..With::default() };
        self.git().run_with(self.here(), &args, with).await?;
        File::open(&packs)
            .and_then(|folder| folder.sync_all())
            .map_err(failed("syncing", &packs))?;
        match fs::rename(part.path(), &store) {
            Ok(()) => drop(part.keep()),
            // Another process made it at the same time.
            Err(_) if used(&store) => {}
            Err(error) => return Err(failed("placing", &store)(error)),
        }
        Ok(store)
    }

    /// The nearest commit before this one that has a store, unless that has no room for another pack.
    async fn nearest(&self, shelf: &Path, commit: &str) -> Result<Option<String>, GitError> {
        let answer = self.git().run(self.here(), &["rev-list", NEAREST, commit]).await?;
        let commits = String::from_utf8_lossy(&answer.stdout).into_owned();
        let packs = |commit: &str| {
            let packs = fs::read_dir(shelf.join(commit).join("pack")).ok()?;
            Some(packs.flatten().filter(is_pack).count())
        };
        let mut stores = commits.lines().filter_map(|commit| Some((commit, packs(commit)?)));
        let nearest = stores.next().filter(|(_, packs)| *packs < MOST_PACKS);
        Ok(nearest.map(|(commit, _)| commit.to_owned()))
    }
}

fn is_pack(entry: &fs::DirEntry) -> bool {
    entry.path().extension().is_some_and(|extension| extension == "pack")
}

/// Whether a store exists; notes that it was used.
fn used(store: &Path) -> bool {
    let now = SystemTime::now();
    File::open(store).and_then(|folder| folder.set_modified(now)).is_ok()
}

/// Links the packs of one store into another. Nobody can write to either.
fn link_all(from: &Path, to: &Path) -> io::Result<()> {
    let linked = fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        fs::hard_link(entry.path(), to.join(entry.file_name()))
    });
    if linked.is_err() {
        fs::remove_dir_all(to)?;
        fs::create_dir(to)?;
    }
    linked
}

/// A folder for a store that is being made, with the lock that says so.
fn begun(shelf: &Path) -> io::Result<(TempDir, File)> {
    let alone = File::open(shelf)?;
    alone.lock()?;
    let part = tempfile::Builder::new().prefix(PART).tempdir_in(shelf)?;
    let made = File::open(part.path())?;
    made.lock()?;
    Ok((part, made))
}

/// Removes what is left of stores below this folder: those that have not been used for long, and those whose makers died.
pub fn sweep_history(below: &Path) {
    let shelves = fs::read_dir(below).into_iter().flatten().flatten();
    shelves.for_each(|shelf| prune(&shelf.path()));
}

fn prune(shelf: &Path) {
    let alone = File::open(shelf).and_then(|shelf| shelf.lock().map(|()| shelf));
    if alone.is_err() {
        return;
    }
    for entry in fs::read_dir(shelf).into_iter().flatten().flatten() {
        let is_part = entry.file_name().as_encoded_bytes().starts_with(PART.as_bytes());
        let goes = if is_part {
            File::open(entry.path()).is_ok_and(|part| part.try_lock().is_ok())
        } else {
            let age = entry.metadata().and_then(|found| found.modified()).ok();
            age.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > KEPT)
        };
        if goes {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}
