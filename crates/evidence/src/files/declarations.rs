//! Changes of declarations alone: what a package imports and exports in the files that are there for it. Nothing in them
//! runs, so no fault can be made in them; they are what was wanted if the goal names what is exported. Imports of other
//! files are left: they do nothing for a user.

use std::collections::BTreeSet;

use super::carried::Ordered;
use crate::pattern::{Pattern, pattern};
use crate::source::{Language, Source};

/// Files that are there for the names of a package.
const OF_NAMES: &[&str] = &["__init__.py", "lib.rs", "mod.rs", "index.js", "index.mjs", "index.ts"];
const WORDS: &[&str] = &["from", "import", "export", "pub", "use", "crate", "super", "self", "as"];

impl Ordered {
    /// The names that the goal mentions, as `exports retry`, if a change of a file is one of its exports alone.
    #[must_use]
    pub fn exported(&self, path: &str, old: &str, new: &str) -> Option<Vec<String>> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let (old, new) = (Source::of(path, old)?, Source::of(path, new)?);
        if !OF_NAMES.contains(&name) {
            return None;
        }
        let (before, after) = (lines(&old), lines(&new));
        let declares = declaration(new.language)?;
        let mut changed = before.symmetric_difference(&after);
        if !changed.all(|line| declares.is_match(line)) {
            return None;
        }
        let gone = before.difference(&after).flat_map(|line| words(line)).collect::<BTreeSet<_>>();
        let has = after.difference(&before).flat_map(|line| words(line)).collect::<BTreeSet<_>>();
        // What is not exported any more may be missed.
        if !gone.is_subset(&has) {
            return None;
        }
        let named = has.difference(&gone).filter(|word| self.names(word));
        Some(named.map(|word| format!("exports {word}")).collect())
    }
}

fn declaration(language: Language) -> Option<&'static Pattern> {
    Some(match language {
        Language::Python => pattern!(r"^(?:import |from .* import |__all__ (?:\+=|=) )"),
        Language::JavaScript => pattern!(
            r"^(?:import |export (?:type )?(?:\*|\{[^}]*\})(?: as \w+)?(?: from |;?$)|(?:export )?interface )"
        ),
        Language::Rust => pattern!(r"^pub use "),
        _ => return None,
    })
}

/// The statements of a file, without comments.
fn lines(source: &Source<'_>) -> BTreeSet<String> {
    let code = source.code_without_docstrings();
    let lines = source.logical_lines(0..code.len()).into_iter();
    let plain = lines.map(|line| code[line].split_whitespace().collect::<Vec<_>>().join(" "));
    plain.filter(|line| !line.is_empty()).collect()
}

fn words(line: &str) -> Vec<&str> {
    let all = pattern!(r"[A-Za-z_]\w{2,}").find_iter(line).map(|found| found.as_str());
    all.filter(|word| !WORDS.contains(word) && *word != "__all__").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exported(goal: &str, path: &str, old: &str, new: &str) -> Option<Vec<String>> {
        Ordered::new(goal, &[], &[], (&[], &[])).exported(path, old, new)
    }

    #[test]
    fn exports_that_the_goal_names_are_ordered() {
        for (path, old, new) in [
            (
                "box/__init__.py",
                "from .a import one\n__all__ = [\n    'one',\n]\n",
                "from .a import one, retry\n__all__ = [\n    'one',\n    'retry',\n]\n",
            ),
            ("src/lib.rs", "mod a;\npub use a::One;\n", "mod a;\npub use a::{retry, One};\n"),
            (
                "index.ts",
                "export * from './a';\n",
                "export * from './a';\nexport { retry } from './b';\n",
            ),
        ] {
            let found = exported("Export `retry` from the package.", path, old, new);
            assert_eq!(found.as_deref(), Some(&["exports retry".to_owned()][..]), "{path}");
        }
    }

    #[test]
    fn code_lost_names_and_other_files_are_no_exports() {
        let goal = "Export `retry` from the package.";
        for (path, old, new) in [
            ("box/__init__.py", "x = 1\n", "from .a import retry\nx = 2\n"),
            ("box/__init__.py", "from .a import one\n", "from .a import retry\n"),
            ("box/other.py", "", "from .a import retry\n"),
            ("src/lib.rs", "fn f() {\n    a()\n}\n", "pub use a::retry;\nfn f() {\n    b()\n}\n"),
        ] {
            assert_eq!(exported(goal, path, old, new), None, "{path}: {new}");
        }
        let found = exported(goal, "a/__init__.py", "", "import time\n");
        assert_eq!(found, Some(vec![]), "an import that the goal does not name");
    }
}
