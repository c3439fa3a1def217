//! Decisions of the crew's rules, and of other rules, on calls and commands.

use super::*;
use types::{Inspection, Repeat};

use samples::crew;

/// The rule that decides about a call, for a task that may write to these paths.
fn rule(call: &str, scope: &[&str]) -> String {
    let scope = Scope(scope.iter().map(|a| a.parse().expect("an artifact")).collect());
    let (call, inspection) = samples::call(call, 0);
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
fn settings_are_written_only_by_a_task_whose_plan_names_them() {
    for path in
        [".vscode/tasks.json", ".envrc", "AGENTS.md", ".github/workflows/ci.yml", "a/.mcp.json"]
    {
        let call = format!("write_file {path}");
        assert_eq!(rule(&call, &["./"]), "deny permit.settings", "{path}");
        assert!(rule(&call, &[".vscode/", ".github/", "a/"]).starts_with("deny"), "{path}");
        assert_eq!(rule(&call, &[path]), "allow permit.artifact", "{path}");
    }
    assert_eq!(rule("read_file .vscode/tasks.json", &[]), "allow permit.read");
}

#[test]
fn no_plan_and_no_policy_lets_an_agent_write_rules_or_keys() {
    for (path, id) in [
        (".bosun/policy.toml", "permit.own_settings"),
        ("sub/.BOSUN/prompts/base.md", "permit.own_settings"),
        (".ssh/authorized_keys", "permit.credentials"),
        ("deep/.aws/config", "permit.credentials"),
    ] {
        let call = format!("write_file {path}");
        assert_eq!(rule(&call, &["./"]), format!("deny {id}"));
        assert_eq!(rule(&call, &[path]), format!("deny {id}"));
        let (_, Inspection::Would(facts)) = samples::call(&call, 0) else { panic!("a call") };
        let mut open = crew();
        open.permissions.retain(|rule| rule.id.as_str() == "permit.artifact");
        let scope = Scope(vec!["./".parse().expect("an artifact")]);
        assert_eq!(judge(&open, &scope, "write_file", &facts).verdict, Permission::Deny, "{path}");
    }
}

#[test]
fn a_policy_that_says_nothing_of_settings_or_passwords_asks() {
    let mut open = crew();
    open.permissions.retain(|rule| ["permit.artifact", "permit.read"].contains(&rule.id.as_str()));
    let scope = Scope(vec!["./".parse().expect("an artifact")]);
    let verdict = |policy: &Policy, call: &str| {
        let (call, Inspection::Would(facts)) = samples::call(call, 0) else { panic!("a call") };
        let permit = judge(policy, &scope, &call.tool, &facts);
        (permit.verdict, permit.decision.rule.as_str().to_owned())
    };
    let asked = |id: &str| (Permission::Ask, id.to_owned());
    assert_eq!(verdict(&open, "write_file .envrc"), asked("permit.settings"));
    assert_eq!(verdict(&open, "read_file .env"), asked("permit.env_file"));
    assert_eq!(verdict(&open, "write_file a/.env.local"), asked("permit.env_file"));
    assert_eq!(verdict(&open, "read_file .env.example").0, Permission::Allow);
    open.sandbox.readable = vec!["**/.env".to_owned()];
    assert_eq!(verdict(&open, "read_file a/.env").0, Permission::Allow);
    assert_eq!(verdict(&open, "write_file a/.env"), asked("permit.env_file"));
    open.sandbox.readable = vec!["config/.env.*".to_owned()];
    assert_eq!(verdict(&open, "read_file config/.env.local").0, Permission::Allow);
    assert_eq!(verdict(&open, "read_file .env.local"), asked("permit.env_file"));
}

/// A rule for one kind of file does not cover the others in the same call.
#[test]
fn a_rule_for_files_with_passwords_does_not_permit_settings_beside_them() {
    let mut open = crew();
    open.permissions.retain(|rule| rule.id.as_str() == "permit.artifact");
    open.permissions[0].touches = vec![types::Sensitive::EnvFile];
    let scope = Scope(vec!["./".parse().expect("an artifact")]);
    let (call, Inspection::Would(mut facts)) = samples::call("write_file .env", 0) else {
        panic!("a call")
    };
    assert_eq!(judge(&open, &scope, &call.tool, &facts).verdict, Permission::Allow);
    facts.paths.push(".vscode/tasks.json".parse().expect("a path"));
    let permit = judge(&open, &scope, &call.tool, &facts);
    assert_eq!(
        (permit.verdict, permit.decision.rule.as_str()),
        (Permission::Ask, "permit.settings")
    );
}

#[test]
fn a_refused_write_says_what_would_have_been_allowed() {
    let scope = Scope(vec!["src/".parse().expect("an artifact")]);
    let (_, Inspection::Would(facts)) = samples::call("write_file b.rs", 0) else {
        panic!("a call that can be made")
    };
    let permit = judge(&crew(), &scope, "write_file", &facts);
    let reason = "a task may write only to its artifacts: b.rs is not in (src/)";
    assert_eq!(permit.decision.reason, reason);
    assert_eq!(permit.decision.seen, ["write_file b.rs"]);
}

#[test]
fn a_write_that_does_not_say_where_is_not_in_scope() {
    let facts = CallFacts {
        access: Access::Write,
        paths: vec![],
        command: None,
        folder: None,
        repeat: Repeat::Safe,
        tool: None,
        agent: None,
        hosts: vec![],
    };
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
    let (_, Inspection::Would(facts)) = samples::call("read_file a", 0) else {
        panic!("a call that can be made")
    };
    let permit =
        judge(&Policy { permissions: vec![], ..crew() }, &Scope::default(), "read_file", &facts);
    assert_eq!(permit.verdict, Permission::Deny);
    assert_eq!(permit.decision.rule.as_str(), "permit.no_rule");
}

/// The commands of a file of examples.
fn examples(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| !line.starts_with("//"));
    lines.map(|line| line.replace('\u{2424}', "\n"))
}

