//! Every Rust file starts with a module doc. Its quality is for a reviewer.

use crate::finding::Finding;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let silent = |(path, text): (&str, &str)| {
        let says = text.lines().next().and_then(|line| line.strip_prefix("//! "));
        let what = "open the file with `//! ` and what it is, its invariant, what it does not do";
        says.is_none().then(|| Finding::new(path, 1, what))
    };
    tree.rust().filter_map(silent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_say_what_it_is_is_found() {
        let tree = Tree::of(&[
            ("crates/a/src/good.rs", "//! The good one.\n"),
            ("crates/a/src/late.rs", "use x;\n//! Too late.\n"),
            ("crates/a/tests/it/mute.rs", "//!\n"),
            ("docs/aside.rs", ""),
        ]);
        let found = check(&tree);
        let files: Vec<&str> = found.iter().map(|finding| finding.file.as_str()).collect();
        assert_eq!(files, ["crates/a/src/late.rs", "crates/a/tests/it/mute.rs"]);
    }
}
