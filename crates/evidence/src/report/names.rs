//! Names that determine the meaning of a missing module or a lost test: manifests, test runners, whole files.

/// Whether a file lists the packages that a project needs.
#[must_use]
pub fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let named = [
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "Pipfile",
        "tox.ini",
        "environment.yml",
        "package.json",
        "Gemfile",
        "composer.json",
        "go.mod",
        "Cargo.toml",
    ];
    named.contains(&name) || (name.contains("requirements") && name.ends_with(".txt"))
}

/// Whether the text of a manifest names a package, in any spelling.
#[must_use]
pub fn declares(manifest: &str, package: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', '.'], "-");
    let (manifest, package) = (plain(manifest), plain(package));
    let first = package.split('/').next().unwrap_or(&package).to_owned();
    let wanted = if package.starts_with('@') { package } else { first };
    let apart = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '-');
    !wanted.is_empty()
        && manifest.match_indices(&wanted).any(|(at, found)| {
            let before = manifest[..at].chars().next_back();
            let after = manifest[at + found.len()..].chars().next();
            apart(before) && apart(after)
        })
}

/// Whether a module is a test runner, which projects use without declaring it.
#[must_use]
pub fn is_runner(module: &str) -> bool {
    let known =
        ["pytest", "nose", "nose2", "tox", "jest", "mocha", "vitest", "ava", "tap", "jasmine"];
    known.contains(&module)
}

/// Whether a test's name is that of a file, which failed to load or build as a whole.
#[must_use]
pub fn is_whole_file(name: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".tsx", ".py", ".rb", ".php", ".go", ".rs"];
    ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_declared_as_a_whole_word() {
        let text = "[project]\ndependencies = [\"requests>=2\", \"Typing_Extensions\"]\n";
        for (package, there) in
            [("requests", true), ("request", false), ("typing_extensions", true), ("own", false)]
        {
            assert_eq!(declares(text, package), there, "{package}");
        }
        let node = "{\"dependencies\": {\"left-pad\": \"1\", \"@a/b\": \"2\"}}";
        assert!(declares(node, "left-pad/lib/x") && declares(node, "@a/b"));
        assert!(!declares(node, "pad"));
    }

    #[test]
    fn manifests_and_files_are_known_by_their_names() {
        assert!(is_manifest("a/requirements-dev.txt") && is_manifest("package.json"));
        assert!(!is_manifest("notes.txt"));
        assert!(is_whole_file("test/a.test.js") && !is_whole_file("pkg.TestX"));
    }
}
