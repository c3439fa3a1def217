//! Layers: which crate may depend on which, and which crate owns which outside dependency, as data checked against the
//! manifests. The architecture document has the reasons.

use toml::{Table, Value};

use crate::finding::Finding;
use crate::tree::Tree;

struct Layer {
    name: &'static str,
    may_use: &'static [&'static str],
}

const fn layer(name: &'static str, may_use: &'static [&'static str]) -> Layer {
    Layer { name, may_use }
}

/// From the bottom up. A crate may use only those in its row.
const LAYERS: &[Layer] = &[
    layer("types", &[]),
    layer("samples", &["types"]),
    layer("evidence", &["types"]),
    layer("rules", &["types", "evidence"]),
    layer("engine", &["types", "evidence", "rules"]),
    layer("llm", &["types"]),
    layer("sandbox", &["types"]),
    layer("store", &["types"]),
    layer("tools", &["types", "sandbox"]),
    layer("runtime", &["types", "evidence", "rules", "engine", "llm", "sandbox", "store", "tools"]),
    layer("server", &["types", "evidence", "rules", "engine", "runtime"]),
    layer("bosun", &["types", "evidence", "rules", "engine", "runtime", "server"]),
    layer(
        "testkit",
        &["types", "evidence", "rules", "engine", "llm", "sandbox", "store", "tools", "runtime"],
    ),
    layer("xtask", &["runtime", "testkit"]),
];

/// Outside dependencies reserved for their owners.
const OWNERS: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("reqwest", &["llm"]),
    ("axum", &["server"]),
    ("nix", &["sandbox", "store", "xtask"]),
    ("rustix", &["sandbox", "store"]),
];

/// Crates with few dependencies, each with all that it may have.
const ALLOWED: &[(&str, &[&str])] = &[
    ("rules", &["types", "evidence", "globset", "serde", "serde_json"]),
    ("engine", &["types", "evidence", "rules", "schemars", "serde", "serde_json"]),
];

/// Crates that any crate's tests may use in addition.
const TEST_CRATES: &[&str] = &["samples", "testkit"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for name in tree.crates() {
        let path = format!("crates/{name}/Cargo.toml");
        match tree.file(&path).map(|text| (text, text.parse::<Table>())) {
            None => findings.push(Finding::new(&path, 1, "a folder in crates/ needs a manifest")),
            Some((_, Err(error))) => findings.push(Finding::new(&path, 1, error.to_string())),
            Some((text, Ok(manifest))) => {
                findings.extend(check_manifest(name, &path, text, &manifest));
            }
        }
    }
    findings
}

fn check_manifest(name: &str, path: &str, text: &str, manifest: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let package = manifest.get("package").and_then(|package| package.get("name"));
    if package.and_then(Value::as_str) != Some(name) {
        let what = format!("the package is to be named as its folder, `{name}`");
        findings.push(Finding::new(path, 1, what));
    }
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    if lints.and_then(Value::as_bool) != Some(true) {
        let what =
            "this crate does not inherit the workspace lints: add `[lints] workspace = true`";
        findings.push(Finding::new(path, 1, what));
    }
    let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
        let what = format!(
            "`{name}` is not in the table of layers: a new crate needs a new power; \
             put it into a crate that owns the power, or add a row to crates/xtask/src/layers.rs"
        );
        findings.push(Finding::new(path, 1, what));
        return findings;
    };
    for dependency in dependencies(manifest) {
        if let Some(what) = objection(layer, &dependency) {
            findings.push(Finding::new(path, line_of(text, &dependency), what));
        }
    }
    findings
}

struct Dependency {
    /// The crate's name in its registry.
    package: String,
    /// Its name in this manifest.
    key: String,
    for_tests: bool,
}

fn dependencies(manifest: &Table) -> Vec<Dependency> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let scopes = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut found = Vec::new();
    for scope in std::iter::once(manifest).chain(scopes) {
        for section in ["dependencies", "build-dependencies", "dev-dependencies"] {
            for (key, value) in scope.get(section).and_then(Value::as_table).into_iter().flatten() {
                let renamed = value.get("package").and_then(Value::as_str);
                found.push(Dependency {
                    package: renamed.unwrap_or(key).to_owned(),
                    key: key.clone(),
                    for_tests: section == "dev-dependencies",
                });
            }
        }
    }
    found
}

