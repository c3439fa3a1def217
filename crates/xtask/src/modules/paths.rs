//! The paths in a Rust file: those of its `use` lines, branch by branch, and those in its code. Their targets are
//! resolved elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::{test_blocks, without_prose};

/// A file's references to other modules.
#[derive(Debug, Default)]
pub(super) struct Paths {
    pub(super) paths: Vec<Vec<String>>,
    /// Modules that a public `use` re-exports with a glob.
    pub(super) globs: Vec<Vec<String>>,
    /// The items defined in the file itself.
    pub(super) defines: BTreeSet<String>,
    /// The names that `use` lines import, and their paths.
    pub(super) names: BTreeMap<String, Vec<String>>,
}

pub(super) fn read(text: &str) -> Paths {
    let code = product(&without_prose(text));
    let mut found = Paths::default();
    let mut rest = code.as_str();
    let mut plain = String::new();
    while let Some(at) = next_use(rest) {
        let end = rest[at..].find(';').map_or(rest.len(), |end| at + end);
        let start = rest[..at].rfind('\n').map_or(0, |line| line + 1);
        plain.push_str(&rest[..start]);
        let public = rest[start..at].trim_start().starts_with("pub");
        for (path, name) in branches(&rest[at + "use ".len()..end]) {
            if !public {
                found.paths.push(path.clone());
            }
            match name.as_str() {
                "*" if public => found.globs.push(path),
                "*" | "_" => {}
                _ => drop(found.names.insert(name, path)),
            }
        }
        rest = &rest[(end + 1).min(rest.len())..];
    }
    plain.push_str(rest);
    found.defines = plain.lines().filter_map(item).collect();
    found.paths.extend(inline(&plain));
    found
}

/// The code without its tests.
fn product(code: &str) -> String {
    let lines: Vec<&str> = code.lines().collect();
    let tests = test_blocks(&lines);
    let kept = lines.iter().enumerate();
    let kept = kept.filter(|(line, _)| !tests.iter().any(|block| block.contains(line)));
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// The start of the next `use` line, after its visibility.
fn next_use(code: &str) -> Option<usize> {
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let bare = match trimmed.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(')').map_or("", |(_, rest)| rest)
            }
            Some(rest) => rest,
            None => trimmed,
        };
        if bare.trim_start().starts_with("use ") {
            return Some(at + line.find("use ")?);
        }
        at += line.len();
    }
    None
}

/// Each path of a `use` tree with its name.
fn branches(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let last = path.last().cloned().unwrap_or_default();
        if last == "self" || last == "*" {
            path.pop();
        }
        let own = path.last().cloned().unwrap_or_default();
        let name = match (name.trim(), last.as_str()) {
            ("", "*") => "*".to_owned(),
            ("", _) => own,
            (name, _) => name.to_owned(),
        };
        return vec![(path, name)];
    };
    let prefix: Vec<String> = tree[..open]
        .split("::")
        .map(str::trim)
        .filter(|p| !p.is_empty())
        .map(str::to_owned)
        .collect();
    let inside = tree[open + 1..].trim_end().strip_suffix('}').unwrap_or(&tree[open + 1..]);
    let parts = split(inside).into_iter().filter(|part| !part.trim().is_empty());
    parts
        .flat_map(branches)
        .map(|(path, name)| {
            let whole: Vec<String> = prefix.iter().cloned().chain(path).collect();
            let name =
                if name.is_empty() { prefix.last().cloned().unwrap_or_default() } else { name };
            (whole, name)
        })
        .collect()
}

/// Splits at top-level commas.
fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// The name of the item that an unindented line starts.
fn item(line: &str) -> Option<String> {
    const KINDS: [&str; 8] = ["struct", "enum", "trait", "fn", "const", "static", "type", "union"];
    let mut words =
        line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
    let starts = line.starts_with(|c: char| c.is_ascii_lowercase());
    words.by_ref().filter(|_| starts).take(6).find(|word| KINDS.contains(word))?;
    // `const fn` is a function.
    words.find(|word| !KINDS.contains(word) && *word != "mut").map(str::to_owned)
}

/// Paths in the code: words with `::` between them.
fn inline(code: &str) -> Vec<Vec<String>> {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(|c| !word(c))
        .filter(|path| path.contains("::") && !path.starts_with(':'))
        .map(|path| path.split("::").filter(|p| !p.is_empty()).map(str::to_owned).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_trees_are_taken_apart() {
        let read =
            read("use a::{self, b::{C, D as E}, f as _};\npub(crate) use g::*;\nfn h() { i::j() }");
        let paths: Vec<String> = read.paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["a", "a::b::C", "a::b::D", "a::f", "i::j"]);
        assert_eq!(read.names.keys().collect::<Vec<_>>(), ["C", "E", "a"]);
    }
}
