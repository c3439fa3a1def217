//! Parser for git patches. The length of a hunk comes from its header, so no line inside one can pass for another file.
//! Unrecognized lines are skipped; parsing never fails.

use super::kinds::{DiffFile, DiffHunk, DiffRow, DiffSpan, DiffStatus, RowKind, SpanClass};

/// Maximum number of rows of a file, and of all files.
pub(super) const MOST_ROWS: usize = 20_000;
const MOST_ROWS_IN_ALL: usize = 60_000;
/// Maximum number of files.
pub(super) const MOST_FILES: usize = 3_000;
/// Maximum length of a line, in characters.
const MOST_CHARS: usize = 4_000;

/// Position in a hunk: the next line numbers of both sides, and how many lines of each remain.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    old: u32,
    new: u32,
    old_left: u32,
    new_left: u32,
}

/// Parses a patch. Returns its files, each row with one plain span, and the number of files beyond the maximum.
pub(super) fn read(patch: &[u8]) -> (Vec<DiffFile>, u64) {
    let (mut files, mut left_out): (Vec<DiffFile>, u64) = (Vec::new(), 0);
    let mut place = Place::default();
    let (mut in_file, mut in_all, mut skips) = (0, 0, false);
    for line in lines(patch) {
        let open = place.old_left > 0 || place.new_left > 0;
        let skip = skips || in_file >= MOST_ROWS || in_all >= MOST_ROWS_IN_ALL;
        if open && take_row(&mut files, &mut place, line, skip) {
            in_file += 1;
            in_all += 1;
            continue;
        }
        if let Some(rest) = line.strip_prefix(b"diff --git ") {
            (place, in_file) = (Place::default(), 0);
            skips = files.len() >= MOST_FILES;
            if skips {
                left_out += 1;
            } else {
                files.push(named(rest));
            }
            continue;
        }
        let Some(file) = files.last_mut().filter(|_| !skips) else { continue };
        if line.starts_with(b"\\") {
            let row = file.hunks.last_mut().and_then(|hunk| hunk.rows.last_mut());
            row.into_iter().for_each(|row| row.no_newline = true);
        } else if let Some((at, header)) = hunk(line) {
            place = at;
            file.hunks.push(DiffHunk { header, rows: vec![] });
        } else if file.hunks.is_empty() {
            take_head(file, line);
        }
    }
    (files, left_out)
}

/// The lines of a patch without their line endings.
fn lines(patch: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = patch.strip_suffix(b"\n").unwrap_or(patch);
    whole.split(|byte| *byte == b'\n').filter(move |_| !patch.is_empty())
}

/// Parses one row of an open hunk. Returns whether the line was one.
fn take_row(files: &mut [DiffFile], place: &mut Place, line: &[u8], skip: bool) -> bool {
    let (kind, text) = match line.split_first() {
        Some((b' ', text)) => (RowKind::Context, text),
        Some((b'+', text)) => (RowKind::Added, text),
        Some((b'-', text)) => (RowKind::Removed, text),
        // Some programs strip the trailing space of an empty context line.
        None => (RowKind::Context, line),
        _ => return false,
    };
    let (mut old, mut new) = (None, None);
    if kind != RowKind::Added {
        old = Some(place.old);
        place.old = place.old.saturating_add(1);
        place.old_left = place.old_left.saturating_sub(1);
    }
    if kind != RowKind::Removed {
        new = Some(place.new);
        place.new = place.new.saturating_add(1);
        place.new_left = place.new_left.saturating_sub(1);
    }
    let Some(file) = files.last_mut() else { return true };
    match kind {
        RowKind::Added => file.added += 1,
        RowKind::Removed => file.removed += 1,
        RowKind::Context => {}
    }
    if skip {
        file.left_out += 1;
        return true;
    }
    let whole = String::from_utf8_lossy(text);
    let text: String = whole.chars().take(MOST_CHARS).collect();
    let left_out = (whole.chars().count() as u64).saturating_sub(MOST_CHARS as u64);
    if let Some(hunk) = file.hunks.last_mut() {
        let spans = vec![DiffSpan { class: SpanClass::Plain, text }];
        hunk.rows.push(DiffRow { kind, old, new, spans, left_out, no_newline: false });
    }
    true
}

