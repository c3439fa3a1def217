//! Events as short lines: the serialized name, then the facts that a test needs.

use types::{AttemptResult, CheckId, Event, MergeEnd, SessionEnd, SessionId};

pub(crate) fn render(events: &[Event]) -> String {
    let line = |event: &Event| format!("{} {}", event.kind(), facts(event)).trim_end().to_owned();
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn facts(event: &Event) -> String {
    match event {
        Event::RunAccepted { decision }
        | Event::RunRefused { decision }
        | Event::BudgetExhausted { decision }
        | Event::BudgetRaised { decision, .. }
        | Event::BudgetWarned { decision, .. } => decision.rule.to_string(),
        Event::RunRouted { to, decision, .. } => format!("{to} {}", decision.rule),
        Event::RunCancelled { by, .. } => by.clone(),
        Event::RunFinished { status, decision } => {
            format!("{}, {}", status.as_str(), decision.rule)
        }
        Event::SandboxProbed { proof, decision } => {
            format!("{}, {}", proof.level.as_str(), decision.rule)
        }
        Event::ContextSelected { included, excluded } => {
            let list = |sign: char, of: &[types::Selected]| {
                let each = of.iter().map(|one| format!("{sign}{} {}", one.path, one.rule));
                each.collect::<Vec<_>>()
            };
            [list('+', included), list('-', excluded)].concat().join(", ")
        }
        Event::PlanAdopted { plan, .. } => {
            plan.tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>().join(" ")
        }
        Event::PlanRefused { attempt, problems, .. } => {
            format!("{attempt} {}", problems.join("; "))
        }
        Event::GatePassed { phase, .. } => phase.as_str().to_owned(),
        Event::GateBlocked { phase, decision, .. } => {
            format!("{}: {}", phase.as_str(), decision.reason)
        }
        Event::QuestionAsked { question, decision, .. } => format!("{question} {}", decision.rule),
        Event::QuestionAnswered { question, choice: Some(choice), by, .. } if by != "ann" => {
            format!("{question} {choice} by {by}")
        }
        Event::QuestionAnswered { question, .. } => question.to_string(),
        other => of_a_task(other).or_else(|| of_a_session(other)).unwrap_or_default(),
    }
}

fn of_a_task(event: &Event) -> Option<String> {
    Some(match event {
        Event::AttemptStarted { attempt, role, .. } => format!("{attempt} {role}"),
        Event::AttemptFinished { attempt, result, .. } => match result {
            AttemptResult::Submitted { .. } => format!("{attempt} submitted"),
            AttemptResult::Failed { fault, .. } => {
                format!("{attempt} failed {} {}", fault.class.as_str(), fault.code)
            }
            AttemptResult::Cancelled => format!("{attempt} cancelled"),
        },
        Event::ResultSettled { how, by, .. } => format!("{} by {by}", how.as_str()),
        Event::CheckStarted { check, what, limit_ms, decision, .. } => {
            let longer = limit_ms.zip(decision.as_ref());
            let longer = longer.map(|(limit, why)| format!(", up to {limit}, {}", why.rule));
            format!("{} {}{}", place(check), what.name, longer.unwrap_or_default())
        }
        Event::CheckFinished { check, end } => format!("{} {}", place(check), end.ended),
        Event::TaskVerified { attempt, decision, .. } => format!("{attempt} {}", decision.rule),
        Event::TaskRejected { attempt, fault } => format!("{attempt} {}", fault.class.as_str()),
        Event::SpecWritten { decision, .. } => decision.rule.to_string(),
        Event::RequestAdvised { attempt, decision, .. } => format!("{attempt} {}", decision.rule),
        Event::TaskReviewed { attempt, passed, decision, .. } => {
            format!("{attempt} {} {}", if *passed { "passed" } else { "failed" }, decision.rule)
        }
        Event::TaskFinished { task, .. } => task.to_string(),
        Event::TaskFailed { task, decision, .. } | Event::TaskSkipped { task, decision } => {
            format!("{task} {}", decision.rule)
        }
        Event::RetryReleased { task } => task.to_string(),
        Event::RetryScheduled { task, left, start, feedback, decision, .. } => {
            let from = start.as_ref().map(|commit| format!(", from {commit}")).unwrap_or_default();
            let told = if feedback.is_some() { ", told why" } else { "" };
            format!("{task} {} {left} left{from}{told}", decision.rule)
        }
        Event::MergeStarted { task, onto, .. } => format!("{task} onto {onto}"),
        Event::MergeFinished { task, end, .. } => match end {
            MergeEnd::Merged { .. } => format!("{task} merged"),
            MergeEnd::Conflict { .. } => format!("{task} conflict"),
            MergeEnd::Failed { .. } => format!("{task} failed"),
        },
        _ => return None,
    })
}

fn of_a_session(event: &Event) -> Option<String> {
    Some(match event {
        Event::SessionStarted { session, brief, parent: None, .. } => {
            format!("{session} {}", brief.attempt)
        }
        Event::SessionStarted { session, parent: Some(call), .. } => format!("{session} by {call}"),
        Event::SessionTold { session, how, text, .. } => format!("{session} {how:?} {text}"),
        Event::SessionChanged { session, .. } => session.to_string(),
        Event::SessionWarned { session, decision, .. } => format!("{session} {}", decision.rule),
        Event::SessionPaused { session, by, decision, .. } => {
            format!("{session} {} by {by}", decision.rule)
        }
        Event::SessionCompacted { session, how, decision } => {
            format!("{session} {} {}", how.as_str(), decision.rule)
        }
        Event::WorkspaceRestored { to, .. } => to.to_string(),
        Event::SessionEnded { session, end, .. } if *session != SessionId::ROOT => {
            format!("{session} {}", if *end == SessionEnd::Closed { "closed" } else { "failed" })
        }
        Event::SessionEnded { end, .. } => match end {
            SessionEnd::Submitted { .. } => "submitted".to_owned(),
            SessionEnd::Failed { fault } => {
                format!("failed {} {}", fault.class.as_str(), fault.code)
            }
            SessionEnd::Cancelled => "cancelled".to_owned(),
            SessionEnd::Closed => "closed".to_owned(),
        },
        Event::ModelAsked { summary: true, turn, .. } => format!("t{turn} for a summary"),
        Event::ModelFailed { session: SessionId::ROOT, turn, again: Some(again), .. } => {
            format!("t{turn}, {}", again.decision.rule)
        }
        Event::ModelAsked { session, turn, .. }
        | Event::ModelReplied { session, turn, .. }
        | Event::ModelFailed { session, turn, .. } => {
            let child = Some(session).filter(|session| **session != SessionId::ROOT);
            child.map(|session| format!("{session}.")).unwrap_or_default() + &format!("t{turn}")
        }
        Event::ToolStarted { call, tool, decision } => format!("{call} {tool} {}", decision.rule),
        Event::ToolRefused { call, tool, outcome, decision, .. } => {
            format!("{call} {tool} {}, {}", outcome.as_str(), decision.rule)
        }
        Event::ToolFinished { call, outcome, .. } => format!("{call} {}", outcome.as_str()),
        Event::ToolLost { call, .. } => call.to_string(),
        Event::AttemptSealed { commit, .. } => commit.to_string(),
        Event::SealFailed { fault } => fault.code.clone(),
        _ => return None,
    })
}

fn place(check: &CheckId) -> String {
    format!("{}/{}", check.on, check.index)
}
