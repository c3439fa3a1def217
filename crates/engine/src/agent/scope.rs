//! Scope violations: a tool that the role does not have, a path outside the workspace, the registry, a call that the
//! rules deny. A policy may count all of them (`max_violations`) and refusals by single rules (`ends_after`); the agent
//! is ended before its next call. Temporary refusals, and those for lack of a person, are not violations.

use types::{
    CallFacts, CallOutcome, Decision, Event, Fault, FaultClass, Inspection, Permission, RuleId,
};

use super::Attempt;
use super::session::{PendingCall, Session};
use rules::permit;

/// The fault of an agent ended for scope violations.
const VIOLATION: &str = "session.scope_violation";
/// The longest description of a call that is recorded.
const SHOWN: usize = 400;

/// Refusals that precede every rule.
pub(super) fn violated(attempt: &Attempt, session: &Session, slot: &PendingCall) -> Option<Event> {
    let tool = &slot.call.tool;
    if !slot.ours && !session.tool_names.contains(tool) {
        let reason = format!("the {} has no tool {tool:?}", session.brief.role);
        return Some(refused(attempt, slot, "permit.not_the_roles_tool", reason));
    }
    attempt.policy.session.max_violations?;
    match &slot.inspection {
        Inspection::Outside(why) => {
            Some(refused(attempt, slot, "permit.outside_workspace", why.clone()))
        }
        Inspection::Would(facts) => {
            let path =
                facts.paths.iter().find(|path| rules::context::is_of_registry(path.as_str()))?;
            // Does not reveal whether the document exists.
            let reason = format!("{path} does not exist");
            Some(refused(attempt, slot, "permit.registry", reason))
        }
        Inspection::Invalid(_) => None,
    }
}

/// A call denied by the rules.
pub(super) fn denied(
    attempt: &Attempt,
    session: &Session,
    slot: &PendingCall,
    facts: &CallFacts,
    decision: Decision,
) -> Event {
    let policy = &attempt.policy;
    let attended = || permit::judge_attended(policy, &session.brief.scope, &slot.call.tool, facts);
    let for_want_of_a_person = || policy.headless && attended().verdict == Permission::Ask;
    let violation = policy.session.max_violations.is_some() && !for_want_of_a_person();
    counted(slot, decision, violation)
}

fn refused(attempt: &Attempt, slot: &PendingCall, rule: &'static str, reason: String) -> Event {
    let violation = attempt.policy.session.max_violations.is_some();
    let decision = Decision::new(RuleId::fixed(rule), reason);
    let decision = if violation { decision.seeing(tried(slot)) } else { decision };
    counted(slot, decision, violation)
}

fn counted(slot: &PendingCall, decision: Decision, violation: bool) -> Event {
    let (call, tool, outcome) = (slot.id, slot.call.tool.clone(), CallOutcome::Refused);
    Event::ToolRefused { call, tool, outcome, decision, violation }
}

/// A call in one line.
fn tried(slot: &PendingCall) -> String {
    let arguments = slot.call.arguments.to_string();
    format!("{} {}", slot.call.tool, types::one_line(&arguments, SHOWN))
}

/// Why the agent is ended, if it exceeded a limit.
pub(super) fn ends(attempt: &Attempt) -> Option<Fault> {
    violations(attempt).or_else(|| danger(attempt))
}

/// A counted rule has refused too many calls. This never ends a conversation, since a person watches it.
fn danger(attempt: &Attempt) -> Option<Fault> {
    attempt.root().filter(|root| root.end.is_none() && !root.is_open())?;
    let most = &attempt.policy.session.ends_after;
    let (rule, times) = attempt
        .strikes
        .iter()
        .find(|(rule, times)| most.get(rule).is_some_and(|most| *times >= most))?;
    let tries = types::count(*times as usize, "call");
    let what = format!(
        "the agent made {tries} that {rule} refused; the policy ends the attempt at this number"
    );
    Some(Fault::new(FaultClass::Safety, "session.dangerous", what))
}

fn violations(attempt: &Attempt) -> Option<Fault> {
    let most = attempt.policy.session.max_violations?.max(1);
    if attempt.violations < most || attempt.end_of_root().is_some() {
        return None;
    }
    let what = format!("the agent attempted calls that were denied: {}", attempt.denied.join("; "));
    let live = attempt.sessions.values().filter(|session| session.end.is_none());
    let said = live.map(|session| {
        let calls = session.round.iter().map(tried);
        std::iter::once(session.last_words()).chain(calls).collect::<Vec<_>>().join("\n")
    });
    let said = said.collect::<Vec<_>>().join("\n");
    let fault = Fault::new(FaultClass::Semantic, VIOLATION, what);
    Some(fault.with_evidence(said.trim()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::Attempt;
    use crate::agent::testing::policy;
    use crate::testing::{Bench, brief, only, same};

    fn bench(most: Option<u32>) -> Bench<Attempt> {
        let mut policy = policy();
        policy.session.max_violations = most;
        let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
        bench.send(&types::Input::Brief(Box::new(brief("T1.1"))));
        bench
    }

    /// C31: an attempt outside the scope ends the agent at once, and is recorded.
    #[test]
    fn an_agent_that_tries_what_it_may_not_is_ended_at_once() {
        for (tried, rule) in [
            ("teleport b", "permit.not_the_roles_tool"),
            ("read_file context/adr-1.md", "permit.registry"),
            ("write_file elsewhere.txt", "permit.outside_artifacts"),
        ] {
            let mut bench = bench(Some(1));
            let events = bench.tell(&format!("model calls {tried}"));
            let tool = tried.split(' ').next().unwrap_or_default();
            same(
                &only(&events, &["tool", "session", "model.asked"]),
                &format!(
                    "tool.refused s1.t1.c0 {tool} refused, {rule}\nsession.ended failed semantic session.scope_violation"
                ),
            );
            let end = bench.machine.end_of_root().expect("it is over");
            let types::SessionEnd::Failed { fault } = end else { panic!("{end:?}") };
            assert!(fault.what.contains(rule) && fault.what.contains(tool), "{fault:?}");
            assert!(fault.evidence.contains(tool), "{fault:?}");
        }
    }

    /// P36, C31: no call starts after the one that ends the agent, also in the same reply.
    #[test]
    fn nothing_begins_after_the_call_that_ends_the_agent() {
        let mut counting = policy();
        counting.session.max_violations = Some(1);
        let mut dangerous = policy();
        let destroys = types::RuleId::fixed("permit.destroys");
        dangerous.session.ends_after = [(destroys, 1)].into();
        for (policy, tried) in [(counting, "teleport b"), (dangerous, "shell rm -rf /")] {
            let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
            bench.send(&types::Input::Brief(Box::new(brief("T1.1"))));
            let events = bench.tell(&format!("model calls {tried} + read_file a"));
            let begun = only(&events, &["tool.started", "session.ended"]);
            assert!(!format!("{begun:?}").contains("tool.started"), "{begun:?}");
            assert!(bench.machine.end_of_root().is_some(), "{tried} ends it");
        }
    }

    #[test]
    fn where_nothing_is_said_a_refusal_is_only_an_answer() {
        let mut bench = bench(None);
        let events = bench.tell("model calls teleport b");
        same(
            &only(&events, &["tool", "session", "model.asked"]),
            "tool.refused s1.t1.c0 teleport refused, permit.not_the_roles_tool\nmodel.asked t2",
        );
    }
}
