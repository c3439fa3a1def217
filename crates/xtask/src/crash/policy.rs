//! The policy of crashed runs: the default one without the reading of goals and the trials of checks, which reveal
//! nothing about crashes and cost time at every start. Gates, checks, merges and permissions stay.

use anyhow::{Context as _, ensure};
use toml::{Table, Value};

/// Derives it from the text of the default policy.
pub(super) fn lean(text: &str) -> anyhow::Result<String> {
    let mut policy: Table = toml::from_str(text).context("reading the default policy")?;
    // Of the rules that read a goal only the last stay, which accept any.
    for rules in ["admission", "routing"] {
        let all = policy.get_mut(rules).and_then(Value::as_array_mut);
        let all = all.with_context(|| format!("the default policy has no {rules} any more"))?;
        all.retain(|rule| rule.get("when").is_none());
        ensure!(!all.is_empty(), "no rule of {rules} takes any goal any more");
        for rule in all.iter_mut().filter_map(Value::as_table_mut) {
            rule.retain(|key, _| !matches!(key, "matches" | "not_matches"));
        }
    }
    policy.retain(|key, _| !matches!(key, "words" | "project_types"));
    let verify = policy.get_mut("verify").and_then(Value::as_table_mut);
    let verify = verify.context("the default policy has no verify any more")?;
    for (key, value) in [("trials", Value::from(false)), ("unproven", Value::from("allow"))] {
        ensure!(verify.insert(key.to_owned(), value).is_some(), "verify has no {key} any more");
    }
    toml::to_string(&policy).context("writing the policy")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rules_that_take_any_goal_are_left() {
        let text = r#"
            [words]
            make = ["build"]
            [verify]
            trials = true
            unproven = "ask"
            [[admission]]
            id = "short"
            when = { fewer_words_than = 2 }
            [[admission]]
            id = "any"
            matches = ["Build it"]
            [[routing]]
            id = "goal"
        "#;
        let lean: Table = toml::from_str(&lean(text).unwrap()).unwrap();
        let wanted = r#"
            admission = [{ id = "any" }]
            routing = [{ id = "goal" }]
            verify = { trials = false, unproven = "allow" }
        "#;
        assert_eq!(lean, toml::from_str::<Table>(wanted).unwrap());
        assert!(super::lean("[verify]\ntrials = true").is_err());
    }
}
