//! Dead files: a module that no file declares is never compiled. (That no folder of scenarios is forgotten is a test of
//! `bosun`, which plays them.)

use crate::code;
use crate::finding::Finding;
use crate::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter_map(|(path, _)| undeclared(tree, path)).collect()
}

fn undeclared(tree: &Tree, path: &str) -> Option<Finding> {
    let (folder, name, roots) = module_of(path)?;
    let parents: Vec<String> = if folder.is_empty() {
        roots
    } else {
        vec![format!("{folder}.rs"), format!("{folder}/mod.rs")]
    };
    let declared = |parent: &String| tree.file(parent).is_some_and(|text| declares(text, name));
    if parents.iter().any(declared) {
        return None;
    }
    let parent = parents.iter().find(|path| tree.file(path).is_some()).unwrap_or(&parents[0]);
    let what = format!("the file is never compiled: declare `mod {name};` in {parent}");
    Some(Finding::new(path, 1, what))
}

/// The folder of the parent module (empty at the top of a crate), the module's name, and the top-level files that may
/// declare it. `None` for the tops themselves.
fn module_of(path: &str) -> Option<(String, &str, Vec<String>)> {
    let mut parts = path.splitn(4, '/').skip(1);
    let (krate, area, inside) = (parts.next()?, parts.next()?, parts.next()?);
    let (top, inside, roots) = match area {
        "src" => (format!("crates/{krate}/src"), inside, &["lib.rs", "main.rs"][..]),
        "tests" => {
            (format!("crates/{krate}/tests/it"), inside.strip_prefix("it/")?, &["main.rs"][..])
        }
        _ => return None,
    };
    let module = inside.trim_end_matches(".rs").trim_end_matches("/mod");
    if roots.contains(&inside) || module.starts_with("bin/") {
        return None;
    }
    let roots = roots.iter().map(|root| format!("{top}/{root}")).collect();
    Some(match module.rsplit_once('/') {
        Some((folder, name)) => (format!("{top}/{folder}"), name, roots),
        None => (String::new(), module, roots),
    })
}

fn declares(text: &str, name: &str) -> bool {
    let code = code::without_prose(text);
    let declaration = format!("mod {name};");
    // A path attribute may give the module any file; the compiler checks that.
    code.contains("#[path") || code.lines().any(|line| line.trim().ends_with(&declaration))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_test_file_that_is_not_declared_is_found() {
        let found = found(&[
            ("crates/a/tests/it/main.rs", "mod crash;\n// mod doors;\n"),
            ("crates/a/tests/it/crash.rs", ""),
            ("crates/a/tests/it/doors.rs", ""),
        ]);
        let finding = "crates/a/tests/it/doors.rs:1: the file is never compiled: \
                       declare `mod doors;` in crates/a/tests/it/main.rs";
        assert_eq!(found, [finding]);
    }

    #[test]
    fn modules_in_folders_are_declared_by_the_file_beside_or_inside() {
        let files = [
            ("crates/a/src/lib.rs", "pub mod b;\nmod d;\n"),
            ("crates/a/src/b.rs", "#[cfg(test)]\nmod tests;\n"),
            ("crates/a/src/b/tests.rs", ""),
            ("crates/a/src/d/mod.rs", "pub(crate) mod e;\n"),
            ("crates/a/src/d/e.rs", ""),
            ("crates/a/src/bin/f.rs", ""),
        ];
        assert_eq!(found(&files), [""; 0]);
        let mut orphaned = files;
        orphaned[3].1 = "mod other_e;\n";
        assert!(found(&orphaned)[0].starts_with("crates/a/src/d/e.rs:1:"));
    }
}
