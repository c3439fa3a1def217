//! The outcome of an integrity check: every intact log, every flaw, and a summary.

use std::collections::BTreeSet;

use runtime::{Flaw, Integrity};
use types::{LogId, count};

use super::{line, note};

/// Maximum number of flawed logs named in the summary.
const NAMED: usize = 5;

/// Prints the logs and flaws to standard output, the summary to standard error.
pub(crate) fn integrity(checked: &Integrity) -> anyhow::Result<()> {
    for log in &checked.intact {
        line(&format!("{:<24} {:>6} lines  head {}", log.log, log.last_seq, log.head))?;
    }
    for flaw in &checked.flaws {
        line(&format!("{:<24} {flaw}", flaw.log().map_or_else(String::new, LogId::to_string)))?;
    }
    let logs = count(checked.intact.len() as u64, "log");
    if checked.flaws.is_empty() {
        let blobs = count(checked.blobs as u64, "blob");
        note(&format!("intact: {logs}, {blobs}"));
        return Ok(());
    }
    let named: BTreeSet<String> =
        checked.flaws.iter().filter_map(Flaw::log).map(LogId::to_string).collect();
    let flaws = count(checked.flaws.len() as u64, "flaw");
    let named = named.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    let named = if named.is_empty() { String::new() } else { format!(" ({named})") };
    note(&format!("bosun: {flaws}{named}; {logs} intact"));
    Ok(())
}
