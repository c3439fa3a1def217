//! Markdown tables with aligned columns. A table that would not fit on an ordinary screen stays as written, which reads
//! better than a wrapped one.

use ratatui::text::Span;

use super::inline;
use super::look::{BOLD, DIM, PLAIN};
use super::wrap::Row;

/// Maximum width of a table, in columns of the screen.
const WIDEST: usize = 78;
/// Maximum rows held back until the table is complete.
pub(crate) const MOST_ROWS: usize = 200;

/// Whether a line can be part of a table.
pub(crate) fn is_row(line: &str) -> bool {
    line.trim_start().starts_with('|')
}

/// The rows of a table, from its lines.
pub(crate) fn rows(lines: &[String]) -> Vec<Row> {
    let as_written = || lines.iter().map(|line| Row::text(line.clone(), PLAIN).exact()).collect();
    let is_table = lines.len() > 1 && is_rule(&lines[1]);
    if !is_table {
        return as_written();
    }
    let kept = lines.iter().enumerate().filter(|(place, _)| *place != 1);
    let drawn = |(place, line): (usize, &String)| {
        let style = if place == 0 { BOLD } else { PLAIN };
        cells(line).into_iter().map(|cell| inline::spans(&cell, style)).collect::<Vec<_>>()
    };
    let table: Vec<Vec<Vec<Span<'static>>>> = kept.map(drawn).collect();
    let count = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        table.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    if widths.iter().map(|width| width + 3).sum::<usize>() > WIDEST {
        return as_written();
    }
    let mut rows: Vec<Row> = table.into_iter().map(|row| line(row, &widths)).collect();
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(width + 2)).collect();
    rows.insert(1, Row::text(rule.join("┼"), DIM).exact());
    rows
}

fn line(cells: Vec<Vec<Span<'static>>>, widths: &[usize]) -> Row {
    let mut spans = vec![];
    let mut cells = cells.into_iter();
    for (column, width) in widths.iter().enumerate() {
        if column > 0 {
            spans.push(Span::styled("│", DIM));
        }
        let cell = cells.next().unwrap_or_default();
        let blanks = width.saturating_sub(columns(&cell));
        spans.push(Span::raw(" "));
        spans.extend(cell);
        spans.push(Span::raw(" ".repeat(blanks + 1)));
    }
    Row::new(spans).exact()
}

fn columns(cell: &[Span<'_>]) -> usize {
    cell.iter().map(Span::width).sum()
}

/// The cells of a row. An escaped bar is part of its cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut before = ' ';
    for c in line.chars() {
        match (c, cells.last_mut()) {
            ('|', _) if before != '\\' => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
        before = c;
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn is_rule(line: &str) -> bool {
    line.contains('-') && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Vec<String> {
        let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        rows(&lines).iter().map(|row| row.content().trim_end().to_owned()).collect()
    }

    #[test]
    fn columns_stand_under_each_other() {
        let text = "| name | **what** |\n|:--|---|\n| a | `x` \\| z |\n| longer |";
        let expected = [" name   │ what", "────────┼───────", " a      │ x | z", " longer │"];
        assert_eq!(drawn(text), expected);
    }

    #[test]
    fn what_is_no_table_or_too_wide_stays_as_it_was_written() {
        for text in ["| just a line", "| a | b |\n| c | d |"] {
            assert_eq!(drawn(text), text.lines().collect::<Vec<_>>());
        }
        let wide = format!("| a | b |\n|---|---|\n| {} | {} |", "x".repeat(60), "y".repeat(60));
        assert_eq!(drawn(&wide), wide.lines().collect::<Vec<_>>());
    }
}
