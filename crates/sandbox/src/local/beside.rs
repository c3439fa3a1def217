//! Folders in which commands may replace a file of their scope with a new one, as `sed -i`, `mv` and formatters do, or
//! create the output of a build. While commands run, the kernel closes the other entries of such a folder to them; new
//! entries outside the scope are removed afterwards unless git ignores them, and links, which cannot be closed, are
//! restored.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;
use types::{Scope, WorkPath};

use crate::jail::{self, Jail, Links};
use crate::staging::STAGING;

/// In folders with more entries than this, files are written in place only: closing each entry would take too long.
const MOST_ENTRIES: usize = 1024;

/// Maximum size of a `.gitignore`.
const MAX_IGNORE_BYTES: u64 = 256 * 1024;

/// A folder as it was before the first command.
#[derive(Debug)]
pub(super) struct Listing {
    pub(super) folder: WorkPath,
    /// Targets of links; `None` for any other entry.
    entries: BTreeMap<OsString, Option<Vec<u8>>>,
}

/// The folders of a scope's files and builds, parents before children. Folders that are in the scope themselves need no
/// listing.
pub(super) fn listed(jail: &Jail, scope: &Scope, builds: &[WorkPath]) -> Vec<Listing> {
    let whole = |path: &WorkPath| {
        scope.0.iter().any(|artifact| artifact.whole_folder && artifact.covers(path))
    };
    let files = scope.0.iter().filter(|artifact| !artifact.whole_folder);
    let files = files.map(|artifact| &artifact.path).chain(builds);
    let files = files.filter(|path| !jail::is_protected(path));
    let above = files.filter_map(|path| match path.as_str().rsplit_once('/') {
        Some((above, _)) => above.parse::<WorkPath>().ok(),
        None => Some(WorkPath::root()),
    });
    let mut folders: Vec<WorkPath> = above.filter(|folder| !whole(folder)).collect();
    folders.sort_by_key(|folder| (folder.components().count(), folder.clone()));
    folders.dedup();
    folders.into_iter().filter_map(|folder| listing(jail, folder)).collect()
}

fn listing(jail: &Jail, folder: WorkPath) -> Option<Listing> {
    let fd = jail.folder(&folder, Links::Refuse).ok()?;
    let mut entries = BTreeMap::new();
    for name in jail::names_in(&fd).ok()? {
        // The sandbox closes entries by name, which must be UTF-8.
        name.to_str()?;
        let link = link(&fd, &name);
        entries.insert(name, link);
    }
    (entries.len() <= MOST_ENTRIES).then_some(Listing { folder, entries })
}

/// Target of a link; `None` for any other entry.
fn link(folder: &OwnedFd, name: &OsString) -> Option<Vec<u8>> {
    rustix::fs::readlinkat(folder, name, Vec::new()).ok().map(|to| to.into_bytes())
}

/// Removes new entries outside the scope that git does not ignore, and restores links. Returns the paths that were
/// removed or restored.
pub(super) fn tidy(jail: &Jail, scope: &Scope, before: &[Listing]) -> Vec<String> {
    let mut done = Vec::new();
    let ignored = ignored(jail);
    for listing in before {
        let Ok(folder) = jail.folder(&listing.folder, Links::Refuse) else { continue };
        for name in jail::names_in(&folder).unwrap_or_default() {
            let path = place(&listing.folder, &name);
            let allowed = path.parse::<WorkPath>().is_ok_and(|path| scope.allows(&path));
            let known = listing.entries.contains_key(&name);
            let is_folder =
                jail::kind_in(&folder, &name).is_ok_and(|kind| kind == FileType::Directory);
            // Ignored files never leave the worktree.
            let allowed = allowed || ignored.matched(&path, is_folder).is_ignore();
            if !known && !allowed && !name.as_bytes().starts_with(STAGING.as_bytes()) {
                remove(&folder, &name);
                done.push(path);
            }
        }
        for (name, before) in &listing.entries {
            let path = place(&listing.folder, name);
            let allowed = path.parse::<WorkPath>().is_ok_and(|path| scope.allows(&path));
            let (Some(to), false) = (before, allowed) else { continue };
            if link(&folder, name).as_ref() != Some(to) {
                remove(&folder, name);
                // A link that cannot be restored is missing, which the commit will show.
                rustix::fs::symlinkat(to.as_slice(), &folder, name).ok();
                done.push(path);
            }
        }
    }
    done
}

