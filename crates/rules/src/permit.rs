//! Permissions of calls. The first rule that matches a call decides, and for a command line the first rule that matches
//! each part; the strictest verdict wins. Without a matching rule a call is denied, and a part of a command gets the
//! default of the policy. Rules catch mistakes; only the sandbox enforces.

mod grants;
mod look;
mod sensitive;
mod verdict;

use types::{
    Access, CallFacts, CommandRisk, Decision, Grants, Permission, PermitRule, Policy, RuleId, Scope,
};

use crate::command::{self, Part, Pattern};

pub use look::look;
pub use sensitive::names as names_file;
pub use verdict::{PartPermit, Permit};

/// How many characters of a command are shown.
const SHOWN: usize = 200;
/// How many parts of a line are named with their reasons.
const MOST_REASONS: usize = 8;

/// Decides on one call. The strictest of its parts wins.
#[must_use]
pub fn judge(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    judge_granted(policy, &Grants::default(), scope, tool, facts)
}

/// The same with a person's grants in addition to the policy. A grant only answers a question in advance.
#[must_use]
pub fn judge_granted(
    policy: &Policy,
    granted: &Grants,
    scope: &Scope,
    tool: &str,
    facts: &CallFacts,
) -> Permit {
    let permit = attended(policy, granted, scope, tool, facts);
    if permit.verdict == Permission::Ask && policy.headless {
        without_a_person(permit, facts.access)
    } else {
        permit
    }
}

/// The same for an attended run, regardless of the policy's setting.
#[must_use]
pub fn judge_attended(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    attended(policy, &Grants::default(), scope, tool, facts)
}

fn attended(
    policy: &Policy,
    granted: &Grants,
    scope: &Scope,
    tool: &str,
    facts: &CallFacts,
) -> Permit {
    let inputs = inputs(tool, facts);
    if let Some((decision, _)) = sensitive::never(facts) {
        return whole(Permission::Deny, decision, &inputs);
    }
    let rules = policy.permissions.iter().filter(|rule| matches(rule, scope, tool, facts));
    let permit = match (facts.access, facts.command.as_deref()) {
        (Access::Execute, Some(line)) => {
            let parts = command::read(line);
            let names = names(&parts);
            let rules: Vec<CompiledRule<'_>> =
                rules.map(|rule| CompiledRule::new(rule, &names)).collect();
            let judge = |part| grants::on_part(judge_part(policy, &rules, part), granted, part);
            strictest(parts.iter().map(judge).collect(), &inputs)
        }
        _ => {
            let rule = rules.into_iter().find(|rule| !names_parts(rule));
            let (verdict, decision) = of_call(rule, scope, facts, tool);
            let covered = rule.map(|rule| rule.touches.as_slice()).unwrap_or_default();
            match sensitive::must_ask(policy, scope, facts, covered) {
                Some(decision) if verdict == Permission::Allow => {
                    whole(Permission::Ask, decision, &inputs)
                }
                _ => whole(verdict, decision, &inputs),
            }
        }
    };
    match facts.access {
        // A permitted question to a person waits for that person.
        Access::Ask => Permit { verdict: permit.verdict.max(Permission::Ask), ..permit },
        // It runs a program that writes to named paths, and both must be allowed.
        Access::Execute if !facts.paths.is_empty() => {
            let writes = CallFacts { access: Access::Write, command: None, ..facts.clone() };
            let written = judge_attended(policy, scope, tool, &writes);
            if written.verdict >= permit.verdict { written } else { permit }
        }
        _ => grants::on_hosts(permit, &policy.sandbox, granted, facts),
    }
}

/// Whether a rule matches a command line, for the rule's own examples: an allowing rule has to match every part, any
/// other rule one.
#[must_use]
pub(crate) fn is_example(rule: &PermitRule, line: &str) -> bool {
    let parts = command::read(line);
    let rule = CompiledRule::new(rule, &names(&parts));
    let mut parts = parts.iter().filter(|part| !only_wraps(part)).peekable();
    match rule.rule.verdict {
        Permission::Allow => parts.peek().is_some() && parts.all(|part| rule.matches(part)),
        Permission::Ask | Permission::Deny => parts.any(|part| rule.matches(part)),
    }
}

