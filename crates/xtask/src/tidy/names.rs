//! Meaningless names are refused, for files and folders of code as well as types.

use crate::code;
use crate::finding::Finding;
use crate::tree::Tree;

const EMPTY_WORDS: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "misc", "manager", "managers", "service",
    "services", "handler", "handlers", "data", "info",
];

/// Exceptions that are meaningful: the services of the loop, and the helper process of a sandbox.
const MEANT: &[&str] = &[
    "Services",
    "SandboxHelper",
    "SandboxHelpers",
    "HelperExe",
    "runtime/src/services.rs",
    "confine/helper.rs",
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust()
        .flat_map(|(path, text)| path_words(path).into_iter().chain(types(path, text)))
        .collect()
}

/// Folders count as well: no file may be under `util/`.
fn path_words(path: &str) -> Option<Finding> {
    if MEANT.iter().any(|meant| path.ends_with(meant)) {
        return None;
    }
    let inside = path.trim_end_matches(".rs").split('/').skip(2);
    let word = inside.flat_map(|part| part.split('_')).find(|word| says_nothing(word))?;
    let what = format!("`{word}` says nothing; name the file after the one idea that it holds");
    Some(Finding::new(path, 1, what))
}

fn types(path: &str, text: &str) -> Vec<Finding> {
    let code = code::without_prose(text);
    let declared = code.lines().enumerate().filter_map(|(at, line)| Some((at, type_name(line)?)));
    let empty = declared.filter(|(_, name)| {
        !MEANT.contains(name) && camel_words(name).iter().any(|word| says_nothing(word))
    });
    let what =
        |name: &str| format!("`{name}` says nothing; name the type after what it stands for");
    empty.map(|(at, name)| Finding::new(path, at + 1, what(name))).collect()
}

fn says_nothing(word: &str) -> bool {
    let numbered = |prefix: &str| {
        word.strip_prefix(prefix)
            .is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    // The first version on the wire may be `v1`; a second one is never a name.
    EMPTY_WORDS.contains(&word) || numbered("part") || (numbered("v") && word != "v1")
}

fn type_name(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    let declares = matches!(words.next()?, "struct" | "enum" | "trait" | "type");
    let name = words.next()?.split(|c: char| !c.is_alphanumeric()).next()?;
    declares.then_some(name)
}

pub(crate) fn camel_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in name.chars() {
        match words.last_mut() {
            Some(word) if !c.is_uppercase() => word.push(c),
            _ => words.push(c.to_lowercase().collect()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<String> {
        let files: Vec<(&str, &str)> = paths.iter().map(|path| (*path, "")).collect();
        check(&Tree::of(&files)).into_iter().map(|finding| finding.file).collect()
    }

    #[test]
    fn files_and_folders_with_empty_names_are_found() {
        let bad = [
            "crates/a/src/cli_util.rs",
            "crates/a/src/common/x.rs",
            "crates/a/src/compact_v2.rs",
            "crates/a/src/turn_part2.rs",
            "crates/a/tests/it/helpers.rs",
        ];
        assert_eq!(files(&bad), bad);
    }

    #[test]
    fn names_that_only_contain_such_letters_are_fine() {
        let good = ["crates/a/src/database.rs", "crates/a/src/vary.rs", "crates/a/data/m.json"];
        assert_eq!(files(&good), [""; 0]);
    }

    #[test]
    fn types_with_empty_names_are_found_where_they_are_declared() {
        let text = "//! A doc.\npub struct TaskManager {}\nimpl ServerHandler for Door {}\n\
                    pub(crate) enum Information {}\n// struct Info;\n";
        let found = check(&Tree::of(&[("crates/a/src/a.rs", text)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, 2);
    }
}