/// `@@ -1,2 +3,4 @@ fn main()`
fn hunk(line: &[u8]) -> Option<(Place, String)> {
    let text = String::from_utf8_lossy(line.strip_prefix(b"@@ -")?);
    let (ranges, rest) = text.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((old, old_left), (new, new_left)) = (range(old)?, range(new)?);
    let header: String = format!("@@ -{ranges} @@{rest}").chars().take(MOST_CHARS).collect();
    Some((Place { old, new, old_left, new_left }, header))
}

/// A file, from the rest of its `diff --git` line.
fn named(rest: &[u8]) -> DiffFile {
    DiffFile {
        path: both(rest),
        old_path: None,
        status: DiffStatus::Modified,
        mode: None,
        added: 0,
        removed: 0,
        binary: false,
        hunks: vec![],
        left_out: 0,
    }
}

/// Parses a header line between `diff --git` and the first hunk.
fn take_head(file: &mut DiffFile, line: &[u8]) {
    let mode = |mode: &[u8]| Some(String::from_utf8_lossy(mode).chars().take(12).collect());
    if line.starts_with(b"new file mode") {
        file.status = DiffStatus::Added;
    } else if line.starts_with(b"deleted file mode") {
        file.status = DiffStatus::Deleted;
    } else if let Some(new) = line.strip_prefix(b"new mode ") {
        file.mode = mode(new);
    } else if let Some(old) = line.strip_prefix(b"rename from ") {
        file.status = DiffStatus::Renamed;
        file.old_path = Some(unquoted(old));
    } else if let Some(new) = line.strip_prefix(b"rename to ") {
        file.path = unquoted(new);
    } else if line.starts_with(b"Binary files ") || line.starts_with(b"GIT binary patch") {
        file.binary = true;
    } else if let Some(new) = line.strip_prefix(b"+++ ").and_then(side) {
        file.path = new;
    } else if let Some(old) = line.strip_prefix(b"--- ").and_then(side)
        && file.status == DiffStatus::Deleted
    {
        file.path = old;
    }
}

/// The path after `--- ` or `+++ `; `None` if the file does not exist on this side.
fn side(text: &[u8]) -> Option<String> {
    // Git ends a name that contains spaces with a tab.
    let text = text.strip_suffix(b"\t").unwrap_or(text);
    let path = unquoted(text);
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).map(str::to_owned)
}

/// The path in `a/PATH b/PATH` if both are the same; only files without hunks depend on it.
fn both(rest: &[u8]) -> String {
    if rest.first() == Some(&b'"') {
        let second =
            rest.windows(2).rposition(|two| two == b" \"").map_or(rest, |at| &rest[at + 1..]);
        let path = unquoted(second);
        return path.strip_prefix("b/").unwrap_or(&path).to_owned();
    }
    let half = rest.len() / 2;
    let second = rest.get(half + 1..).unwrap_or(rest);
    let path = String::from_utf8_lossy(second);
    path.strip_prefix("b/").unwrap_or(&path).to_owned()
}

/// Undoes git's quoting of a path: `"a/\303\244"`. An unquoted path is returned as is.
fn unquoted(text: &[u8]) -> String {
    let Some(inner) = text.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else {
        return String::from_utf8_lossy(text).into_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(first @ b'0'..=b'3') => {
                let mut digit = || u32::from(rest.next().unwrap_or(b'0').saturating_sub(b'0') & 7);
                let (second, third) = (digit(), digit());
                let code = u32::from(first - b'0') * 64 + second * 8 + third;
                bytes.push(u8::try_from(code).unwrap_or(b'?'));
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
