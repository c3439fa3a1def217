//! Keeps settings that make other programs run something as they were while commands run. With namespaces, the kernel
//! closes existing ones to commands; those that could not be closed, and new ones, are restored or removed when the
//! last command has ended, with a copy kept outside the workspace. Writes of the file tools in the meantime stay: they
//! were permitted by name. `watch.rs` observes when commands begin and end.

#![expect(clippy::disallowed_methods, reason = "a folder outside of the workspace")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, FileType};
use types::{Scope, Sensitive, WorkPath};

use crate::confine::Spec;
use crate::jail::{self, Jail, Links};
use crate::search::{OddPath, Survey, remove_odd};
use crate::writing::replace;

/// Maximum size of a file whose content is remembered, and of all of them together.
const MAX_FILE: u64 = 256 * 1024;
const MAX_ALL: u64 = 16 * 1024 * 1024;

/// The workspace's own git files.
const GIT: &str = ".git";

/// Guards the settings of a workspace while commands run in it.
#[derive(Debug)]
pub(super) struct Guarding {
    /// Files that commands may change, because the plan names them.
    named: Vec<WorkPath>,
    /// Where removed or replaced files are kept: they may have been the user's.
    aside: Option<PathBuf>,
    now: Mutex<Now>,
}

/// State when the first of the running commands began, and writes since then.
#[derive(Debug, Default)]
pub(super) struct Now {
    commands: usize,
    before: BTreeMap<WorkPath, Kept>,
    /// Paths that were hidden from commands, and so are unchanged.
    hidden: Vec<WorkPath>,
    /// Whether the workspace had git files of its own, to which commands cannot write.
    has_git: bool,
    /// Settings whose names are no paths.
    pub(super) odd: BTreeSet<OddPath>,
    /// Whether `before` covers everything that existed.
    pub(super) complete: bool,
    /// Paths that the file tools have written since.
    written: BTreeSet<WorkPath>,
}

/// A file as it was before the first command.
#[derive(Debug)]
struct Kept {
    /// Device and inode of its folder.
    folder: Option<(u64, u64)>,
    /// Content and mode; `None` if it is too large or not a regular file.
    content: Option<(Vec<u8>, u32)>,
}

impl Guarding {
    /// Guards all settings except these files. Removed or replaced files are kept below `aside`.
    pub(super) fn new(named: Vec<WorkPath>, aside: Option<PathBuf>) -> Self {
        Self { named, aside, now: Mutex::default() }
    }

    /// Closes existing settings to a command, as far as its scope lets it write to them at all.
    pub(super) fn close(&self, settings: &[WorkPath], scope: Option<&Scope>, spec: &mut Spec) {
        let reachable =
            |path: &&WorkPath| !is_in_own_git(path) && scope.is_none_or(|scope| scope.allows(path));
        for path in settings.iter().filter(reachable).filter(|path| !self.named.contains(path)) {
            let top = top(path);
            // If the folder to be closed contains a named file, its other files are closed one by one.
            let shared = self.named.iter().any(|named| below(&top, named));
            let place = if shared { path.clone() } else { top };
            if !spec.bounds.closed.contains(&place) {
                spec.bounds.closed.push(place);
            }
        }
    }

    /// Records that the file tools write to a path while commands run.
    pub(super) fn note_write(&self, path: &WorkPath) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if now.commands > 0 {
            now.written.insert(path.clone());
        }
    }

    /// Registers a command that begins. The first one records the state of the settings in `survey`.
    pub(super) fn begin(&self, jail: &Jail, survey: Survey) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.commands += 1;
        if now.commands == 1 {
            now.written.clear();
            let git = jail.kind(&GIT.parse().unwrap_or_else(|_| WorkPath::root()));
            now.has_git = !matches!(git, Ok(None));
            let mut settings = survey.settings;
            settings.retain(|path| !is_in_own_git(path));
            now.before = remembered(jail, settings);
            now.hidden = survey.hidden;
            now.odd = survey.odd;
            now.complete = survey.complete;
        }
    }

    /// Registers the end of a command. Returns the state from before if it was the last one.
    pub(super) fn leave(&self) -> Option<Now> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.commands = now.commands.saturating_sub(1);
        if now.commands > 0 {
            return None;
        }
        let mut before = std::mem::take(&mut *now);
        before.written.extend(self.named.iter().cloned());
        Some(before)
    }

    /// Removes new files, and restores changed ones. `held` says whether the kernel kept commands from closed paths.
    pub(super) fn restore(
        &self,
        jail: &Jail,
        before: &Now,
        (new, odd): (Vec<WorkPath>, BTreeSet<OddPath>),
        held: bool,
    ) -> Restored {
        let mut done = Restored::default();
        for path in new {
            done.keep(self.aside.as_deref(), jail, &path);
            remove(jail, &path);
            done.paths.push(path);
        }
        done.paths.extend(odd.iter().filter_map(|path| remove_odd(jail, path)));
        for (path, kept) in before.before.iter().filter(|(path, _)| !before.written.contains(path))
        {
            // A closed file in its original folder can only have been changed by something else, such as the user.
            let same_folder = kept.folder.is_some() && folder(jail, path) == kept.folder;
            if !(held && same_folder) && is_changed(jail, path, kept) {
                done.keep(self.aside.as_deref(), jail, path);
                if put_back(jail, path, kept) {
                    done.paths.push(path.clone());
                }
            }
        }
        done
    }
}