/// What the workspace's own `.gitignore` ignores.
fn ignored(jail: &Jail) -> Gitignore {
    let text = ".gitignore".parse().ok().and_then(|path| jail.small_text(&path, MAX_IGNORE_BYTES));
    let mut builder = GitignoreBuilder::new("");
    for line in text.unwrap_or_default().lines() {
        // An invalid pattern ignores nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn place(folder: &WorkPath, name: &OsString) -> String {
    let name = name.to_string_lossy();
    if folder.is_root() { name.into_owned() } else { format!("{folder}/{name}") }
}

/// Removes an entry without following any link. An entry that cannot be removed shows when the work is committed.
fn remove(folder: &OwnedFd, name: &OsString) {
    crate::removal::remove_in(folder, name).ok();
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn scope(places: &[&str]) -> Scope {
        Scope(places.iter().map(|place| place.parse().expect("a place")).collect())
    }

    #[test]
    fn what_is_left_beside_the_scope_goes_and_links_come_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("src")).expect("a folder");
        for name in ["src/a", "src/other"] {
            std::fs::write(at(name), name).expect("a file");
        }
        symlink("other", at("src/link")).expect("a link");
        let jail = Jail::open(dir.path()).expect("a jail");
        let scope = scope(&["src/a", "src/b"]);
        let before = listed(&jail, &scope, &[]);
        assert_eq!(before.len(), 1);
        std::fs::write(at("src/b"), "new and in the scope").expect("a file");
        std::fs::create_dir_all(at("src/stray/deep")).expect("folders");
        symlink("/etc", at("src/stray/etc")).expect("a link");
        std::fs::write(at("src/sedX1"), "left").expect("a file");
        std::fs::remove_file(at("src/link")).expect("removed");
        std::fs::write(at("src/link"), "a file now").expect("a file");
        let mut done = tidy(&jail, &scope, &before);
        done.sort();
        assert_eq!(done, ["src/link", "src/sedX1", "src/stray"]);
        assert_eq!(
            std::fs::read_link(at("src/link")).expect("a link"),
            std::path::Path::new("other")
        );
        assert!(at("src/b").is_file() && !at("src/stray").exists() && !at("src/sedX1").exists());
        assert!(std::path::Path::new("/etc/passwd").exists());
    }

    #[test]
    fn what_git_ignores_stays_beside_the_scope() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("src")).expect("a folder");
        std::fs::write(at(".gitignore"), "prog\n*.o\n!kept.o\n").expect("a file");
        std::fs::write(at("src/a.c"), "").expect("a file");
        let jail = Jail::open(dir.path()).expect("a jail");
        let (scope, builds) = (scope(&["src/a.c", "prog/"]), ["prog".parse().expect("a path")]);
        let before = listed(&jail, &scope, &builds);
        let folders: Vec<&str> = before.iter().map(|one| one.folder.as_str()).collect();
        assert_eq!(folders, [".", "src"]);
        for name in ["prog", "src/a.o", "src/kept.o", "src/x", "y"] {
            std::fs::write(at(name), "new").expect("a file");
        }
        let mut done = tidy(&jail, &scope, &before);
        done.sort();
        assert_eq!(done, ["src/kept.o", "src/x", "y"]);
    }

    #[test]
    fn only_folders_that_are_not_in_the_scope_themselves_are_looked_at() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join("a/b")).expect("folders");
        let jail = Jail::open(dir.path()).expect("a jail");
        let folders = |places: &[&str]| -> Vec<String> {
            let listed = listed(&jail, &scope(places), &[]);
            listed.iter().map(|one| one.folder.to_string()).collect()
        };
        assert_eq!(folders(&["a/b/x", "y", "a/b/z"]), [".", "a/b"]);
        assert_eq!(folders(&["a/b/x", "a/"]), Vec::<String>::new());
        assert_eq!(folders(&[".git/config", "missing/x"]), Vec::<String>::new());
        for n in 0..=MOST_ENTRIES {
            std::fs::write(dir.path().join(format!("f{n}")), "").expect("a file");
        }
        assert_eq!(folders(&["y", "a/b/x"]), ["a/b"]);
    }
}
