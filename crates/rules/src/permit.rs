//! May this call be made? A call is judged by the first rule that speaks of it, and each part of a command line by the
//! first rule that speaks of that part; the strictest verdict wins. What no rule speaks of is not allowed, unless the
//! policy says so. Rules are a seat belt; the sandbox is the wall.

mod look;
mod sensitive;

use types::{Access, CallFacts, Decision, Deed, Permission, PermitRule, Policy, RuleId, Scope};

use crate::command::{self, Part, Pattern};

pub use look::look;
pub use sensitive::names as names_file;

/// How much of a command is shown.
const SHOWN: usize = 200;

/// What the rules say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    pub verdict: Permission,
    pub decision: Decision,
    /// What they say about each part of its command; nothing for a call that runs none.
    pub parts: Vec<PartPermit>,
}

/// What the rules say about one part of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartPermit {
    /// The part in one line.
    pub command: String,
    /// Its words, as far as they are known before it runs.
    pub words: Vec<String>,
    pub verdict: Permission,
    pub rule: RuleId,
    pub reason: String,
}

/// Judges one call. The strictest of its parts decides.
#[must_use]
pub fn judge(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    let permit = judge_attended(policy, scope, tool, facts);
    if permit.verdict == Permission::Ask && policy.headless {
        without_a_person(permit, facts.access)
    } else {
        permit
    }
}

/// The same where a person can be asked, whatever the policy says about that.
pub fn judge_attended(policy: &Policy, scope: &Scope, tool: &str, facts: &CallFacts) -> Permit {
    let seen = seen(tool, facts);
    if let Some((decision, _)) = sensitive::never(facts) {
        return Permit {
            verdict: Permission::Deny,
            decision: decision.seeing(seen),
            parts: vec![],
        };
    }
    let rules = policy.permissions.iter().filter(|rule| speaks_of(rule, scope, tool, facts));
    let permit = match (facts.access, facts.command.as_deref()) {
        (Access::Execute, Some(line)) => {
            let parts = command::read(line);
            let names = names(&parts);
            let rules: Vec<Compiled<'_>> = rules.map(|rule| Compiled::new(rule, &names)).collect();
            let judged = parts.iter().map(|part| judge_part(policy, &rules, part)).collect();
            strictest(judged, &seen)
        }
        _ => {
            let rule = rules.into_iter().find(|rule| !names_parts(rule));
            let permit = whole(rule, scope, facts, tool, &seen);
            let meant = rule.map(|rule| rule.touches.as_slice()).unwrap_or_default();
            sensitive::at_least_asked(policy, scope, facts, meant, permit)
        }
    };
    match facts.access {
        Access::Ask => as_a_question(permit),
        // It runs a program that writes to what it names, and both have to be allowed.
        Access::Execute if !facts.paths.is_empty() => {
            let writes = CallFacts { access: Access::Write, command: None, ..facts.clone() };
            let written = judge_attended(policy, scope, tool, &writes);
            if written.verdict >= permit.verdict { written } else { permit }
        }
        _ => permit,
    }
}

/// Whether a rule speaks of a command line, for the examples that it carries: an allowing rule has to speak of every
/// part of it, any other of one.
#[must_use]
pub fn is_example(rule: &PermitRule, line: &str) -> bool {
    let parts = command::read(line);
    let rule = Compiled::new(rule, &names(&parts));
    let mut parts = parts.iter().filter(|part| !only_carries(part)).peekable();
    match rule.rule.verdict {
        Permission::Allow => parts.peek().is_some() && parts.all(|part| rule.speaks_of(part)),
        Permission::Ask | Permission::Deny => parts.any(|part| rule.speaks_of(part)),
    }
}

/// What the programs of some parts are called, as far as that is likely.
fn names(parts: &[Part]) -> Vec<String> {
    parts.iter().filter_map(Part::name).collect()
}

/// A rule with its patterns taken apart, as far as some programs can have to do with them.
struct Compiled<'a> {
    rule: &'a PermitRule,
    patterns: Vec<Pattern>,
}

impl<'a> Compiled<'a> {
    fn new(rule: &'a PermitRule, names: &[String]) -> Self {
        let near = rule.commands.iter().filter(|text| Pattern::is_near(text, names));
        Self { rule, patterns: near.filter_map(|text| Pattern::parse(text)).collect() }
    }

    fn speaks_of(&self, part: &Part) -> bool {
        let named = |pattern: &Pattern| match self.rule.verdict {
            Permission::Allow => pattern.covers(part),
            Permission::Ask | Permission::Deny => pattern.is_like(part),
        };
        let does = &self.rule.does;
        (self.rule.commands.is_empty() || self.patterns.iter().any(named))
            && (does.is_empty() || does.iter().any(|deed| part.risks.contains(deed)))
    }
}

/// Whether a rule is about parts of commands, and not about calls.
fn names_parts(rule: &PermitRule) -> bool {
    !rule.commands.is_empty() || !rule.does.is_empty()
}

