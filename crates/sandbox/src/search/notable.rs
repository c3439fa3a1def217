//! Caches the names of a workspace that commands must not see or change, folder by folder: they are needed before and
//! after every command, and most commands create and remove no names. A folder whose stamp has not changed since it was
//! listed has the same names. Only file systems known to change the stamp with every name are trusted with that; on
//! others, folders are listed each time. Only folders are opened, and no link is followed. What makes git run programs
//! is looked for in every repository, but none is looked for in folders that tools fill.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use rustix::fs::{Dir, FileType};
use types::WorkPath;

use super::hidden::Judged;
use super::walk::SearchRoot;
use crate::jail::{Links, is_protected_name, kind_in};
use crate::repository::{
    HOOKS, holds_credentials, is_plain, is_repository, may_hold_credentials, steers,
};
use crate::stamp::{Moment, Stamp};

/// Maximum number of entries in one walk.
pub(super) const MAX_ENTRIES: usize = 1_000_000;
/// Folders that tools fill with third-party files. Users keep nothing of their own in them, and they are large.
const FILLED: [&str; 5] = ["node_modules", "target", ".venv", "venv", "__pycache__"];

/// Maximum size of a repository's settings that are searched for credentials.
const MOST_SETTINGS: u64 = 256 * 1024;

/// A path relative to the workspace, in bytes: of a folder whose name is no path, or of something below it.
pub(crate) type OddPath = Vec<u8>;

/// A name that is masked or a settings file.
#[derive(Debug)]
pub(super) struct Notable {
    pub(super) path: WorkPath,
    pub(super) folder: bool,
    pub(super) judged: Judged,
}

/// Result of the last walk, for one workspace and one set of rules.
#[derive(Debug, Default)]
pub(crate) struct NotableNames {
    folders: HashMap<WorkPath, Folder>,
}

/// What a walk came to.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) complete: bool,
    /// Folders whose names are no paths.
    pub(super) odd: Vec<OddPath>,
}

#[derive(Debug)]
struct Folder {
    /// Stamp from before the listing, if it can be trusted to change.
    stamp: Option<Stamp>,
    /// Number of names in the folder.
    names: usize,
    notable: Vec<Notable>,
    /// Folders in it whose names are no paths.
    odd: Vec<OddPath>,
    /// The folders in it, whether they are masked, and what they are part of.
    below: Vec<(WorkPath, bool, Part)>,
    part: Part,
}

/// What a folder is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The workspace's files.
    Files,
    /// A `.git`: only its settings matter.
    Git,
    /// The hooks of a repository: every file is a program.
    Hooks,
}

impl NotableNames {
    /// Visits every notable name, with whether it is in a masked folder.
    pub(super) fn walk(
        &mut self,
        root: &SearchRoot<'_>,
        mut each: impl FnMut(&Notable, bool),
    ) -> Walked {
        let mut walked = Walked::default();
        let mut known = std::mem::take(&mut self.folders);
        let mut seen = 0;
        let mut open = vec![(WorkPath::root(), false, Part::Files)];
        while let Some((path, masked, part)) = open.pop() {
            if seen >= MAX_ENTRIES || root.stop.is_cancelled() {
                return walked;
            }
            // Folders that vanished or are unreadable are left out.
            let Ok(fd) = root.jail.folder(&path, Links::Refuse) else { continue };
            let before = known.remove(&path).filter(|before| before.part == part);
            let Some(folder) = Folder::look(root, (&path, part), &fd, before) else {
                continue;
            };
            seen += folder.names;
            folder.notable.iter().for_each(|name| each(name, masked));
            walked.odd.extend(folder.odd.iter().cloned());
            let below = folder.below.iter();
            open.extend(below.map(|(path, own, part)| (path.clone(), masked || *own, *part)));
            self.folders.insert(path, folder);
        }
        walked.complete = seen < MAX_ENTRIES;
        walked
    }
}

impl Folder {
    /// The cached folder if it is unchanged, else a new listing; `None` if it cannot be listed.
    fn look(
        root: &SearchRoot<'_>,
        (path, part): (&WorkPath, Part),
        fd: &OwnedFd,
        before: Option<Self>,
    ) -> Option<Self> {
        let now = trusted_stamp(fd);
        match before {
            Some(before)
                if before.stamp.is_some() && before.stamp == now.map(|(stamp, _)| stamp) =>
            {
                Some(before)
            }
            _ => {
                let stamp = now.filter(|(_, settled)| *settled).map(|(stamp, _)| stamp);
                Self::list(root, (path, part), fd, stamp)
            }
        }
    }

