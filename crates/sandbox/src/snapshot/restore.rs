//! Plans an undo: the steps that take changes back, and nothing else. A file is restored only if it still is as the
//! change left it; one that something else has changed since is left alone, unless its replacement is asked for.
//! Whatever is replaced or removed is copied before anything is touched. The steps are carried out in `carry.rs`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use types::{Digest, Trees};

use super::Snapshots;
use super::carry::{LeftAlone, Obstacle, Part, Place, Step, carry_out, is_folder, is_leaf};
use super::diff::{self, Change, Content};
use super::error::SnapshotError;
use super::index::Index;
use super::manifest::{self, Entries, Entry};

/// Changes to undo.
#[derive(Debug, Clone, Copy)]
pub struct Undo<'a> {
    /// The workspace before and after each of them, the latest first.
    pub changes: &'a [Trees],
    /// Paths that are restored although something else has changed them; a folder stands for everything below it.
    pub replace: &'a [PathBuf],
    /// Folder outside the workspace; a new folder in it gets a copy of everything that is replaced or removed.
    pub aside: &'a Path,
}

/// Result of an undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The workspace before and after; the undo is undone like any other change.
    pub trees: Trees,
    pub written: Vec<PathBuf>,
    pub removed: Vec<PathBuf>,
    pub left_alone: Vec<LeftAlone>,
    /// Folder with the replaced and removed files.
    pub kept_in: Option<PathBuf>,
    /// The failure that stopped it before its end, in the words of the system. The same undo continues it.
    pub stopped: Option<String>,
}

const TOO_LARGE: &str = "too large to be kept in snapshots, or cannot be read";
const IN_THE_WAY: &str = "something else is in its place";
const SWITCHED: &str = "changed while another branch was checked out";
const CHANGED: &str = "changed since";
const REMOVED: &str = "removed since";

/// The changes to one path, from the latest back.
#[derive(Debug)]
struct Chain {
    now: Option<Entry>,
    /// How far back the path can go: the file before the earliest change that is still undone.
    reached: Option<Entry>,
    /// The file before the earliest change.
    wanted: Option<Entry>,
    /// Why it goes no further.
    stuck: Option<&'static str>,
}

impl Chain {
    fn take(&mut self, change: &Change, switched: bool) {
        self.wanted = change.before;
        if self.stuck.is_some() || is_same(self.reached, change.before) {
            return;
        }
        match is_same(self.reached, change.after) {
            true if switched => self.stuck = Some(SWITCHED),
            true => self.reached = change.before,
            false if self.now.is_none() => self.stuck = Some(REMOVED),
            false => self.stuck = Some(CHANGED),
        }
    }

    /// The step that undoes the changes as far as possible, and what is left alone of them.
    fn end(self, path: &Path, replace: bool) -> (Option<Step>, Option<LeftAlone>) {
        let Self { now, reached, wanted, stuck } = self;
        let alone = |why: &str, conflict| Some(LeftAlone::new(path.to_owned(), why, conflict));
        let is_known = |entry: Option<Entry>| entry.is_none() || is_leaf(entry) || is_folder(entry);
        let target = if replace { wanted } else { reached };
        if is_same(now, wanted) {
            return (None, None);
        }
        if now == Some(Entry::Ignored) {
            return (None, alone(IN_THE_WAY, None));
        }
        let changes = !is_same(now, target);
        if changes && !(is_known(now) && is_known(target)) {
            return (None, alone(TOO_LARGE, None));
        }
        let step = changes.then(|| Step { path: path.to_owned(), now, target });
        let conflict = (is_known(now) && is_known(wanted)).then_some((now, wanted));
        (step, stuck.filter(|_| !replace).and_then(|why| alone(why, conflict)))
    }
}

/// Whether two entries are the same as far as an undo is concerned. An unknown one is like no other.
fn is_same(one: Option<Entry>, other: Option<Entry>) -> bool {
    match (one, other) {
        (Some(Entry::Ignored), _) | (_, Some(Entry::Ignored)) => false,
        (Some(Entry::Folder { .. }), Some(Entry::Folder { .. })) => true,
        (one, other) => one == other,
    }
}

impl Snapshots {
    /// Undoes changes. An interrupted undo can be repeated. After an error, nothing was undone.
    pub fn undo(&self, undo: Undo<'_>) -> Result<Restored, SnapshotError> {
        self.undo_with(undo, |part, step| self.place().make(part, step))
    }

    /// The same; `make` makes one part of a step.
    pub(super) fn undo_with(
        &self,
        undo: Undo<'_>,
        make: impl FnMut(Part, &Step) -> Result<(), Obstacle>,
    ) -> Result<Restored, SnapshotError> {
        let mut index = self.index();
        let (steps, left_alone) = self.plan(undo)?;
        let kept_in = self.keep_aside(undo.aside, &steps)?;
        let restored = self.carry(&mut index, steps, left_alone, make);
        if let (Err(_), Some(folder)) = (&restored, &kept_in) {
            // Copies of files that nothing replaced.
            crate::removal::remove(folder).ok();
        }
        restored.map(|restored| Restored { kept_in, ..restored })
    }

    /// Writes the files of a snapshot into an empty workspace.
    pub fn lay_out(&self, tree: &Digest) -> Result<Restored, SnapshotError> {
        let mut index = self.index();
        let files = manifest::flat(&self.objects, tree)?;
        let (steps, large): (Vec<_>, Vec<_>) = files
            .into_iter()
            .map(|(path, entry)| Step { path, now: None, target: Some(entry) })
            .partition(|step| is_leaf(step.target));
        let large = large.into_iter().map(|step| LeftAlone::new(step.path, TOO_LARGE, None));
        let make = |part, step: &Step| self.place().make(part, step);
        self.carry(&mut index, steps, large.collect(), make)
    }

