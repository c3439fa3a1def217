//! The policy of a vector: the shipped one, with the vector's own settings.

use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;
use toml::{Table, Value as Toml};

/// The text of a policy for a vector.
pub(crate) fn policy(root: &Path, vector: &Value) -> anyhow::Result<String> {
    let text = crate::crew::policy(root)?;
    let mut policy: Table = text.parse().context("reading the shipped policy")?;
    let said = &vector["policy"];
    sandbox(&mut policy, said, &vector["resolve"]);
    let expected = vector["expected"]["outcome"].as_str().unwrap_or_default();
    if said["allow"].is_array() || said["deny"].is_array() {
        let rules = ["deny", "allow"].map(|verdict| (verdict, strings(&said[verdict])));
        let rules = rules.iter().filter(|(_, commands)| !commands.is_empty());
        put(
            &mut policy,
            rules.map(|(word, list)| rule(&format!("vector.{word}"), word, list)).collect(),
        );
        policy.insert("default".to_owned(), said["default"].as_str().unwrap_or("deny").into());
        policy.insert("headless".to_owned(), said["headless"].as_bool().unwrap_or(false).into());
    } else if expected == "escalated" {
        // The shipped rules ask about nothing, so here everything is asked about.
        put(&mut policy, vec![rule("vector.ask", "ask", &[])]);
    } else if matches!(expected, "contained" | "bounded") && vector["danger"].is_null() {
        // Allows everything, since the sandbox is under test.
        put(&mut policy, vec![rule("vector.everything", "allow", &[])]);
    }
    toml::to_string(&policy).context("writing the policy")
}

fn sandbox(policy: &mut Table, said: &Value, resolve: &Value) {
    let section = policy.entry("sandbox").or_insert_with(|| Toml::Table(Table::new()));
    let Some(section) = section.as_table_mut() else { return };
    // Attacks on inherited variables need as many of them as possible.
    section.insert("inherit".to_owned(), "inherit_all".into());
    for (theirs, ours) in [("net_allow", "network"), ("deny_read", "hidden")] {
        if said[theirs].is_array() {
            section.insert(ours.to_owned(), strings(&said[theirs]).into());
        }
    }
    if let Some(meant) = said["home_folder"].as_bool() {
        section.insert("home_folder".to_owned(), meant.into());
    }
    if let Some(allow) = said["allow_private"].as_bool() {
        section.insert("allow_private".to_owned(), allow.into());
    }
    let resolve: Table = resolve
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, at)| Some((name.clone(), at.as_str()?.into())))
        .collect();
    if !resolve.is_empty() {
        section.insert("resolve".to_owned(), resolve.into());
    }
}

/// Replaces the shipped rules on commands.
fn put(policy: &mut Table, rules: Vec<Toml>) {
    let Some(Toml::Array(all)) = policy.get_mut("permissions") else { return };
    let speaks_of_commands = |rule: &Toml| {
        let access = rule.get("access").and_then(Toml::as_array);
        access.is_some_and(|access| access.iter().any(|one| one.as_str() == Some("execute")))
    };
    all.retain(|rule| !speaks_of_commands(rule));
    all.extend(rules);
}

fn rule(id: &str, verdict: &str, commands: &[String]) -> Toml {
    let mut rule = Table::new();
    rule.insert("id".to_owned(), id.into());
    rule.insert("verdict".to_owned(), verdict.into());
    rule.insert("reason".to_owned(), "the vector says so".into());
    rule.insert("access".to_owned(), vec!["execute"].into());
    if !commands.is_empty() {
        rule.insert("commands".to_owned(), commands.to_vec().into());
    }
    rule.into()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