    fn list(
        root: &SearchRoot<'_>,
        (path, part): (&WorkPath, Part),
        fd: &OwnedFd,
        stamp: Option<Stamp>,
    ) -> Option<Self> {
        let mut found = Self { stamp, names: 0, notable: vec![], odd: vec![], below: vec![], part };
        let mut of_git = vec![];
        let mut place = if path.is_root() { String::new() } else { format!("{path}/") };
        let above = place.len();
        let everywhere = root.hidden.has_globs();
        for entry in Dir::read_from(fd).ok()? {
            let Ok(entry) = entry else {
                // An incomplete listing must not be cached.
                found.stamp = None;
                break;
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            found.names += 1;
            let text = name.to_str().ok().filter(|text| is_plain_name(text, path.is_root()));
            // A name that is no path is in none of the tables.
            let Some(text) = text else {
                if kind_in(fd, name) == Ok(FileType::Directory) {
                    place.truncate(above);
                    found.odd.push([place.as_bytes(), name.to_bytes()].concat());
                }
                continue;
            };
            let git = is_protected_name(name.to_bytes());
            let of_repository = is_of_repository(text);
            let looked_at = part == Part::Files && is_looked_at(name.to_bytes(), everywhere);
            if !(git || of_repository || looked_at || part != Part::Files) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => kind_in(fd, name).unwrap_or(FileType::Unknown),
                kind => kind,
            };
            place.truncate(above);
            place.push_str(text);
            let folder = kind == FileType::Directory;
            if of_repository {
                of_git.push((text.to_owned(), folder));
            }
            match part {
                Part::Hooks if text.ends_with(".sample") => {}
                part if git || part == Part::Hooks => found.note_git(root, &place, folder),
                Part::Git if folder && !is_plain(text) => found.go_on(&place, Part::Git),
                Part::Files if looked_at => found.note(root, &place, folder),
                Part::Files | Part::Git | Part::Hooks => {}
            }
        }
        place.truncate(above);
        found.note_repository(root, &place, &of_git);
        Some(found)
    }

    /// Notes the settings of a folder that git takes for a repository. `place` ends with a slash, or is empty.
    fn note_repository(&mut self, root: &SearchRoot<'_>, place: &str, names: &[(String, bool)]) {
        let has = |wanted: &str| names.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        if !is_repository(has) {
            return;
        }
        for (name, folder) in names {
            let place = format!("{place}{name}");
            if *folder && name.eq_ignore_ascii_case(HOOKS) {
                self.below.retain(|(path, ..)| path.as_str() != place);
                self.go_on(&place, Part::Hooks);
            } else if !*folder && (steers(name) || name.eq_ignore_ascii_case(HOOKS)) {
                self.note_git(root, &place, false);
            }
        }
    }

    /// Notes something that makes git run programs: a link or file, or a folder with more.
    fn note_git(&mut self, root: &SearchRoot<'_>, place: &str, folder: bool) {
        if folder {
            return self.go_on(place, Part::Git);
        }
        if let Ok(path) = place.parse::<WorkPath>() {
            let masked = holds_passwords(root, &path);
            let judged = Judged { masked, never: false, settings: true };
            self.notable.push(Notable { path, folder, judged });
        }
    }

    fn go_on(&mut self, place: &str, part: Part) {
        if let Ok(path) = place.parse::<WorkPath>() {
            self.below.push((path, false, part));
        }
    }

    fn note(&mut self, root: &SearchRoot<'_>, place: &str, folder: bool) {
        let judged = root.hidden.judge(place, folder);
        if !(folder || judged.masked || judged.settings) {
            return;
        }
        let Ok(path) = place.parse::<WorkPath>() else { return };
        if folder {
            self.below.push((path.clone(), judged.masked, Part::Files));
        }
        if judged.masked || judged.settings {
            self.notable.push(Notable { path, folder, judged });
        }
    }
}

/// Whether a file of a repository holds credentials, or cannot be read, so that it may. Git replaces the file to change
/// it, so its folder's stamp changes with it.
fn holds_passwords(root: &SearchRoot<'_>, path: &WorkPath) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let named = may_hold_credentials(name) && root.hidden.finds_secrets();
    named
        && root.jail.file(path, Links::Refuse).is_ok()
        && root.jail.small_text(path, MOST_SETTINGS).is_none_or(|text| holds_credentials(&text))
}

