//! Events as lines for people, live and from the log.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use types::{
    AttemptId, AttemptResult, CallId, CallOutcome, CheckId, Envelope, Event, IsolationLevel,
    MergeEnd, Plan, Recovered, Scorecard, TIMED_OUT, Task, TaskId, count, one_line,
};

use super::{bad_mark, blocked_word, checks, question, row};

/// A line of a log, in full.
pub(crate) fn recorded(line: &Envelope) -> String {
    let attempt = line.attempt.as_ref().map(ToString::to_string).unwrap_or_default();
    format!(
        "{:>5}  {}  {attempt:<8} {:<18} {}",
        line.seq,
        line.at,
        line.event.kind(),
        line.event.summary()
    )
}

/// Formats events as they happen.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// Names of the running checks.
    checks: BTreeMap<CheckId, String>,
    /// Tools of the running calls.
    calls: BTreeMap<(AttemptId, CallId), String>,
}

impl Teller {
    /// The line for people; `None` for events that only matter afterwards.
    pub(crate) fn tell(&mut self, line: &Envelope) -> Option<String> {
        let (who, what) = match (&line.attempt, &line.event) {
            (Some(attempt), Event::ToolStarted { call, tool, .. }) => {
                self.calls.insert((attempt.clone(), *call), one_line(tool, 40));
                (attempt.to_string(), of_attempt(&line.event)?)
            }
            (Some(attempt), Event::ToolFinished { call, outcome, output, .. }) => {
                let tool = self.calls.remove(&(attempt.clone(), *call)).unwrap_or_default();
                if *outcome == CallOutcome::Ok {
                    return None;
                }
                let how =
                    format!("{} {tool} {}: {}", bad_mark(), "failed".red(), last(&output.text));
                (attempt.to_string(), how)
            }
            (Some(attempt), event @ Event::ModelFailed { again: Some(_), .. }) => {
                (attempt.to_string(), super::session::unanswered(event, line.at)?)
            }
            (Some(attempt), event) => (attempt.to_string(), of_attempt(event)?),
            (None, Event::CheckStarted { check, what, limit_ms, decision, .. }) => {
                let name = one_line(&what.name, 40);
                self.checks.insert(check.clone(), name.clone());
                checks::again(&check.on, &name, limit_ms.zip(decision.as_deref())?)
            }
            (None, Event::CheckFinished { check, end }) => {
                let name = self.checks.remove(check).unwrap_or_default();
                checks::finished(&check.on, &name, end)?
            }
            (None, event) => of_run(event)?,
        };
        Some(row(&who, &what))
    }
}

/// The start of a check, for output without a live view; `None` for trials, which are many and often short.
pub(crate) fn check_begun(line: &Envelope) -> Option<String> {
    match &line.event {
        Event::CheckStarted { check, what, .. } if !check.on.is_trial() => {
            let name = one_line(&what.name, 40);
            Some(row(&check.on.to_string(), &format!("check {name} started")))
        }
        _ => None,
    }
}

/// The end of an output: for a command, how it ended and its last line of output.
fn last(output: &str) -> String {
    let mut lines = output.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    match (lines.next(), lines.next()) {
        (Some(end), Some(said)) if end.starts_with('[') => {
            format!("{} {}", one_line(end, 100), one_line(said, 100).dimmed())
        }
        (end, _) => one_line(end.unwrap_or_default(), 200),
    }
}

