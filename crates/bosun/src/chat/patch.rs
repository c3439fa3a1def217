//! A unified diff as rows: with the line numbers of the new file, in the colours of each file's language. What is inside a
//! hunk is told by the hunk's own numbers. Takes a patch as git writes it; makes none.

use super::look::{BOLD, DIM};
use super::syntax;
use super::visible::visible;
use super::wrap::Row;
use crate::print::patch::{Kind, Reader};

/// The first lines of a patch as rows.
pub(crate) fn rows(patch: &str, most: usize) -> Vec<Row> {
    let mut painted = Painted::default();
    patch.lines().take(most).for_each(|line| painted.take(line));
    painted.end_hunk();
    painted.rows
}

#[derive(Default)]
struct Painted {
    reader: Reader,
    path: String,
    /// The lines of the hunk that is being read: each with its sign, fit for a screen; and their numbers.
    lines: Vec<(char, String)>,
    numbers: Vec<Option<u64>>,
    rows: Vec<Row>,
}

impl Painted {
    fn take(&mut self, line: &str) {
        let (kind, number) = self.reader.take(line);
        let sign = match kind {
            Kind::Added => '+',
            Kind::Removed => '-',
            Kind::Same if !line.starts_with('\\') => ' ',
            Kind::Same | Kind::Head | Kind::Hunk => return self.head(line),
        };
        self.lines.push((sign, visible(line.get(1..).unwrap_or_default())));
        self.numbers.push(number);
    }

    fn head(&mut self, line: &str) {
        self.end_hunk();
        let named = line.strip_prefix("--- a/").or_else(|| line.strip_prefix("+++ b/"));
        if let Some(path) = named {
            path.clone_into(&mut self.path);
        }
        let bold = ["diff ", "+++ ", "--- "].iter().any(|start| line.starts_with(start));
        let style = if bold { BOLD } else { DIM };
        self.rows.push(Row::text(visible(line), style).hang(8).exact());
    }

    fn end_hunk(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        let numbers = std::mem::take(&mut self.numbers);
        let head = |at: usize, sign: char| match numbers.get(at).copied().flatten() {
            Some(number) => format!("{number:>5} {sign}"),
            None => format!("      {sign}"),
        };
        let coloured = syntax::coloured(&self.path, &lines, head);
        self.rows.extend(coloured.into_iter().map(|spans| Row::new(spans).hang(8).exact()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/a.rs b/a.rs\nindex 1..2\n--- a/a.rs\n+++ b/a.rs\n@@ -7,2 +7,2 @@ fn\n fn a\n--- b\n\
                         +let \x1b[2J\ndiff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+let\n";

    #[test]
    fn lines_have_numbers_and_the_colours_of_their_file() {
        let rows = rows(PATCH, 100);
        let drawn: Vec<String> = rows.iter().map(Row::content).collect();
        assert_eq!(
            drawn[4..8],
            ["@@ -7,2 +7,2 @@ fn", "    7  fn a", "      --- b", "    8 +let ␛[2J"]
        );
        assert_eq!(drawn[12], "    1 +let");
        let pieces = |at: usize| rows[at].spans.len();
        assert_eq!((pieces(5), pieces(12)), (3, 2), "`fn` is a word of Rust, `let` none of a text");
    }

    #[test]
    fn a_long_patch_is_cut() {
        assert_eq!(rows(PATCH, 6).len(), 6);
    }
}
