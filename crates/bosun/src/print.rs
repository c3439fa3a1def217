//! Output to the terminal: results to standard output, everything else to standard error. Control characters in text
//! from outside never reach a terminal.

pub(crate) mod budget;
mod checks;
pub(crate) mod lines;
pub(crate) mod patch;
pub(crate) mod question;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod session;
pub(crate) mod table;
pub(crate) mod transcript;
pub(crate) mod undo;

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicU8, Ordering};

use owo_colors::OwoColorize as _;
use runtime::{Flaw, Integrity};
use serde::Serialize;
use types::{LogId, Millis, Money, Spend, Verdict, count};

use crate::exit::Exit;
pub(crate) use types::one_line;

/// Maximum number of files with uncommitted changes that are named.
const MOST_LEFT_OUT: usize = 5;

/// Verbosity of the output besides the result: 0 nothing, 1 important messages, 2 every event.
static SAID: AtomicU8 = AtomicU8::new(1);

/// Sets the verbosity. Called once, before anything is printed.
pub(crate) fn say(quiet: bool, verbose: u8) {
    SAID.store(if quiet { 0 } else { 1 + u8::from(verbose > 0) }, Ordering::Relaxed);
}

/// Whether only results and errors are printed.
pub(crate) fn is_quiet() -> bool {
    SAID.load(Ordering::Relaxed) == 0
}

/// Whether events that only matter afterwards are printed, too.
pub(crate) fn is_verbose() -> bool {
    SAID.load(Ordering::Relaxed) > 1
}

/// Width in columns of the terminal that standard output goes to.
pub(crate) fn width() -> Option<usize> {
    let here = std::io::stdout().is_terminal();
    here.then(|| crossterm::terminal::size().ok()).flatten().map(|(columns, _)| columns.into())
}

/// Formats an age in a single unit.
pub(crate) fn age(since: Millis) -> String {
    match since.0 / 1_000 {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// Formats a duration for a narrow column: `8 s`, `1:23`, `1:02:03`.
pub(crate) fn duration(span: Millis) -> String {
    let seconds = span.0 / 1_000;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes}:{:02}", seconds % 60),
        _ => format!("{hours}:{minutes:02}:{:02}", seconds % 60),
    }
}

/// Formats an amount in dollars and cents, rounded up: less than a cent is not zero.
pub(crate) fn dollars(amount: Money) -> String {
    const CENT: u64 = 10_000_000;
    let cents = amount.as_nanos().div_ceil(CENT);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Formats a cost for a narrow column; in tokens if no price is known.
pub(crate) fn cost(spent: Spend) -> String {
    match (spent.money.as_nanos(), spent.tokens) {
        (0, 0) => String::new(),
        (0, tokens @ 0..10_000) => format!("{tokens} tok"),
        (0, tokens) => format!("{}k tok", tokens / 1_000),
        _ => dollars(spent.money),
    }
}

/// The last part of a path, for a narrow column.
pub(crate) fn folder_name(path: &str) -> String {
    let name = std::path::Path::new(path).file_name().unwrap_or_default();
    one_line(&name.to_string_lossy(), 24)
}

/// A path on one line, quoted for a shell.
pub(crate) fn path(path: &std::path::Path) -> String {
    types::shell_word(&one_line(&path.display().to_string(), 4_096))
}

/// Mark of success.
pub(crate) fn good_mark() -> String {
    "✔".green().to_string()
}

/// Mark of failure.
pub(crate) fn bad_mark() -> String {
    "✘".red().to_string()
}

/// A line about an event, for lines and reports; merged results and reviews have the longest names.
pub(crate) fn row(who: &str, what: &str) -> String {
    format!("  {who:<12} {what}")
}

/// The word for a gate that a run does not pass by itself.
pub(crate) const fn blocked_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ConditionalGo => "conditional go",
        Verdict::Go | Verdict::NoGo => "no-go",
    }
}

/// Prints one line of the result.
pub(crate) fn line(line: &str) -> std::io::Result<()> {
    writeln!(anstream::stdout(), "{line}")
}

/// Lines of output, in which none repeats the one before.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    last: String,
}

impl Printed {
    /// Prints a line to standard output, unless it repeats the last one.
    pub(crate) fn line(&mut self, text: &str) -> std::io::Result<()> {
        if self.is_new(text) { line(text) } else { Ok(()) }
    }

