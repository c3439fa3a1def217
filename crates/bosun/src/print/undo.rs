//! The result of an undo for people: the restored files, those that were left alone, and both versions of the latter.

use runtime::sandbox::Content;
use runtime::{Conflict, Undone};
use similar::TextDiff;
use types::{count, one_line};

/// Maximum number of restored files, and of files left alone, that are named.
const NAMED: usize = 5;
const MOST_LEFT: usize = 20;
/// Texts above this size in bytes are not compared.
const LARGEST: usize = 256 * 1024;

/// The restored and the removed files on one line.
pub(crate) fn summary(undone: &Undone) -> String {
    let restored = &undone.restored;
    let written = restored.written.iter().map(|path| name(path));
    let removed = restored.removed.iter().map(|path| format!("{} removed", name(path)));
    listed(written.chain(removed)).unwrap_or_else(|| "no file".to_owned())
}

/// What an undo did, on one line: the restored files, then the removed ones.
pub(crate) fn outcome(undone: &Undone) -> String {
    let restored = &undone.restored;
    let [written, removed] = [&restored.written, &restored.removed]
        .map(|paths| listed(paths.iter().map(|path| name(path))));
    let parts = [("restored", written), ("removed", removed)];
    let parts = parts.into_iter().filter_map(|(word, all)| Some(format!("{word}: {}", all?)));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "no file was restored".to_owned() } else { parts.join("; ") }
}

/// The first of these names; `None` if there is none.
fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = names.collect();
    match all.len() {
        0 => None,
        more if more > NAMED => {
            Some(format!("{} and {} more", all[..NAMED].join(", "), more - NAMED))
        }
        _ => Some(all.join(", ")),
    }
}

/// The files that were left alone, and where the replaced versions are, one line each.
pub(crate) fn notes(undone: &Undone) -> Vec<String> {
    let left = &undone.restored.left_alone;
    let line = |left: &runtime::sandbox::LeftAlone| {
        format!("left alone: {} ({})", name(&left.path), left.why)
    };
    let mut lines: Vec<String> = left.iter().take(MOST_LEFT).map(line).collect();
    if left.len() > MOST_LEFT {
        lines.push(format!("left alone: {} more", count(left.len() - MOST_LEFT, "file")));
    }
    if let Some(folder) = &undone.restored.kept_in {
        lines.push(format!("replaced versions are kept in {}", super::path(folder)));
    }
    lines
}

/// That a failure stopped the undo, if one did, and how to continue it.
pub(crate) fn incomplete(undone: &Undone, again: &str) -> Option<String> {
    let why = undone.restored.stopped.as_ref()?;
    Some(format!("the undo stopped before its end: {why}; once that is solved, {again}"))
}

/// What replacing a file would change, in git's format.
pub(crate) fn patch(conflict: &Conflict) -> String {
    let path = name(&conflict.path);
    let side = |content: &Option<Content>| match content {
        None => Some(String::new()),
        Some(Content::File { bytes, .. }) if bytes.len() <= LARGEST => {
            String::from_utf8(bytes.clone()).ok()
        }
        Some(Content::Link { target }) => Some(format!("{}\n", target.display())),
        Some(Content::File { .. } | Content::LeftOut) => None,
    };
    let head = |sign: char, content: &Option<Content>| match content {
        Some(_) => format!("{sign}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (head('a', &conflict.now), head('b', &conflict.wanted));
    let body = match (side(&conflict.now), side(&conflict.wanted)) {
        (Some(now), Some(wanted)) if now == wanted => "only its mode or type differs\n".to_owned(),
        (Some(now), Some(wanted)) => {
            TextDiff::from_lines(&now, &wanted).unified_diff().header(&from, &to).to_string()
        }
        _ => format!("binary or large files {from} and {to} differ\n"),
    };
    format!("diff --git a/{path} b/{path}\n{body}")
}

fn name(path: &std::path::Path) -> String {
    one_line(&path.display().to_string(), 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> Option<Content> {
        Some(Content::File { bytes: text.to_vec(), mode: 0o644 })
    }

    #[test]
    fn what_was_removed_is_not_called_restored() {
        let outcome_of = |written: &[&str], removed: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(std::path::PathBuf::from).collect();
            let digest = types::Digest::ZERO;
            let restored = runtime::sandbox::Restored {
                trees: types::Trees { before: digest, after: digest, switched: false },
                written: paths(written),
                removed: paths(removed),
                left_alone: vec![],
                kept_in: None,
                stopped: None,
            };
            outcome(&Undone { to: 1, restored, conflicts: vec![] })
        };
        assert_eq!(outcome_of(&[], &["moved.txt"]), "removed: moved.txt");
        assert_eq!(outcome_of(&["a", "b"], &["c"]), "restored: a, b; removed: c");
        assert_eq!(outcome_of(&[], &[]), "no file was restored");
    }

    #[test]
    fn a_conflict_shows_what_a_replacement_would_change() {
        let conflict = |now, wanted| Conflict { path: "a".into(), now, wanted };
        let shown = patch(&conflict(file(b"one\nmine\n"), file(b"one\n")));
        assert_eq!(shown, "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1 @@\n one\n-mine\n");
        let shown = patch(&conflict(None, file(b"one\n")));
        assert!(shown.contains("--- /dev/null\n+++ b/a\n") && shown.contains("+one"), "{shown}");
        let shown = patch(&conflict(file(&[0xff]), file(b"one\n")));
        assert!(shown.contains("binary"), "{shown}");
    }
}
