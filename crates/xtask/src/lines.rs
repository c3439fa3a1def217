//! Counts the lines of each crate without tests: comments and blank lines included; test files, test modules and the
//! folders of test modules (`#[cfg(test)] mod name;`) left out. Also the longest file and function, and the packages of
//! the lock file. Counts another checkout if one is given, to compare two versions by the same rules.

use std::collections::BTreeSet;
use std::path::Path;

use crate::code;
use crate::tree::Tree;

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let folder = match words {
        [] => root,
        [folder] => Path::new(folder),
        _ => anyhow::bail!("usage: cargo xtask lines [CHECKOUT]"),
    };
    print!("{}", told(&Tree::read(folder)?));
    Ok(())
}

fn told(tree: &Tree) -> String {
    let (mut text, mut sum) = (String::new(), 0);
    for name in tree.crates() {
        let lines: usize = product(tree, name).into_iter().map(|(_, lines)| lines).sum();
        text += &format!("{lines:>7}  {name}\n");
        sum += lines;
    }
    text += &format!("{sum:>7}  in all\n");
    let files = tree.crates().into_iter().flat_map(|name| product(tree, name));
    if let Some((path, lines)) = files.max_by_key(|(_, lines)| *lines) {
        text += &format!("{lines:>7}  the longest file, {path}\n");
    }
    if let Some((lines, name, path)) = longest_function(tree) {
        text += &format!("{lines:>7}  the longest function, {name} in {path}\n");
    }
    let lock = tree.file("Cargo.lock").unwrap_or_default();
    let packages = lock.lines().filter(|line| *line == "[[package]]").count();
    text + &format!("{packages:>7}  packages in the lock file\n")
}

/// The files of a crate with their lines, without tests.
fn product<'a>(tree: &'a Tree, name: &str) -> Vec<(&'a str, usize)> {
    let folder = format!("crates/{name}/src/");
    let tests = test_modules(tree, &folder);
    let counted = tree.under(&folder).filter_map(|(path, text)| {
        let is_test = code::is_test_file(path) || tests.iter().any(|test| path.starts_with(test));
        if !path.ends_with(".rs") || is_test {
            return None;
        }
        let blank = code::without_prose(text);
        let lines: Vec<&str> = blank.lines().collect();
        let tests: usize = code::test_blocks(&lines).into_iter().map(|block| block.len()).sum();
        Some((path, lines.len() - tests))
    });
    counted.collect()
}

/// The beginnings of the paths of modules that are compiled for tests only.
fn test_modules(tree: &Tree, folder: &str) -> BTreeSet<String> {
    let mut modules = BTreeSet::new();
    for (path, text) in tree.under(folder).filter(|(path, _)| path.ends_with(".rs")) {
        let lines: Vec<&str> = text.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[0].trim() == "#[cfg(test)]") {
            let declared = pair[1].split_once("mod ").and_then(|(_, rest)| rest.strip_suffix(';'));
            let Some(module) = declared else { continue };
            let below = match code::stem(path) {
                "lib" | "main" | "mod" => path.rsplit_once('/').map_or("", |(folder, _)| folder),
                _ => path.strip_suffix(".rs").unwrap_or(path),
            };
            modules.extend([format!("{below}/{module}.rs"), format!("{below}/{module}/")]);
        }
    }
    modules
}

fn longest_function(tree: &Tree) -> Option<(usize, String, String)> {
    let mut longest = None;
    for (path, text) in tree.rust().filter(|(path, _)| !code::is_test_file(path)) {
        let blank = code::without_prose(text);
        let lines: Vec<&str> = blank.lines().collect();
        let functions = code::functions(&lines).into_iter();
        let found = functions.map(|(_, name, length)| (length, name.to_owned(), path.to_owned()));
        longest = longest.max(found.max());
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_left_out_wherever_they_are() {
        let tree = Tree::of(&[
            (
                "crates/a/src/lib.rs",
                "mod b;\n#[cfg(test)]\nmod sim;\n\nfn one() {\n    two();\n}\n",
            ),
            ("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod tests {\n    fn long() {}\n}\n"),
            ("crates/a/src/b/tests.rs", "fn x() {}\n"),
            ("crates/a/src/sim.rs", "fn y() {}\n"),
            ("crates/a/src/sim/z.rs", "fn z() {}\n"),
            ("crates/a/tests/it.rs", "fn w() {}\n"),
            ("Cargo.lock", "[[package]]\nname = \"a\"\n"),
        ]);
        let told = told(&tree);
        let lines: Vec<&str> = told.lines().map(str::trim).collect();
        assert_eq!(
            lines,
            [
                "8  a",
                "8  in all",
                "7  the longest file, crates/a/src/lib.rs",
                "3  the longest function, one in crates/a/src/lib.rs",
                "1  packages in the lock file",
            ]
        );
    }
}