fn objection(layer: &Layer, dependency: &Dependency) -> Option<String> {
    let (name, package) = (layer.name, dependency.package.as_str());
    if LAYERS.iter().any(|ours| ours.name == package) {
        let permitted = layer.may_use.contains(&package)
            || (dependency.for_tests
                && TEST_CRATES.contains(&package)
                && !TEST_CRATES.contains(&name));
        let may_use = match layer.may_use {
            [] => "nothing of ours".to_owned(),
            some => some.join(", "),
        };
        return (!permitted).then(|| {
            format!(
                "`{name}` may not depend on `{package}` (it may use: {may_use}); \
                 call a function of a crate below, or move the code up"
            )
        });
    }
    if dependency.for_tests {
        return None;
    }
    if let Some((_, owners)) = OWNERS.iter().find(|(restricted, _)| *restricted == package)
        && !owners.contains(&name)
    {
        let owners = owners.join(" and ");
        return Some(format!("`{package}` is only for {owners}; call a function there"));
    }
    let (_, may_have) = ALLOWED.iter().find(|(limited, _)| *limited == name)?;
    (!may_have.contains(&package)).then(|| {
        format!("`{name}` may have only {}; `{package}` must stay outside", may_have.join(", "))
    })
}

fn line_of(text: &str, dependency: &Dependency) -> usize {
    let mut for_tests = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            for_tests = line.contains("dev-dependencies");
        }
        let rest = line.trim_start_matches('"').strip_prefix(dependency.key.as_str());
        let key = rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=', '"']));
        let table = line.ends_with(&format!("dependencies.{}]", dependency.key));
        if (key || table) && for_tests == dependency.for_tests {
            return number + 1;
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, dependencies: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        let text = format!(
            "[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n[dependencies]\n{dependencies}"
        );
        check(&Tree::of(&[(&path, &text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_layer_may_use_what_its_row_says_and_nothing_else() {
        assert_eq!(findings("tools", "types.workspace = true\nsandbox.workspace = true"), [""; 0]);
        let found = findings("tools", "types.workspace = true\nstore.workspace = true\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(
            "crates/tools/Cargo.toml:7: `tools` may not depend on `store` (it may use: types"
        ));
    }

    #[test]
    fn a_renamed_or_target_dependency_does_not_slip_through() {
        let renamed = findings("types", "words = { package = \"engine\", path = \"../engine\" }");
        assert!(renamed[0].contains("`types` may not depend on `engine`"), "{renamed:?}");
        let target = findings("types", "[target.'cfg(unix)'.dependencies]\nengine = \"1\"");
        assert!(target[0].starts_with("crates/types/Cargo.toml:7:"), "{target:?}");
    }

    #[test]
    fn tests_may_also_use_the_testkit_but_no_other_layer() {
        assert_eq!(findings("store", "[dev-dependencies]\ntestkit = \"1\""), [""; 0]);
        assert_eq!(findings("store", "[dev-dependencies]\nengine = \"1\"").len(), 1);
        assert_eq!(findings("store", "testkit = \"1\"").len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_new_power() {
        let found = findings("cache", "");
        assert!(found[0].contains("a new crate needs a new power"), "{found:?}");
    }

    #[test]
    fn a_power_stays_with_its_owner() {
        assert_eq!(findings("store", "rusqlite = \"1\""), [""; 0]);
        let found = findings("runtime", "rusqlite = \"1\"");
        assert!(found[0].contains("`rusqlite` is only for store"), "{found:?}");
    }

    #[test]
    fn the_engine_has_nothing_but_words() {
        let found = findings("engine", "serde_json = \"1\"\ntokio = \"1\"");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`tokio` must stay outside"), "{found:?}");
        assert_eq!(findings("engine", "[dev-dependencies]\nproptest = \"1\""), [""; 0]);
    }

    #[test]
    fn a_crate_without_the_lints_or_with_another_name_is_found() {
        let text = "[package]\nname = \"bosun-types\"\n";
        let found = check(&Tree::of(&[("crates/types/Cargo.toml", text)]));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn every_row_names_only_rows_above_it_or_the_testkit() {
        for (at, layer) in LAYERS.iter().enumerate() {
            for used in layer.may_use {
                assert!(LAYERS[..at].iter().any(|above| above.name == *used), "{}", layer.name);
            }
        }
    }
}
