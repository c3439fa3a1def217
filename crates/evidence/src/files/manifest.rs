//! Manifests with the dependencies of one commit and the test settings of another. Dependencies and features stay as
//! the new code needs them; which tests run, and how, comes from the base. Comments of TOML files are lost.

use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// A manifest with `new`'s dependencies and `base`'s test settings. `base` may be empty: then the settings are dropped.
/// `None` for another kind of file, or if one of the texts cannot be read.
#[must_use]
pub fn restored_manifest(path: &str, base_text: &str, new_text: &str) -> Option<String> {
    match path.rsplit('/').next().unwrap_or(path) {
        "package.json" => package(base_text, new_text),
        "Cargo.toml" => restored_toml(base_text, new_text, CARGO, cargo_rest),
        "pyproject.toml" => restored_toml(base_text, new_text, PYPROJECT, |_, _| {}),
        "setup.cfg" => Some(sections(base_text, new_text)),
        _ => None,
    }
}

/// Keys of a package that runners and npm itself read.
const PACKAGE: &[&str] = &[
    "scripts", "jest", "mocha", "ava", "nyc", "c8", "vitest", "tap", "jasmine", "babel", "config",
    "wireit", "nx",
];

fn package(base: &str, new: &str) -> Option<String> {
    let base: Json = serde_json::from_str(if base.trim().is_empty() { "{}" } else { base }).ok()?;
    let mut new: Json = serde_json::from_str(new).ok()?;
    let (from, into) = (base.as_object()?, new.as_object_mut()?);
    for key in PACKAGE {
        match from.get(*key) {
            Some(value) => drop(into.insert((*key).to_owned(), value.clone())),
            None => drop(into.shift_remove(*key)),
        }
    }
    if let Some(Json::Object(needed)) = from.get("devDependencies") {
        let kept = into.entry("devDependencies").or_insert_with(|| json!({}));
        if let Json::Object(kept) = kept {
            for (name, version) in needed {
                kept.entry(name.clone()).or_insert_with(|| version.clone());
            }
        }
    }
    let mut text = serde_json::to_string_pretty(&new).ok()?;
    text.push('\n');
    Some(text)
}

/// Keys of a crate's manifest that Cargo and test runners read, apart from dependencies.
const CARGO: &[&[&str]] = &[
    &["test"],
    &["bench"],
    &["example"],
    &["profile"],
    &["lib", "test"],
    &["lib", "harness"],
    &["lib", "doctest"],
    &["package", "autotests"],
    &["package", "autobenches"],
    &["package", "metadata", "nextest"],
    &["workspace", "default-members"],
    &["workspace", "exclude"],
    &["workspace", "metadata", "nextest"],
];

const PYPROJECT: &[&[&str]] = &[
    &["tool", "pytest"],
    &["tool", "tox"],
    &["tool", "nox"],
    &["tool", "coverage"],
    &["tool", "unittest"],
    &["tool", "poe"],
    &["tool", "taskipy"],
    &["tool", "hatch", "envs"],
    &["tool", "pdm", "scripts"],
    &["project", "entry-points", "pytest11"],
    &["tool", "poetry", "plugins", "pytest11"],
];

fn restored_toml(
    base: &str,
    new: &str,
    keys: &[&[&str]],
    rest: fn(&Table, &mut Table),
) -> Option<String> {
    let base: Table = base.parse().ok()?;
    let mut new: Table = new.parse().ok()?;
    for key in keys {
        put(&mut new, key, get(&base, key));
    }
    rest(&base, &mut new);
    toml::to_string(&new).ok()
}

fn get<'a>(table: &'a Table, key: &[&str]) -> Option<&'a Value> {
    let (first, rest) = key.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { get(value.as_table()?, rest) }
}

/// Sets a value, or removes it if the base has none.
fn put(table: &mut Table, key: &[&str], value: Option<&Value>) {
    let Some((first, rest)) = key.split_first() else { return };
    if rest.is_empty() {
        match value {
            Some(value) => drop(table.insert((*first).to_owned(), value.clone())),
            None => drop(table.remove(*first)),
        }
        return;
    }
    if value.is_none() && !table.contains_key(*first) {
        return;
    }
    let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(inner) = inner {
        put(inner, rest, value);
    }
}

/// The `test` flags of targets, and dependencies of the base's tests.
fn cargo_rest(base: &Table, new: &mut Table) {
    if let Some(Value::Array(programs)) = new.get_mut("bin") {
        for program in programs.iter_mut().filter_map(Value::as_table_mut) {
            let name = program.get("name").cloned();
            let old = base.get("bin").and_then(Value::as_array).and_then(|all| {
                all.iter().filter_map(Value::as_table).find(|old| old.get("name") == name.as_ref())
            });
            for key in ["test", "harness"] {
                put(program, &[key], old.and_then(|old| old.get(key)));
            }
        }
    }
    let Some(needed) = base.get("dev-dependencies").and_then(Value::as_table) else { return };
    let kept = new.entry("dev-dependencies").or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(kept) = kept {
        for (name, version) in needed {
            kept.entry(name.clone()).or_insert_with(|| version.clone());
        }
    }
}

/// Takes the test sections of `setup.cfg` from the base.
fn sections(base: &str, new: &str) -> String {
    let about_tests = |head: &str| {
        let name = head.trim().trim_matches(['[', ']']);
        ["tool:pytest", "pytest", "tox", "testenv", "coverage", "nosetests", "unittest", "aliases"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let mut lines: Vec<&str> = Vec::new();
    for (text, wanted) in [(new, false), (base, true)] {
        // The lines above the first section are about no tests.
        let mut within = false;
        for line in text.lines() {
            within = if line.starts_with('[') { about_tests(line) } else { within };
            lines.extend((within == wanted).then_some(line));
        }
    }
    format!("{}\n", lines.join("\n").trim())
}
