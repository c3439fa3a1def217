//! The arguments of `bosun stats`.

use clap::Args;
use types::Timestamp;

#[derive(Debug, Args)]
#[command(after_help = "\
Covers all runs in the journal: completed runs, tasks finished at the first attempt, tasks recovered after a failure, \
forecast and actual spending, and cost by model, role and project. Sessions are not counted, nor is the history that a \
fork copied from its origin.

Examples:
  bosun stats --since 30d
  bosun stats --since 2026-10-01 --json")]
pub(crate) struct Stats {
    /// Only runs started since WHEN: a number of days, such as 30d, or a date, such as 2026-10-01
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Start of the period to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Days(u32),
    Date(Timestamp),
}

fn since(word: &str) -> Result<Since, String> {
    if let Some(days) = word.strip_suffix('d').and_then(|days| days.parse().ok()) {
        return Ok(Since::Days(days));
    }
    let midnight = serde_json::Value::from(format!("{word}T00:00:00.000Z"));
    let date = serde_json::from_value(midnight).map(Since::Date);
    date.map_err(|_| {
        "expected a number of days, such as 30d, or a date, such as 2026-10-01".to_owned()
    })
}
