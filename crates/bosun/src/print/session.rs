//! Session events as lines for people: one line each, calls with their outcome. The final reply is left out; it is the
//! result.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use types::{
    Call, CallId, CallOutcome, Decision, Envelope, Event, Fault, Recovered, RunId, SessionId,
    Timestamp, one_line,
};

use crate::chat::calls;
use crate::home::Home;

/// Formats events as they happen.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// Calls without a result yet, and when each started.
    calls: BTreeMap<CallId, (Call, Timestamp)>,
}

impl Teller {
    pub(crate) fn tell(&mut self, line: &Envelope) -> Option<String> {
        match &line.event {
            Event::ModelReplied { session, turn, reply, .. } => {
                for (index, call) in (0..).zip(reply.calls()) {
                    let id = CallId { session: *session, turn: *turn, index };
                    self.calls.insert(id, (call.clone(), line.at));
                }
                let text = one_line(&reply.text(), 160);
                let on_the_way = reply.calls().next().is_some() && !text.is_empty();
                on_the_way.then(|| text.dimmed().to_string())
            }
            Event::ToolStarted { call, .. } => {
                if let Some((_, since)) = self.calls.get_mut(call) {
                    *since = line.at;
                }
                None
            }
            Event::ToolFinished { call: id, outcome, output, metadata, .. } => {
                let (call, since) = self.calls.remove(id)?;
                let (replaced, took) = (metadata.replaced_lines, line.at.since(since));
                let (told, _) = calls::outcome(&call, *outcome, output, replaced, took);
                let good = *outcome == CallOutcome::Ok;
                let told = if good { told.dimmed().to_string() } else { told.red().to_string() };
                Some(format!("{}{}  {told}", whose(*id), calls::title(&call)))
            }
            Event::ToolRefused { call: id, tool, decision, .. } => {
                let call = self.calls.remove(id).map(|(call, _)| calls::title(&call));
                let title = call.unwrap_or_else(|| one_line(tool, 40));
                let why = because("refused", decision).red().to_string();
                Some(format!("{}{title}  {why}", whose(*id)))
            }
            event => of_session(event, line.at),
        }
    }
}

/// Message about a model that did not answer, with the wait until the next request.
pub(crate) fn unanswered(event: &Event, at: Timestamp) -> Option<String> {
    let Event::ModelFailed { fault, again, .. } = event else { return None };
    let what = one_line(&fault.what, 300);
    let Some(again) = again else { return Some(format!("the model did not answer: {what}")) };
    let (wait, failures) = (seconds(again.at.since(at)), again.failures);
    let rule = &again.decision.rule;
    Some(format!(
        "the model did not answer: {what}; retrying in {wait} after {} ({rule})",
        types::count(failures, "failure")
    ))
}

/// Formats a wait in whole seconds.
fn seconds(wait: types::Millis) -> String {
    format!("{} s", wait.0.div_ceil(1_000).max(1))
}

/// Message about a model that was unavailable for too long.
pub(crate) fn away(fault: &Fault, home: &Home, run: &RunId) -> String {
    let (what, bosun) = (one_line(&fault.what, 300), home.flag());
    format!(
        "the model did not answer: {what}. Progress is saved; resume with: {bosun} resume {run}"
    )
}

fn of_session(event: &Event, at: Timestamp) -> Option<String> {
    Some(match event {
        Event::SessionTold { text, .. } => format!("> {}", one_line(text, 200)),
        Event::SessionPaused { decision, fault: Some(fault), .. } => {
            let what = format!("stopped: {}", one_line(&fault.what, 300));
            because(&what, decision).red().to_string()
        }
        Event::SessionPaused { decision, .. } => because("stopped", decision).yellow().to_string(),
        Event::SessionWarned { decision, .. } => because("note", decision).yellow().to_string(),
        Event::SessionCompacted { decision, .. } => because("compacted", decision),
        Event::QuestionAsked { text, .. } => {
            format!("? {}", one_line(text, 300)).yellow().to_string()
        }
        Event::ModelFailed { .. } => unanswered(event, at)?.red().to_string(),
        Event::ToolLost { recovered, .. } => {
            format!("a call was interrupted; {}", Recovered::says(*recovered)).yellow().to_string()
        }
        _ => return None,
    })
}

pub(crate) fn because(what: &str, decision: &Decision) -> String {
    format!("{what}: {} ({})", one_line(&decision.reason, 200), decision.rule)
}

/// Prefix for the calls of sub-agents.
pub(crate) fn whose(call: CallId) -> String {
    let own = call.session == SessionId::ROOT;
    if own { String::new() } else { format!("agent {}: ", call.session.0) }
}
