//! Partial policy files, laid over a preset: a key in the file replaces the preset's. The engine decides how
//! permissions combine.

use serde::Deserialize;
use toml::{Table, Value};
use types::{Permission, PermitRule, Policy};

use super::error::PolicyError;

/// The parts of a file that are read separately, so that a mistake is found at its line.
#[derive(Deserialize)]
struct Permissions {
    #[serde(default)]
    default: Option<Permission>,
    #[serde(default)]
    permissions: Vec<PermitRule>,
}

/// Lays a file with `extends` over the named preset. Its roles replace all of the preset's.
pub(super) fn extend(
    preset: &Table,
    name: &str,
    text: &str,
    mut file: Table,
) -> Result<Policy, PolicyError> {
    file.remove("extends");
    let mut below = preset.clone();
    if let Some(roles) = file.get("roles").and_then(Value::as_table) {
        below.remove("roles");
        without_others(&mut below, roles);
    }
    if let Some(routes) = file.remove("routes") {
        sent_to(&mut below, &routes).map_err(|cause| PolicyError::Unreadable {
            name: name.to_owned(),
            line: line_of(text, "routes"),
            cause,
        })?;
    }
    lay_over(&below, name, text, file)
}

/// Failures that the preset hands to a role that no longer exists are put to a person instead.
fn without_others(below: &mut Table, roles: &Table) {
    let rules = below.get_mut("failures").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten().filter_map(Value::as_table_mut) {
        let role = rule.get("role").and_then(Value::as_str);
        if role.is_some_and(|role| !roles.contains_key(role)) {
            rule.remove("role");
            rule.insert("then".to_owned(), Value::from("ask"));
        }
    }
}

/// Sets other roles in the routing rules, by category.
fn sent_to(below: &mut Table, routes: &Value) -> Result<(), String> {
    let routes = routes.as_table().ok_or("routes is a table of roles by category")?;
    let rules = below.get_mut("routing").and_then(Value::as_array_mut);
    let rules: Vec<&mut Table> =
        rules.into_iter().flatten().filter_map(Value::as_table_mut).collect();
    let mut used = std::collections::BTreeSet::new();
    for rule in rules {
        let category = rule.get("category").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(role) = routes.get(&category) {
            rule.insert("to".to_owned(), role.clone());
            used.insert(category);
        }
    }
    match routes.keys().find(|category| !used.contains(*category)) {
        Some(category) => Err(format!("no routing rule is of the category {category}")),
        None => Ok(()),
    }
}

/// Lays a file over a preset.
pub(super) fn lay_over(
    preset: &Table,
    name: &str,
    text: &str,
    mut file: Table,
) -> Result<Policy, PolicyError> {
    let unreadable = |line: usize, cause: &str| PolicyError::Unreadable {
        name: name.to_owned(),
        line,
        cause: cause.to_owned(),
    };
    let said: Permissions = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        unreadable(text[..at].matches('\n').count() + 1, error.message())
    })?;
    file.remove("permissions");
    let names: Vec<String> = file.keys().cloned().collect();
    let mut whole = preset.clone();
    put(&mut whole, file);
    let mut policy: Policy = whole.try_into().map_err(|error: toml::de::Error| {
        unreadable(place(&error, &names, text), &super::error::suggested(error.message()))
    })?;
    policy.permissions =
        rules::policy::laid_over(policy.permissions, said.permissions, said.default);
    Ok(policy)
}

/// The line of an error in a file that was read as a part of the whole: that of the unknown key, of the key with a
/// wrong value, or of the enclosing table.
fn place(error: &toml::de::Error, tables: &[String], text: &str) -> usize {
    let within = |text: &str, before: &str| {
        Some(text.split_once(before)?.1.split_once('`')?.0.rsplit('.').next()?.to_owned())
    };
    let message = error.message();
    let unknown = within(message, "unknown field `");
    // The path to it, if the message has one.
    let path = within(&error.to_string(), "\nin `");
    let table = tables.iter().find(|name| message.contains(name.as_str())).cloned();
    let keys = [unknown, path, table].into_iter().flatten();
    keys.map(|key| line_of(text, &key)).find(|line| *line > 1).unwrap_or(1)
}

/// Lays a person's own file over any policy. Its permissions come first, and its keys win; it has no roles of its own,
/// since it applies to every preset.
pub(super) fn over(policy: Policy, name: &str, text: &str) -> Result<Policy, PolicyError> {
    let unreadable =
        |line: usize, cause: String| PolicyError::Unreadable { name: name.to_owned(), line, cause };
    let mut file: serde_json::Value = toml::from_str(text)
        .map_err(|error: toml::de::Error| unreadable(1, error.message().to_owned()))?;
    for key in ["roles", "version", "name", "extends", "routes"] {
        if file.get(key).is_some() {
            let cause = format!("{key} cannot be set here: this file is laid over every preset");
            return Err(unreadable(line_of(text, key), cause));
        }
    }
    let said: Permissions = toml::from_str(text)
        .map_err(|error: toml::de::Error| unreadable(1, error.message().to_owned()))?;
    if let Some(file) = file.as_object_mut() {
        file.remove("permissions");
    }
    let broken = |error: serde_json::Error| unreadable(1, error.to_string());
    let mut whole = serde_json::to_value(policy).map_err(broken)?;
    put_json(&mut whole, file);
    let mut policy: Policy = serde_json::from_value(whole).map_err(broken)?;
    policy.permissions =
        rules::policy::laid_over(policy.permissions, said.permissions, said.default);
    let problems = rules::policy::problems(&policy);
    match problems.is_empty() {
        true => Ok(policy),
        false => Err(PolicyError::Broken { name: name.to_owned(), problems }),
    }
}