fn of_run(event: &Event) -> Option<(String, String)> {
    let run = |what: String| ("run".to_owned(), what);
    let good = |text: &str| text.green().to_string();
    let bad = |text: &str| text.red().to_string();
    Some(match event {
        Event::RunAccepted { decision } => run(format!("{} ({})", good("accepted"), decision.rule)),
        Event::RunRefused { decision } => run(format!(
            "{}: {} ({})",
            bad("refused"),
            one_line(&decision.reason, 200),
            decision.rule
        )),
        Event::RunRouted { to, decision, .. } => run(format!("routed to {to} ({})", decision.rule)),
        Event::RunCancelled { by, reason } => {
            run(format!("{} by {}: {}", bad("cancelled"), one_line(by, 40), one_line(reason, 120)))
        }
        Event::SandboxProbed { proof, decision } => {
            let held = proof.attacks.iter().filter(|attack| attack.through.is_none()).count();
            let what = match proof.level {
                IsolationLevel::Full => {
                    format!("{} {} from inside", good("blocked"), count(held, "attack"))
                }
                IsolationLevel::Landlock | IsolationLevel::None => {
                    bad(&one_line(&decision.reason, 300))
                }
            };
            ("sandbox".to_owned(), format!("{what} ({})", decision.rule))
        }
        Event::PlanAdopted { plan, .. } => {
            ("plan".to_owned(), format!("{}: {}", good("adopted"), plan_lines(plan)))
        }
        Event::PlanRefused { problems, .. } => (
            "plan".to_owned(),
            format!("{}: {}", bad("refused"), one_line(&problems.join("; "), 200)),
        ),
        Event::AttemptStarted { attempt, role, feedback, .. } => {
            let told = if feedback.is_some() { ", with feedback" } else { "" };
            (attempt.to_string(), format!("started by {role}{told}"))
        }
        Event::AttemptFinished { attempt, result: AttemptResult::Failed { fault, .. }, .. } => {
            let what = one_line(&fault.what, 160);
            let (mark, class) = (bad_mark(), fault.class.as_str());
            (attempt.to_string(), format!("{mark} {} ({class}): {what}", bad("failed")))
        }
        Event::AttemptFinished { attempt, result: AttemptResult::Cancelled, .. } => {
            (attempt.to_string(), bad("cancelled"))
        }
        Event::TaskRejected { attempt, fault } if fault.code == TIMED_OUT => {
            let what = format!("not verified: {}", one_line(&fault.what, 160));
            (attempt.to_string(), what.yellow().to_string())
        }
        Event::TaskRejected { attempt, fault } => {
            let (mark, what) = (bad_mark(), one_line(&fault.what, 160));
            (attempt.to_string(), format!("{mark} {}: {what}", bad("rejected")))
        }
        _ => return of_task(event),
    })
}

fn of_task(event: &Event) -> Option<(String, String)> {
    let bad = |text: &str| text.red().to_string();
    Some(match event {
        Event::TaskFailed { task, decision, .. } => {
            (task.to_string(), format!("{} {} ({})", bad_mark(), bad("given up"), decision.rule))
        }
        Event::TaskSkipped { task, decision } => {
            (task.to_string(), format!("skipped: {}", one_line(&decision.reason, 160)))
        }
        Event::RetryScheduled { task, left, decision, .. } => {
            (task.to_string(), format!("retry scheduled, {left} left ({})", decision.rule))
        }
        Event::MergeFinished { task, end, .. } => match end {
            MergeEnd::Merged { commit, .. } => {
                (task.to_string(), format!("{} as {}", "merged".green(), commit.short()))
            }
            MergeEnd::Conflict { paths, .. } => (
                task.to_string(),
                format!("{} in {}", bad("conflict"), one_line(&paths.join(", "), 120)),
            ),
            MergeEnd::Failed { fault } => (
                task.to_string(),
                format!("{}: {}", bad("merge failed"), one_line(&fault.what, 120)),
            ),
        },
        Event::GatePassed { phase, card, .. } => {
            ("gate".to_owned(), format!("{} {}{}", phase.as_str(), "go".green(), score(card)))
        }
        Event::GateBlocked { phase, decision, card } => {
            let (why, score) = (one_line(&decision.reason, 160), score(card));
            let word = card.as_deref().map_or("no-go", |card| blocked_word(card.verdict));
            ("gate".to_owned(), format!("{} {}{score}: {why}", phase.as_str(), bad(word)))
        }
        Event::QuestionAsked { text, terms, .. } => {
            let package = terms.as_ref().and_then(|terms| terms.package.as_deref());
            let shown = package.map(|package| question::evidence(package, &" ".repeat(15)));
            let shown = shown.filter(|shown| !shown.is_empty()).map(|shown| format!("\n{shown}"));
            let shown = shown.unwrap_or_default();
            let text = one_line(text, 300);
            ("question".to_owned(), format!("{}{}", text.yellow(), shown.trim_end()))
        }
        Event::QuestionAnswered { by, text, choice, .. } => {
            let said = choice.as_deref().unwrap_or(text);
            ("answer".to_owned(), format!("{}: {}", one_line(by, 40), one_line(said, 160)))
        }
        Event::BudgetRaised { by, decision, .. } => {
            let why = one_line(&decision.reason, 160);
            ("budget".to_owned(), format!("raised by {}: {why}", one_line(by, 40)))
        }
        Event::BudgetWarned { decision, .. } | Event::BudgetExhausted { decision } => {
            ("budget".to_owned(), format!("{}", one_line(&decision.reason, 160).yellow()))
        }
        _ => return None,
    })
}

