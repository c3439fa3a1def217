//! Sub-agents: conversations started by a call of another. Each has its own history, a scope no wider than its
//! parent's, a share of the remaining budget, and limits of turns and time, so that it always ends. The parent gets its
//! last message as the result of a call.

use serde_json::json;
use types::{
    AgentCall, Brief, Budget, CallId, CallOutcome, Decision, Ending, Event, RuleId, SessionEnd,
    SessionId, Spawn, Telling, ToolOutput, Wording,
};

use super::pending_call::is_agent_call;
use super::session::{CallState, PendingCall, Session, SessionPhase};
use super::{Attempt, events};
use rules::ledger::share;

/// The instructions for a sub-agent.
const WORDS: &str = include_str!("../../../../prompts/subagent.md");

/// The events of a permitted call.
pub(super) fn made(
    attempt: &Attempt,
    session: &Session,
    slot: &PendingCall,
    wanted: &AgentCall,
    decision: Decision,
) -> Vec<Event> {
    let wrong = |reason: String| {
        let decision = Decision::new(RuleId::fixed("session.no_such_agent"), reason);
        vec![events::refusal(slot, CallOutcome::Error, decision)]
    };
    let started = Event::ToolStarted { call: slot.id, tool: slot.call.tool.clone(), decision };
    let done = |text: String| events::finished(attempt, slot.id, &ToolOutput::ok(text));
    match wanted {
        AgentCall::Spawn(spawn) => match spawned(attempt, session, slot.id, spawn) {
            Err(reason) => {
                let decision = Decision::new(RuleId::fixed("session.agent_limit"), reason);
                vec![events::refusal(slot, CallOutcome::Error, decision)]
            }
            // The rest follows once it has started.
            Ok(_) => vec![started],
        },
        AgentCall::SendInput { agent, text } => match child(attempt, session, *agent) {
            Err(reason) => wrong(reason),
            Ok(child) if child.end.is_some() => {
                wrong(format!("agent {agent} is closed; spawn another one"))
            }
            Ok(child) => {
                let how = if child.rests() { Telling::Submit } else { Telling::Steer };
                let (session, by) = (child.id, format!("agent:{}", session.id));
                let (text, images) = (text.clone(), vec![]);
                let told = Event::SessionTold { session, how, by, text, images };
                vec![started, told, done(json!({ "agent": agent, "sent": true }).to_string())]
            }
        },
        AgentCall::Wait { agents } => {
            match agents.iter().find_map(|agent| child(attempt, session, *agent).err()) {
                Some(reason) => wrong(reason),
                None => vec![started],
            }
        }
        AgentCall::Close { agent } => match child(attempt, session, *agent) {
            Err(reason) => wrong(reason),
            Ok(_) => vec![started],
        },
    }
}

fn child<'a>(attempt: &'a Attempt, session: &Session, agent: u32) -> Result<&'a Session, String> {
    children(attempt, session.id).find(|child| child.id.0 == agent).ok_or_else(|| {
        let mine = children(attempt, session.id).map(|child| child.id.0.to_string());
        let mine: Vec<String> = mine.collect();
        let there = if mine.is_empty() { "none".to_owned() } else { mine.join(", ") };
        format!("you have no agent {agent}; your agents: {there}")
    })
}

fn children(attempt: &Attempt, of: SessionId) -> impl Iterator<Item = &Session> {
    let below = move |session: &&Session| session.parent.is_some_and(|call| call.session == of);
    attempt.sessions.values().filter(below)
}

fn spawned(
    attempt: &Attempt,
    session: &Session,
    call: CallId,
    spawn: &Spawn,
) -> Result<(SessionId, Event), String> {
    let policy = &attempt.policy.session;
    if session.depth >= policy.agent_depth {
        return Err(format!(
            "cannot start a sub-agent: the maximum depth is {}; do the work yourself",
            policy.agent_depth
        ));
    }
    let live = attempt.sessions.values().filter(|s| s.parent.is_some() && s.end.is_none()).count();
    if live >= policy.max_agents {
        return Err(format!("{live} agents are already open; wait for one and close it first"));
    }
    if let Some(scope) = &spawn.scope
        && let Some(outside) = scope.0.iter().find(|artifact| !session.brief.scope.covers(artifact))
    {
        return Err(format!("you may not write to {outside}, so a sub-agent may not either"));
    }
    let last = attempt.sessions.keys().next_back().map_or(0, |id| id.0);
    let id = SessionId(last + 1);
    let brief = Box::new(brief(attempt, session, spawn));
    let (parent, wording) = (Some(call), Wording::CURRENT);
    Ok((id, Event::SessionStarted { session: id, brief, parent, wording }))
}

