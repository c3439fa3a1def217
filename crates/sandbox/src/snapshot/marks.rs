//! Marks of restorable snapshots, by owner: a file of lines that is only appended to while work is in progress. A store
//! that began without the file has no marks, and nothing in it is deleted.

#![expect(clippy::disallowed_methods, reason = "the store outside of the workspace")]

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use types::Digest;

use super::error::SnapshotError;

const NAME: &str = "marks";

/// Creates the mark file in an empty store.
pub(super) fn begin(store: &Path) -> Result<(), SnapshotError> {
    File::options().create(true).append(true).open(store.join(NAME)).map(drop).map_err(failed)
}

/// Marks snapshots as restorable. A store that has no mark file gets none.
pub(super) fn add(store: &Path, owner: &str, trees: &[Digest]) -> Result<(), SnapshotError> {
    let mut file = match File::options().append(true).open(store.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(failed)?,
    };
    let lines: String = trees.iter().map(|tree| format!("{owner} {tree}\n")).collect();
    file.write_all(lines.as_bytes()).map_err(failed)
}

/// Removes the marks of an owner.
pub(super) fn remove(store: &Path, owner: &str) -> Result<(), SnapshotError> {
    let Some(text) = text(store)? else { return Ok(()) };
    let of_owner = |line: &&str| line.split_once(' ').is_some_and(|(of, _)| of == owner);
    let kept: String =
        text.lines().filter(|line| !of_owner(line)).map(|l| format!("{l}\n")).collect();
    let (part, whole) = (store.join("marks.part"), store.join(NAME));
    fs::write(&part, kept).and_then(|()| fs::rename(&part, &whole)).map_err(failed)
}

/// All marked snapshots; `None` if the store has no mark file.
pub(super) fn all(store: &Path) -> Result<Option<Vec<Digest>>, SnapshotError> {
    let text = text(store)?;
    let trees = |text: String| -> Vec<Digest> {
        text.lines().filter_map(|line| line.split_once(' ')?.1.parse().ok()).collect()
    };
    Ok(text.map(trees))
}

fn text(store: &Path) -> Result<Option<String>, SnapshotError> {
    match fs::read_to_string(store.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(failed),
    }
}

fn failed(source: io::Error) -> SnapshotError {
    SnapshotError::Store { doing: "marking in", source }
}
