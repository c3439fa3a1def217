//! The fast search of this machine: ripgrep's own walker, with several threads and the workspace's ignore files. The
//! walker sees names only; every file, ignore files included, is opened through the jail, so content always comes from
//! inside.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder, WalkParallel, WalkState};
use rustix::fs::{AtFlags, FileType, Nsecs};
use tokio_util::sync::CancellationToken;
use types::WorkPath;

use super::hidden::Hidden;
use super::ignores::Ignores;
use super::lines::{search_file, searcher};
use super::pattern::{Include, below, glob_of, matcher};
use super::request::{Found, GlobRequest, GrepRequest, Hits, MAX_UNNAMED};
use crate::error::EnvError;
use crate::jail::{Jail, Links, is_protected_name, open_file};
use crate::names::{escaped, is_path};
use crate::staging::STAGING;

/// Maximum number of entries visited by one search for names; fewer in tests, which have to make them.
const MAX_FILES: usize = if cfg!(test) { 2_000 } else { 1_000_000 };

/// A workspace to search in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchRoot<'a> {
    pub(crate) jail: &'a Jail,
    pub(crate) root: &'a Path,
    pub(crate) hidden: &'a Hidden,
    pub(crate) stop: &'a CancellationToken,
}

impl SearchRoot<'_> {
    pub(crate) fn grep(&self, request: &GrepRequest) -> Result<Found<Hits>, EnvError> {
        let matcher = matcher(request)?;
        let include = Include::new(request.include.as_deref())?;
        let start = self.start(&request.path)?;
        let found = Mutex::new(Vec::new());
        let (total, full) = (AtomicUsize::new(0), AtomicBool::new(false));
        let unnamed = Unnamed::default();
        self.walk(&start)?.run(|| {
            let (mut searcher, mut near) = (searcher(request.context), Near::default());
            let (include, matcher, found, total, full, unnamed) =
                (&include, &matcher, &found, &total, &full, &unnamed);
            Box::new(move |entry| {
                if full.load(Ordering::Relaxed) || self.stop.is_cancelled() {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                let Some(path) = self.file(&entry, unnamed).filter(|path| include.takes(path))
                else {
                    return WalkState::Continue;
                };
                // A file that vanished or is unreadable has no matches.
                let Some(file) = near.file(self.jail, path) else { return WalkState::Continue };
                // Which matches are cut off must not depend on the order of threads, so more than enough are collected
                // first and truncated after sorting.
                let hits = search_file(&mut searcher, matcher, request.max, path, &file);
                if let Some(hits) = hits {
                    let count = usize::try_from(hits.count).unwrap_or(usize::MAX);
                    let before = total.fetch_add(count, Ordering::Relaxed);
                    let enough = request.max.saturating_mul(20).max(1000);
                    full.fetch_or(before.saturating_add(count) > enough, Ordering::Relaxed);
                    found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(hits);
                }
                WalkState::Continue
            })
        });
        let mut items = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        items.sort_by(|a, b| a.path.cmp(&b.path));
        let more = cut(&mut items, request.max);
        let more = more || full.into_inner() || self.stop.is_cancelled();
        Ok(Found { items, more, unnamed: unnamed.sorted() })
    }

    pub(crate) fn glob(&self, request: &GlobRequest) -> Result<Found<WorkPath>, EnvError> {
        let glob = glob_of(&request.pattern)?;
        let start = self.start(&request.path)?;
        let found = Mutex::new(Vec::new());
        let (seen, unnamed) = (AtomicUsize::new(0), Unnamed::default());
        self.walk(&start)?.run(|| {
            let (glob, found, seen, start, unnamed) = (&glob, &found, &seen, &start, &unnamed);
            let mut near = Near::default();
            Box::new(move |entry| {
                if self.stop.is_cancelled() || seen.fetch_add(1, Ordering::Relaxed) > MAX_FILES {
                    return WalkState::Quit;
                }
                let Ok(entry) = entry else { return WalkState::Continue };
                let Some(path) = self.file(&entry, unnamed) else { return WalkState::Continue };
                if glob.is_match(below(path, start))
                    && let Some(changed) = near.changed(self.jail, path)
                    && let Ok(path) = path.parse()
                {
                    let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    found.push((std::cmp::Reverse(changed), path));
                }
                WalkState::Continue
            })
        });
        let mut items = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        items.sort();
        let whole = seen.into_inner() <= MAX_FILES && !self.stop.is_cancelled();
        let more = items.len() > request.max || !whole;
        items.truncate(request.max);
        let items = items.into_iter().map(|(_, path)| path).collect();
        Ok(Found { items, more, unnamed: unnamed.sorted() })
    }

    /// Resolves the start of a search, following links inside the workspace; paths that lead out are refused.
    fn start(&self, path: &WorkPath) -> Result<WorkPath, EnvError> {
        match self.jail.kind(path)? {
            Some(FileType::Directory | FileType::RegularFile) => self.jail.real(path, self.root),
            Some(_) => Err(EnvError::NotRegular { path: path.clone() }),
            None => Err(EnvError::NotFound { path: path.clone() }),
        }
    }

    fn walk(&self, start: &WorkPath) -> Result<WalkParallel, EnvError> {
        let ignores = Ignores::new(
            self.jail.again().map_err(|source| {
                let root = self.root.display().to_string();
                EnvError::Root { root, source }
            })?,
            self.root,
        );
        let first = self.root.join(start.as_str());
        let mut builder = WalkBuilder::new(if start.is_root() { self.root } else { &first });
        // The walker itself would open whatever has the name of an ignore file.
        builder
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(move |entry| entry.depth() == 0 || !left_out(entry, &ignores));
        Ok(builder.build_parallel())
    }

    /// Path of a file that may be shown; a name that no path can express is recorded.
    fn file<'e>(&self, entry: &'e DirEntry, unnamed: &Unnamed) -> Option<&'e str> {
        // A file that is searched by its own name was permitted by that name.
        let named = entry.depth() == 0;
        let shown = |path: &str| match named {
            true => !self.hidden.covers(path),
            false => !self.hidden.masks(path),
        };
        let path = self.path(entry)?;
        match std::str::from_utf8(path) {
            Ok(text) if is_path(text) => Some(text).filter(|text| shown(text)),
            _ => {
                if shown(&String::from_utf8_lossy(path)) {
                    unnamed.note(path);
                }
                None
            }
        }
    }

    /// Path of a file in the workspace. Parsed only if the file is reported, which few are.
    fn path<'e>(&self, entry: &'e DirEntry) -> Option<&'e [u8]> {
        if !entry.file_type()?.is_file() {
            return None;
        }
        let path = entry.path().as_os_str().as_bytes();
        path.strip_prefix(self.root.as_os_str().as_bytes())?.strip_prefix(b"/")
    }
}

