//! The arguments of `bosun stats`.

use clap::Args;
use types::Timestamp;

#[derive(Debug, Args)]
#[command(after_help = "\
Over all runs in the journal: how many were completed, how often a first attempt was taken, what was recovered \
after a failure, what was forecast and what was spent, and the cost by model, role and project. Sessions are not \
counted, nor what a fork has from the run that it is of.

Examples:
  bosun stats --since 30d
  bosun stats --since 2026-10-01 --json")]
pub(crate) struct Stats {
    /// Count only runs that were started since then: a number of days, such as 30d, or a date, such as 2026-10-01
    #[arg(long, value_name = "WHEN", value_parser = since)]
    pub(crate) since: Option<Since>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// From when on runs are counted.
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
    date.map_err(|_| "a number of days such as 30d, or a date such as 2026-10-01".to_owned())
}
