//! Symbolic links that lead out of a tree: absolute ones, ones with too many `..`, ones into git's own files, also via
//! other links. Computed from the links alone, without a file system.

use std::collections::BTreeMap;

/// Maximum number of links followed for one, the same as in a kernel.
const MOST_STEPS: usize = 40;

/// The links among these, by path, that lead out of the tree. A dangling link does not lead out.
#[must_use]
pub fn leading_out(links: &BTreeMap<String, String>) -> Vec<&str> {
    let out = links.keys().filter(|path| leads_out(path, links));
    out.map(String::as_str).collect()
}

fn leads_out(link: &str, links: &BTreeMap<String, String>) -> bool {
    // The remaining names, the next one last.
    let mut ahead: Vec<&str> = link.split('/').rev().collect();
    let mut place: Vec<&str> = Vec::new();
    let mut steps = 0;
    while let Some(name) = ahead.pop() {
        match name {
            "" | "." => continue,
            ".." if place.pop().is_none() => return true,
            ".." => continue,
            name => place.push(name),
        }
        if is_git(name) {
            return true;
        }
        let Some(target) = links.get(&place.join("/")) else { continue };
        steps += 1;
        if target.starts_with('/') {
            return true;
        }
        if steps > MOST_STEPS {
            return false;
        }
        place.pop();
        ahead.extend(target.split('/').rev());
    }
    false
}

/// Git's own folder, also on case-insensitive file systems.
fn is_git(name: &str) -> bool {
    name.eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(links: &[(&str, &str)]) -> Vec<String> {
        let links = links.iter().map(|(path, to)| ((*path).to_owned(), (*to).to_owned()));
        let links: BTreeMap<String, String> = links.collect();
        leading_out(&links).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_link_that_stays_inside_is_none_of_them() {
        let inside = [
            ("a", "b"),
            ("d/a", "../b"),
            ("d/e/f", "../../x/./y"),
            ("loop", "loop"),
            ("gone", "nowhere/at/all"),
            ("d/dots", "..a/...b"),
            ("git", ".github/x"),
        ];
        assert!(out(&inside).is_empty(), "{:?}", out(&inside));
    }

    #[test]
    fn a_link_that_leads_out_is_found_also_by_way_of_another() {
        for (path, to) in [
            ("a", "/etc/passwd"),
            ("a", ".."),
            ("d/a", "../../b"),
            ("d/a", "x/../../../b"),
            ("a", ".git/config"),
            ("a", ".GIT/hooks"),
            ("a", "/"),
        ] {
            assert_eq!(out(&[(path, to)]), [path], "{path} -> {to}");
        }
        // `up` leads to the folder above `d`, which is the tree itself; one more step is out.
        assert_eq!(out(&[("d/up", ".."), ("x", "d/up/../y")]), ["x"]);
        assert_eq!(out(&[("far", "/tmp"), ("x", "y/../far/z")]), ["far", "x"]);
        assert!(out(&[("d/e/up", "../.."), ("x", "d/e/up/y")]).is_empty());
    }
}
