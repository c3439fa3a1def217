//! Parses a git diff into files with their lines. Content cannot be mistaken for a header: each hunk header gives the
//! number of content lines.

/// The diff of one file.
#[derive(Debug, Default)]
pub(super) struct FileDiff<'a> {
    /// The old path; none for a new file.
    pub(super) old: Option<&'a str>,
    /// The new path; none for a deleted file.
    pub(super) new: Option<&'a str>,
    pub(super) removed: Vec<&'a str>,
    pub(super) added: Vec<&'a str>,
}

pub(super) fn files(diff: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    // Remaining lines of the hunk, in the old and in the new file.
    let (mut old, mut new) = (0_u64, 0_u64);
    for line in diff.split('\n') {
        if line.starts_with("diff --git ") && old == 0 && new == 0 {
            files.push(FileDiff::default());
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if old == 0 && new == 0 {
            header(file, line);
            if let Some(counts) = line.strip_prefix("@@ ").and_then(counts) {
                (old, new) = counts;
            }
            continue;
        }
        match line.as_bytes().first() {
            Some(b'-') => {
                old = old.saturating_sub(1);
                file.removed.push(&line[1..]);
            }
            Some(b'+') => {
                new = new.saturating_sub(1);
                file.added.push(&line[1..]);
            }
            Some(b' ') => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            // `\ No newline at end of file`.
            Some(b'\\') => {}
            _ => (old, new) = (0, 0),
        }
    }
    files
}

fn header<'a>(file: &mut FileDiff<'a>, line: &'a str) {
    // Git ends a name that has a blank with a tab.
    let path = |text: &'a str, side: &str| text.trim_end_matches('\t').strip_prefix(side);
    if let Some(name) = line.strip_prefix("--- ") {
        file.old = path(name, "a/");
    } else if let Some(name) = line.strip_prefix("+++ ") {
        file.new = path(name, "b/");
    } else if let Some(names) = line.strip_prefix("Binary files ") {
        // A binary file: it changed, and has no lines.
        let names = names.strip_suffix(" differ").unwrap_or(names);
        let sides =
            names.match_indices(" and ").map(|(at, and)| (&names[..at], &names[at + and.len()..]));
        let is_name = |name: &str, side: &str| name == "/dev/null" || name.starts_with(side);
        let found = sides.into_iter().find(|(old, new)| is_name(old, "a/") && is_name(new, "b/"));
        if let Some((old, new)) = found {
            (file.old, file.new) = (path(old, "a/"), path(new, "b/"));
        }
    } else if let Some(name) = line.strip_prefix("rename from ") {
        file.old = Some(name);
    } else if let Some(name) = line.strip_prefix("rename to ") {
        file.new = Some(name);
    }
}

/// `-1,3 +4 @@ …`: three lines of the old file, one of the new.
fn counts(text: &str) -> Option<(u64, u64)> {
    let count = |part: &str| match part.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let mut parts = text.split(' ');
    let old = count(parts.next()?.strip_prefix('-')?)?;
    let new = count(parts.next()?.strip_prefix('+')?)?;
    Some((old, new))
}
