//! A patch on a terminal: coloured, with line numbers on request. What is in the files is hostile text, so a terminal is
//! sent none of its control characters.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use types::{Changes, count, visible};

use super::one_line;

/// The longest line that is shown whole.
const LONGEST: usize = 2_000;

/// The patch as rows; with `numbered`, each line of the new file has its number.
pub(crate) fn shown(patch: &str, numbered: bool) -> String {
    let mut reader = Reader::default();
    let mut out = String::new();
    for line in patch.split_terminator('\n') {
        let (kind, number) = reader.take(line);
        let text: String = visible(line).chars().take(LONGEST).collect();
        if numbered {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let _ = write!(out, "{:>6} ", number.dimmed());
        }
        let _ = match kind {
            Kind::Head => writeln!(out, "{}", text.bold()),
            Kind::Hunk => writeln!(out, "{}", text.cyan()),
            Kind::Added => writeln!(out, "{}", text.green()),
            Kind::Removed => writeln!(out, "{}", text.red()),
            Kind::Same => writeln!(out, "{text}"),
        };
    }
    out
}

/// How much each file changed, and all together.
pub(crate) fn stat(changes: &Changes) -> String {
    let name = |path: &types::WorkPath| one_line(path.as_str(), 200);
    let widest = changes.0.iter().map(|file| name(&file.path).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for file in &changes.0 {
        let (added, removed) = (format!("+{}", file.added), format!("-{}", file.removed));
        let path = format!("{:<widest$}", name(&file.path));
        let _ = writeln!(out, " {path}  {} {}", added.green(), removed.red());
    }
    let files = count(changes.0.len(), "file");
    let _ = writeln!(out, " {files}, +{} -{}", changes.added(), changes.removed());
    out
}

/// What a line of a patch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Head,
    Hunk,
    Added,
    Removed,
    Same,
}

/// Reads a patch line by line; what is inside a hunk is told by the hunk's own numbers, never by how a line begins.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// How many lines of the old and the new file are left in this hunk.
    left: (u64, u64),
    /// The number of the next line of the new file.
    next: u64,
}

impl Reader {
    /// What a line is, and which line of the new file it is.
    pub(crate) fn take(&mut self, line: &str) -> (Kind, Option<u64>) {
        if self.left == (0, 0) {
            let Some((left, next)) = hunk(line) else { return (Kind::Head, None) };
            (self.left, self.next) = (left, next);
            return (Kind::Hunk, None);
        }
        let kind = match line.as_bytes().first() {
            Some(b'+') => Kind::Added,
            Some(b'-') => Kind::Removed,
            Some(b'\\') => return (Kind::Same, None),
            _ => Kind::Same,
        };
        if kind != Kind::Added {
            self.left.0 = self.left.0.saturating_sub(1);
        }
        if kind == Kind::Removed {
            return (kind, None);
        }
        self.left.1 = self.left.1.saturating_sub(1);
        let number = self.next;
        self.next += 1;
        (kind, Some(number))
    }
}

/// The counts of a hunk, and the first line of the new file in it: `@@ -1,2 +3,4 @@`.
fn hunk(line: &str) -> Option<((u64, u64), u64)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let counts = |text: &str| {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    };
    let ((_, old), (first, new)) = (counts(old)?, counts(new)?);
    Some(((old, new), first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn\n one\n--- two\n+++ 2\x1b[2J\n three\n\
                         diff --git a/y b/y\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n";

    #[test]
    fn lines_are_told_apart_by_the_numbers_of_their_hunk() {
        let mut reader = Reader::default();
        let told: Vec<_> = PATCH.split_terminator('\n').map(|line| reader.take(line)).collect();
        assert_eq!(
            told[4..8],
            [
                (Kind::Same, Some(1)),
                (Kind::Removed, None),
                (Kind::Added, Some(2)),
                (Kind::Same, Some(3)),
            ]
        );
        assert_eq!(told[10], (Kind::Added, Some(1)));
    }

    #[test]
    fn a_terminal_is_sent_nothing_that_it_would_act_on() {
        let rows = anstream::adapter::strip_str(&shown(PATCH, true)).to_string();
        assert!(rows.contains("     2 +++ 2␛[2J\n"), "{rows}");
        assert!(!rows.contains('\x1b'), "{rows}");
    }
}
