//! Where a link in a result leads, by its words alone: out of the repository, or into git's own files, it is nothing that a
//! task leaves behind.

use types::WorkPath;

/// Whether a link at a path leads out of the repository, or to git's own files.
#[must_use]
pub fn leads_out(path: &WorkPath, target: &str) -> bool {
    if target.starts_with(['/', '~']) || target.contains([':', '\\']) {
        return true;
    }
    let mut place: Vec<&str> = path.components().collect();
    place.pop();
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." if place.pop().is_none() => return true,
            ".." => {}
            name => place.push(name),
        }
    }
    place.iter().any(|name| name.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_followed_by_its_words() {
        let out = |path: &str, target: &str| leads_out(&path.parse().expect("a path"), target);
        for (path, target) in [
            ("a", "/etc/passwd"),
            ("a", "../x"),
            ("a/b", "../../x"),
            ("a/b", "c/../../../x"),
            ("a", "~/.ssh"),
            ("a", ".git/hooks"),
            ("a/b", "../.GIT/config"),
            ("a", "C:\\x"),
        ] {
            assert!(out(path, target), "{path} -> {target}");
        }
        for (path, target) in
            [("a", "b"), ("a/b", "../c"), ("a/b/c", "../../d/e"), ("a", ".github/x")]
        {
            assert!(!out(path, target), "{path} -> {target}");
        }
    }
}
