//! Surveys what commands must not see or change in a workspace: hidden files and locations of keys, settings that make
//! other programs run something, files that contain a key. Only files that may contain a key are opened.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;

use ignore::{DirEntry, WalkBuilder};
use types::{WorkPath, holds_key};

use super::hidden::Judged;
use super::notable::{MAX_ENTRIES, Notable, NotableNames, OddPath, is_looked_at};
use super::walk::SearchRoot;
use crate::jail::Links;

/// How much of a file is read to detect a key.
const HEAD: u64 = 8 * 1024;

/// Result of a survey.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Files that must appear empty, and folders whose contents must be invisible.
    pub(crate) hidden: Vec<WorkPath>,
    /// The first of these that no command may see, however it is confined.
    pub(crate) never: Option<WorkPath>,
    /// Files and links that are settings.
    pub(crate) settings: Vec<WorkPath>,
    /// Folders above paths that no command may see: moved away, they would let something else take their place.
    pub(crate) pinned: Vec<WorkPath>,
    /// Settings below folders whose names are no paths.
    pub(crate) odd: BTreeSet<OddPath>,
    /// Whether the survey is complete.
    pub(crate) complete: bool,
}

impl Survey {
    /// Adds what was found in another layer of the same workspace.
    pub(crate) fn add(&mut self, other: Self) {
        let Self { hidden, never, settings, pinned, odd, complete } = other;
        self.odd.extend(odd);
        for (all, more) in
            [(&mut self.hidden, hidden), (&mut self.settings, settings), (&mut self.pinned, pinned)]
        {
            let new: Vec<WorkPath> = more.into_iter().filter(|path| !all.contains(path)).collect();
            all.extend(new);
        }
        self.never = self.never.take().or(never);
        self.complete &= complete;
    }

    fn hide(&mut self, path: WorkPath, never: bool) {
        if never {
            self.never.get_or_insert_with(|| path.clone());
            let ends = path.as_str().match_indices('/').map(|(end, _)| &path.as_str()[..end]);
            for above in ends.filter_map(|above| above.parse().ok()) {
                if !self.pinned.contains(&above) {
                    self.pinned.push(above);
                }
            }
        }
        self.hidden.push(path);
    }
}

impl SearchRoot<'_> {
    /// Surveys the whole workspace.
    pub(crate) fn survey(&self, names: &mut NotableNames) -> Survey {
        let mut found = Survey::default();
        if self.hidden.is_empty() {
            return found;
        }
        let each = |name: &Notable, masked_above: bool| {
            // A masked folder covers everything in it.
            match name.judged {
                _ if masked_above => {}
                Judged { masked: true, never, .. } => found.hide(name.path.clone(), never),
                Judged { settings: true, .. } => found.settings.push(name.path.clone()),
                Judged { .. } => {}
            }
        };
        let walked = names.walk(self, each);
        found.complete = walked.complete;
        found.odd = self.odd_settings(walked.odd);
        found
    }

    /// Files and links that are settings, locations of keys, or Bosun's own; and settings whose names are no paths.
    pub(crate) fn guarded(&self, names: &mut NotableNames) -> (Vec<WorkPath>, BTreeSet<OddPath>) {
        let mut found = Vec::new();
        let walked = names.walk(self, |name, _| {
            if !name.folder && (name.judged.settings || name.judged.never) {
                found.push(name.path.clone());
            }
        });
        (found, self.odd_settings(walked.odd))
    }

    /// Files that contain a key, detected by their content.
    pub(crate) fn keys(&self) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        for entry in self.entries() {
            let Some(path) = self.place(&entry).filter(|path| self.hidden.may_hold_key(path))
            else {
                continue;
            };
            let Ok(named) = path.parse::<WorkPath>() else { continue };
            let Ok(file) = self.jail.file(&named, Links::Refuse) else { continue };
            if head(file).is_ok_and(|head| holds_key(&head)) {
                keys.insert(path.to_owned());
            }
        }
        keys
    }

    fn entries(&self) -> impl Iterator<Item = DirEntry> {
        let everywhere = self.hidden.has_globs();
        let enters = move |entry: &DirEntry| {
            entry.depth() == 0 || is_looked_at(entry.file_name().as_bytes(), everywhere)
        };
        let mut builder = WalkBuilder::new(self.root);
        builder.standard_filters(false).follow_links(false).filter_entry(enters);
        let stop = self.stop.clone();
        let walk = builder.build().take(MAX_ENTRIES).take_while(move |_| !stop.is_cancelled());
        walk.filter_map(Result::ok)
    }

    /// Path of an entry in the workspace, if it is UTF-8.
    fn place<'e>(&self, entry: &'e DirEntry) -> Option<&'e str> {
        let path = entry.path().as_os_str().as_bytes();
        let rest = path.strip_prefix(self.root.as_os_str().as_bytes())?.strip_prefix(b"/")?;
        std::str::from_utf8(rest).ok()
    }
}

fn head(file: File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
