//! Tool profiles: a role's profile is defined by its policy, shipped with the product, or that of its model family.
//! Also validates the profiles of a policy; the tools themselves are not known here.

use types::{Family, ModelRef, Policy, RoleId, ToolProfile};

/// The longest tool name that all providers accept.
const LONGEST: usize = 64;

/// The profile of a role with a model.
#[must_use]
pub fn of(policy: &Policy, role: &RoleId, model: &ModelRef) -> ToolProfile {
    let named = policy.roles.get(role).and_then(|role| role.profile.as_deref());
    let known = named.and_then(|name| find(policy, name));
    known.unwrap_or_else(|| ToolProfile::of(Family::of(model)))
}

/// A profile by its name: one of the policy's own, or a shipped one.
#[must_use]
pub fn find(policy: &Policy, name: &str) -> Option<ToolProfile> {
    policy.profiles.get(name).cloned().or_else(|| ToolProfile::shipped(name))
}

/// The names of all profiles of a policy.
#[must_use]
pub fn known(policy: &Policy) -> Vec<String> {
    let shipped = ToolProfile::shipped_names().map(str::to_owned);
    shipped.chain(policy.profiles.keys().cloned()).collect()
}

/// Whether read-only calls of a role run concurrently.
#[must_use]
pub fn calls_in_parallel(policy: &Policy, role: &RoleId) -> bool {
    let named = policy.roles.get(role).and_then(|role| role.profile.as_deref());
    named.and_then(|name| policy.profiles.get(name)).is_none_or(|profile| profile.parallel_calls)
}

pub(crate) fn problems(policy: &Policy, found: &mut Vec<String>) {
    for (id, role) in &policy.roles {
        let Some(name) = &role.profile else { continue };
        match find(policy, name) {
            None => {
                let known = known(policy).join(", ");
                found.push(format!(
                    "role {id} has the unknown profile {name:?}; known profiles: {known}"
                ));
            }
            Some(profile) if role.reply.is_some() && !profile.names.is_empty() => {
                found.push(format!(
                    "role {id} replies with JSON and calls no tools by name, so its profile may not rename any"
                ));
            }
            Some(_) => {}
        }
    }
    for (name, profile) in &policy.profiles {
        if ToolProfile::shipped(name).is_some() {
            found
                .push(format!("profiles.{name} is the name of a built-in profile; choose another"));
        }
        names(name, profile, policy, found);
    }
}

fn names(name: &str, profile: &ToolProfile, policy: &Policy, found: &mut Vec<String>) {
    let fits = |name: &str| {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        (1..=LONGEST).contains(&name.len()) && name.chars().all(letter)
    };
    let mut taken = std::collections::BTreeSet::new();
    // A tool under another's name would be that one for every role and rule that names it.
    let offered: std::collections::BTreeSet<&String> =
        policy.roles.values().flat_map(|role| &role.tools).chain(profile.names.keys()).collect();
    for (tool, called) in &profile.names {
        if !fits(called) {
            found.push(format!(
                "profiles.{name}.names.{tool}: {called:?} is not a valid tool name (letters, digits, _ and -)"
            ));
        }
        if called != tool && offered.contains(called) {
            found.push(format!(
                "profiles.{name}.names.{tool}: {called} is the name of another tool"
            ));
        }
        if tool == "submit" && called != tool {
            found.push(format!("profiles.{name}.names: submit cannot be renamed"));
        }
        if !taken.insert(called) {
            found.push(format!("profiles.{name}.names: two tools are called {called}"));
        }
    }
    for (tool, arguments) in &profile.arguments {
        if arguments.values().any(|called| !fits(called)) {
            found.push(format!("profiles.{name}.arguments.{tool} has an invalid name"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::crew;

    fn with(text: &str) -> Policy {
        let mut policy = crew();
        policy.profiles = toml::from_str(text).expect("profiles");
        if let Some(coder) = policy.roles.get_mut(&RoleId::fixed("coder")) {
            coder.profile = Some("mine".to_owned());
        }
        policy
    }

    /// A64: a role gets the user's own profile, which inherits the rest from a family.
    #[test]
    fn a_policys_own_profile_is_found_by_its_name() {
        let policy =
            with("[mine]\nlike = 'gemini'\nnames = { shell = 'bash' }\nparallel_calls = false");
        let (coder, model) = (RoleId::fixed("coder"), "openai/gpt-5".parse().expect("a model"));
        let profile = of(&policy, &coder, &model);
        assert_eq!((profile.like, profile.names["shell"].as_str()), (Family::Gemini, "bash"));
        assert!(!calls_in_parallel(&policy, &coder));
        let planner = RoleId::fixed("planner");
        assert_eq!(of(&policy, &planner, &model), ToolProfile::of(Family::OpenAi));
        assert!(calls_in_parallel(&policy, &planner));
        assert_eq!(crate::policy::problems(&policy), Vec::<String>::new());
    }

    #[test]
    fn profiles_that_cannot_be_used_are_named() {
        for (text, says) in [
            ("", "known profiles: openai, anthropic, gemini, portable, basic"),
            ("[mine]\nnames = { shell = 'run it' }", "is not a valid tool name"),
            ("[mine]\nnames = { shell = 'run', grep = 'run' }", "two tools are called run"),
            ("[mine]\nnames = { shell = 'read_file' }", "is the name of another tool"),
            ("[mine]\nnames = { submit = 'done' }", "submit cannot be renamed"),
            ("[mine]\n[basic]", "is the name of a built-in profile"),
        ] {
            let found = crate::policy::problems(&with(text)).join("; ");
            assert!(found.contains(says), "{text}: {found}");
        }
    }
}