fn put_json(whole: &mut serde_json::Value, file: serde_json::Value) {
    match (whole, file) {
        (serde_json::Value::Object(whole), serde_json::Value::Object(file)) => {
            for (key, value) in file {
                put_json(whole.entry(key).or_insert(serde_json::Value::Null), value);
            }
        }
        (whole, file) => *whole = file,
    }
}

fn put(whole: &mut Table, file: Table) {
    for (key, value) in file {
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(new)) => put(inner, new),
            (_, value) => {
                whole.insert(key, value);
            }
        }
    }
}

/// The line of a key, counted from 1.
fn line_of(text: &str, key: &str) -> usize {
    let names = |line: &str| line.trim_start().trim_start_matches('[').starts_with(key);
    text.lines().position(names).map_or(1, |place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::super::read;

    fn refused(text: &str) -> String {
        read("mine.toml", text).map(|_| ()).expect_err("it cannot be used").to_string()
    }

    #[test]
    fn permissions_come_before_those_of_the_preset_and_take_their_places() {
        let policy = read(
            "mine.toml",
            r#"
                [[permissions]]
                id = "mine.push"
                verdict = "ask"
                reason = "pushing needs a person"
                commands = ["git push"]

                [[permissions]]
                id = "permit.machine"
                verdict = "deny"
                reason = "ours"
                commands = ["shutdown"]
            "#,
        )
        .expect("a policy");
        let ids: Vec<&str> = policy.permissions.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids[..2], ["mine.push", "permit.machine"]);
        assert!(ids.contains(&"permit.command"), "{ids:?}");
        assert_eq!(ids.iter().filter(|id| **id == "permit.machine").count(), 1);
        assert!(!policy.roles.is_empty() && !policy.headless);
    }

    #[test]
    fn a_mistake_in_a_table_has_its_own_line() {
        let unknown = refused("[budget]\n\n\ntokenz = 5\n");
        assert!(
            unknown.contains("line 4: there is no key tokenz; did you mean tokens?"),
            "{unknown}"
        );
        let unfit = refused("# mine\n[budget]\n\ntokens = \"two\"\n");
        assert!(unfit.contains("line 4") && unfit.contains("expected a whole number"), "{unfit}");
    }

    #[test]
    fn a_default_takes_the_place_of_what_the_preset_allows_to_commands() {
        let policy = read("mine.toml", "default = \"ask\"\nheadless = true\n").expect("a policy");
        assert_eq!(policy.default, types::Permission::Ask);
        assert!(policy.headless);
        let ids: Vec<&str> = policy.permissions.iter().map(|rule| rule.id.as_str()).collect();
        assert!(!ids.contains(&"permit.command") && !ids.contains(&"permit.history"), "{ids:?}");
        assert!(ids.contains(&"permit.read") && ids.contains(&"permit.destroys"), "{ids:?}");
    }

    #[test]
    fn the_persons_own_file_is_laid_over_every_preset_and_wins() {
        let own = "[limits]\nparallel_tasks = 1\n[[permissions]]\nid = \"mine.push\"\nverdict = \"deny\"\n\
                   reason = \"never\"\ncommands = [\"git push\"]\n";
        for name in super::super::names() {
            let policy = super::super::preset(name).expect("it ships");
            let policy = super::super::laid_over(policy, "policy.toml", own).expect("it fits");
            assert_eq!((policy.name.as_str(), policy.limits.parallel_tasks), (name, 1));
            assert_eq!(policy.permissions[0].id.as_str(), "mine.push");
        }
        let crew = || super::super::preset("crew").expect("it ships");
        for (text, what) in [
            ("[limits]\nparalel_tasks = 1\n", "no key paralel_tasks; did you mean parallel_tasks?"),
            ("extends = \"crew\"\n", "laid over every preset"),
        ] {
            let said =
                super::super::laid_over(crew(), "policy.toml", text).map(|_| ()).expect_err("no");
            assert!(said.to_string().contains(what), "{said}");
        }
    }

    #[test]
    fn single_settings_of_a_table_can_be_named() {
        let policy = read("mine.toml", "[limits]\nparallel_tasks = 2\n").expect("a policy");
        assert_eq!((policy.limits.parallel_tasks, policy.limits.max_tasks), (2, 200));
    }

    #[test]
    fn mistakes_are_named_with_file_and_line() {
        let rule = "\n[[permissions]]\nid = \"mine.a\"\nverdict = \"never\"\nreason = \"r\"\n";
        assert!(refused(rule).contains("mine.toml, line 4"), "{}", refused(rule));
        let key = refused("headless = true\ncolour = \"red\"\n");
        assert!(key.contains("line 2") && key.contains("colour"), "{key}");
        let example = refused(
            "[[permissions]]\nid = \"mine.a\"\nverdict = \"deny\"\nreason = \"r\"\ncommands = [\"rm -rf\"]\n\
             matches = [\"rm -r x\"]\n",
        );
        assert!(example.contains("mine.a does not match its own example"), "{example}");
    }
}