/// Files removed or restored after a command.
#[derive(Debug, Default)]
pub(super) struct Restored {
    pub(super) paths: Vec<WorkPath>,
    /// Folder with copies of the removed or replaced files, created with the first.
    pub(super) kept_in: Option<PathBuf>,
}

impl Restored {
    /// Keeps a copy of a file as it is now below `aside`, unless it is a link or too large.
    fn keep(&mut self, aside: Option<&Path>, jail: &Jail, path: &WorkPath) {
        let Some(aside) = aside else { return };
        let Some((bytes, _)) = up_to(MAX_ALL, jail, path) else { return };
        // Best effort: without space, there is no copy.
        self.write(aside, path, &bytes).ok();
    }

    fn write(&mut self, aside: &Path, path: &WorkPath, bytes: &[u8]) -> io::Result<()> {
        let folder = match &self.kept_in {
            Some(folder) => folder,
            None => {
                std::fs::create_dir_all(aside)?;
                let new = tempfile::Builder::new().prefix("settings-").tempdir_in(aside)?;
                self.kept_in.insert(new.keep())
            }
        };
        let file = folder.join(path.as_str());
        std::fs::create_dir_all(file.parent().unwrap_or(folder))?;
        std::fs::write(file, bytes)
    }
}

impl Now {
    /// Whether a path did not exist before, and was not permitted by name.
    pub(super) fn is_new(&self, path: &WorkPath) -> bool {
        let in_hidden = self.hidden.iter().any(|hidden| hidden == path || below(hidden, path));
        let own_git = self.has_git && is_in_own_git(path);
        !self.before.contains_key(path) && !self.written.contains(path) && !in_hidden && !own_git
    }
}

/// The settings folder that contains a file, or the file itself.
fn top(path: &WorkPath) -> WorkPath {
    let text = path.as_str();
    let kind = Sensitive::of(path);
    if kind.is_none() {
        return path.clone();
    }
    let ends = text.match_indices('/').map(|(end, _)| &text[..end]);
    let mut above = ends.filter_map(|above| above.parse::<WorkPath>().ok());
    above.find(|above| Sensitive::of(above) == kind).unwrap_or_else(|| path.clone())
}

/// Whether a path is in the workspace's own git files, which are closed to commands as a whole.
fn is_in_own_git(path: &WorkPath) -> bool {
    path.as_str().split('/').next().is_some_and(|name| jail::is_protected_name(name.as_bytes()))
}

fn below(folder: &WorkPath, path: &WorkPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

fn remembered(jail: &Jail, settings: Vec<WorkPath>) -> BTreeMap<WorkPath, Kept> {
    let mut room = MAX_ALL;
    let keep = |path: WorkPath| {
        let content = up_to(MAX_FILE, jail, &path).filter(|(bytes, _)| bytes.len() as u64 <= room);
        room -= content.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64);
        let folder = folder(jail, &path);
        (path, Kept { folder, content })
    };
    settings.into_iter().map(keep).collect()
}

/// Content and mode of a regular file of at most this size.
fn up_to(most: u64, jail: &Jail, path: &WorkPath) -> Option<(Vec<u8>, u32)> {
    let file = jail.file(path, Links::Refuse).ok()?;
    let mode = file.metadata().ok()?.mode();
    Some((jail::whole(file, path, most).ok()?, mode))
}

/// Device and inode of the folder that contains a file.
fn folder(jail: &Jail, path: &WorkPath) -> Option<(u64, u64)> {
    let (folder, _) = jail.parent(path).ok()?;
    let stat = rustix::fs::fstat(&folder).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Whether a file has changed; false if its content was not remembered.
fn is_changed(jail: &Jail, path: &WorkPath, kept: &Kept) -> bool {
    let Some((bytes, _)) = &kept.content else { return false };
    up_to(MAX_FILE, jail, path).is_none_or(|(now, _)| now != *bytes)
}

/// Restores a file. Returns whether that succeeded.
fn put_back(jail: &Jail, path: &WorkPath, kept: &Kept) -> bool {
    let Some((bytes, mode)) = &kept.content else { return false };
    remove(jail, path);
    replace(jail, path, bytes, Some(*mode)).is_ok()
}

/// Removes a file or link, and the settings folders that become empty.
fn remove(jail: &Jail, path: &WorkPath) {
    let Ok((folder, name)) = jail.parent(path) else { return };
    let Ok(kind) = jail::kind_in(&folder, name) else { return };
    if kind != FileType::Directory {
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
    }
    let mut text = path.as_str();
    while let Some((above, _)) = text.rsplit_once('/') {
        let Ok(above_path) = above.parse::<WorkPath>() else { return };
        if Sensitive::of(&above_path).is_none() {
            return;
        }
        let Ok((folder, name)) = jail.parent(&above_path) else { return };
        if rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
        text = above;
    }
}
