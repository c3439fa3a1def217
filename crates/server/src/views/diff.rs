//! A change as files, hunks and rows, with syntax highlighting. The patch comes from git, the text in it from an agent:
//! sizes are bounded, invalid UTF-8 is replaced, and control characters that could disguise a line are made visible.

mod kinds;
mod patch;

use evidence::highlight;
use runtime::RunDiff;
use schemars::JsonSchema;
use serde::Serialize;
use types::{CommitId, visible};

pub use kinds::{DiffFile, DiffHunk, DiffRow, DiffSpan, DiffStatus, RowKind, SpanClass};
#[cfg(test)]
use patch::{MOST_FILES, MOST_ROWS};

/// Maximum number of bytes highlighted; the rest is plain.
const MOST_COLOURED: usize = 2 * 1024 * 1024;

/// What was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffView {
    pub from: CommitId,
    pub to: CommitId,
    pub files: Vec<DiffFile>,
    pub added: u64,
    pub removed: u64,
    /// How many files are not listed, because there are too many.
    pub left_out: u64,
}

/// The view of a change.
#[must_use]
pub fn diff(diff: &RunDiff) -> DiffView {
    let (mut files, left_out) = patch::read(&diff.patch);
    let mut coloured = 0;
    files.iter_mut().for_each(|file| finish(file, &mut coloured));
    let sum = |of: fn(&DiffFile) -> u64| files.iter().map(of).fold(0, u64::saturating_add);
    DiffView {
        from: diff.from.clone(),
        to: diff.to.clone(),
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
        files,
        left_out,
    }
}

/// Makes every text of a file visible, and highlights its rows.
fn finish(file: &mut DiffFile, coloured: &mut usize) {
    for hunk in &mut file.hunks {
        let bytes: usize = hunk.rows.iter().map(|row| row.text().len() + 1).sum();
        *coloured = coloured.saturating_add(bytes);
        let path = if *coloured > MOST_COLOURED { "" } else { &file.path };
        colour(path, &mut hunk.rows);
        hunk.header = visible(&hunk.header);
    }
    file.path = visible(&file.path);
    file.old_path = file.old_path.as_deref().map(visible);
}

/// Splits the texts of a hunk's rows into parts of one colour.
fn colour(path: &str, rows: &mut [DiffRow]) {
    let line = |row: &DiffRow| {
        let sign = match row.kind {
            RowKind::Added => '+',
            RowKind::Removed => '-',
            RowKind::Context => ' ',
        };
        (sign, visible(&row.text()))
    };
    let lines: Vec<(char, String)> = rows.iter().map(line).collect();
    for (row, pieces) in rows.iter_mut().zip(highlight::hunk(path, &lines)) {
        let span =
            |(class, text): (highlight::Class, String)| DiffSpan { class: class.into(), text };
        row.spans = pieces.into_iter().map(span).collect();
    }
}

#[cfg(test)]
mod tests;
