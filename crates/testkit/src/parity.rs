//! Fifteen requirements on every provider, in any dialect: a table with a row for each requirement and a column for
//! each dialect. Against real servers it shows their abilities; against recordings it shows that we still understand
//! them. New providers use it, too.
//!
//! It tests the provider layer, not the model: a small model may answer badly, and the rows require only what
//! the interface guarantees.

mod endpoint;
mod rows;

use std::collections::BTreeMap;

use llm::Dialect;

pub use endpoint::Endpoint;

/// The rows, in the order of the table.
pub const ROWS: [&str; 15] = [
    "text in one piece",
    "text, streamed",
    "an image as bytes",
    "an image by its address",
    "a call and its result",
    "several calls in one reply",
    "three rounds of calls",
    "calls, streamed",
    "structured output",
    "thinking is reported",
    "a wrong key",
    "too many requests",
    "usage is counted",
    "cached input is reported",
    "the provider's own options",
];

/// The result of one row in one dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub row: &'static str,
    /// The server on which the row passed, if any.
    pub held_by: Option<String>,
    /// Why it failed on the others, by server.
    pub reasons: BTreeMap<String, String>,
}

impl Cell {
    /// The cell as shown in the table.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.held_by {
            Some(server) => format!("ok ({server})"),
            None => "-".to_owned(),
        }
    }
}

/// Checks every row, on each server in turn until it passes on one.
pub async fn column(endpoints: &[Endpoint]) -> Vec<Cell> {
    let mut cells = vec![];
    for (number, row) in ROWS.into_iter().enumerate() {
        let mut cell = Cell { row, held_by: None, reasons: BTreeMap::new() };
        for endpoint in endpoints {
            let held = match absent(endpoint.dialect, number) {
                Some(reason) => Err(reason.to_owned()),
                None => rows::check(number, endpoint).await,
            };
            match held {
                Ok(()) => {
                    cell.held_by = Some(endpoint.server.clone());
                    break;
                }
                Err(reason) => {
                    cell.reasons.insert(endpoint.server.clone(), reason);
                }
            }
        }
        cells.push(cell);
    }
    cells
}

/// Why a provider's interface cannot support a row at all, so that no server is tested.
fn absent(dialect: Dialect, row: usize) -> Option<&'static str> {
    match (dialect, ROWS.get(row).copied()?) {
        (Dialect::Ollama, "an image by its address") => Some("the interface takes only bytes"),
        (Dialect::Ollama, "a wrong key") => Some("the interface has no keys"),
        (Dialect::Ollama, "cached input is reported") => {
            Some("the interface does not say what it took from its cache")
        }
        _ => None,
    }
}

/// The table as text, with the reasons below it.
#[must_use]
pub fn table(columns: &[(Dialect, Vec<Cell>)]) -> String {
    let mut text = format!("{:<28}", "");
    for (dialect, _) in columns {
        text.push_str(&format!("{:<16}", dialect.as_str()));
    }
    for (number, row) in ROWS.into_iter().enumerate() {
        text.push_str(&format!("\n{row:<28}"));
        for (_, cells) in columns {
            let word = cells.get(number).map(Cell::label).unwrap_or_default();
            text.push_str(&format!("{word:<16}"));
        }
    }
    let mut reasons = String::new();
    for (dialect, cells) in columns {
        for cell in cells {
            for (server, reason) in &cell.reasons {
                reasons.push_str(&format!(
                    "\n{}, {}, {server}: {reason}",
                    dialect.as_str(),
                    cell.row
                ));
            }
        }
    }
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let held = columns.iter().flat_map(|(_, cells)| cells).filter(|cell| cell.held_by.is_some());
    let all = columns.len() * ROWS.len();
    format!("{}\n\n{} of {all} cells hold\n{reasons}\n", lines.join("\n"), held.count())
}

#[cfg(test)]
mod tests;
