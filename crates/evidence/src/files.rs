//! The purpose of a file, by its path: code, test, recipe, data or document; and from that, the files that make up "the
//! new code with the base's tests" and "the base's code with the new tests". Reads no folder: the caller builds the
//! trees.

mod annotations;
mod carried;
mod comments;
mod declarations;
mod manifest;
mod needless;
mod recipes;
mod unit_tests;

use types::{ChangeKind, Changes, FileChange, WorkPath};

pub use carried::{Carried, Ordered};
pub use comments::only_comments;
pub use manifest::restored_manifest;
pub use needless::needless;
pub(crate) use unit_tests::test_modules;
pub use unit_tests::{only_unit_tests, swapped_unit_tests, without_unit_tests};

/// The purpose of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Source code of the product.
    Code,
    /// A test, or a file used only by tests.
    Test,
    /// Determines how tests are found, built and run.
    Recipe,
    /// Read by code or tests, or compared with.
    Data,
    /// For people.
    Document,
}

/// How to turn one tree into another with the tests, recipes and data of a second commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mix {
    /// Paths to take unchanged from the second commit.
    pub restore: Vec<WorkPath>,
    /// Paths to delete.
    pub remove: Vec<WorkPath>,
    /// Manifests whose test settings come from the second commit: see `restored_manifest`.
    pub merge: Vec<WorkPath>,
}

/// The purpose of a changed file. One that was there before shadows nothing: a project may be what it is named like.
#[must_use]
pub fn kind_of(change: &FileChange, tests: &[String]) -> FileKind {
    let path = change.path.as_str();
    let (folders, name) = split(path);
    match change.how {
        ChangeKind::Modified | ChangeKind::Deleted if recipes::is_shadow(&folders, name) => {
            if is_test(path, tests) {
                FileKind::Test
            } else {
                FileKind::Code
            }
        }
        _ => kind(path, tests),
    }
}

fn split(path: &str) -> (Vec<&str>, &str) {
    let mut folders: Vec<&str> = path.split('/').collect();
    let name = folders.pop().unwrap_or_default();
    (folders, name)
}

/// The purpose of a file. `tests` are names with `*` for anything, or folders with a slash.
#[must_use]
pub fn kind(path: &str, tests: &[String]) -> FileKind {
    let (folders, name) = split(path);
    if recipes::is_recipe(&folders, name) {
        return FileKind::Recipe;
    }
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    let end = end.as_deref().unwrap_or_default();
    let is_test = is_test(path, tests);
    let expects = folders.iter().any(|folder| is_expected(folder));
    let is_plain = TEXT.contains(&end) || end.is_empty();
    let in_docs = folders.iter().any(|folder| matches!(*folder, "docs" | "doc"));
    // The settings of what builds the documentation.
    if in_docs && name == "conf.py" {
        return FileKind::Document;
    }
    let compared = folders.iter().any(|folder| COMPARED.contains(folder)) && !is_test;
    if recipes::is_lock(name)
        || DATA.contains(&end)
        || compared
        || (expects && is_plain && !in_docs)
    {
        return FileKind::Data;
    }
    if is_test {
        return FileKind::Test;
    }
    // Types that only a type checker reads.
    if ["pyi", "typed"].contains(&end) || name.ends_with(".d.ts") {
        return FileKind::Document;
    }
    if DOCUMENTS.contains(&end) || (is_plain && is_prose(&folders, name)) {
        return FileKind::Document;
    }
    if TEXT.contains(&end) { FileKind::Data } else { FileKind::Code }
}

const DOCUMENTS: &[&str] = &["md", "mdx", "rst", "adoc", "asciidoc", "markdown", "textile", "tex"];

const TEXT: &[&str] = &["txt", "text", "out", "log"];

const DATA: &[&str] = &[
    "json",
    "jsonl",
    "ndjson",
    "json5",
    "csv",
    "tsv",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "properties",
    "xml",
    "snap",
    "golden",
    "approved",
    "expected",
    "dat",
    "bin",
    "db",
    "sqlite",
    "parquet",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "ico",
    "pdf",
    "zip",
    "gz",
    "tar",
    "tap",
    "har",
    "diff",
    "patch",
    "pem",
    "crt",
    "wav",
    "mp3",
    "ttf",
    "woff",
    "woff2",
    "svg",
    "po",
    "plist",
];

