//! Clippy's configuration: a crate's own file replaces the one at the top entirely, so each is compared with it, and
//! may lack only the lines for the crate's own dependencies.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tree::Tree;

const TOP: &str = "clippy.toml";
const LISTS: &[&str] = &["disallowed-methods", "disallowed-types"];

/// The crates with their own file, and the calls that they may make, by path prefix.
const OWNERS: &[(&str, &[&str])] = &[
    ("engine", &[]),
    (
        "llm",
        &[
            "std::net::",
            "std::os::unix::net::",
            "tokio::net::",
            "std::thread::sleep",
            "tokio::time::",
        ],
    ),
    (
        "sandbox",
        &[
            "std::process::",
            "tokio::process::",
            "std::env::",
            "std::net::",
            "std::os::unix::net::",
            "tokio::net::",
            "std::thread::sleep",
            "tokio::time::",
        ],
    ),
    ("runtime", &["std::thread::sleep", "tokio::time::"]),
    ("server", &["tokio::net::TcpListener", "tokio::time::"]),
    ("bosun", &["std::env::"]),
    (
        "testkit",
        &[
            "std::process::",
            "tokio::process::",
            "std::net::",
            "std::os::unix::net::",
            "tokio::net::",
            "std::env::",
        ],
    ),
    (
        "xtask",
        &[
            "std::process::",
            "tokio::process::",
            "std::env::",
            "std::thread::sleep",
            "tokio::time::",
        ],
    ),
];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let top = parse(tree, TOP, &mut findings);
    for name in tree.crates() {
        let path = format!("crates/{name}/{TOP}");
        if tree.file(&path).is_none() {
            continue;
        }
        let Some((_, owned)) = OWNERS.iter().find(|(owner, _)| *owner == name) else {
            let what = format!(
                "`{name}` owns no power, so the file at the top is enough: remove this one, or list \
                 the crate in crates/xtask/src/tidy/clippy_conf.rs"
            );
            findings.push(Finding::new(&path, 1, what));
            continue;
        };
        let own = parse(tree, &path, &mut findings);
        if let (Some(top), Some(own)) = (&top, own) {
            findings.extend(missing(&path, top, &own, owned));
        }
    }
    findings
}

/// The lists by name and path, everything else by key.
#[derive(Debug, Default, PartialEq)]
struct Conf {
    forbidden: BTreeMap<String, &'static str>,
    settings: Table,
}

fn parse(tree: &Tree, path: &str, findings: &mut Vec<Finding>) -> Option<Conf> {
    let mut table = match tree.file(path).unwrap_or_default().parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            findings.push(Finding::new(path, 1, error.to_string()));
            return None;
        }
    };
    let mut conf = Conf::default();
    for list in LISTS {
        let entries = table.remove(*list);
        for entry in entries.as_ref().and_then(Value::as_array).into_iter().flatten() {
            let forbidden = entry.get("path").and_then(Value::as_str);
            let reason = entry.get("reason").and_then(Value::as_str).unwrap_or_default();
            match forbidden {
                Some(forbidden) if !reason.is_empty() => {
                    conf.forbidden.insert(forbidden.to_owned(), list);
                }
                _ => {
                    let what = format!("`{entry}`: write {{ path = \"...\", reason = \"...\" }}");
                    findings.push(Finding::new(path, 1, what));
                }
            }
        }
    }
    conf.settings = table;
    Some(conf)
}

fn missing(path: &str, top: &Conf, own: &Conf, owned: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (key, value) in &top.settings {
        if own.settings.get(key) != Some(value) {
            let what = format!("`{key} = {value}` of the file at the top is missing");
            findings.push(Finding::new(path, 1, what));
        }
    }
    let given_up = top.forbidden.iter().filter(|(call, _)| !own.forbidden.contains_key(*call));
    for (call, list) in given_up.filter(|(call, _)| !owned.iter().any(|own| call.starts_with(own)))
    {
        let what = format!("`{call}` is not this crate's power: add it to {list}, as at the top");
        findings.push(Finding::new(path, 1, what));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "allow-unwrap-in-tests = true\ndisallowed-methods = [\n\
        { path = \"std::process::Command::new\", reason = \"r\" },\n\
        { path = \"std::env::var\", reason = \"r\" },\n]\n";

    fn found(name: &str, text: &str) -> Vec<String> {
        let path = format!("crates/{name}/clippy.toml");
        let tree = Tree::of(&[(TOP, ROOT), (&path, text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_owner_may_lack_the_lines_of_its_power_and_no_others() {
        let text = ROOT.replace("{ path = \"std::process::Command::new\", reason = \"r\" },\n", "");
        assert_eq!(found("sandbox", &text), [""; 0]);
        let finding = "crates/bosun/clippy.toml:1: `std::process::Command::new` is not this \
                       crate's power: add it to disallowed-methods, as at the top";
        assert_eq!(found("bosun", &text), [finding]);
    }

    #[test]
    fn the_settings_of_the_top_are_kept() {
        let found = found("engine", &ROOT.replace("allow-unwrap", "allow-expect"));
        assert!(found[0].contains("`allow-unwrap-in-tests = true`"), "{found:?}");
    }

    #[test]
    fn a_crate_without_a_power_has_no_file_of_its_own() {
        let found = found("types", ROOT);
        assert!(found[0].contains("`types` owns no power"), "{found:?}");
    }

    #[test]
    fn a_prohibition_without_a_reason_is_found() {
        let found = found("engine", &format!("{ROOT}disallowed-types = [\"std::fs::File\"]\n"));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("reason"), "{found:?}");
    }
}