fn verdict(policy: &Policy, line: &str) -> Permit {
    let facts = CallFacts {
        access: Access::Execute,
        paths: vec![],
        command: Some(line.to_owned()),
        folder: None,
        repeat: Repeat::Unknown,
        tool: None,
        agent: None,
        hosts: vec![],
    };
    let scope = Scope(vec!["./".parse().expect("an artifact")]);
    judge(policy, &scope, "shell", &facts)
}

/// K27: blocklisted commands, with spacing, `${IFS}`, the order of flags, quotes, and in any position.
#[test]
fn the_blocklist_holds_however_a_command_is_written() {
    let crew = crew();
    for line in examples(include_str!("examples/crew_denies.txt")) {
        let permit = verdict(&crew, &line);
        assert_eq!(permit.verdict, Permission::Deny, "{line:?}: {:?}", permit.parts);
        assert!(!permit.decision.reason.is_empty());
    }
}

#[test]
fn what_tasks_are_made_of_is_allowed() {
    let crew = crew();
    for line in examples(include_str!("examples/crew_allows.txt")) {
        let permit = verdict(&crew, &line);
        assert_eq!(permit.verdict, Permission::Allow, "{line:?}: {:?}", permit.decision);
    }
}

/// A policy that allows a few programs by name, denies a few, and asks about the rest.
fn listed() -> Policy {
    let rule = |id: &'static str, verdict, commands: &[&str]| PermitRule {
        id: RuleId::fixed(id),
        verdict,
        reason: "it is on the list".to_owned(),
        tools: vec![],
        access: vec![],
        in_scope: None,
        touches: vec![],
        commands: commands.iter().map(|text| (*text).to_owned()).collect(),
        does: vec![],
        matches: vec![],
        not_matches: vec![],
    };
    let deny = ["curl", "wget", "sudo", "ssh", "nc", "rm -rf"];
    let allow = [
        "echo",
        "ls",
        "cat",
        "grep",
        "find",
        "sed -n",
        "git status|log|diff",
        "true",
        "false",
        "sort",
        "tar tf",
    ];
    let permissions = vec![
        rule("list.deny", Permission::Deny, &deny),
        rule("list.allow", Permission::Allow, &allow),
    ];
    Policy { permissions, default: Permission::Ask, ..crew() }
}

/// M18: only listed programs run, and only if that is all a command does.
#[test]
fn a_list_of_programs_allows_them_and_nothing_that_hides_behind_them() {
    let listed = listed();
    for line in examples(include_str!("examples/list_allows.txt")) {
        let permit = verdict(&listed, &line);
        assert_eq!(permit.verdict, Permission::Allow, "{line:?}: {:?}", permit.decision);
    }
    for line in examples(include_str!("examples/list_refuses.txt")) {
        let permit = verdict(&listed, &line);
        assert_ne!(permit.verdict, Permission::Allow, "{line:?}: {:?}", permit.parts);
    }
}

#[test]
fn the_strictest_part_decides_however_many_there_are() {
    let listed = listed();
    let many = "true && ".repeat(200);
    assert_eq!(verdict(&listed, &format!("{many}true")).verdict, Permission::Allow);
    assert_eq!(verdict(&listed, &format!("{many}touch x")).verdict, Permission::Ask);
    let denied = verdict(&listed, &format!("touch x; {many}curl x; touch y"));
    assert_eq!((denied.verdict, denied.decision.rule.as_str()), (Permission::Deny, "list.deny"));
    assert!(denied.decision.reason.ends_with(": curl x"), "{}", denied.decision.reason);
}

#[test]
fn a_dangerous_flag_that_a_rule_names_is_allowed() {
    let mut listed = listed();
    listed.permissions[1].commands =
        ["find -delete", "python3 -c", "sort -o", "./gradlew"].map(str::to_owned).to_vec();
    for line in ["find . -delete", "python3 -c 'x'", "sort -o out in", "./gradlew test"] {
        assert_eq!(verdict(&listed, line).verdict, Permission::Allow, "{line}");
    }
    for line in ["find . -delete -exec x \\;", "python3 x.py", "gradlew test", "../gradlew test"] {
        assert_eq!(verdict(&listed, line).verdict, Permission::Ask, "{line}");
    }
}

#[test]
fn where_nobody_can_be_asked_ask_is_deny_and_says_so() {
    let headless = Policy { headless: true, ..listed() };
    let permit = verdict(&headless, "ls; touch x");
    assert_eq!(permit.verdict, Permission::Deny);
    assert!(
        permit.decision.reason.contains("no person is available"),
        "{}",
        permit.decision.reason
    );
}