/// Folders of expected results; files in them are never run, regardless of their names.
const COMPARED: &[&str] = &[
    "testdata",
    "test_data",
    "test-data",
    "fixtures",
    "__fixtures__",
    "golden",
    "goldens",
    "golden_files",
    "approved",
    "approvals",
    "expected",
    "expectations",
    "snapshots",
    "__snapshots__",
    "samples",
    "cassettes",
];

/// Further folders of expected results, or of data that tests read.
const READ: &[&str] =
    &["fixture", "snapshot", "baselines", "baseline", "reference", "data", "corpus"];

fn is_expected(folder: &str) -> bool {
    COMPARED.contains(&folder) || READ.contains(&folder)
}

const PROSE: &[&str] = &[
    "readme",
    "license",
    "licence",
    "copying",
    "changelog",
    "changes",
    "history",
    "news",
    "authors",
    "contributors",
    "contributing",
    "maintainers",
    "notice",
    "notes",
    "todo",
    "security",
    "code_of_conduct",
    "codeowners",
    "install",
    "upgrading",
    "roadmap",
    "faq",
    "thanks",
    "credits",
    "unlicense",
];

fn is_prose(folders: &[&str], name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let known = PROSE.iter().any(|word| stem == *word || stem.starts_with(&format!("{word}-")));
    known
        || folders
            .iter()
            .any(|folder| matches!(*folder, "docs" | "doc" | "man" | "manual" | "wiki"))
}

/// Whether a file is a test, by patterns for names (`*_test.go`) and for folders (`tests/`).
#[must_use]
pub fn is_test(path: &str, tests: &[String]) -> bool {
    let (folders, name) = split(path);
    tests.iter().any(|pattern| match pattern.strip_suffix('/') {
        Some(folder) => folders.contains(&folder),
        None => fits(pattern, name),
    })
}

/// Whether a name matches a pattern in which `*` is anything. Linear in both.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split('*').collect();
    let Some((last, middle)) = parts.split_last() else { return true };
    for part in middle {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// Whether a file has expected results: it is among tests or expectations, or is named like one.
fn is_expectation(path: &str, tests: &[String]) -> bool {
    let (folders, name) = split(path);
    let named = ["golden", "snap", "approved", "expected"];
    let parts = name.to_ascii_lowercase();
    let mut parts = parts.split(|c: char| !c.is_ascii_alphanumeric());
    is_test(path, tests)
        || folders.iter().any(|folder| is_expected(folder) && *folder != "data")
        || parts.any(|part| named.iter().any(|word| part.starts_with(word)))
}

/// Whether a changed data file is the goal of the work rather than test data: the goal names it, or nothing else could
/// be the work.
#[must_use]
pub fn is_product(path: &str, goal: &str, code_changed: bool, tests: &[String]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    kind(path, tests) == FileKind::Data
        && !is_expectation(path, tests)
        && (!code_changed || goal.contains(name))
}

/// How the new commit becomes "the new code with the base's tests, recipes and data". New data stays, because new code
/// may need it; so do files with dependencies or sources, as far as they can be separated from test settings.
#[must_use]
pub fn base_tests(changes: &Changes, tests: &[String]) -> Mix {
    let mut mix = Mix::default();
    for change in &changes.0 {
        let FileChange { path, how, .. } = change;
        let (text, kind) = (path.as_str(), kind_of(change, tests));
        if matches!(kind, FileKind::Code | FileKind::Document) || recipes::is_kept(text) {
            continue;
        }
        let list = match how {
            ChangeKind::Added if kind == FileKind::Data => continue,
            ChangeKind::Added | ChangeKind::Modified if recipes::is_merged(text) => &mut mix.merge,
            ChangeKind::Added => &mut mix.remove,
            ChangeKind::Modified | ChangeKind::Deleted => &mut mix.restore,
        };
        list.push(path.clone());
    }
    mix
}

/// How the base commit becomes "the base's code with the new tests, recipes and data".
#[must_use]
pub fn new_tests(changes: &Changes, tests: &[String]) -> Mix {
    let mut mix = Mix::default();
    for change in &changes.0 {
        let FileChange { path, how, .. } = change;
        if matches!(kind_of(change, tests), FileKind::Code | FileKind::Document) {
            continue;
        }
        let list = match how {
            ChangeKind::Modified if recipes::is_merged(path.as_str()) => &mut mix.merge,
            ChangeKind::Added | ChangeKind::Modified => &mut mix.restore,
            ChangeKind::Deleted => &mut mix.remove,
        };
        list.push(path.clone());
    }
    mix
}

#[cfg(test)]
mod tests;
