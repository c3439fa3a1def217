//! Whether a failing test is related to a change: its file was changed, or mentions a changed file. In doubt it is.

/// The tests among `failing` that are unrelated to the changed files. `tests` are the texts of test files.
#[must_use]
pub fn unrelated(
    failing: &[String],
    tests: &[(String, String)],
    changed: &[String],
) -> Vec<String> {
    let stems: Vec<&str> = changed.iter().filter_map(|path| stem(path)).collect();
    let is_unrelated = |name: &&String| {
        let short = short_name(name);
        let mut holders = tests.iter().filter(|(_, text)| text.contains(short)).peekable();
        holders.peek().is_some()
            && holders.all(|(path, text)| {
                !changed.contains(path) && !stems.iter().any(|stem| has_word(text, stem))
            })
    };
    failing.iter().filter(is_unrelated).cloned().collect()
}

/// Whether a text mentions one of the changed files.
#[must_use]
pub fn mentions(text: &str, changed: &[String]) -> bool {
    changed.iter().filter_map(|path| stem(path)).any(|stem| has_word(text, stem))
}

/// The part of a test's name that occurs in its file.
#[must_use]
pub fn short_name(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or(name);
    let end = name.rsplit("::").next().unwrap_or(name);
    let end = end.rsplit(" > ").next().unwrap_or(end);
    // Cargo's tests are named after their program: `edges tests/edges.rs rounds_up`.
    let end = match end.rsplit_once(".rs ") {
        Some((_, test)) => test,
        None => end.rsplit('/').next().unwrap_or(end),
    };
    match end.contains(' ') {
        true => end,
        false => end.rsplit('.').next().unwrap_or(end),
    }
}

/// A file's name without its extension, if it is distinctive.
fn stem(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let stem = name.split('.').next()?;
    let common = ["mod", "lib", "main", "index", "__init__", "test", "tests", "README"];
    match common.contains(&stem) {
        // The folder's name is more distinctive here.
        true => path.rsplit('/').nth(1),
        false => Some(stem).filter(|stem| stem.len() > 1),
    }
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let letter = |c: char| c.is_alphanumeric() || c == '_';
        let before = text[..at].chars().next_back().is_some_and(letter);
        let after = text[at + word.len()..].chars().next().is_some_and(letter);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_about_the_files_that_its_own_file_mentions() {
        let tests = [
            (
                "tests/test_slug.py".to_owned(),
                "from slug import x\ndef test_runs(): pass".to_owned(),
            ),
            ("tests/test_date.py".to_owned(), "import dates\ndef test_leap(): pass".to_owned()),
        ];
        let failing = ["tests.test_slug::test_runs", "tests.test_date::test_leap[2024]", "gone"];
        let failing = failing.map(str::to_owned);
        let changed = ["slug.py".to_owned()];
        assert_eq!(unrelated(&failing, &tests, &changed), ["tests.test_date::test_leap[2024]"]);
        assert_eq!(
            unrelated(&failing, &tests, &["tests/test_date.py".to_owned(), "slug.py".to_owned()]),
            [""; 0]
        );
    }

    #[test]
    fn names_are_cut_to_what_stands_in_the_file() {
        for (name, short) in [
            ("tests.test_a::test_b[x-1]", "test_b"),
            ("crate::module::tests::works", "works"),
            ("com.example.FooTest.bar", "bar"),
            ("suite > adds two numbers", "adds two numbers"),
            ("pkg/TestPlural", "TestPlural"),
            ("edges tests/edges.rs rounds_up", "rounds_up"),
        ] {
            assert_eq!(short_name(name), short);
        }
    }
}