/// The tasks of a plan, with their dependencies.
fn plan_lines(plan: &Plan) -> String {
    const MOST: usize = 12;
    let row = |task: &Task| {
        let after: Vec<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
        let after =
            if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
        format!("\n{:<17}{:<5} {}{after}", "", task.id, one_line(&task.title, 60))
    };
    let rows: String = plan.tasks.iter().take(MOST).map(row).collect();
    let more = match plan.tasks.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("\n{:<17}and {more} more", ""),
    };
    format!("{}{rows}{more}", count(plan.tasks.len(), "task"))
}

fn score(card: &Option<Box<Scorecard>>) -> String {
    let of = |card: &Scorecard| format!(", {} of 100", card.score);
    card.as_deref().map(of).unwrap_or_default()
}

fn of_attempt(event: &Event) -> Option<String> {
    Some(match event {
        Event::ToolStarted { decision, .. } => {
            format!("{}", one_line(&decision.seen.join(" "), 100).dimmed())
        }
        Event::ToolRefused { tool, decision, .. } => {
            let (tool, why) = (one_line(tool, 40), one_line(&decision.reason, 160));
            format!("{} {tool} {}: {why} ({})", bad_mark(), "refused".red(), decision.rule)
        }
        Event::ToolLost { recovered, .. } => {
            let what = format!("a call was interrupted; {}", Recovered::says(*recovered));
            format!("{}", what.yellow())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use types::Subject;

    use super::*;

    #[test]
    fn what_fails_looks_failed_and_says_how() {
        let line = |event: Event, attempt: bool| {
            let (v, seq, at, by) = (1, 1, types::Timestamp::default(), types::By::engine());
            let (run, prev) = ("r_01".parse().expect("a run"), types::Digest::ZERO);
            let attempt = attempt.then(|| "T1.1".parse().expect("an attempt"));
            Envelope { v, seq, at, run, attempt, by, prev, event }
        };
        let call: CallId = "s1.t1.c0".parse().expect("a call");
        let finished = |outcome, text: &str| Event::ToolFinished {
            call,
            outcome,
            output: types::Shown { text: text.to_owned(), ..types::Shown::default() },
            images: vec![],
            files: vec![],
            trees: None,
            metadata: Box::default(),
            note: None,
        };
        let mut teller = Teller::default();
        let decision = types::Decision::new(types::RuleId::fixed("permit.command"), "it is");
        let started = Event::ToolStarted { call, tool: "shell".to_owned(), decision };
        teller.tell(&line(started.clone(), true));
        let said = finished(CallOutcome::Error, "a.rs:1: no\n[exit code 3]");
        let told = teller.tell(&line(said, true)).expect("it is told");
        for part in ["✘", "shell", "[exit code 3]", "a.rs:1: no"] {
            assert!(told.contains(part), "{part} is not in {told}");
        }
        teller.tell(&line(started, true));
        assert_eq!(teller.tell(&line(finished(CallOutcome::Ok, "fine"), true)), None);
    }

    #[test]
    fn what_happens_is_told_in_one_column() {
        let column = |who: &str| row(who, "|").find('|');
        let landed = Subject::Landed("T10.2".parse().expect("an attempt")).to_string();
        for who in ["run", "question", "T10-review.1", &landed] {
            assert_eq!(column(who), column(""), "{who}");
        }
    }
}
