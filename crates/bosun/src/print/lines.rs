//! Events as lines for people: what happens while a run goes on, and what was recorded of it.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use types::{
    AttemptResult, CheckId, Envelope, Event, MergeEnd, Plan, Rung, Scorecard, Task, TaskId, count,
    one_line,
};

/// A line of a log, with everything.
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

/// Tells what happens while it happens.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// The names of the checks that are running.
    checks: BTreeMap<CheckId, String>,
}

impl Teller {
    /// What a person wants to see of a line; nothing for what only matters afterwards.
    pub(crate) fn tell(&mut self, line: &Envelope) -> Option<String> {
        let (who, what) = match (&line.attempt, &line.event) {
            (Some(attempt), event) => (attempt.to_string(), of_attempt(event)?),
            (None, Event::CheckStarted { check, what, .. }) => {
                self.checks.insert(check.clone(), one_line(&what.name, 40));
                return None;
            }
            (None, Event::CheckFinished { check, end }) => {
                let name = self.checks.remove(check).unwrap_or_default();
                let word = if end.passed() {
                    "passed".green().to_string()
                } else {
                    "did not pass".red().to_string()
                };
                (check.on.to_string(), format!("check {name} {word} ({})", end.ended))
            }
            (None, event) => of_run(event)?,
        };
        Some(row(&who, &what))
    }
}

/// A line of what happens; the longest names are those of results that were merged and of reviews.
pub(crate) fn row(who: &str, what: &str) -> String {
    format!("  {who:<12} {what}")
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
        Event::RunRouted { to, decision, .. } => {
            run(format!("goes to the {to} ({})", decision.rule))
        }
        Event::RunCancelled { by, reason } => {
            run(format!("{} by {}: {}", bad("cancelled"), one_line(by, 40), one_line(reason, 120)))
        }
        Event::SandboxProbed { proof, decision } => {
            let held = proof.attacks.iter().filter(|attack| attack.through.is_none()).count();
            let what = match proof.rung {
                Rung::Full => format!("{} {} from inside", good("held"), count(held, "attack")),
                Rung::Landlock | Rung::None => bad(&one_line(&decision.reason, 300)),
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
            let told = if feedback.is_some() { ", told what was wrong before" } else { "" };
            (attempt.to_string(), format!("started by a fresh {role}{told}"))
        }
        Event::AttemptFinished { attempt, result: AttemptResult::Failed { fault, .. }, .. } => {
            let what = one_line(&fault.what, 160);
            (attempt.to_string(), format!("{} ({}): {what}", bad("failed"), fault.class.word()))
        }
        Event::AttemptFinished { attempt, result: AttemptResult::Cancelled, .. } => {
            (attempt.to_string(), bad("cancelled"))
        }
        Event::TaskRejected { attempt, fault } => {
            (attempt.to_string(), format!("{}: {}", bad("rejected"), one_line(&fault.what, 160)))
        }
        _ => return of_task(event),
    })
}

fn of_task(event: &Event) -> Option<(String, String)> {
    let bad = |text: &str| text.red().to_string();
    Some(match event {
        Event::TaskFailed { task, decision, .. } => {
            (task.to_string(), format!("{} ({})", bad("given up"), decision.rule))
        }
        Event::TaskSkipped { task, decision } => {
            (task.to_string(), format!("skipped: {}", one_line(&decision.reason, 160)))
        }
        Event::RetryScheduled { task, left, decision, .. } => {
            (task.to_string(), format!("will be tried again, {left} left ({})", decision.rule))
        }
        Event::MergeFinished { task, end } => match end {
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
            ("gate".to_owned(), format!("{} {}{}", phase.word(), "go".green(), score(card)))
        }
        Event::GateBlocked { phase, decision, card } => {
            let (why, score) = (one_line(&decision.reason, 160), score(card));
            ("gate".to_owned(), format!("{} {}{score}: {why}", phase.word(), bad("no-go")))
        }
        Event::QuestionAsked { text, .. } => {
            ("question".to_owned(), format!("{}", one_line(text, 300).yellow()))
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

/// The tasks of a plan, with what each waits for.
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
            format!("{} {}: {why} ({})", tool, "refused".red(), decision.rule)
        }
        Event::ToolLost { .. } => {
            format!("{}", "a call was cut off; whether it took effect is not known".yellow())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use types::Subject;

    use super::*;

    #[test]
    fn what_happens_is_told_in_one_column() {
        let column = |who: &str| row(who, "|").find('|');
        let landed = Subject::Landed("T10.2".parse().expect("an attempt")).to_string();
        for who in ["run", "question", "T10-review.1", &landed] {
            assert_eq!(column(who), column(""), "{who}");
        }
    }
}
