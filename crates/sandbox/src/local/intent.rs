//! Changes to several files that are made all or none, even if the process is killed or the power fails midway. The
//! intended changes, and the state before them, are on disk before the first file is touched; the next process that
//! opens the log completes interrupted changes, or undoes them if they cannot be completed. The log is outside the
//! workspace. It does not know whether the call that requested the changes was recorded as finished.

#![expect(clippy::disallowed_methods, reason = "the log outside of the workspace")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use types::{Recovered, WorkPath};

use super::state::{Files, State};
use crate::durable::sync;
use crate::jail::Jail;
use crate::search::Hidden;
use crate::{Change, EnvError};

/// File of finished changes, one per line.
const DONE: &str = "done";
/// Extensions of records whose changes are to be completed, and to be undone.
const INTENT: &str = "intent";
const UNDO: &str = "undo";
/// Suffix of the names of changes that are only a part of their call.
pub(super) const PART_OF_CALL: char = '~';

/// Log of one writer's changes in one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntentLog {
    folder: PathBuf,
}

/// One change, with the state that it replaces.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    Put {
        path: WorkPath,
        before: State,
        after: State,
    },
    /// `before` is the state at the new path.
    Move {
        path: WorkPath,
        to: WorkPath,
        before: State,
    },
}

impl IntentLog {
    /// The log in this folder, which is created with the first change.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Completes or undoes interrupted changes in a workspace. Returns the result for each name, including changes that
    /// were finished before. Changes that can be neither completed nor undone are not in the result, and not tried
    /// again.
    pub fn recover(&self, root: &Path) -> Result<BTreeMap<String, Recovered>, EnvError> {
        let mut all = self.done();
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(all) };
        let failed = |source| EnvError::Root { root: root.display().to_string(), source };
        let jail = Jail::open(root).map_err(failed)?;
        let root = root.canonicalize().map_err(failed)?;
        // Files are hidden from agents only; recovery just puts them back where they were.
        let hidden = Hidden::default().without_secrets();
        let files = Files { jail: &jail, root: &root, hidden: &hidden };
        for entry in entries.flatten() {
            let (file, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let Some((name, kind)) = file.rsplit_once('.') else { continue };
            let steps = serde_json::from_slice(&fs::read(&path).map_err(failed)?).ok();
            let steps: Vec<Step> = match (kind, steps) {
                (INTENT | UNDO, Some(steps)) => steps,
                // An incomplete record is of changes that were not begun.
                _ => {
                    fs::remove_file(&path).map_err(failed)?;
                    continue;
                }
            };
            let became = match kind == INTENT && forward(&steps, &files).is_ok() {
                true => Some(Recovered::Finished),
                false => back(&steps, &files).is_empty().then_some(Recovered::Undone),
            };
            for path in touched(&steps) {
                files.clear_staging(path).map_err(failed)?;
            }
            match became {
                Some(became) => {
                    files.sync(&touched(&steps))?;
                    self.settle(name, became, &path).map_err(failed)?;
                    all.insert(name.to_owned(), became);
                }
                // A later attempt would undo changes made since.
                None => fs::remove_file(&path).map_err(failed)?,
            }
        }
        all.retain(|name, _| !name.ends_with(PART_OF_CALL));
        Ok(all)
    }

    /// Makes changes, all or none.
    pub(super) fn make(
        &self,
        name: &str,
        changes: &[Change],
        files: &Files<'_>,
    ) -> Result<(), EnvError> {
        // A single change is made in one step or fails, so no state has to be kept to undo it.
        let alone = changes.len() == 1;
        let steps = changes.iter().map(|change| Step::of(change, files, alone));
        let steps = steps.collect::<Result<Vec<Step>, EnvError>>()?;
        let noted = self.note(name, &steps).map_err(noting)?;
        if let Err(cause) = changes.iter().try_for_each(|change| files.make(change)) {
            // Recovery after a kill must not complete changes that are being undone.
            let undo = self.folder.join(format!("{name}.{UNDO}"));
            fs::rename(&noted, &undo).and_then(|()| sync(&self.folder)).map_err(noting)?;
            let stuck = back(&steps, files);
            if !stuck.is_empty() {
                fs::remove_file(&undo).map_err(noting)?;
                return Err(EnvError::HalfDone { paths: stuck.join(", "), cause: Box::new(cause) });
            }
            self.settle(name, Recovered::Undone, &undo).map_err(noting)?;
            return Err(cause);
        }
        let settle = |()| self.settle(name, Recovered::Finished, &noted).map_err(noting);
        let settled = files.sync(&touched(&steps)).and_then(settle);
        if settled.is_err() {
            // A record that stayed would be completed again, over any later changes.
            fs::remove_file(&noted).ok();
        }
        settled
    }

