//! Grants: a person's permissions beyond the policy. A grant answers a question in advance and never overrides a
//! refusal. Also computes the grant that would allow similar calls without asking again.

use types::{
    Access, CallFacts, Decision, Grants, Permission, REGISTRIES, REGISTRY_HOSTS, RuleId,
    SandboxPolicy,
};

use super::verdict::{PartPermit, Permit};
use crate::command::{Part, Pattern};

const GRANTED: &str = "permit.granted";
const NETWORK: &str = "permit.host";
/// Programs whose action is named by their first two words.
const TWO_WORDS: [&str; 11] =
    ["aws", "az", "docker", "gcloud", "gh", "glab", "kubectl", "npm", "pnpm", "podman", "yarn"];
/// Maximum number of options in a proposed pattern.
const MOST_FLAGS: usize = 3;

/// Allows a part that would be asked about if a person has granted it; otherwise adds the pattern that would cover it.
pub(super) fn on_part(mut permit: PartPermit, granted: &Grants, part: &Part) -> PartPermit {
    if permit.verdict != Permission::Ask {
        return permit;
    }
    match granted.commands.iter().find(|text| covers(text, part)) {
        Some(pattern) => {
            permit.verdict = Permission::Allow;
            permit.rule = RuleId::fixed(GRANTED);
            permit.reason = format!("a person has granted `{pattern}`");
        }
        None => permit.pattern = proposed(part),
    }
    permit
}

/// The grant that would cover all parts that are asked about; `None` if one of them cannot be covered.
pub(super) fn offer(parts: &[PartPermit]) -> Option<Grants> {
    let asked = parts.iter().filter(|part| part.verdict == Permission::Ask);
    let commands: Option<Vec<String>> = asked.map(|part| part.pattern.clone()).collect();
    let mut offer = Grants::default();
    offer.add(&Grants { commands: commands?, hosts: vec![] });
    (!offer.is_empty()).then_some(offer)
}