/// The likely names of the programs that some parts call.
fn names(parts: &[Part]) -> Vec<String> {
    parts.iter().filter_map(Part::name).collect()
}

/// A rule with those of its patterns parsed that can match some programs.
struct CompiledRule<'a> {
    rule: &'a PermitRule,
    patterns: Vec<Pattern>,
}

impl<'a> CompiledRule<'a> {
    fn new(rule: &'a PermitRule, names: &[String]) -> Self {
        let near = rule.commands.iter().filter(|text| Pattern::is_near(text, names));
        Self { rule, patterns: near.filter_map(|text| Pattern::parse(text)).collect() }
    }

    fn matches(&self, part: &Part) -> bool {
        let named = |pattern: &Pattern| match self.rule.verdict {
            Permission::Allow => pattern.covers(part),
            Permission::Ask | Permission::Deny => pattern.is_like(part),
        };
        let does = &self.rule.does;
        (self.rule.commands.is_empty() || self.patterns.iter().any(named))
            && (does.is_empty() || does.iter().any(|risk| part.risks.contains(risk)))
    }
}

/// Whether a rule is about parts of commands rather than about calls.
fn names_parts(rule: &PermitRule) -> bool {
    !rule.commands.is_empty() || !rule.does.is_empty()
}

fn judge_part(policy: &Policy, rules: &[CompiledRule<'_>], part: &Part) -> PartPermit {
    let shown: String = part.shown().chars().take(SHOWN).collect();
    let words = part.words.iter().map(command::Word::shown).collect();
    let permit = |verdict, rule, reason| PartPermit {
        command: shown,
        words,
        verdict,
        rule,
        reason,
        pattern: None,
    };
    if let Some(CompiledRule { rule, .. }) = rules.iter().find(|rule| rule.matches(part)) {
        return permit(rule.verdict, rule.id.clone(), rule.reason.clone());
    }
    if only_wraps(part) {
        let reason = "it only starts or prepares commands that are judged separately".to_owned();
        return permit(Permission::Allow, RuleId::fixed(WRAPPER_RULE), reason);
    }
    let because = match (part.unclear, part.risks.iter().next()) {
        (Some(why), _) => format!("; {why}"),
        (None, Some(risk)) => format!("; it {}", risk.says()),
        (None, None) => String::new(),
    };
    let reason = match policy.default {
        Permission::Allow => {
            format!("no rule matches it, and the policy allows it by default{because}")
        }
        Permission::Ask => format!("no rule allows it, so a person must decide{because}"),
        Permission::Deny => format!("no rule allows it{because}"),
    };
    permit(policy.default, RuleId::fixed("permit.default"), reason)
}

const WRAPPER_RULE: &str = "permit.carries";

/// Whether a part only starts other parts or sets something up, so that it needs no rule of its own.
fn only_wraps(part: &Part) -> bool {
    let sets_up =
        part.words.is_empty() || part.words.first().is_some_and(|word| word.shown() == "[[");
    (part.is_wrapper || sets_up)
        && part.risks.iter().all(|risk| part.is_wrapper && *risk == CommandRisk::RunsCode)
}

/// The decision on a whole command: that of its strictest part.
fn strictest(parts: Vec<PartPermit>, inputs: &str) -> Permit {
    let verdict = parts.iter().map(|part| part.verdict).max().unwrap_or(Permission::Deny);
    let decides = |part: &&PartPermit| part.verdict == verdict;
    let decisive = parts
        .iter()
        .filter(decides)
        .find(|part| part.rule.as_str() != WRAPPER_RULE)
        .or_else(|| parts.iter().find(decides));
    let decision = match decisive {
        Some(part) if parts.len() > 1 && verdict != Permission::Allow => {
            Decision::new(part.rule.clone(), reasons(parts.iter().filter(decides)))
        }
        Some(part) => Decision::new(part.rule.clone(), part.reason.clone()),
        None => Decision::new(RuleId::fixed("permit.no_rule"), "it contains no command"),
    };
    let offer = grants::offer(&parts);
    Permit { verdict, decision: decision.seeing(inputs), parts, offer }
}

/// Why each of these parts has its verdict, in the order of the line.
fn reasons<'a>(parts: impl Iterator<Item = &'a PartPermit>) -> String {
    let mut said: Vec<String> = Vec::new();
    for part in parts.filter(|part| part.rule.as_str() != WRAPPER_RULE) {
        let reason = format!("{}: {}", part.reason, part.command);
        if said.len() < MOST_REASONS && !said.contains(&reason) {
            said.push(reason);
        }
    }
    said.join("; ")
}