/// Whether a name can be part of a path of the workspace.
fn is_plain_name(name: &str, top: bool) -> bool {
    let odd = name.chars().any(char::is_control) || (top && name.starts_with('~'));
    !odd
}

/// Whether a name may be part of a repository that is not in a `.git`.
fn is_of_repository(name: &str) -> bool {
    let known = ["HEAD", "objects", "refs", HOOKS].iter();
    steers(name) || known.into_iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether this name, and names below it, may matter; in folders that tools fill, only if policies name files.
pub(super) fn is_looked_at(name: &[u8], everywhere: bool) -> bool {
    let filled = || FILLED.iter().any(|folder| name == folder.as_bytes());
    !(is_protected_name(name) || (!everywhere && filled()))
}

/// The stamp of a folder on a trusted file system, and whether every later change will change it.
#[cfg(target_os = "linux")]
fn trusted_stamp(fd: &OwnedFd) -> Option<(Stamp, bool)> {
    // Magic numbers from statfs(2): btrfs, ext, f2fs, overlayfs, tmpfs, XFS, ZFS.
    const TRUSTED: [u64; 7] =
        [0x9123_683e, 0xef53, 0xf2f5_2010, 0x794c_7630, 0x0102_1994, 0x5846_5342, 0x2fc1_2fc1];
    let system = rustix::fs::fstatfs(fd).ok()?;
    let now = Moment::now();
    let stamp = Stamp::of(&rustix::fs::fstat(fd).ok()?);
    TRUSTED.contains(&(system.f_type as u64)).then(|| (stamp, stamp.settled(now)))
}

#[cfg(not(target_os = "linux"))]
fn trusted_stamp(_: &OwnedFd) -> Option<(Stamp, bool)> {
    None
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::jail::Jail;
    use crate::search::Hidden;

    /// The names that a walk finds, sorted; names in a masked folder are in parentheses.
    fn found(names: &mut NotableNames, root: &Path) -> Vec<String> {
        let (jail, stop) = (Jail::open(root).expect("a folder"), CancellationToken::new());
        let search = SearchRoot { jail: &jail, root, hidden: &Hidden::default(), stop: &stop };
        let mut found = vec![];
        let walked = names.walk(&search, |name, masked| {
            found.push(if masked { format!("({})", name.path) } else { name.path.to_string() });
        });
        assert!(walked.complete);
        found.sort();
        found
    }

    #[test]
    fn names_that_come_and_go_are_seen_however_quickly() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut names = NotableNames::default();
        for number in 0..300 {
            let folder = dir.path().join(format!("a/{}", number % 3));
            fs::create_dir_all(folder.join(".ssh")).expect("a folder");
            fs::write(folder.join(".ssh/.envrc"), "").expect("a file");
            let inside = format!("(a/{}/.ssh/.envrc)", number % 3);
            assert!(found(&mut names, dir.path()).contains(&inside), "{number}");
            fs::rename(folder.join(".ssh"), folder.join("ssh")).expect("renamed");
            let expected = [format!("a/{}/ssh/.envrc", number % 3)];
            assert_eq!(found(&mut names, dir.path()), expected, "{number}");
            fs::remove_dir_all(folder).expect("removed");
            assert!(found(&mut names, dir.path()).is_empty(), "{number}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_is_listed_once_and_again_when_a_name_in_it_changes() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("a")).expect("a folder");
        fs::write(dir.path().join("a/.envrc"), "").expect("a file");
        let mut names = NotableNames::default();
        let path: WorkPath = "a".parse().expect("a path");
        // Until the clock of the file system has advanced; on untrusted file systems, nothing is cached.
        while found(&mut names, dir.path()) == ["a/.envrc"] && names.folders[&path].stamp.is_none()
        {
            let fd = rustix::fs::open(dir.path(), rustix::fs::OFlags::RDONLY, 0.into());
            if trusted_stamp(&fd.expect("the folder")).is_none() {
                return;
            }
        }
        names.folders.get_mut(&path).expect("it was listed").notable.clear();
        assert!(found(&mut names, dir.path()).is_empty(), "what is remembered is not listed again");
        fs::write(dir.path().join("a/.envrc"), "more").expect("a file");
        assert!(found(&mut names, dir.path()).is_empty(), "content is no name");
        fs::write(dir.path().join("a/.profile"), "").expect("a file");
        assert_eq!(found(&mut names, dir.path()), ["a/.envrc", "a/.profile"]);
    }
}
