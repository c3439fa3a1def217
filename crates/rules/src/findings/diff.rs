//! Reads a diff in git's own form into files with their lines. Content cannot be mistaken for a header: how many lines
//! of content there are, a hunk says at its beginning.

/// What a diff says about one file.
#[derive(Debug, Default)]
pub(super) struct FileDiff<'a> {
    /// Its path before; nothing for a new file.
    pub(super) old: Option<&'a str>,
    /// Its path after; nothing for one that is gone.
    pub(super) new: Option<&'a str>,
    pub(super) removed: Vec<&'a str>,
    pub(super) added: Vec<&'a str>,
}

pub(super) fn files(diff: &str) -> Vec<FileDiff<'_>> {
    let mut files: Vec<FileDiff<'_>> = Vec::new();
    // How many lines of the hunk are still to come, of the old and of the new file.
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
            // A note that there is no newline at the end.
            Some(b'\\') => {}
            _ => (old, new) = (0, 0),
        }
    }
    files
}

fn header<'a>(file: &mut FileDiff<'a>, line: &'a str) {
    // A tab ends a name with a blank in it.
    let path = |text: &'a str, side: &str| text.trim_end_matches('\t').strip_prefix(side);
    if let Some(name) = line.strip_prefix("--- ") {
        file.old = path(name, "a/");
    } else if let Some(name) = line.strip_prefix("+++ ") {
        file.new = path(name, "b/");
    } else if let Some(names) = line.strip_prefix("Binary files ") {
        // Nothing is said of its lines; that it changed is enough.
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