/// The folder that was opened last. Files are opened from the descriptor of their folder, which is resolved beneath the
/// root without following any link, and only once for all of its files.
#[derive(Debug, Default)]
struct Near {
    path: String,
    folder: Option<OwnedFd>,
}

impl Near {
    /// Opens a regular file for reading; `None` if it vanished, is unreadable, or has become something else.
    fn file(&mut self, jail: &Jail, path: &str) -> Option<File> {
        let (folder, name) = self.folder_of(jail, path)?;
        let file = open_file(folder, name).ok()?;
        file.metadata().is_ok_and(|found| found.is_file()).then_some(file)
    }

    /// Modification time of a file, in seconds and nanoseconds.
    fn changed(&mut self, jail: &Jail, path: &str) -> Option<(i64, i64)> {
        let (folder, name) = self.folder_of(jail, path)?;
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((stat.st_mtime, stat.st_mtime_nsec as Nsecs))
    }

    fn folder_of<'n>(&mut self, jail: &Jail, path: &'n str) -> Option<(&OwnedFd, &'n str)> {
        let (above, name) = path.rsplit_once('/').unwrap_or((".", path));
        if self.path != above || self.folder.is_none() {
            self.folder = jail.folder(&above.parse().ok()?, Links::Refuse).ok();
            above.clone_into(&mut self.path);
        }
        self.folder.as_ref().map(|folder| (folder, name))
    }
}

/// Names that no path can express, escaped. Keeps the first in sort order, regardless of the order of discovery.
#[derive(Debug, Default)]
struct Unnamed(Mutex<BTreeSet<String>>);

impl Unnamed {
    fn note(&self, path: &[u8]) {
        let mut noted = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        noted.insert(escaped(path));
        if noted.len() > MAX_UNNAMED {
            noted.pop_last();
        }
    }

    fn sorted(self) -> Vec<String> {
        let noted = self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        noted.into_iter().collect()
    }
}

fn left_out(entry: &DirEntry, ignores: &Ignores) -> bool {
    let name = entry.file_name().as_bytes();
    name.starts_with(STAGING.as_bytes()) || is_protected_name(name) || ignores.cover(entry)
}

/// Truncates hits to `max` matching lines in total. Returns whether anything was cut off.
fn cut(items: &mut Vec<Hits>, max: usize) -> bool {
    let mut left = max as u64;
    for (place, hits) in items.iter_mut().enumerate() {
        if hits.count >= left {
            let mut matched = 0;
            let end = hits.lines.iter().position(|line| {
                matched += u64::from(line.matched);
                matched > left
            });
            let more = hits.count > left || place + 1 < items.len();
            let hits = &mut items[place];
            hits.lines.truncate(end.unwrap_or(hits.lines.len()));
            hits.count = left;
            items.truncate(place + 1);
            return more;
        }
        left -= hits.count;
    }
    false
}
