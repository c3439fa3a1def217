//! Invariants after any cut: nothing recorded is lost, and nothing finished is repeated.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use types::{Arguments, CallId, Contracts, Envelope, Event, LogId, VerifyPolicy};

use crate::counted::noted;

pub(crate) fn nothing_lost(before: &[Envelope], after: &[Envelope]) -> anyhow::Result<()> {
    for line in before {
        let same = after.iter().any(|other| other == line);
        ensure!(same, "this line was recorded before the cut and is not there any more: {line:?}");
    }
    Ok(())
}

/// Checks that only unfinished calls ran after the cut.
pub(crate) fn nothing_twice(
    before: &[Envelope],
    lines: &[Envelope],
    executed: &[String],
) -> anyhow::Result<()> {
    let finished: Vec<(LogId, CallId)> = before
        .iter()
        .filter_map(|line| match &line.event {
            Event::ToolFinished { call, .. } => Some((line.log(), *call)),
            _ => None,
        })
        .collect();
    let mut allowed: Vec<String> = started(lines)
        .into_iter()
        .filter(|(log, call, _)| !finished.contains(&(log.clone(), *call)))
        .map(|(_, _, noted)| noted)
        .collect();
    for execution in executed {
        let place = allowed.iter().position(|noted| noted == execution);
        let Some(place) = place else {
            bail!("a call that had finished was executed again: {execution}");
        };
        allowed.swap_remove(place);
    }
    Ok(())
}

/// Every started call, with the record of its execution.
fn started(lines: &[Envelope]) -> Vec<(LogId, CallId, String)> {
    let mut calls: BTreeMap<(LogId, CallId), String> = BTreeMap::new();
    let (mut begun, mut briefs) = (Vec::new(), BTreeMap::new());
    for line in lines {
        match &line.event {
            Event::SessionStarted { session, brief, .. } => {
                briefs.insert((line.log(), *session), brief);
            }
            Event::ModelReplied { session, turn, reply, .. } => {
                for (call, index) in reply.calls().zip(0_u32..) {
                    let id = CallId { session: *session, turn: *turn, index };
                    if let Arguments::Json(arguments) = &call.arguments {
                        calls.insert((line.log(), id), noted(&call.tool, arguments));
                    }
                }
                // A JSON reply stands for calls that code makes.
                let Some(brief) = briefs.get(&(line.log(), *session)) else { continue };
                let (contracts, tests) = (Contracts::default(), VerifyPolicy::default());
                let made = runtime::calls_of(brief, &contracts, &tests, reply);
                for ((tool, arguments), index) in made.into_iter().zip(0_u32..) {
                    let id = CallId { session: *session, turn: *turn, index };
                    calls.insert((line.log(), id), noted(&tool, &arguments));
                }
            }
            Event::ToolStarted { call, .. } => {
                let noted = calls.get(&(line.log(), *call)).cloned().unwrap_or_default();
                begun.push((line.log(), *call, noted));
            }
            _ => {}
        }
    }
    begun
}
