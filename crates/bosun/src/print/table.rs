//! Rows under a header, with columns as wide as needed. Cells are single lines already; only the last column is
//! truncated, so that a row fits the terminal.

use crate::chat::wrap::{columns, cut};

/// Minimum width of the last column.
const LEAST: usize = 16;

/// A cell of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    right: bool,
}

impl Cell {
    pub(crate) fn left(text: &str) -> Self {
        Self { text: text.to_owned(), right: false }
    }

    pub(crate) fn right(text: &str) -> Self {
        Self { text: text.to_owned(), right: true }
    }
}

/// The table as text. Without a width nothing is truncated.
pub(crate) fn table(heads: &[&str], rows: &[Vec<Cell>], width: Option<usize>) -> String {
    let of = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        let widest = cells.map(|cell| columns(&cell.text)).max().unwrap_or(0);
        widest.max(columns(heads.get(at).copied().unwrap_or_default()))
    };
    let widths: Vec<usize> = (0..heads.len()).map(of).collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + 2).sum();
    let room = width.map_or(usize::MAX, |width| width.saturating_sub(before).max(LEAST));
    let head: Vec<Cell> = heads.iter().map(|head| Cell::left(head)).collect();
    let mut out = String::new();
    for (number, row) in std::iter::once(&head).chain(rows).enumerate() {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let is_last = at + 1 == widths.len();
            let right = cell.right || (number == 0 && rows.iter().any(|row| row[at].right));
            let pad = " ".repeat(width.saturating_sub(columns(&cell.text)));
            match (is_last, right) {
                (true, _) => line.push_str(&cut(&cell.text, room)),
                (false, true) => line.push_str(&format!("{pad}{}  ", cell.text)),
                (false, false) => line.push_str(&format!("{}{pad}  ", cell.text)),
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_the_last_one_is_cut() {
        let rows = vec![
            vec![Cell::left("r_1"), Cell::right("5 min"), Cell::left("add a tide command to it")],
            vec![Cell::left("r_22"), Cell::right("1 h"), Cell::left("日本語のとても長い説明です")],
        ];
        let told = table(&["RUN", "AGE", "ABOUT"], &rows, Some(30));
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines[0], "RUN     AGE  ABOUT");
        assert_eq!(lines[1], "r_1   5 min  add a tide comma…");
        assert!(lines.iter().all(|line| columns(line) <= 30), "{told}");
        let whole = table(&["RUN", "AGE", "ABOUT"], &rows, None);
        assert!(whole.contains("command to it\n"), "{whole}");
    }
}