/// The narrowest pattern of the usual forms that covers a part: the program with its subcommand, or with its options.
fn proposed(part: &Part) -> Option<String> {
    let words: Option<Vec<String>> = part.words.iter().map(crate::command::Word::known).collect();
    let words = words?;
    let (program, arguments) = words.split_first()?;
    let verb = |word: &&String| {
        let plain = |c: char| c.is_ascii_lowercase() || c == '-' || c == '_';
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(plain)
    };
    let most = if TWO_WORDS.contains(&program.as_str()) { 2 } else { 1 };
    let verbs: Vec<&str> =
        arguments.iter().take_while(verb).take(most).map(String::as_str).collect();
    let simple = |word: &&String| {
        let name = word.trim_start_matches('-');
        word.starts_with('-')
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let flags: Vec<&str> =
        arguments.iter().filter(simple).take(MOST_FLAGS).map(String::as_str).collect();
    let line = |parts: &[&[&str]]| {
        let rest = parts.iter().flat_map(|words| words.iter().copied());
        std::iter::once(program.as_str()).chain(rest).collect::<Vec<_>>().join(" ")
    };
    let forms = [
        (!verbs.is_empty()).then(|| line(&[&verbs])),
        (!verbs.is_empty()).then(|| line(&[&verbs, &flags])),
        (!flags.is_empty()).then(|| line(&[&flags])),
        Some(line(&[])),
    ];
    forms.into_iter().flatten().find(|text| covers(text, part))
}

fn covers(pattern: &str, part: &Part) -> bool {
    Pattern::parse(pattern).is_some_and(|pattern| pattern.covers(part))
}

/// Asks about hosts that a call names and that are not granted, or refuses them if the policy does not ask.
pub(super) fn on_hosts(
    mut permit: Permit,
    policy: &SandboxPolicy,
    granted: &Grants,
    facts: &CallFacts,
) -> Permit {
    let known = |host: &String| grants(&policy.network, host) || grants(&granted.hosts, host);
    let missing: Vec<String> = facts.hosts.iter().filter(|host| !known(host)).cloned().collect();
    if missing.is_empty() || permit.verdict == Permission::Deny {
        return permit;
    }
    let hosts = missing.join(", ");
    if !policy.ask_hosts {
        // A page is refused when it is fetched, with the same message.
        if facts.access == Access::Execute {
            let reason = format!("the policy does not allow connections to {hosts}");
            permit.verdict = Permission::Deny;
            permit.decision = about(reason, &permit.decision);
        }
        return permit;
    }
    let reason = format!("it would connect to {hosts}");
    permit.decision = match permit.verdict {
        Permission::Ask => {
            let reason = format!("{}; {reason}", permit.decision.reason);
            Decision { reason, ..permit.decision }
        }
        _ => {
            permit.offer = Some(Grants::default());
            about(reason, &permit.decision)
        }
    };
    permit.verdict = Permission::Ask;
    permit.offer = permit.offer.map(|mut offer| {
        offer.add(&Grants { commands: vec![], hosts: missing });
        offer
    });
    permit
}

/// Whether a list of hosts contains this one. The sandbox compares again, more strictly.
fn grants(list: &[String], host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    list.iter().map(|granted| granted.to_ascii_lowercase()).any(|granted| {
        let below = granted.strip_prefix('*').is_some_and(|domain| {
            !host.starts_with('*') && host.len() > domain.len() && host.ends_with(domain)
        });
        let registry = granted == REGISTRIES && REGISTRY_HOSTS.contains(&host.as_str());
        granted == host || below || registry
    })
}

/// A decision about hosts, with the inputs of another decision.
fn about(reason: String, other: &Decision) -> Decision {
    Decision { seen: other.seen.clone(), ..Decision::new(RuleId::fixed(NETWORK), reason) }
}

#[cfg(test)]
mod tests {
    use types::{Policy, Repeat, Scope};

    use super::super::judge_granted;
    use super::*;

    fn policy(ask_hosts: bool) -> Policy {
        let mut policy = samples::crew();
        policy.permissions = toml::from_str::<Rules>(
            r#"
            [[permissions]]
            id = "a.deny"
            verdict = "deny"
            reason = "never"
            commands = ["rm -r <outside>"]
            [[permissions]]
            id = "a.ask"
            verdict = "ask"
            reason = "look first"
            commands = ["git", "rm -r", "gh", "find -delete"]
            [[permissions]]
            id = "a.allow"
            verdict = "allow"
            reason = "fine"
            access = ["execute", "network"]
            "#,
        )
        .expect("rules")
        .permissions;
        policy.sandbox.ask_hosts = ask_hosts;
        policy
    }

    #[derive(serde::Deserialize)]
    struct Rules {
        permissions: Vec<types::PermitRule>,
    }

    fn judged(policy: &Policy, granted: &Grants, line: &str, hosts: &[&str]) -> Permit {
        let facts = CallFacts {
            command: Some(line.to_owned()),
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
            ..CallFacts::new(Access::Execute, Repeat::Unknown)
        };
        let everywhere = Scope(vec![types::Artifact::everything()]);
        judge_granted(policy, granted, &everywhere, "shell", &facts)
    }

    fn commands(patterns: &[&str]) -> Grants {
        let commands = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        Grants { commands, hosts: vec![] }
    }

    #[test]
    fn what_is_offered_is_what_has_to_be_granted() {
        let policy = policy(true);
        for (line, patterns) in [
            ("git commit -m 'a b'", &["git commit"][..]),
            ("gh pr create --title x && rm -rf build", &["gh pr create", "rm -rf"]),
            ("make && find . -name x -delete", &["find -name -delete"]),
        ] {
            let permit = judged(&policy, &Grants::default(), line, &[]);
            assert_eq!(permit.verdict, Permission::Ask, "{line}");
            let offer = permit.offer.expect("an offer");
            assert_eq!(offer.commands, patterns, "{line}");
            let again = judged(&policy, &offer, line, &[]);
            assert_eq!(again.verdict, Permission::Allow, "{line}: {}", again.decision.reason);
        }
    }

    #[test]
    fn every_part_that_is_asked_about_is_named_with_its_reason() {
        let permit = judged(&policy(true), &Grants::default(), "git push && gh pr list; ls", &[]);
        let reason = permit.decision.reason;
        assert!(reason.contains("git push") && reason.contains("gh pr list"), "{reason}");
    }

    #[test]
    fn a_grant_never_lifts_a_refusal_and_covers_nothing_else() {
        let policy = policy(true);
        let granted = commands(&["rm -r", "git commit"]);
        assert_eq!(judged(&policy, &granted, "rm -r /", &[]).verdict, Permission::Deny);
        assert_eq!(judged(&policy, &granted, "git push", &[]).verdict, Permission::Ask);
        assert_eq!(
            judged(&policy, &granted, "git commit && git push", &[]).verdict,
            Permission::Ask
        );
        let one = judged(&policy, &granted, "git commit -m x && git push", &[]);
        assert_eq!(one.offer, Some(commands(&["git push"])));
        assert_eq!(
            judged(&policy, &granted, "git -c alias.commit='!id' commit", &[]).verdict,
            Permission::Ask
        );
    }

    #[test]
    fn a_host_is_asked_for_by_name_and_registries_are_one_grant() {
        let policy = policy(true);
        let asked = judged(&policy, &Grants::default(), "npm ci", &["registry.npmjs.org"]);
        assert_eq!(asked.verdict, Permission::Ask);
        assert_eq!(asked.decision.rule.as_str(), NETWORK);
        let offer = asked.offer.expect("an offer");
        assert_eq!(offer.hosts, ["registry.npmjs.org"]);
        let registries = Grants { commands: vec![], hosts: vec![REGISTRIES.to_owned()] };
        for granted in [&offer, &registries] {
            let allowed = judged(&policy, granted, "npm ci", &["registry.npmjs.org"]);
            assert_eq!(allowed.verdict, Permission::Allow);
        }
        let other = judged(&policy, &registries, "curl https://x.test", &["x.test"]);
        assert_eq!(other.verdict, Permission::Ask);
        let both = judged(&policy, &Grants::default(), "git fetch", &["x.test"]);
        assert!(both.decision.reason.contains("look first; it would connect to x.test"));
    }

    #[test]
    fn a_policy_that_asks_nobody_refuses_a_host_that_it_does_not_grant() {
        let mut policy = policy(false);
        let line = "curl https://x.test";
        let refused = judged(&policy, &Grants::default(), line, &["x.test"]);
        assert_eq!(refused.verdict, Permission::Deny);
        policy.sandbox.network.push("*.test".to_owned());
        let allowed = judged(&policy, &Grants::default(), line, &["x.test"]);
        assert_eq!(allowed.verdict, Permission::Allow);
        assert_eq!(
            judged(&policy, &Grants::default(), line, &["*.test.evil"]).verdict,
            Permission::Deny
        );
    }
}
