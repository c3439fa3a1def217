//! A patch on a terminal: with syntax colours for each file, and line numbers on request. File contents are untrusted,
//! so none of their control characters reach the terminal. Takes a patch in git's format; makes none.

use std::fmt::Write as _;

use evidence::highlight::{self, Class};
use owo_colors::{OwoColorize as _, Style};
use types::{Changes, count, visible};

use super::one_line;

/// Maximum characters shown of a line.
const LONGEST: usize = 2_000;

/// A line of a patch, safe for a terminal.
#[derive(Debug)]
pub(crate) struct Line {
    /// Line number in the new file.
    pub(crate) number: Option<u64>,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Head(String),
    Hunk(String),
    /// A remark by git on the line before.
    Note(String),
    /// Code with its sign (`+`, `-` or a blank), in pieces with the syntax classes of its language.
    Code {
        sign: char,
        pieces: Vec<(Class, String)>,
    },
}

/// The first lines of a patch.
pub(crate) fn lines(patch: &str, most: usize) -> Vec<Line> {
    let mut reading = Reading::default();
    patch.split_terminator('\n').take(most).for_each(|line| reading.take(line));
    reading.end_hunk();
    reading.lines
}

#[derive(Debug, Default)]
struct Reading {
    reader: Reader,
    /// The current file.
    path: String,
    /// Lines of the hunk without classes yet, each with its sign; and their numbers.
    hunk: Vec<(char, String)>,
    numbers: Vec<Option<u64>>,
    lines: Vec<Line>,
}

impl Reading {
    fn take(&mut self, line: &str) {
        let (kind, number) = self.reader.take(line);
        let fit = |text: &str| -> String { visible(text).chars().take(LONGEST).collect() };
        let content = match kind {
            Kind::Head => Content::Head(fit(line)),
            Kind::Hunk => Content::Hunk(fit(line)),
            Kind::Same if line.starts_with('\\') => Content::Note(fit(line)),
            Kind::Added | Kind::Removed | Kind::Same => {
                let sign = match kind {
                    Kind::Added => '+',
                    Kind::Removed => '-',
                    _ => ' ',
                };
                self.hunk.push((sign, fit(line.strip_prefix(sign).unwrap_or(line))));
                self.numbers.push(number);
                return;
            }
        };
        self.end_hunk();
        let named = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/"));
        if let (Kind::Head, Some(path)) = (kind, named) {
            path.clone_into(&mut self.path);
        }
        self.lines.push(Line { number: None, content });
    }

    fn end_hunk(&mut self) {
        let (hunk, numbers) = (std::mem::take(&mut self.hunk), std::mem::take(&mut self.numbers));
        let pieces = highlight::hunk(&self.path, &hunk);
        let line = |((sign, _), (number, pieces))| Line {
            number,
            content: Content::Code { sign, pieces },
        };
        self.lines.extend(hunk.into_iter().zip(numbers.into_iter().zip(pieces)).map(line));
    }
}

/// The patch as text for a terminal; with `numbered`, each line of the new file has its number.
pub(crate) fn shown(patch: &str, numbered: bool) -> String {
    let mut out = String::new();
    for Line { number, content } in lines(patch, usize::MAX) {
        if numbered {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let _ = write!(out, "{:>6} ", number.dimmed());
        }
        let _ = match content {
            Content::Head(text) => write!(out, "{}", text.bold()),
            Content::Hunk(text) => write!(out, "{}", text.cyan()),
            Content::Note(text) => write!(out, "{text}"),
            Content::Code { sign, pieces } => code(&mut out, sign, &pieces),
        };
        out.push('\n');
    }
    out
}

/// Green and red are reserved for added and removed lines. The sign says the same, so nothing is lost without colours.
fn code(out: &mut String, sign: char, pieces: &[(Class, String)]) -> std::fmt::Result {
    let plain = match sign {
        '+' => Style::new().green(),
        '-' => Style::new().red(),
        _ => Style::new(),
    };
    write!(out, "{}", sign.style(plain))?;
    for (class, text) in pieces {
        let style = match class {
            Class::Plain => plain,
            Class::Keyword => Style::new().magenta(),
            Class::String => Style::new().yellow(),
            Class::Number => Style::new().cyan(),
            Class::Comment => Style::new().bright_black(),
        };
        write!(out, "{}", text.style(style))?;
    }
    Ok(())
}

/// Number of lines changed in each file, and in total.
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

/// Kind of a line in a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Head,
    Hunk,
    Added,
    Removed,
    Same,
}

/// Reads a patch line by line. The counts of a hunk decide which lines are inside it, never how a line begins.
#[derive(Debug, Default)]
struct Reader {
    /// Remaining lines of the old and the new file in this hunk.
    left: (u64, u64),
    /// Number of the next line of the new file.
    next: u64,
}

impl Reader {
    /// Kind of a line, and its number in the new file.
    fn take(&mut self, line: &str) -> (Kind, Option<u64>) {
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

/// The counts of a hunk, and its first line in the new file: `@@ -1,2 +3,4 @@`.
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
    fn words_have_the_colours_of_their_file_and_signs_keep_theirs() {
        let patch = "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1,2 @@\n-fn a\n+fn b\n+1\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-fn a\n+b\n";
        let rows = shown(patch, false);
        let rows: Vec<&str> = rows.lines().collect();
        assert_eq!(rows[3], "\x1b[31m-\x1b[0m\x1b[35mfn\x1b[0m\x1b[31m a\x1b[0m");
        assert_eq!(rows[5], "\x1b[32m+\x1b[0m\x1b[36m1\x1b[0m");
        assert_eq!(rows[9], "\x1b[31m-\x1b[0m\x1b[31mfn a\x1b[0m", "no language");
    }

    #[test]
    fn a_terminal_is_sent_nothing_that_it_would_act_on() {
        let rows = anstream::adapter::strip_str(&shown(PATCH, true)).to_string();
        assert!(rows.contains("     2 +++ 2␛[2J\n"), "{rows}");
        assert!(!rows.contains('\x1b'), "{rows}");
    }
}