fn judge_part(policy: &Policy, rules: &[Compiled<'_>], part: &Part) -> PartPermit {
    let shown: String = part.shown().chars().take(SHOWN).collect();
    let words = part.words.iter().map(command::Word::shown).collect();
    let said = |verdict, rule, reason| PartPermit { command: shown, words, verdict, rule, reason };
    if let Some(Compiled { rule, .. }) = rules.iter().find(|rule| rule.speaks_of(part)) {
        return said(rule.verdict, rule.id.clone(), rule.reason.clone());
    }
    if only_carries(part) {
        let reason = "it only starts or sets up what is judged on its own".to_owned();
        return said(Permission::Allow, RuleId::fixed(CARRIES), reason);
    }
    let because = match (part.unclear, part.risks.iter().next()) {
        (Some(why), _) => format!("; {why}"),
        (None, Some(deed)) => format!("; it {}", deed.says()),
        (None, None) => String::new(),
    };
    let reason = match policy.default {
        Permission::Allow => {
            format!("no rule speaks of it, and the policy allows what no rule speaks of{because}")
        }
        Permission::Ask => format!("no rule allows it, so a person has to{because}"),
        Permission::Deny => format!("no rule allows it{because}"),
    };
    said(policy.default, RuleId::fixed("permit.default"), reason)
}

const CARRIES: &str = "permit.carries";

/// Whether a part does nothing itself that a rule would have to allow.
fn only_carries(part: &Part) -> bool {
    let sets_up =
        part.words.is_empty() || part.words.first().is_some_and(|word| word.shown() == "[[");
    (part.carries || sets_up)
        && part.risks.iter().all(|deed| part.carries && *deed == Deed::RunsCode)
}

/// The verdict on a whole command: that of its strictest part.
fn strictest(parts: Vec<PartPermit>, seen: &str) -> Permit {
    let verdict = parts.iter().map(|part| part.verdict).max().unwrap_or(Permission::Deny);
    let decides = |part: &&PartPermit| part.verdict == verdict;
    let decisive = parts
        .iter()
        .filter(decides)
        .find(|part| part.rule.as_str() != CARRIES)
        .or_else(|| parts.iter().find(decides));
    let decision = match decisive {
        Some(part) if parts.len() > 1 && verdict != Permission::Allow => {
            Decision::new(part.rule.clone(), format!("{}: {}", part.reason, part.command))
        }
        Some(part) => Decision::new(part.rule.clone(), part.reason.clone()),
        None => Decision::new(RuleId::fixed("permit.no_rule"), "there is no command in it"),
    };
    Permit { verdict, decision: decision.seeing(seen), parts }
}

/// The verdict on a call that runs no command.
fn whole(
    rule: Option<&PermitRule>,
    scope: &Scope,
    facts: &CallFacts,
    tool: &str,
    seen: &str,
) -> Permit {
    let (verdict, decision) = match rule {
        Some(rule) => (rule.verdict, Decision::new(rule.id.clone(), reason(rule, scope, facts))),
        None => {
            let reason = format!("no rule permits {tool} to do this");
            (Permission::Deny, Decision::new(RuleId::fixed("permit.no_rule"), reason))
        }
    };
    Permit { verdict, decision: decision.seeing(seen), parts: vec![] }
}

/// A call that is a question and may be made is one that waits for a person.
fn as_a_question(permit: Permit) -> Permit {
    Permit { verdict: permit.verdict.max(Permission::Ask), ..permit }
}

fn without_a_person(mut permit: Permit, access: Access) -> Permit {
    permit.verdict = Permission::Deny;
    permit.decision.reason = match access {
        Access::Ask => {
            "nobody is there who could be asked; decide yourself, and say what you assumed"
                .to_owned()
        }
        _ => format!(
            "{} (a person would be asked, but nobody is there; find another way)",
            permit.decision.reason
        ),
    };
    for part in permit.parts.iter_mut().filter(|part| part.verdict == Permission::Ask) {
        part.verdict = Permission::Deny;
    }
    permit
}

/// Whether a rule is about a call like this, whatever its command.
fn speaks_of(rule: &PermitRule, scope: &Scope, tool: &str, facts: &CallFacts) -> bool {
    let plain = facts.tool.as_deref().unwrap_or(tool);
    (rule.tools.is_empty() || rule.tools.iter().any(|name| name == plain))
        && (rule.access.is_empty() || rule.access.contains(&facts.access))
        && rule.in_scope.is_none_or(|wanted| in_scope(scope, facts) == wanted)
        && (rule.touches.is_empty() || sensitive::touches(&rule.touches, scope, facts))
}

/// A command may write anywhere in its workspace, so it is in scope only for a task that may write at all.
fn in_scope(scope: &Scope, facts: &CallFacts) -> bool {
    match facts.access {
        Access::Execute => !scope.0.is_empty(),
        // A write that does not say where could be anywhere.
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

fn seen(tool: &str, facts: &CallFacts) -> String {
    let paths: Vec<&str> = facts.paths.iter().map(types::WorkPath::as_str).collect();
    let command = facts.command.as_deref().map(|c| c.chars().take(SHOWN).collect::<String>());
    format!("{tool} {}", command.unwrap_or_else(|| paths.join(" "))).trim_end().to_owned()
}

#[cfg(test)]
mod tests;
