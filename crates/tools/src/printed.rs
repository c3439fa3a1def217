//! Files printed by commands: a file that a command names, and of which it printed a line, counts as read, like a part
//! of it that was read with a tool. Judged by content, so a mere mention does not count. This guards against changes to
//! unseen files, not against an adversary: write permissions are decided elsewhere.

use std::collections::HashSet;

use types::WorkPath;

use crate::{ToolContext, schema};

/// Limits: files examined per command, and size of a file.
const MOST_FILES: usize = 16;
const MOST_BYTES: u64 = 256 * 1024;
/// A shorter line may occur in any output.
const SHORT: usize = 3;

/// Files that a command may name: every word that is a path inside the workspace.
pub(crate) fn named(command: &str, folder: &WorkPath, place: &ToolContext<'_>) -> Vec<WorkPath> {
    if !place.is_guarded() {
        return vec![];
    }
    let root = format!("{}/", place.env.facts().working_dir);
    let words = command.split(|sign: char| sign.is_whitespace() || "\"'`;|&<>()=,".contains(sign));
    let mut files: Vec<WorkPath> = Vec::new();
    for word in words.filter(|word| !word.is_empty() && !word.starts_with('-')) {
        let path = match word.strip_prefix(&root) {
            Some(inside) => schema::path(inside),
            None if folder.is_root() => schema::path(word),
            None => schema::path(&format!("{folder}/{word}")),
        };
        if let Ok(path) = path
            && !path.is_root()
            && !files.contains(&path)
            && files.len() < MOST_FILES
        {
            files.push(path);
        }
    }
    files
}

/// Marks the files of which a line was printed as read.
pub(crate) async fn note(place: &ToolContext<'_>, files: &[WorkPath], output: &str) {
    if files.is_empty() || output.trim().is_empty() {
        return;
    }
    let lines: HashSet<&str> = output.lines().flat_map(readings).collect();
    for path in files {
        if !is_small(place, path).await {
            continue;
        }
        let Ok(bytes) = place.env.read(path).await else { continue };
        let text = String::from_utf8_lossy(&bytes);
        let long = |line: &&str| line.trim().len() >= SHORT;
        if text.lines().filter(long).any(|line| lines.contains(line.trim_end())) {
            place.note(path, Some(&bytes));
        }
    }
}

/// Possible contents of a printed line: the line itself, or the part after the number or name that programs prepend.
fn readings(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_end();
    let after = |sign: char| line.split_once(sign).map(|(_, rest)| rest);
    let twice = after(':').and_then(|rest| rest.split_once(':')).map(|(_, rest)| rest);
    [Some(line), after('\t'), after(':'), twice].into_iter().flatten()
}

async fn is_small(place: &ToolContext<'_>, path: &WorkPath) -> bool {
    let above = path.as_str().rsplit_once('/').map_or("", |(above, _)| above);
    let above = if above.is_empty() { Ok(WorkPath::root()) } else { schema::path(above) };
    let Ok(above) = above else { return false };
    let Ok(entries) = place.env.list(&above, 1).await else { return false };
    let entry = entries.iter().find(|entry| entry.path == *path);
    entry.is_some_and(|entry| entry.bytes.is_some_and(|bytes| bytes <= MOST_BYTES))
}