    /// After an error, no step was made.
    fn carry(
        &self,
        index: &mut Index,
        steps: Vec<Step>,
        mut left_alone: Vec<LeftAlone>,
        make: impl FnMut(Part, &Step) -> Result<(), Obstacle>,
    ) -> Result<Restored, SnapshotError> {
        // Also files that the walk does not show.
        let known = steps.iter().filter(|step| step.now.is_none() || is_leaf(step.now));
        let known: Entries = known.map(|step| (step.path.clone(), step.now)).collect();
        let before = manifest::with(&self.objects, &self.walk(index)?.digest, &known)?;
        let planned = self.with_steps(&before, &steps)?;
        let carried = carry_out(steps, make);
        let stopped = match carried.stopped {
            Some(error) if carried.done.is_empty() => return Err(error),
            stopped => stopped.map(|error| error.why()),
        };
        // If not even this fits on the disk, the plan stands for it: whoever undoes that finds the other files as they
        // were before, and has nothing to do for them.
        let after = self.with_steps(&before, &carried.done).unwrap_or(planned);
        left_alone.extend(carried.left_alone);
        left_alone.sort_by(|one, other| one.path.cmp(&other.path));
        let paths = |wanted: fn(&Step) -> bool| -> Vec<PathBuf> {
            let done = carried.done.iter().filter(|step| wanted(step));
            done.map(|step| step.path.clone()).collect()
        };
        let written = paths(|step| is_leaf(step.target));
        let removed = paths(|step| is_leaf(step.now) && !is_leaf(step.target));
        let trees = Trees { before, after, switched: false };
        Ok(Restored { trees, written, removed, left_alone, kept_in: None, stopped })
    }

    /// A snapshot with the results of steps.
    fn with_steps(&self, before: &Digest, steps: &[Step]) -> Result<Digest, SnapshotError> {
        let mut made = Entries::new();
        for step in steps {
            let target = match step.target {
                Some(Entry::Folder { .. }) => Some(manifest::empty(&self.objects)?),
                target => target,
            };
            made.insert(step.path.clone(), target);
        }
        manifest::with(&self.objects, before, &made)
    }

    /// The steps of an undo, and the files that it leaves alone. The contents that it needs are intact.
    pub(super) fn plan(
        &self,
        undo: Undo<'_>,
    ) -> Result<(Vec<Step>, Vec<LeftAlone>), SnapshotError> {
        let place = self.place();
        let mut chains: BTreeMap<PathBuf, Chain> = BTreeMap::new();
        for trees in undo.changes {
            for change in diff::changes(&self.objects, &trees.before, &trees.after)? {
                if !chains.contains_key(&change.path) {
                    let now = place.entry(&change.path)?;
                    let chain = Chain { now, reached: now, wanted: None, stuck: None };
                    chains.insert(change.path.clone(), chain);
                }
                if let Some(chain) = chains.get_mut(&change.path) {
                    chain.take(&change, trees.switched);
                }
            }
        }
        let (mut steps, mut left) = (Vec::new(), Vec::new());
        for (path, chain) in chains {
            let replace = undo.replace.iter().any(|above| path.starts_with(above));
            let (step, alone) = chain.end(&path, replace);
            steps.extend(step);
            left.extend(alone);
        }
        for step in &steps {
            if let Some(Entry::File { content, .. } | Entry::Link { content }) = step.target {
                self.objects.get(&content)?;
            }
        }
        Ok((steps, left))
    }

    /// The contents of a file that was left alone: as it is, and as it would be restored.
    pub fn versions(
        &self,
        left_alone: &LeftAlone,
    ) -> Result<(Option<Content>, Option<Content>), SnapshotError> {
        let (now, wanted) = left_alone.conflict.unwrap_or_default();
        let content = |entry: Option<Entry>| match entry {
            Some(entry) => diff::content(&self.objects, entry),
            None => Ok(None),
        };
        Ok((content(now)?, content(wanted)?))
    }

    /// Copies everything that the steps replace or remove to a new folder.
    fn keep_aside(&self, aside: &Path, steps: &[Step]) -> Result<Option<PathBuf>, SnapshotError> {
        let failed = |source| SnapshotError::Aside { folder: aside.display().to_string(), source };
        let mut folder = None;
        for step in steps.iter().filter(|step| is_leaf(step.now)) {
            let content = step.now.map(|now| diff::content(&self.objects, now)).transpose()?;
            if folder.is_none() {
                folder = Some(new_folder(aside).map_err(failed)?);
            }
            if let (Some(folder), Some(content)) = (&folder, content.flatten()) {
                write_copy(&folder.path().join(&step.path), content).map_err(failed)?;
            }
        }
        Ok(folder.map(TempDir::keep))
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place { jail: &self.jail, objects: &self.objects, limit: self.limits.file }
    }
}

fn new_folder(aside: &Path) -> io::Result<TempDir> {
    std::fs::create_dir_all(aside)?;
    tempfile::Builder::new().prefix("undone-").tempdir_in(aside)
}

/// Writes a copy below a new folder of ours. A link is kept as a file with its target, so that no later copy can follow
/// it.
fn write_copy(file: &Path, content: Content) -> io::Result<()> {
    std::fs::create_dir_all(file.parent().unwrap_or(file))?;
    let bytes = match content {
        Content::File { bytes, .. } => bytes,
        Content::Link { target } => target.into_os_string().into_encoded_bytes(),
        Content::LeftOut => return Ok(()),
    };
    io::Write::write_all(&mut File::create_new(file)?, &bytes)
}