/// The decision on a call that runs no command.
fn of_call(
    rule: Option<&PermitRule>,
    scope: &Scope,
    facts: &CallFacts,
    tool: &str,
) -> (Permission, Decision) {
    match rule {
        Some(rule) => (rule.verdict, Decision::new(rule.id.clone(), reason(rule, scope, facts))),
        None => {
            let reason = format!("no rule permits this call of {tool}");
            (Permission::Deny, Decision::new(RuleId::fixed("permit.no_rule"), reason))
        }
    }
}

/// The verdict on a call as a whole.
fn whole(verdict: Permission, decision: Decision, inputs: &str) -> Permit {
    Permit { verdict, decision: decision.seeing(inputs), parts: vec![], offer: None }
}

fn without_a_person(mut permit: Permit, access: Access) -> Permit {
    permit.verdict = Permission::Deny;
    permit.decision.reason = match access {
        Access::Ask => {
            "no person is available; decide yourself, and state your assumptions".to_owned()
        }
        _ => format!(
            "{} (needs approval, but no person is available; find another way)",
            permit.decision.reason
        ),
    };
    for part in permit.parts.iter_mut().filter(|part| part.verdict == Permission::Ask) {
        part.verdict = Permission::Deny;
    }
    permit
}

/// Whether a rule matches a call, regardless of its command.
fn matches(rule: &PermitRule, scope: &Scope, tool: &str, facts: &CallFacts) -> bool {
    let plain = facts.tool.as_deref().unwrap_or(tool);
    (rule.tools.is_empty() || rule.tools.iter().any(|name| name == plain))
        && (rule.access.is_empty() || rule.access.contains(&facts.access))
        && rule.in_scope.is_none_or(|wanted| in_scope(scope, facts) == wanted)
        && (rule.touches.is_empty() || sensitive::touched(&rule.touches, scope, facts).is_some())
}

/// Whether a call is within the scope. A command may write anywhere in its workspace, so it is in scope only for a task
/// that may write at all.
fn in_scope(scope: &Scope, facts: &CallFacts) -> bool {
    match facts.access {
        Access::Execute => !scope.0.is_empty(),
        // A write without a path could be anywhere.
        Access::Write => {
            !facts.paths.is_empty() && facts.paths.iter().all(|path| scope.allows(path))
        }
        Access::Read | Access::Submit | Access::Network | Access::Ask | Access::Agent => {
            facts.paths.iter().all(|path| scope.allows(path))
        }
    }
}

fn reason(rule: &PermitRule, scope: &Scope, facts: &CallFacts) -> String {
    if let Some(path) = sensitive::touched(&rule.touches, scope, facts) {
        return format!("{}: {path}", rule.reason);
    }
    let outside = facts.paths.iter().find(|path| !scope.allows(path));
    match (rule.verdict, facts.access, outside) {
        (Permission::Deny, Access::Write, Some(path)) => {
            format!("{}: {path} is not in ({scope})", rule.reason)
        }
        _ => rule.reason.clone(),
    }
}

fn inputs(tool: &str, facts: &CallFacts) -> String {
    let paths: Vec<&str> = facts.paths.iter().map(types::WorkPath::as_str).collect();
    let command = facts.command.as_deref().map(|c| c.chars().take(SHOWN).collect::<String>());
    let said = command.unwrap_or_else(|| paths.join(" "));
    // `git` is both the name of a tool and of the program that it runs.
    let named = said.strip_prefix(tool).is_some_and(|rest| rest.starts_with(' '));
    if named { said } else { format!("{tool} {said}").trim_end().to_owned() }
}

#[cfg(test)]
mod tests;
