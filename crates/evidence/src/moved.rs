//! Moved tests: a test file with the same expectations in another order, on other lines and under another name of the
//! same pattern. Honest code cannot tell the difference; answers by order, caller or line can. Tests of a file whose tests
//! share something that they change keep their order. Names no tree and runs nothing; whether a failure means anything is
//! decided elsewhere.

mod order;

use crate::cases::cases;
use crate::pattern::pattern;
use crate::related::has_word;
use crate::source::{Language, Source};

/// Lines that are put above the first one.
const SHIFT: &str = "\n\n\n";
/// Words that make another name for a file; the file decides which.
const WORDS: &[&str] = &["more", "other", "basic", "main", "usual", "plain", "common"];

/// A test file with moved tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    pub text: String,
    /// The tests of the file: their names before and now.
    pub tests: Vec<(String, String)>,
    /// Whether any of them changed places.
    pub reordered: bool,
}

/// A test file with its tests in another order and on other lines. `None` if no test is found in it.
#[must_use]
pub fn moved(path: &str, text: &str) -> Option<Moved> {
    let source = Source::of(path, text)?;
    let movable = matches!(
        source.language,
        Language::Python | Language::JavaScript | Language::Rust | Language::Go
    );
    if !movable || cases(&source).is_empty() {
        return None;
    }
    let (text, tests, reordered) = order::turned(&source);
    // An interpreter looks for these in the first lines.
    let first: Vec<&str> = text.lines().take(2).collect();
    let fixed = first.iter().any(|line| line.starts_with("#!") || line.contains("coding"));
    let text = if fixed { text } else { format!("{SHIFT}{text}") };
    Some(Moved { text, tests, reordered })
}

/// Another path of the same kind, by which the runner also finds tests. `None` if something depends on the name: the
/// command, the file itself, or one of the other files, given by path and text.
#[must_use]
pub fn other_path<'a>(
    path: &str,
    text: &str,
    command: &str,
    others: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<String> {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    let (start, stem) = stem(folder, name)?;
    let own = pattern!(
        r"__file__|__filename|import\.meta|\bfile!\(|runtime\.Caller|toMatchSnapshot|insta::|assert_snapshot"
    );
    if own.is_match(text) || names(command, path, &stem) {
        return None;
    }
    let word = WORDS[path.bytes().map(usize::from).sum::<usize>() % WORDS.len()];
    let renamed = format!("{start}{word}_{}", &name[start.len()..]);
    let other = if folder.is_empty() { renamed } else { format!("{folder}/{renamed}") };
    let depends = |(of, text): (&str, &str)| {
        of != path
            && (of == other
                || names(text, path, &stem)
                || of.split('/').any(|part| part != stem && part.starts_with(stem.as_str())))
    };
    (!others.into_iter().any(depends)).then_some(other)
}

/// Whether a text names a test file, with or without its extension.
#[must_use]
pub fn is_named(path: &str, text: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
    match stem(folder, name) {
        Some((_, stem)) => names(text, path, &stem),
        None => true,
    }
}

/// Whether a test file can be left out without taking something away from others: in Go the files of a package belong
/// together, and a file without tests is there for others.
#[must_use]
pub fn can_stand_apart(path: &str, text: &str) -> bool {
    let Some(source) = Source::of(path, text) else { return false };
    let apart = match source.language {
        Language::Python | Language::JavaScript => true,
        Language::Rust => path.rsplit('/').nth(1) == Some("tests"),
        _ => false,
    };
    apart && !cases(&source).is_empty()
}

fn names(text: &str, path: &str, stem: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // A plain word is in many texts by chance.
    let distinct = stem.contains(['_', '.', '-']) || !path.ends_with(".rs");
    let declared = || {
        pattern!(r#"--test[ =]|\bname\s*=\s*"|\bmod\s+\w+;"#)
            .find_iter(text)
            .any(|found| has_word(text[found.start()..].lines().next().unwrap_or_default(), stem))
    };
    has_word(text, name) || distinct && has_word(text, stem) || !distinct && declared()
}

/// The part of a name before which a word can be put, and the name by which others refer to it.
fn stem(folder: &str, name: &str) -> Option<(&'static str, String)> {
    let (stem, end) = name.rsplit_once('.')?;
    let start = match end {
        "py" if stem.starts_with("test_") => "test_",
        "py" if stem.ends_with("_test") => "",
        "go" if stem.ends_with("_test") => "",
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" | "mts" | "cts"
            if stem.ends_with(".test") || stem.ends_with(".spec") =>
        {
            ""
        }
        "rs" if folder.rsplit('/').next() == Some("tests") && stem != "main" => "",
        _ => return None,
    };
    Some((start, stem.to_owned()))
}

#[cfg(test)]
mod tests;
