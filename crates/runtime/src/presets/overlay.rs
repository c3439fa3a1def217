//! Partial policy files, laid over a preset: a key in the file replaces the preset's. The engine decides how
//! permissions combine.

use serde_json::{Map, Value};
use types::{PermitRule, Policy};

use super::document::{line_of_key, policy};
use super::error::PolicyError;

type Object = Map<String, Value>;

/// Lays a file with `extends` over the named preset. Its roles replace all of the preset's.
pub(super) fn extend(
    mut below: Object,
    name: &str,
    text: &str,
    mut file: Object,
) -> Result<Policy, PolicyError> {
    file.remove("extends");
    if let Some(roles) = file.get("roles").and_then(Value::as_object) {
        below.remove("roles");
        without_others(&mut below, roles);
    }
    if let Some(routes) = file.remove("routes") {
        sent_to(&mut below, &routes)
            .map_err(|cause| PolicyError::unreadable(name, line_of_key(text, "routes"), cause))?;
    }
    lay_over(below, name, text, file)
}

/// Failures that the preset hands to a role that no longer exists are put to a person instead.
fn without_others(below: &mut Object, roles: &Object) {
    let rules = below.get_mut("failures").and_then(Value::as_array_mut);
    for rule in rules.into_iter().flatten().filter_map(Value::as_object_mut) {
        let role = rule.get("role").and_then(Value::as_str);
        if role.is_some_and(|role| !roles.contains_key(role)) {
            rule.remove("role");
            rule.insert("then".to_owned(), Value::from("ask"));
        }
    }
}

/// Sets other roles in the routing rules, by category.
fn sent_to(below: &mut Object, routes: &Value) -> Result<(), String> {
    let routes = routes.as_object().ok_or("routes must be a table of roles by category")?;
    let rules = below.get_mut("routing").and_then(Value::as_array_mut);
    let mut used = std::collections::BTreeSet::new();
    for rule in rules.into_iter().flatten().filter_map(Value::as_object_mut) {
        let category = rule.get("category").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(role) = routes.get(&category) {
            rule.insert("to".to_owned(), role.clone());
            used.insert(category);
        }
    }
    match routes.keys().find(|category| !used.contains(*category)) {
        Some(category) => Err(format!("no routing rule has category {category}")),
        None => Ok(()),
    }
}

/// Lays a file over a policy.
pub(super) fn lay_over(
    below: Object,
    name: &str,
    text: &str,
    mut file: Object,
) -> Result<Policy, PolicyError> {
    // Both lists of permissions are read in one, the file's first, and combined as rules afterwards.
    let said = file.remove("permissions").unwrap_or_else(|| Value::Array(vec![]));
    let default = file.contains_key("default");
    let mut whole = Value::Object(below);
    put(&mut whole, Value::Object(file));
    let own = said.as_array().map(Vec::len);
    let all = match (said, whole.get_mut("permissions").map(Value::take)) {
        (Value::Array(said), Some(Value::Array(below))) => Value::Array([said, below].concat()),
        (said, _) => said,
    };
    whole["permissions"] = all;
    let mut policy = policy(&whole, name, text)?;
    let below: Vec<PermitRule> = policy.permissions.split_off(own.unwrap_or(0));
    let default = default.then_some(policy.default);
    policy.permissions = rules::policy::laid_over(below, policy.permissions, default);
    Ok(policy)
}

/// Lays a person's own file over any policy. Its permissions come first, and its keys win; it has no roles of its own,
/// since it applies to every preset.
pub(super) fn over(policy: &Policy, name: &str, text: &str) -> Result<Policy, PolicyError> {
    let file = super::document::object(name, text)?;
    for key in ["roles", "version", "name", "extends", "routes"] {
        if file.contains_key(key) {
            let cause = format!("{key} cannot be set here: this file is laid over every preset");
            return Err(PolicyError::unreadable(name, line_of_key(text, key), cause));
        }
    }
    let below = match serde_json::to_value(policy) {
        Ok(Value::Object(below)) => below,
        Ok(_) => Object::new(),
        Err(error) => return Err(PolicyError::unreadable(name, 1, error.to_string())),
    };
    let policy = lay_over(below, name, text, file)?;
    let problems = rules::policy::problems(&policy);
    match problems.is_empty() {
        true => Ok(policy),
        false => Err(PolicyError::Broken { name: name.to_owned(), problems }),
    }
}

fn put(whole: &mut Value, file: Value) {
    match (whole, file) {
        (Value::Object(whole), Value::Object(file)) => {
            for (key, value) in file {
                put(whole.entry(key).or_insert(Value::Null), value);
            }
        }
        (whole, file) => *whole = file,
    }
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
        assert!(unknown.contains("line 4: unknown key tokenz; did you mean tokens?"), "{unknown}");
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
            let policy = super::super::laid_over(&policy, "policy.toml", own).expect("it fits");
            assert_eq!((policy.name.as_str(), policy.limits.parallel_tasks), (name, 1));
            assert_eq!(policy.permissions[0].id.as_str(), "mine.push");
        }
        let crew = || super::super::preset("crew").expect("it ships");
        for (text, what) in [
            (
                "[limits]\nparalel_tasks = 1\n",
                "unknown key paralel_tasks; did you mean parallel_tasks?",
            ),
            ("extends = \"crew\"\n", "laid over every preset"),
        ] {
            let said =
                super::super::laid_over(&crew(), "policy.toml", text).map(|_| ()).expect_err("no");
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
