//! Compares the reference pages in `docs/` with the code: keys, variables and exit codes match exactly, and the schemas
//! accept the built-in files. The prose is not checked.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use runtime::settings::{KEYS, VARIABLES};
use serde_json::Value;

use crate::binary::{Place, stdout};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    std::fs::read_to_string(top().join("docs").join(name)).expect("the page is there")
}

/// First cells of a page's tables, if they are in backticks.
fn first_cells(page: &str) -> BTreeSet<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    cells.map(|(cell, _)| cell.to_owned()).collect()
}

fn sources(folder: &Path, found: &mut String) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push_str(&std::fs::read_to_string(&path).expect("a file"));
        }
    }
}

/// Words of a text that are variable names with this prefix.
fn names(text: &str, start: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_name(c));
    words
        .filter(|word| word.starts_with(start) && word.len() > start.len())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_page_on_configuration_has_every_key_with_its_default() {
    let page = page("configuration.md");
    let keys: BTreeSet<String> = KEYS.iter().map(|key| key.path.to_owned()).collect();
    let listed: BTreeSet<String> =
        first_cells(&page).into_iter().filter(|cell| !cell.starts_with("BOSUN_")).collect();
    assert_eq!(listed, keys);
    for key in KEYS {
        let default = key.default.map(|default| format!("`{default}`")).unwrap_or_default();
        let project = if key.project { "yes" } else { "" };
        let row = format!("| `{}` | {default} | {project} | {} |", key.path, key.about);
        assert!(page.contains(&row), "missing: {row}");
    }
    for (variable, key) in VARIABLES {
        assert!(page.contains(&format!("| `{variable}` | `{key}` |")), "{variable}");
    }
}

#[test]
fn the_page_on_the_environment_has_every_variable() {
    let page = page("environment.md");
    let mut source = String::new();
    sources(&top().join("crates/bosun/src"), &mut source);
    let settings = std::fs::read_to_string(top().join("crates/runtime/src/settings/keys.rs"));
    source.push_str(&settings.expect("a file"));
    let own = names(&source, "BOSUN_");
    let listed = first_cells(&page);
    let of_bosun: BTreeSet<String> =
        listed.iter().filter(|name| name.starts_with("BOSUN_")).cloned().collect();
    assert_eq!(of_bosun, own);
    let providers = std::fs::read_to_string(top().join("crates/llm/src/providers.toml"));
    let table: toml_names::Providers = toml_names::read(&providers.expect("a file"));
    for name in table {
        assert!(listed.contains(&name), "{name} is not on the page");
    }
}

/// Variables from which the built-in providers are read.
mod toml_names {
    use std::collections::BTreeSet;

    pub(super) type Providers = BTreeSet<String>;

    pub(super) fn read(text: &str) -> Providers {
        let lines = text.lines().filter(|line| !line.starts_with('#') && line.contains("_env = "));
        let quoted = lines.flat_map(|line| line.split('"').skip(1).step_by(2).collect::<Vec<_>>());
        let is_variable = |name: &&str| {
            name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        };
        quoted.filter(is_variable).map(str::to_owned).collect()
    }
}

#[test]
fn the_page_on_exit_codes_has_every_code() {
    let source = include_str!("../../src/exit.rs");
    let body = source.split_once("pub(crate) enum Exit {").expect("the codes").1;
    let body = body.split_once("\n}").expect("an end").0;
    let codes = body.lines().filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "));
    let codes: BTreeSet<&str> = codes.map(|(_, code)| code).collect();
    let page = page("exit-codes.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next());
    let listed: BTreeSet<&str> =
        rows.filter(|cell| cell.chars().all(|c| c.is_ascii_digit())).collect();
    assert_eq!(listed, codes);
}

#[test]
fn the_schemas_accept_what_ships_and_refuse_what_is_misspelt() {
    let place = Place::new();
    let schema = |name: &str| -> Value {
        serde_json::from_str(&stdout(&place.run(&["schema", name]))).expect("JSON")
    };
    for name in ["config", "models", "policy", "plan", "spec", "intent"] {
        jsonschema::validator_for(&schema(name)).expect("a schema");
    }
    let read = |path: &str| std::fs::read_to_string(top().join(path)).expect("a file");
    let table = |text: &str| -> Value { runtime::settings::toml_as_json(text).expect("TOML") };
    let config = jsonschema::validator_for(&schema("config")).expect("a schema");
    let models = jsonschema::validator_for(&schema("models")).expect("a schema");
    let shipped = serde_json::json!({
        "providers": table(&read("crates/llm/src/providers.toml")),
        "models": table(&read("crates/llm/src/catalogue.toml")),
    });
    for schema in [&config, &models] {
        let problems: Vec<String> = schema.iter_errors(&shipped).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{problems:?}");
    }
    let policy = jsonschema::validator_for(&schema("policy")).expect("a schema");
    for name in ["crew", "audited", "strict", "solo", "basic"] {
        let shipped = table(&read(&format!("policies/{name}.toml")));
        let problems: Vec<String> = policy.iter_errors(&shipped).map(|e| e.to_string()).collect();
        assert!(problems.is_empty(), "{name}: {problems:?}");
    }
    assert!(!policy.is_valid(&table("[limits]\nparalel_tasks = 1\n")));
    assert!(!config.is_valid(&table("modle = \"a/b\"\n")));
    assert!(!config.is_valid(&table("[roles.planner]\nmodel = \"anthropic\"\n")));
    assert!(config.is_valid(&table("[roles.planner]\nmodel = \"a/b\"\n")));
}
