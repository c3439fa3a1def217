//! `bosun policy`: prints policies for people, and checks policy files.

use std::path::Path;

use runtime::presets::{self, Problem};
use serde_json::{Value, json};
use types::count;

use crate::args::{self, PolicyCommand};
use crate::exit::Exit;
use crate::files::read;
use crate::home;
use crate::print::{self, one_line};
use crate::rules::{Rules, rules};

/// Maximum length of a value on a line.
const SHOWN: usize = 160;

/// Sections in the order in which a request meets them; all others follow.
const SECTIONS: [&str; 14] = [
    "admission",
    "project_types",
    "routing",
    "context",
    "sandbox",
    "roles",
    "permissions",
    "default",
    "headless",
    "failures",
    "gates",
    "budget",
    "limits",
    "tools",
];

pub(crate) fn policy(args: &args::Policy) -> anyhow::Result<Exit> {
    match &args.command {
        PolicyCommand::Check { file, json } => check(file, *json),
        PolicyCommand::Show { what, json } => show(what.as_deref(), *json),
    }
}

fn check(file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let (name, text) = (file.display().to_string(), read(file)?);
    let prompts = home::prompts(Some(&presets::top(file.parent().unwrap_or(file))))?;
    let checked = presets::check(&name, &text, &prompts);
    let problems = checked.as_ref().err().cloned().unwrap_or_default();
    let exit = if problems.is_empty() { Exit::Done } else { Exit::Usage };
    if as_json {
        let listed = |one: &Problem| json!({ "line": one.line, "cause": one.cause });
        let listed: Vec<Value> = problems.iter().map(listed).collect();
        print::json(&json!({ "file": name, "fine": problems.is_empty(), "problems": listed }))?;
        return Ok(exit);
    }
    for problem in &problems {
        print::line(&format!("{name}:{}: {}", problem.line, one_line(&problem.cause, 500)))?;
    }
    if let Ok(policy) = checked {
        let rules = policy.admission.len()
            + policy.routing.len()
            + policy.context.len()
            + policy.permissions.len()
            + policy.failures.len()
            + policy.gates.len();
        let (rules, examples) =
            (count(rules, "rule"), count(presets::examples(&policy), "example"));
        print::line(&format!("{name} is valid: {rules}, {examples} checked"))?;
    }
    Ok(exit)
}

fn show(what: Option<&str>, as_json: bool) -> anyhow::Result<Exit> {
    let here = Path::new(".");
    let is_preset = |name: &&str| {
        presets::names().any(|known| known == *name)
            || !Path::new(name).exists() && !name.contains(['/', '.'])
    };
    let (preset, file) = (what.filter(is_preset), what.filter(|name| !is_preset(name)));
    let Rules { policy, from, .. } = rules(file.map(Path::new), preset, here)?;
    let value = serde_json::to_value(&policy)?;
    if as_json {
        print::json(&json!({ "from": from.to_string(), "policy": value }))?;
        return Ok(Exit::Done);
    }
    print::line(&format!("{}, version {}, from {from}", policy.name, policy.version))?;
    let object = value.as_object().cloned().unwrap_or_default();
    let named = SECTIONS.into_iter().filter(|name| object.contains_key(*name));
    let others = object
        .keys()
        .map(String::as_str)
        .filter(|name| !SECTIONS.contains(name) && !matches!(*name, "name" | "version" | "words"));
    for name in named.chain(others) {
        section(name, &object[name])?;
    }
    if let Some(words) = object.get("words").and_then(Value::as_object) {
        let lists: Vec<String> = words
            .iter()
            .map(|(name, list)| format!("{name} ({})", list.as_array().map_or(0, Vec::len)))
            .collect();
        print::line(&format!("\nwords\n  {}", lists.join(", ")))?;
    }
    Ok(Exit::Done)
}

fn section(name: &str, value: &Value) -> std::io::Result<()> {
    match value {
        Value::Array(rules) => {
            print::line(&format!("\n{name}, first match wins"))?;
            for (rule, place) in rules.iter().zip(1..) {
                rule_lines(place, rule)?;
            }
            Ok(())
        }
        Value::Object(table) => {
            print::line(&format!("\n{name}"))?;
            for (key, value) in table {
                print::line(&format!("  {key:<20} {}", in_short(value)))?;
            }
            Ok(())
        }
        other => print::line(&format!("\n{name}  {}", in_short(other))),
    }
}

/// Prints a rule: its index, name, decision and reason, and its conditions on the next line.
fn rule_lines(place: usize, rule: &Value) -> std::io::Result<()> {
    const TOLD: [&str; 10] = [
        "id",
        "name",
        "phase",
        "verdict",
        "action",
        "to",
        "reason",
        "matches",
        "not_matches",
        "questions",
    ];
    let Some(rule) = rule.as_object() else {
        return print::line(&format!("  {place:>3}. {}", in_short(rule)));
    };
    let text = |key: &str| rule.get(key).map(in_short).unwrap_or_default();
    let name = if rule.contains_key("id") { text("id") } else { text("name") };
    let decides: Vec<String> = ["verdict", "action", "to", "phase"]
        .into_iter()
        .map(text)
        .filter(|word| !word.is_empty())
        .collect();
    let line = format!("  {place:>3}. {name:<30} {:<20} {}", decides.join(" "), text("reason"));
    print::line(line.trim_end())?;
    let rest: Vec<String> = rule
        .iter()
        .filter(|(key, value)| !TOLD.contains(&key.as_str()) && !is_nothing(value))
        .map(|(key, value)| format!("{key}: {}", in_short(value)))
        .collect();
    if rest.is_empty() {
        return Ok(());
    }
    print::line(&format!("       {}", one_line(&rest.join("; "), SHOWN)))
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(table) => table.is_empty(),
        _ => false,
    }
}

fn in_short(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(in_short).collect::<Vec<_>>().join(", "),
        Value::Object(table) => {
            let pairs = table.iter().filter(|(_, value)| !is_nothing(value));
            pairs
                .map(|(key, value)| format!("{key} {}", in_short(value)))
                .collect::<Vec<_>>()
                .join(", ")
        }
        other => other.to_string(),
    };
    one_line(&text, SHOWN)
}