fn brief(attempt: &Attempt, session: &Session, spawn: &Spawn) -> Brief {
    let policy = &attempt.policy.session;
    let words = policy.agent_prompt.as_deref().unwrap_or(WORDS).trim();
    let change = spawn.change.clone().unwrap_or_default();
    let system = change.system.unwrap_or_else(|| session.system.to_string());
    let own = Budget { time_ms: Some(policy.agent_time_ms), ..Budget::default() };
    let part = 100 / policy.agent_share_percent.clamp(1, 100);
    let most = policy.agent_turns.min(session.brief.max_turns);
    let time = session.brief.budget.time_ms;
    let budget = share(session.ledger.free(), own, part);
    Brief {
        model: change
            .model
            .or_else(|| spawn.model.clone())
            .unwrap_or_else(|| session.model.clone()),
        system: format!("{}\n\n{words}\n", system.trim_end()),
        task: spawn.task.clone(),
        tools: change.tools.unwrap_or_else(|| session.tool_names.clone()),
        tool_specs: if change.tool_specs.is_empty() {
            session.tools.to_vec()
        } else {
            change.tool_specs
        },
        scope: spawn.scope.clone().unwrap_or_else(|| session.brief.scope.clone()),
        budget: Budget { time_ms: budget.time_ms.min(time.or(budget.time_ms)), ..budget },
        max_output_tokens: change.max_output.unwrap_or(session.most_output),
        max_turns: spawn.max_turns.map_or(most, |turns| turns.min(most)),
        ending: Ending::Open,
        // It answers its parent in free text; the contract is the parent's.
        reply: None,
        shows: vec![],
        files: vec![],
        effort: session.effort,
        window: change.window.or(session.room.window),
        price: if spawn.change.is_some() { change.price } else { session.price },
        ..(*session.brief).clone()
    }
}

/// The next event of a started call: a waiting call ends when its agents are idle, and one that was cut off between its
/// events is completed.
pub(super) fn followed(attempt: &Attempt, session: &Session) -> Vec<Event> {
    let follows = session.started().map(|slot| match slot.wanted() {
        Some(AgentCall::Wait { agents }) => awaited(attempt, session, slot, agents),
        Some(AgentCall::Spawn(spawn)) => begun(attempt, session, slot, spawn),
        Some(AgentCall::Close { agent }) => closed(attempt, slot, *agent),
        // The message may have been delivered; `lost` reports that.
        Some(AgentCall::SendInput { .. }) | None => vec![],
    });
    follows.into_iter().find(|events: &Vec<Event>| !events.is_empty()).unwrap_or_default()
}

fn awaited(attempt: &Attempt, session: &Session, slot: &PendingCall, agents: &[u32]) -> Vec<Event> {
    let named = |child: &&Session| agents.is_empty() || agents.contains(&child.id.0);
    let agents: Vec<&Session> = children(attempt, session.id).filter(named).collect();
    if !agents.iter().all(|agent| agent.rests()) {
        return vec![];
    }
    let reports: Vec<_> = agents.into_iter().map(report).collect();
    let text = serde_json::to_string_pretty(&reports).unwrap_or_default();
    vec![events::finished(attempt, slot.id, &ToolOutput::ok(text))]
}

fn begun(attempt: &Attempt, session: &Session, slot: &PendingCall, spawn: &Spawn) -> Vec<Event> {
    let there = attempt.sessions.values().find(|child| child.parent == Some(slot.id));
    let said = |id: SessionId| {
        let text = json!({ "agent": id.0, "state": "processing" }).to_string();
        events::finished(attempt, slot.id, &ToolOutput::ok(text))
    };
    match there {
        Some(child) => vec![said(child.id)],
        None => match spawned(attempt, session, slot.id, spawn) {
            Ok((id, event)) => vec![event, said(id)],
            Err(reason) => {
                vec![events::finished(attempt, slot.id, &ToolOutput::error(reason))]
            }
        },
    }
}

fn closed(attempt: &Attempt, slot: &PendingCall, agent: u32) -> Vec<Event> {
    let mut events = ended_below(attempt, SessionId(agent), &SessionEnd::Closed);
    let text = json!({ "agent": agent, "closed": true }).to_string();
    events.push(events::finished(attempt, slot.id, &ToolOutput::ok(text)));
    events
}

/// The report on an idle agent for its parent.
fn report(agent: &Session) -> serde_json::Value {
    let fault = match &agent.end {
        Some(SessionEnd::Failed { fault }) => Some(fault.what.clone()),
        Some(_) => Some("it was closed".to_owned()),
        None => agent.stopped.as_ref().map(|decision| decision.reason.clone()),
    };
    let mut report = json!({
        "agent": agent.id.0,
        "success": fault.is_none(),
        "output": agent.last_words(),
        "turnsUsed": agent.turns,
    });
    if let Some(fault) = fault {
        report["error"] = fault.into();
    }
    report
}

/// Ends a conversation and its descendants, the deepest first.
fn ended_below(attempt: &Attempt, id: SessionId, end: &SessionEnd) -> Vec<Event> {
    let mut events: Vec<Event> = children(attempt, id)
        .flat_map(|child| ended_below(attempt, child.id, &SessionEnd::Closed))
        .collect();
    let live = attempt.sessions.get(&id).filter(|session| session.end.is_none());
    events.extend(live.map(|session| events::ended(session, end.clone())));
    events
}

/// Ends all conversations.
pub(super) fn all_ended(attempt: &Attempt, end: &SessionEnd) -> Vec<Event> {
    ended_below(attempt, SessionId::ROOT, end)
}

/// Whether no conversation is doing work of its own.
pub(super) fn is_quiet(attempt: &Attempt) -> bool {
    attempt.sessions.values().all(|session| {
        session.rests()
            || session.round.iter().any(|s| matches!(s.state, CallState::Asked(_)))
            || (session.phase == SessionPhase::Answering && session.started().any(is_agent_call))
    })
}
