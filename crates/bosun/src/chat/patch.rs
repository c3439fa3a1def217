//! A unified diff as rows of the chat, with the line numbers of the new file.

use super::look::{BOLD, DIM};
use super::syntax;
use super::wrap::Row;
use crate::print::patch::{self, Content, Line};

/// The first lines of a patch as rows.
pub(crate) fn rows(patch: &str, most: usize) -> Vec<Row> {
    patch::lines(patch, most).into_iter().map(row).collect()
}

fn row(line: Line) -> Row {
    let row = match line.content {
        Content::Head(text) => {
            let bold = ["diff ", "+++ ", "--- "].iter().any(|start| text.starts_with(start));
            Row::text(text, if bold { BOLD } else { DIM })
        }
        Content::Hunk(text) | Content::Note(text) => Row::text(text, DIM),
        Content::Code { sign, pieces } => {
            let number = line.number.map(|number| number.to_string()).unwrap_or_default();
            Row::new(syntax::spans(format!("{number:>5} {sign}"), sign, pieces))
        }
    };
    row.hang(8).exact()
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
