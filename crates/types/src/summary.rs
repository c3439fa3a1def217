//! An event in one line, for logs and traces that people read: subject, result, rule. Omits times and random ids, so
//! that repeated runs read the same. Untrusted text goes through `one_line`.

use crate::{
    AttemptResult, Call, CallOutcome, CheckId, Decision, Event, Inspection, MergeEnd, ModelReply,
    Recovered, Selected, SessionEnd, count, one_line,
};

/// Maximum length of an untrusted text.
const MOST: usize = 120;

impl Event {
    /// The event in one line, without its name.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Self::RunRequested { request, .. } => one_line(&request.text, MOST),
            Self::RunAccepted { decision } | Self::RunRefused { decision } => rule(decision),
            Self::RunRouted { to, decision, .. } => format!("to {to}, {}", decision.rule),
            Self::RunCancelled { by, reason } => format!("by {}: {}", word(by), word(reason)),
            Self::RunFinished { status, decision } => {
                format!("{}, {}", status.as_str(), rule(decision))
            }
            Self::ResultSettled { how, by, .. } => format!("{} by {}", how.as_str(), word(by)),
            Self::ContextSelected { included, excluded } => selected(included, excluded),
            Self::SandboxProbed { proof, decision } => {
                format!("{}, {}", proof.level.as_str(), rule(decision))
            }
            Self::PlanAdopted { plan, decision } => {
                format!("{}{}", count(plan.tasks.len(), "task"), unusual(decision, "plan.valid"))
            }
            Self::PlanRefused { problems, decision, .. } => {
                let problems = one_line(&problems.join("; "), MOST);
                format!("{problems}{}", unusual(decision, "plan.invalid"))
            }
            Self::GatePassed { phase, decision, .. } => {
                format!("{}, {}", phase.as_str(), decision.rule)
            }
            Self::GateBlocked { phase, decision, .. } => {
                format!("{}, {}", phase.as_str(), rule(decision))
            }
            Self::QuestionAsked { text, decision, attempt, call, .. } => {
                let attempt = attempt.as_ref().map(|attempt| format!("{attempt} "));
                let who = attempt.or_else(|| call.map(|call| format!("{call} ")));
                format!("{}{}: {}", who.unwrap_or_default(), decision.rule, word(text))
            }
            Self::QuestionAnswered { by, text, .. } => format!("by {}: {}", word(by), word(text)),
            Self::BudgetWarned { decision, .. }
            | Self::BudgetExhausted { decision }
            | Self::BudgetRaised { decision, .. } => rule(decision),
            _ => self.summary_of_work(),
        }
    }

    fn summary_of_work(&self) -> String {
        match self {
            Self::AttemptStarted { attempt, role, feedback, .. } => {
                let told = if feedback.is_some() { ", told what was wrong" } else { "" };
                format!("{attempt} {role}{told}")
            }
            Self::AttemptFinished { attempt, result, .. } => format!("{attempt} {}", ended(result)),
            Self::CheckStarted { check, what, limit_ms, decision, .. } => {
                let longer = limit_ms.zip(decision.as_ref());
                let longer = longer.map(|(limit, why)| format!(", up to {limit}, {}", why.rule));
                format!("{} {}{}", on(check), word(&what.name), longer.unwrap_or_default())
            }
            Self::CheckFinished { check, end } => format!("{} {}", on(check), end.says()),
            Self::TaskVerified { attempt, decision, evidence, .. } => {
                let level = evidence.as_ref().map(|one| format!(", {}", one.level.says()));
                format!("{attempt} {}{}", rule(decision), level.unwrap_or_default())
            }
            Self::TaskRejected { attempt, fault } => {
                format!("{attempt} {}: {}", fault.class.as_str(), word(&fault.what))
            }
            Self::SpecWritten { spec, digest, decision } => {
                let id = spec.get("spec_id").and_then(serde_json::Value::as_str);
                format!("{} {}, {}", word(id.unwrap_or("spec")), digest.short(), decision.rule)
            }
            Self::RequestAdvised { attempt, questions, decision } => {
                let how = if questions.is_empty() { "no objection" } else { "asks" };
                format!("{attempt} {how}, {}", rule(decision))
            }
            Self::TaskReviewed { attempt, review, passed, decision, .. } => {
                let how = if *passed { "passed" } else { "did not pass" };
                format!("{attempt} {how} by {review}, {}", rule(decision))
            }
            Self::TaskFailed { task, fault, decision, .. } => {
                format!("{task} {}, {}: {}", decision.rule, fault.class.as_str(), word(&fault.what))
            }
            Self::TaskSkipped { task, decision } => format!("{task} {}", rule(decision)),
            Self::RetryScheduled { task, left, decision, .. } => {
                format!("{task} {}, {left} left", decision.rule)
            }
            Self::TaskFinished { task, .. }
            | Self::RetryReleased { task }
            | Self::MergeStarted { task, .. } => task.to_string(),
            Self::MergeFinished { task, end, .. } => match end {
                MergeEnd::Merged { .. } => format!("{task} merged"),
                MergeEnd::Conflict { paths, .. } => {
                    format!("{task} conflict in {}", word(&paths.join(", ")))
                }
                MergeEnd::Failed { fault } => format!("{task} failed: {}", word(&fault.what)),
            },
            _ => self.summary_of_talk(),
        }
    }

    fn summary_of_talk(&self) -> String {
        match self {
            Self::SessionStarted { session, brief, parent: None, .. } => {
                format!("{session} {}", brief.role)
            }
            Self::SessionStarted { session, brief, parent: Some(call), .. } => {
                format!("{session} by {call}: {}", word(&brief.task))
            }
            Self::SessionEnded { session, end, .. } => match end {
                SessionEnd::Submitted { .. } => format!("{session} submitted"),
                SessionEnd::Failed { fault } => {
                    format!("{session} {}: {}", fault.code, word(&fault.what))
                }
                SessionEnd::Cancelled => format!("{session} cancelled"),
                SessionEnd::Closed => format!("{session} closed"),
            },
            Self::SessionTold { session, how, text, .. } => {
                format!("{session} {}: {}", how.as_str(), word(text))
            }
            Self::SessionChanged { session, change } => format!("{session} {}", change.says()),
            Self::SessionWarned { session, decision, .. }
            | Self::SessionPaused { session, decision, .. } => {
                format!("{session} {}", rule(decision))
            }
            Self::SessionCompacted { session, how, decision } => {
                format!("{session} {}, {}", how.as_str(), rule(decision))
            }
            Self::WorkspaceRestored { to, .. } => format!("as after line {to}"),
            _ => self.summary_of_turn(),
        }
    }

    fn summary_of_turn(&self) -> String {
        match self {
            Self::ModelAsked { session, turn, summary, .. } => {
                let what = if *summary { " for a summary" } else { "" };
                format!("{session} turn {turn}{what}")
            }
            Self::ModelReplied { session, turn, reply, inspections, .. } => {
                format!("{session} turn {turn} {}", said(reply, inspections))
            }
            Self::ModelFailed { session, turn, fault, again } => {
                let again = again.as_ref().map(|next| format!(", {}", next.decision.rule));
                let what = word(&fault.what);
                format!("{session} turn {turn} {}: {what}{}", fault.code, again.unwrap_or_default())
            }
            Self::ToolStarted { call, decision, .. } => {
                format!("{call} {}, {}", word(&decision.seen.join(" ")), decision.rule)
            }
            Self::ToolRefused { call, tool, outcome, decision, .. } => {
                format!("{call} {} {}, {}", word(tool), outcome.as_str(), rule(decision))
            }
            Self::ToolFinished { call, outcome, output, note, .. } => {
                let cut = match (output.removed > 0, output.blob.is_some()) {
                    (false, _) => "",
                    (true, false) => ", cut",
                    (true, true) => ", cut, kept whole",
                };
                let noted = if note.is_some() { ", nothing new" } else { "" };
                format!("{call} {}{cut}{noted}", outcome.as_str())
            }
            Self::ToolLost { call, recovered, .. } => {
                let word = recovered.map_or(CallOutcome::Unknown.as_str(), Recovered::as_str);
                format!("{call} {word}")
            }
            Self::AttemptSealed { changes, findings, .. } => {
                let found = findings.0.first().map(|finding| {
                    format!(", {} {}", finding.kind.says(), word(finding.path.as_str()))
                });
                format!("{}{}", count(changes.0.len(), "file"), found.unwrap_or_default())
            }
            Self::SealFailed { fault } => word(&fault.what),
            _ => String::new(),
        }
    }
}

