//! Test files that a run of a few others can do without. Only those that runners find by their names: whatever else is
//! among the tests may be loaded by them.

use types::WorkPath;

use crate::related::has_word;

/// The test files that a tree with `wanted` ones does not need: nothing that stays mentions them, and neither does the
/// command. `files` are tests, recipes and manifests with their texts.
#[must_use]
pub fn needless(
    files: Vec<(WorkPath, String)>,
    wanted: &[WorkPath],
    command: &str,
) -> Vec<WorkPath> {
    let stays =
        |(path, _): &(WorkPath, String)| wanted.contains(path) || found_as(path.as_str()).is_none();
    let (kept, mut rest): (Vec<_>, Vec<_>) = files.into_iter().partition(stays);
    let mut open: Vec<String> = kept.into_iter().map(|(_, text)| text).collect();
    open.push(command.to_owned());
    while let Some(text) = open.pop() {
        let mentioned = |(path, _): &(WorkPath, String)| {
            found_as(path.as_str()).is_none_or(|name| has_word(&text, name))
        };
        let (kept, needless): (Vec<_>, Vec<_>) = rest.into_iter().partition(mentioned);
        open.extend(kept.into_iter().map(|(_, text)| text));
        rest = needless;
    }
    rest.into_iter().map(|(path, _)| path).collect()
}

/// The name by which other files would mention a test file that a runner finds by itself.
fn found_as(path: &str) -> Option<&str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, end) = name.rsplit_once('.')?;
    let found = match end {
        "py" => stem.starts_with("test_") || stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "tsx" => {
            stem.ends_with(".test") || stem.ends_with(".spec")
        }
        "rs" => folder == "tests" || folder.ends_with("/tests"),
        _ => false,
    };
    found.then_some(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_mention_and_what_runners_do_not_find_by_name_stays() {
        let files = [
            ("tests/test_new.py", "from tests.test_base import Base"),
            ("tests/test_base.py", "from tests import test_deep"),
            ("tests/test_deep.py", ""),
            ("tests/test_old.py", "import test_older"),
            ("tests/test_older.py", ""),
            ("tests/test_listed.py", ""),
            ("tests/helpers.py", ""),
            ("tests/conftest.py", "pytest_plugins = ['tests.test_plugin']"),
            ("tests/test_plugin.py", ""),
            ("pyproject.toml", "[tool.pytest]"),
            ("web/a.test.ts", ""),
            ("tests/edges.rs", "mod common;"),
            ("tests/common.rs", ""),
        ];
        let path = |path: &str| -> WorkPath { path.parse().expect("a path") };
        let files = files.map(|(name, text)| (path(name), text.to_owned())).to_vec();
        let command = "python3 -m pytest tests/test_listed.py tests";
        let gone = needless(files, &[path("tests/test_new.py")], command);
        let gone: Vec<&str> = gone.iter().map(WorkPath::as_str).collect();
        let needless = ["tests/test_old.py", "tests/test_older.py", "web/a.test.ts"];
        assert_eq!(gone, [&needless[..], &["tests/edges.rs", "tests/common.rs"]].concat());
    }
}