    /// Prints a line to standard error, unless it repeats the last one.
    pub(crate) fn note(&mut self, text: &str) {
        if self.is_new(text) {
            note(text);
        }
    }

    fn is_new(&mut self, text: &str) -> bool {
        let is_new = text != self.last;
        text.lines().last().unwrap_or_default().clone_into(&mut self.last);
        is_new
    }
}

/// Prints a text of several lines, which ends with a line break.
pub(crate) fn text(text: &str) -> std::io::Result<()> {
    anstream::stdout().write_all(text.as_bytes())
}

/// Whether colours are forced, wherever the output goes.
pub(crate) fn has_colours() -> bool {
    anstream::ColorChoice::global() == anstream::ColorChoice::Always
}

/// Prints a document or other data for programs, byte for byte.
pub(crate) fn bytes(bytes: &[u8]) -> std::io::Result<()> {
    std::io::stdout().lock().write_all(bytes)
}

/// Prints a result for programs as a line of JSON.
pub(crate) fn json(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    // Kept as an I/O error: its kind identifies a closed pipe.
    serde_json::to_writer(&mut out, what).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Prints a result as a line of JSON for programs, or else as text, which ends with a line break.
pub(crate) fn result(as_json: bool, object: &impl Serialize, said: &str) -> anyhow::Result<()> {
    if as_json { json(object) } else { Ok(text(said)?) }
}

/// Which uncommitted changes a run does not see: those in files that its goal names, otherwise all.
pub(crate) fn left_out(uncommitted: &[String], goal: &str) -> Option<String> {
    let words = || goal.split(|c: char| c.is_whitespace() || "\"'`(),:;".contains(c));
    let is_named = |file: &&String| words().any(|word| names(word, file));
    let mut files: Vec<&String> = uncommitted.iter().filter(is_named).collect();
    if files.is_empty() {
        files = uncommitted.iter().collect();
    }
    let shown: Vec<String> =
        files.iter().take(MOST_LEFT_OUT).map(|file| path(file.as_ref())).collect();
    let more = match files.len().saturating_sub(MOST_LEFT_OUT) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| {
        format!(
            "uncommitted changes in {}{more} are not part of a run; --with-changes takes them along",
            shown.join(", ")
        )
    })
}

/// Whether a word of a goal is the path of a file, or the end of it.
fn names(word: &str, file: &str) -> bool {
    let word = word.trim_end_matches('.');
    !word.is_empty()
        && file.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Prints a message to the user that is not part of the result.
pub(crate) fn note(text: &str) {
    if !is_quiet() {
        warn(text);
    }
}

/// Prints a line to standard error, even in quiet mode. A write error means that stderr is closed; there is nothing
/// left to report to.
pub(crate) fn warn(text: &str) {
    let _unread = writeln!(anstream::stderr(), "{text}");
}

/// Prints an error with its causes and advice on one line, or as an object for programs.
pub(crate) fn error(error: &anyhow::Error, advice: Option<&str>, as_json: Option<Exit>) {
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain().map(|cause| one_line(&cause.to_string(), 2_000)) {
        // Some errors repeat the words of their source.
        if !causes.iter().any(|said| said.contains(&cause)) {
            causes.push(cause);
        }
    }
    let message = causes.join(": ");
    if let Some(exit) = as_json {
        error_line(&message, advice, exit);
        return;
    }
    let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
    warn(&format!("bosun: {message}{advice}"));
}

/// Prints an error as one JSON object on standard error.
pub(crate) fn error_line(message: &str, advice: Option<&str>, exit: Exit) {
    let mut error = serde_json::json!({ "message": message, "exit": exit as u8 });
    if let Some(advice) = advice {
        error["advice"] = advice.into();
    }
    warn(&serde_json::json!({ "error": error }).to_string());
}

/// Prints an error as the object that the preset `strict` promises. It is the last output.
pub(crate) fn error_object(reason: &str) {
    if let Err(error) = json(&engine::export::error_object(&one_line(reason, 400))) {
        tracing::debug!(%error, "telling an error");
    }
}

/// Whether the error means that the reader closed the output. A connection to a server that broke is wrapped in an error
/// of its own, and is none.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Maximum number of flawed logs named in the summary.
const NAMED: usize = 5;

/// Prints the outcome of an integrity check: the logs and flaws to standard output, the summary to standard error.
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
