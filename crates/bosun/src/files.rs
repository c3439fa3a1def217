//! Files named on the command line: reads them, and writes them atomically. Their meaning is up to the caller.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;

use crate::exit::CliError;

/// Reads a file as text.
pub(crate) fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path)
        .map_err(|source| CliError::Unreadable { path: path.display().to_string(), source })
}

/// Maximum number of bytes read from a file of another machine.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Like `read`, for a file that may come from another machine: at most so many bytes.
pub(crate) fn read_bounded(path: &Path) -> Result<String, CliError> {
    let failed = |source| CliError::Unreadable { path: path.display().to_string(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    std::io::read_to_string(file.take(MOST_BYTES)).map_err(failed)
}

/// Reads a request; `-` is standard input. Each request is read only once, because a pipe cannot be read again.
pub(crate) fn read_request(path: &Path) -> Result<String, CliError> {
    let text = if path == Path::new("-") { standard_input()? } else { read(path)? };
    if text.trim().is_empty() {
        return Err(CliError::EmptyRequest { path: named(path) });
    }
    Ok(text)
}

/// The name of an input in error messages.
pub(crate) fn named(path: &Path) -> String {
    if path == Path::new("-") { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

const STANDARD_INPUT: &str = "standard input";

/// Reads standard input to its end.
pub(crate) fn standard_input() -> Result<String, CliError> {
    std::io::read_to_string(std::io::stdin().lock())
        .map_err(|source| CliError::Unreadable { path: STANDARD_INPUT.to_owned(), source })
}

/// Replaces a file atomically.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let writing = || format!("writing {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut beside =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).with_context(writing)?;
    beside.write_all(text.as_bytes()).with_context(writing)?;
    if let Ok(there) = std::fs::metadata(path) {
        beside.as_file().set_permissions(there.permissions()).with_context(writing)?;
    }
    beside.persist(path).with_context(writing)?;
    Ok(())
}
