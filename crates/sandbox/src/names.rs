//! Names of files that are no paths here: with control characters, not UTF-8, or with `~` at the beginning. They are shown, escaped in one way
//! everywhere, so that nothing is left out and nothing acts on a screen; file tools cannot open them.

use std::path::Path;

use types::WorkPath;

/// The most bytes of a name that are shown.
const MOST: usize = 400;

/// A name in a form that cannot be mistaken for anything else, whatever bytes it has: in quotes, with `\n`, `\x1b`.
pub(crate) fn escaped(name: &[u8]) -> String {
    format!("\"{}\"", name.escape_ascii()).chars().take(MOST).collect()
}

/// The name of a folder, which says on every machine which one is meant, as far as a name can.
#[must_use]
pub fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().map(|name| shown(name.as_encoded_bytes()));
    name.unwrap_or_else(|| "folder".to_owned())
}

/// A name as it is, or escaped if it cannot be shown like that.
pub(crate) fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => escaped(name),
    }
}

/// Whether a text from a walk below the workspace can be a path. Asked for every file, so it parses nothing.
pub(crate) fn is_path(text: &str) -> bool {
    let controls = match text.is_ascii() {
        true => text.bytes().any(|byte| byte.is_ascii_control()),
        false => text.chars().any(char::is_control),
    };
    !controls && !text.starts_with('~')
}

/// The path of an entry of a folder; for one that no path can name, a path that shows it, and `true`.
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
