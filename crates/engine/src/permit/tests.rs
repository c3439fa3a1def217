//! What the rules of the crew, and rules of others, say about calls and commands.

use super::*;
use types::{Inspection, Repeat};

use crate::testing::{crew, talk};

/// The rule that decides about a call, for a task that may write to these places.
fn rule(call: &str, scope: &[&str]) -> String {
    let scope = Scope(scope.iter().map(|a| a.parse().expect("an artifact")).collect());
    let (call, inspection) = talk::call(call, 0);
    let Inspection::Would(facts) = inspection else { panic!("a call that can be made") };
    let permit = judge(&crew(), &scope, &call.tool, &facts);
    let verdict = if permit.verdict == Permission::Allow { "allow" } else { "deny" };
    format!("{verdict} {}", permit.decision.rule)
}

#[test]
fn reading_and_handing_in_are_always_allowed() {
    assert_eq!(rule("read_file anything.rs", &[]), "allow permit.read");
    assert_eq!(rule("submit", &[]), "allow permit.submit");
}

#[test]
fn writing_is_allowed_only_to_the_tasks_artifacts() {
    assert_eq!(rule("write_file src/a.rs", &["src/"]), "allow permit.artifact");
    assert_eq!(rule("write_file srcx/a.rs", &["src/"]), "deny permit.outside_artifacts");
    assert_eq!(rule("write_file a.rs", &[]), "deny permit.outside_artifacts");
}

#[test]
fn a_refused_write_says_what_would_have_been_allowed() {
    let scope = Scope(vec!["src/".parse().expect("an artifact")]);
    let (_, Inspection::Would(facts)) = talk::call("write_file b.rs", 0) else {
        panic!("a call that can be made")
    };
    let permit = judge(&crew(), &scope, "write_file", &facts);
    let reason = "a task may write only to its artifacts: b.rs is not in (src/)";
    assert_eq!(permit.decision.reason, reason);
    assert_eq!(permit.decision.seen, ["write_file b.rs"]);
}

#[test]
fn a_write_that_does_not_say_where_is_not_in_scope() {
    let facts =
        CallFacts { access: Access::Write, paths: vec![], command: None, repeat: Repeat::Safe };
    let scope = Scope(vec!["./".parse().expect("an artifact")]);
    let permit = judge(&crew(), &scope, "write_file", &facts);
    assert_eq!(permit.decision.rule.as_str(), "permit.outside_artifacts");
}

#[test]
fn commands_are_for_tasks_that_may_write_and_never_version_control() {
    assert_eq!(rule("shell make", &["src/"]), "allow permit.command");
    assert_eq!(rule("shell make", &[]), "deny permit.read_only_role");
    assert_eq!(rule("shell git push", &["src/"]), "deny permit.version_control");
    assert_eq!(rule("shell gitk", &["src/"]), "allow permit.command");
}

#[test]
fn a_call_that_no_rule_speaks_of_is_not_made() {
    let (_, Inspection::Would(facts)) = talk::call("read_file a", 0) else {
        panic!("a call that can be made")
    };
    let permit =
        judge(&Policy { permissions: vec![], ..crew() }, &Scope::default(), "read_file", &facts);
    assert_eq!(permit.verdict, Permission::Deny);
    assert_eq!(permit.decision.rule.as_str(), "permit.no_rule");
}
