//! Paths in words: which are certainly outside of any workspace, and which are devices. Text only, and conservative:
//! a path that is not certainly outside is left to the sandbox.

use types::Sensitive;

use super::word::{Piece, Word};

/// Folders that belong to the system, with everything in them.
const SYSTEM: [&str; 13] = [
    "etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "boot", "dev", "proc", "sys", "System",
    "Library",
];

/// Names below `/dev` that are safe to write to.
const HARMLESS: [&str; 11] =
    ["null", "zero", "full", "stdin", "stdout", "stderr", "tty", "fd", "shm", "random", "urandom"];

/// The working directory of a command, as far as the line itself determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Cwd {
    /// That of the line: in the workspace.
    #[default]
    Workspace,
    /// Somewhere else, perhaps deeper in the workspace.
    Elsewhere,
    /// Outside the workspace.
    Outside,
}

/// Whether a word names something outside the workspace, for a command with this working directory.
pub(super) fn is_outside_from(cwd: Cwd, word: &Word) -> bool {
    let relative = || !word.shown().starts_with(['/', '~', '$']);
    match cwd {
        Cwd::Workspace => is_outside(word),
        Cwd::Elsewhere => !relative() && is_outside(word),
        Cwd::Outside => relative() || is_outside(word),
    }
}

/// The working directory after `cd`.
pub(super) fn after_cd(cwd: Cwd, target: Option<&Word>) -> Cwd {
    match target {
        // Without a word it goes home.
        None => Cwd::Outside,
        Some(word) if is_outside_from(cwd, word) => Cwd::Outside,
        Some(_) => Cwd::Elsewhere,
    }
}

/// Whether a word names the root, a system folder, a home, or a path above the workspace.
fn is_outside(word: &Word) -> bool {
    let text = word.shown();
    if let Some(rest) = beyond_home(&text) {
        // A path deep in a home may be the workspace; the home itself and its hidden files are not.
        let names: Vec<&str> = rest.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        return names.len() < 2 || names.iter().any(|name| name.starts_with('.'));
    }
    if text.starts_with('~') || text.starts_with("$BOSUN_HOME") || text.starts_with("${BOSUN_HOME")
    {
        return true;
    }
    // The target of an unknown piece is open, but the text before it may be certain.
    let Some(Piece::Known(_) | Piece::Open(_) | Piece::Guess(_)) = word.0.first() else {
        return false;
    };
    let (absolute, names) = plain(&text);
    if !absolute {
        return names.first().is_some_and(|name| name == "..");
    }
    let Some(first) = names.first().map(String::as_str) else { return true };
    // The hidden files of a home, by its own path, and Bosun's own state or other people's keys wherever they are.
    let hidden = |name: &String| name.starts_with('.') && matches!(first, "home" | "Users");
    if names.get(2).is_some_and(hidden)
        || Sensitive::of_text(&names.join("/")) == Some(Sensitive::Credentials)
    {
        return true;
    }
    match names.len() {
        1 => first != "tmp",
        _ if first == "dev" => !names.get(1).is_some_and(|name| HARMLESS.contains(&name.as_str())),
        2 if matches!(first, "home" | "Users" | "var" | "root") => names[1] != "tmp",
        _ => {
            SYSTEM.contains(&first)
                || (first == "var" && names[1] == "log")
                || first == "root" && names[1].starts_with('.')
        }
    }
}

/// Whether a word names a device that can lose data.
pub(super) fn is_device(word: &Word) -> bool {
    device(word).is_some_and(|name| {
        !HARMLESS.contains(&name.as_str()) && !matches!(name.as_str(), "tcp" | "udp" | "pts")
    })
}

/// Whether the shell would open a network connection for it.
pub(super) fn is_connection(word: &Word) -> bool {
    device(word).is_some_and(|name| matches!(name.as_str(), "tcp" | "udp"))
}

fn device(word: &Word) -> Option<String> {
    match plain(&word.shown()) {
        (true, names) if names.first().is_some_and(|name| name == "dev") => names.get(1).cloned(),
        _ => None,
    }
}

/// Whether writing to it has no lasting effect.
pub(super) fn is_nowhere(word: &Word) -> bool {
    device(word).is_some_and(|name| HARMLESS.contains(&name.as_str()) && name != "shm")
}

fn beyond_home(text: &str) -> Option<&str> {
    // `${HOME:?}` is home too.
    let braced = || text.strip_prefix("${HOME").and_then(|rest| rest.split_once('}'));
    let starts = ["~", "$HOME"];
    let rest = starts.into_iter().find_map(|start| text.strip_prefix(start));
    let rest = rest.or_else(|| braced().map(|(_, rest)| rest))?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Whether it is absolute, and its names without `.` and with `..` resolved as far as text can.
fn plain(text: &str) -> (bool, Vec<String>) {
    let absolute = text.starts_with('/');
    let mut names: Vec<String> = Vec::new();
    for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
        match (name, names.last().map(String::as_str)) {
            ("..", None) if absolute => {}
            ("..", Some(last)) if last != ".." => {
                names.pop();
            }
            _ => names.push(name.to_owned()),
        }
    }
    (absolute, names)
}
