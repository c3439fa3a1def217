//! Output to the terminal: results to standard output, everything else to standard error. Control characters in text
//! from outside never reach a terminal.

mod checks;
mod integrity;
pub(crate) mod lines;
pub(crate) mod marks;
pub(crate) mod question;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod session;

use std::io::Write as _;

use serde::Serialize;

pub(crate) use integrity::integrity;
pub(crate) use types::one_line;

/// A path as an argument of a command that a person can copy.
pub(crate) fn quoted(path: &std::path::Path) -> String {
    let text = one_line(&path.display().to_string(), 4_000);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// One line of the result.
pub(crate) fn line(line: &str) -> std::io::Result<()> {
    writeln!(anstream::stdout(), "{line}")
}

/// A text of several lines, which ends with a line break.
pub(crate) fn text(text: &str) -> std::io::Result<()> {
    anstream::stdout().write_all(text.as_bytes())
}

/// A whole document for programs, byte for byte.
pub(crate) fn document(text: &str) -> std::io::Result<()> {
    std::io::stdout().lock().write_all(text.as_bytes())
}

/// A result for programs.
pub(crate) fn json(what: &impl Serialize) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    // As the error that it was: whoever cannot be written to any more is told by its kind.
    serde_json::to_writer(&mut out, what).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Something for the person that is not part of the result.
pub(crate) fn note(text: &str) {
    anstream::eprintln!("{text}");
}

/// The error with everything that led to it, and what to do about it, on one line.
pub(crate) fn error(error: &anyhow::Error, advice: Option<&str>) {
    if is_closed_pipe(error) {
        return;
    }
    let mut causes: Vec<String> = Vec::new();
    for cause in error.chain().map(|cause| one_line(&cause.to_string(), 2_000)) {
        // Some errors repeat the words of their source.
        if !causes.iter().any(|said| said.contains(&cause)) {
            causes.push(cause);
        }
    }
    let advice = advice.map(|advice| format!("; {advice}")).unwrap_or_default();
    note(&format!("bosun: {}{advice}", causes.join(": ")));
}

/// An error as the object that the preset `strict` promises. It is the last thing that is printed.
pub(crate) fn error_object(reason: &str) {
    if let Err(error) = json(&engine::export::error_object(&one_line(reason, 400))) {
        tracing::debug!(%error, "telling an error");
    }
}

/// Whether the reader of our output has closed it.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
