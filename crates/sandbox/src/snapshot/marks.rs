//! Who may want which snapshots of a store back: a file of lines that only grows while work goes on. A store that was begun
//! without one has none, and nothing of it is forgotten.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use types::Digest;

use super::error::SnapshotError;

const NAME: &str = "marks";

/// Begins the file in a store that is empty.
pub(super) fn begin(store: &Path) -> Result<(), SnapshotError> {
    File::options().create(true).append(true).open(store.join(NAME)).map(drop).map_err(failed)
}

/// Adds what somebody may want back. A store without marks stays without.
pub(super) fn add(store: &Path, owner: &str, trees: &[Digest]) -> Result<(), SnapshotError> {
    let mut file = match File::options().append(true).open(store.join(NAME)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(failed)?,
    };
    let lines: String = trees.iter().map(|tree| format!("{owner} {tree}\n")).collect();
    file.write_all(lines.as_bytes()).map_err(failed)
}

/// Removes what somebody may have wanted back.
pub(super) fn remove(store: &Path, owner: &str) -> Result<(), SnapshotError> {
    let Some(text) = text(store)? else { return Ok(()) };
    let of_owner = |line: &&str| line.split_once(' ').is_some_and(|(of, _)| of == owner);
    let kept: String =
        text.lines().filter(|line| !of_owner(line)).map(|l| format!("{l}\n")).collect();
    let (part, whole) = (store.join("marks.part"), store.join(NAME));
    fs::write(&part, kept).and_then(|()| fs::rename(&part, &whole)).map_err(failed)
}

/// Everything that somebody may want back; nothing where nobody said.
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
