//! File names that are not valid paths here: with control characters, not UTF-8, or beginning with `~`. They are
//! displayed with the same escapes everywhere, so that no file is left out and no name acts on a terminal; file tools
//! cannot open them.

use std::path::Path;

use types::WorkPath;

/// Maximum number of bytes of a name that are displayed.
const MOST: usize = 400;

/// Escapes a name unambiguously, whatever its bytes: in quotes, with `\n`, `\x1b`.
pub(crate) fn escaped(name: &[u8]) -> String {
    format!("\"{}\"", name.escape_ascii()).chars().take(MOST).collect()
}

/// The name of a folder, which identifies it on every machine, as far as a name can.
#[must_use]
pub fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().map(|name| shown(name.as_encoded_bytes()));
    name.unwrap_or_else(|| "folder".to_owned())
}

/// The name itself, or escaped if it cannot be displayed as it is.
pub(crate) fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => escaped(name),
    }
}

/// Whether a text from a walk below the workspace can be a path. Called for every file, so it does not parse.
pub(crate) fn is_path(text: &str) -> bool {
    let controls = match text.is_ascii() {
        true => text.bytes().any(|byte| byte.is_ascii_control()),
        false => text.chars().any(char::is_control),
    };
    !controls && !text.starts_with('~')
}

/// The path of an entry in a folder. For a name that no path can express, an escaped path and `true`.
pub(crate) fn entry_path(folder: &WorkPath, name: &[u8]) -> Option<(WorkPath, bool)> {
    let below = |name: &str| match folder.is_root() {
        true => name.parse::<WorkPath>().ok(),
        false => format!("{folder}/{name}").parse().ok(),
    };
    let text = std::str::from_utf8(name).ok();
    match text.and_then(below) {
        Some(path) => Some((path, false)),
        None => below(&escaped(name)).map(|path| (path, true)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shown_as_it_is_or_escaped() {
        for (name, as_shown) in [
            (b"a b\xc3\xa9.rs".as_slice(), "a b\u{e9}.rs"),
            (b"a\nb", "\"a\\nb\""),
            (b"\x1b[31mred", "\"\\x1b[31mred\""),
            (b"\xff\xfe", "\"\\xff\\xfe\""),
        ] {
            assert_eq!(shown(name), as_shown);
        }
        let folder: WorkPath = "src".parse().expect("a path");
        let (path, unnamed) = entry_path(&folder, b"a\x1b").expect("a path");
        assert_eq!((path.as_str(), unnamed), ("src/\"a\\x1b\"", true));
    }
}