fn word(text: &str) -> String {
    one_line(text, MOST)
}

/// The rule of a decision, if it is not the usual one; otherwise empty.
fn unusual(decision: &Decision, usual: &str) -> String {
    if decision.rule.as_str() == usual {
        return String::new();
    }
    format!(", {}", decision.rule)
}

fn rule(decision: &Decision) -> String {
    format!("{}: {}", decision.rule, word(&decision.reason))
}

fn selected(included: &[Selected], excluded: &[Selected]) -> String {
    let named = |sign: char| move |one: &Selected| format!("{sign}{} {}", one.path, one.rule);
    let all = included.iter().map(named('+')).chain(excluded.iter().map(named('-')));
    let all = all.collect::<Vec<_>>().join(", ");
    let gap = if all.is_empty() { "" } else { ": " };
    one_line(&format!("{} in, {} out{gap}{all}", included.len(), excluded.len()), MOST)
}

fn on(check: &CheckId) -> String {
    format!("{} #{}", check.on, check.index + 1)
}

fn ended(result: &AttemptResult) -> String {
    match result {
        AttemptResult::Submitted { changes, .. } => {
            format!("submitted, {}", count(changes.0.len(), "file"))
        }
        AttemptResult::Failed { fault, .. } => {
            format!("failed, {} {}", fault.class.as_str(), fault.code)
        }
        AttemptResult::Cancelled => "cancelled".to_owned(),
    }
}

fn said(reply: &ModelReply, inspections: &[Inspection]) -> String {
    let call = |(call, inspection): (&Call, &Inspection)| {
        let valid = matches!(inspection, Inspection::Would(_));
        format!("{}{}", word(&call.tool), if valid { "" } else { " (invalid)" })
    };
    let calls: Vec<String> = reply.calls().zip(inspections).map(call).collect();
    if calls.is_empty() { "only talks".to_owned() } else { format!("calls {}", calls.join(", ")) }
}