    /// Records the intended changes.
    fn note(&self, name: &str, steps: &[Step]) -> io::Result<PathBuf> {
        fs::create_dir_all(&self.folder)?;
        let text = serde_json::to_vec(steps).map_err(io::Error::other)?;
        let (part, whole) = (
            self.folder.join(format!("{name}.part")),
            self.folder.join(format!("{name}.{INTENT}")),
        );
        let mut file = File::create(&part)?;
        file.write_all(&text)?;
        file.sync_data()?;
        fs::rename(&part, &whole)?;
        sync(&self.folder)?;
        Ok(whole)
    }

    /// Records the result, and removes the record of the intended changes.
    fn settle(&self, name: &str, became: Recovered, noted: &Path) -> io::Result<()> {
        let mut done = File::options().create(true).append(true).open(self.folder.join(DONE))?;
        done.write_all(format!("{name} {}\n", became.as_str()).as_bytes())?;
        done.sync_data()?;
        fs::remove_file(noted)
    }

    /// Results by name. A name recorded more than once is left out: whether it was due once more is unknown.
    fn done(&self) -> BTreeMap<String, Recovered> {
        let text = fs::read_to_string(self.folder.join(DONE)).unwrap_or_default();
        // A truncated line is of changes that still have a record.
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let lines = whole.filter_map(|line| {
            let (name, word) = line.rsplit_once(' ')?;
            Some((name.to_owned(), Recovered::ALL.into_iter().find(|one| one.as_str() == word)?))
        });
        let mut all = BTreeMap::new();
        let mut twice = Vec::new();
        for (name, became) in lines {
            if all.insert(name.clone(), became).is_some() {
                twice.push(name);
            }
        }
        all.retain(|name, _| !twice.contains(name));
        all
    }
}

impl Step {
    fn of(change: &Change, files: &Files<'_>, alone: bool) -> Result<Self, EnvError> {
        let path = change.path().clone();
        let before = |path: &WorkPath| match alone {
            true => Ok(State::NotKept),
            false => files.state(path),
        };
        Ok(match change {
            Change::Write { bytes, .. } => {
                let after = State::File { mode: None, bytes: bytes.clone() };
                Self::Put { before: before(&path)?, path, after }
            }
            Change::Delete { .. } => {
                Self::Put { before: before(&path)?, path, after: State::Nothing }
            }
            Change::Move { to, .. } => Self::Move { path, to: to.clone(), before: before(to)? },
        })
    }
}

/// Completes all steps. Each may have been made already.
fn forward(steps: &[Step], files: &Files<'_>) -> Result<(), EnvError> {
    steps.iter().try_for_each(|step| match step {
        Step::Put { path, after, .. } => files.put(path, after),
        Step::Move { path, to, .. } if is_there(path, files)? => {
            files.make(&Change::Move { path: path.clone(), to: to.clone() })
        }
        Step::Move { .. } => Ok(()),
    })
}

/// Undoes all steps, last first, even if some were never made. Returns the paths that could not be restored.
fn back(steps: &[Step], files: &Files<'_>) -> Vec<String> {
    let undone = |step: &Step| match step {
        Step::Put { path, before, .. } => files.put(path, before),
        // A single move was made in one step or not at all.
        Step::Move { before: State::NotKept, .. } => Ok(()),
        Step::Move { path, to, before } => {
            if is_there(to, files)? && !is_there(path, files)? {
                files.make(&Change::Move { path: to.clone(), to: path.clone() })?;
            }
            files.put(to, before)
        }
    };
    let stuck = steps.iter().rev().filter(|step| undone(step).is_err());
    stuck.flat_map(|step| touched(std::slice::from_ref(step))).map(WorkPath::to_string).collect()
}

fn is_there(path: &WorkPath, files: &Files<'_>) -> Result<bool, EnvError> {
    match files.state(path) {
        Ok(state) => Ok(state != State::Nothing),
        // A file that is too large to be recorded exists.
        Err(EnvError::TooLarge { .. } | EnvError::NotRegular { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn touched(steps: &[Step]) -> Vec<&WorkPath> {
    let paths = steps.iter().flat_map(|step| match step {
        Step::Put { path, .. } => [Some(path), None],
        Step::Move { path, to, .. } => [Some(path), Some(to)],
    });
    paths.flatten().collect()
}

fn noting(source: io::Error) -> EnvError {
    EnvError::Io { doing: "noting the changes in", path: WorkPath::root(), source }
}

#[cfg(test)]
mod tests;
