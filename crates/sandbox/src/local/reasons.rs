//! Explains to a command that failed where it may write. The system's messages, "read-only file system" or "device or
//! resource busy", tell neither that the scope is the reason nor what would work.

use types::{Artifact, ExecResult, Scope, WorkPath, one_line};

use super::guard::Restored;
use crate::process::append;

/// The system's messages for a path outside the scope, and for a file that cannot be replaced.
const SIGNS: [&str; 3] = ["Read-only file system", "Device or resource busy", "cross-device link"];

/// Maximum number of paths listed.
const MOST: usize = 8;

/// Files that tools leave behind unasked; their removal is not reported.
const CACHES: [&str; 6] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage", ".cache"];

/// Appends a note to a command's output that entries outside the scope were removed.
pub(super) fn removed(paths: &[String], result: &mut ExecResult) {
    let cache = |path: &&String| CACHES.iter().any(|name| path.rsplit('/').next() == Some(name));
    let paths: Vec<&String> = paths.iter().filter(|path| !cache(path)).collect();
    if paths.is_empty() {
        return;
    }
    let named: Vec<String> = paths.iter().take(MOST).map(|path| one_line(path, 200)).collect();
    let more = if paths.len() > MOST { " and others" } else { "" };
    let line =
        format!("[scope: outside of it, so removed or put back: {}{more}]\n", named.join(", "));
    append(&line, result);
}

/// Appends a note to a command's output that settings were restored.
pub(super) fn with_restored(restored: &Restored, mut result: ExecResult) -> ExecResult {
    let paths = &restored.paths;
    if !paths.is_empty() {
        let kept = restored.kept_in.as_ref();
        let kept = kept.map(|folder| format!(" (copies are in {})", folder.display()));
        let named: Vec<&str> = paths.iter().take(MOST).map(WorkPath::as_str).collect();
        let more = if paths.len() > MOST { " and others" } else { "" };
        let line = format!(
            "[settings that make other programs run something are not changed by commands; removed or put back: \
             {}{more}{}. Write them with the file tools, which ask]\n",
            named.join(", "),
            kept.unwrap_or_default()
        );
        append(&line, &mut result);
    }
    result
}

/// Appends the likely reason to the output of a command that seems to have failed because of its scope. `beside` are
/// the folders in which files can be replaced.
pub(super) fn explain(scope: &Scope, beside: &[WorkPath], result: &mut ExecResult) {
    let seen = |text: &str| SIGNS.iter().any(|sign| text.contains(sign));
    if result.passed() || !(seen(&result.stderr) || seen(&result.output)) {
        return;
    }
    let named: Vec<String> = scope.0.iter().take(MOST).map(Artifact::to_string).collect();
    let more = if scope.0.len() > MOST { " and others" } else { "" };
    let mut line = match named.as_slice() {
        [] => "[scope: nothing in the workspace may be written here".to_owned(),
        named => format!("[scope: only {}{more} may be written here", named.join(", ")),
    };
    let in_place = |artifact: &&Artifact| {
        let above = artifact.path.as_str().rsplit_once('/').map_or(".", |(above, _)| above);
        !artifact.whole_folder && !beside.iter().any(|folder| folder.as_str() == above)
    };
    if let Some(file) = scope.0.iter().find(in_place) {
        // A single file is a mount of its own, so nothing beside it is writable.
        line.push_str(&format!(
            "; a single file is written in place and cannot be replaced by another, as sed -i and mv do: edit it \
             with the file tools, or write a copy to /tmp and then `cat /tmp/copy > {}`",
            file.path
        ));
    }
    line.push_str("]\n");
    append(&line, result);
}

#[cfg(test)]
mod tests {
    use types::{Ended, Millis};

    use super::*;

    fn told(scope: &[&str], ended: Ended, said: &str) -> String {
        let scope = scope.iter().map(|place| place.parse().expect("a place")).collect();
        let (output, stderr) = (said.to_owned(), said.to_owned());
        let (stdout, elapsed) = (String::new(), Millis::default());
        let mut result = ExecResult { ended, output, stdout, stderr, dropped: 0, elapsed };
        explain(&Scope(scope), &[], &mut result);
        assert_eq!(result.output, result.stderr);
        result.output
    }

    #[test]
    fn a_command_that_could_not_write_hears_where_it_may() {
        let said = "sed: couldn't open temporary file ./sedX: Read-only file system";
        let file = told(&["src/a.rs"], Ended::Exited(4), said);
        assert!(
            file.contains("only src/a.rs may be written") && file.contains("> src/a.rs"),
            "{file}"
        );
        let folder = told(&["src/"], Ended::Exited(1), said);
        assert!(folder.ends_with("[scope: only src/ may be written here]\n"), "{folder}");
        assert!(told(&[], Ended::Exited(1), said).contains("nothing in the workspace"));
        assert_eq!(told(&["src/"], Ended::Exited(0), said), said);
        assert_eq!(told(&["src/"], Ended::Exited(1), "no such file"), "no such file");
    }
}
