//! The spec that a run produces: the given one, with tasks, decisions, blockers and status filled in. A pure function
//! of the run, so it is available after a crash, during the run, and after a failure.

use types::{
    Blocker, BlockerStatus, Spec, SpecDecision, SpecStatus, SpecTask, SpecTaskStatus, Status, Task,
    TaskStage, Timestamp, Uuid, Verified,
};

use crate::Run;
use crate::stages::gate;
use rules::spec::moved;

/// The versions of the run's spec so far, the newest last; none without a spec, or before work on it has begun.
#[must_use]
pub fn versions(run: &Run, now: Timestamp) -> Vec<Spec> {
    let (Some(given), true, false) = (given(run), run.is_admitted(), run.only_plans()) else {
        return vec![];
    };
    let view = run.view(now);
    let over = view.ended;
    let verifying = run.all_settled().then(|| run.notes().last).flatten().or(over);
    let (end, ended) = match view.status {
        // Without the gate in the policy, criteria that no check shows remain unconfirmed.
        Status::Done if sentences(run).any(|(_, by)| by.is_none()) => (SpecStatus::Done, None),
        Status::Done => (SpecStatus::Done, over),
        _ => (SpecStatus::Failed, over),
    };
    let steps = [
        (SpecStatus::InProgress, Some(view.started)),
        (SpecStatus::Verifying, verifying),
        (end, ended),
    ];
    let mut made: Vec<Spec> = Vec::new();
    for (to, at) in steps {
        let (Some(at), before) = (at, made.last().unwrap_or(given)) else { break };
        let Ok(mut next) = moved(before, to, at, Some(run.id())) else { break };
        if to != SpecStatus::InProgress || verifying.is_none() {
            fill(&mut next, given, run, now);
        }
        made.push(next);
    }
    made
}

fn given(run: &Run) -> Option<&Spec> {
    run.request()?.spec.as_deref()
}

/// Fills in everything that the run knows.
fn fill(spec: &mut Spec, given: &Spec, run: &Run, now: Timestamp) {
    let view = run.view(now);
    let made = run.tasks().iter().map(|task| task_of(run, task));
    spec.tasks = given.tasks.iter().cloned().chain(made).collect();
    spec.decisions = given.decisions.iter().cloned().chain(decisions(run)).collect();
    spec.blockers = given.blockers.iter().cloned().chain(blockers(run)).collect();
    let checked = view.merged_checks.iter();
    let checked = checked.filter_map(|check| Some(Verified::of(&check.check, check.ended?)));
    let confirmed = sentences(run).filter_map(|(criterion, by)| {
        let ended = match by {
            Some(by) => format!("confirmed by {}", types::one_line(by, 80)),
            None if view.ended.is_some() => "not confirmed by a person".to_owned(),
            None => return None,
        };
        Some(Verified { check: types::one_line(criterion, 120), passed: by.is_some(), ended })
    });
    spec.verification.results = checked.chain(confirmed).collect();
}

/// The criteria that no check shows, and who confirmed them.
fn sentences(run: &Run) -> impl Iterator<Item = (&str, Option<&str>)> {
    let by = gate::confirmed(run).and_then(|question| question.answer.as_ref());
    let by = by.map(|answer| answer.said.by.as_str());
    let all = run.request().map(|request| request.criteria.as_slice()).unwrap_or_default();
    all.iter().map(move |criterion| (criterion.as_str(), by))
}

fn uuid(run: &Run, what: &str) -> Uuid {
    Uuid::of(&format!("{}/{what}", run.id()))
}

fn task_of(run: &Run, task: &Task) -> SpecTask {
    let result = run.task_result(&task.id);
    let stage = run.task_state(&task.id).map(|task_state| task_state.shown());
    let status = match (&result, stage) {
        (Some(result), _) => result.status,
        (None, None | Some(TaskStage::Waiting)) => SpecTaskStatus::Pending,
        (None, Some(_)) => SpecTaskStatus::Running,
    };
    SpecTask {
        id: uuid(run, task.id.as_str()),
        name: Some(task.id.clone()),
        title: Some(task.title.clone()),
        status: Some(status),
        depends_on: task.depends_on.iter().map(|other| uuid(run, other.as_str())).collect(),
        result,
    }
}

/// The decisions of tasks, and people's answers.
fn decisions(run: &Run) -> Vec<SpecDecision> {
    let in_tasks = run.tasks().iter().flat_map(|task| {
        let (decisions, at) = run.notes().decisions(&task.id);
        decisions.iter().enumerate().map(move |(place, text)| SpecDecision {
            id: uuid(run, &format!("{}/decision/{place}", task.id)),
            description: text.clone(),
            decided_by: format!("{} of {}", task.role, task.id),
            decided_at: at,
            rationale: None,
        })
    });
    let by_people = run.questions().iter().enumerate().filter_map(|(place, question)| {
        let answer = question.answer.as_ref()?;
        Some(SpecDecision {
            id: uuid(run, &format!("question/{place}")),
            description: nonempty(&answer.said.text),
            decided_by: nonempty(&types::one_line(&answer.said.by, 80)),
            decided_at: answer.at,
            rationale: Some(nonempty(&question.text)),
        })
    });
    in_tasks.chain(by_people).collect()
}

/// Questions and abandoned tasks: open, or resolved by an answer or a later attempt.
fn blockers(run: &Run) -> Vec<Blocker> {
    let questions = run.questions().iter().enumerate().map(|(place, one)| {
        let answer = one.answer.as_ref();
        let said = answer.map(|answer| {
            let by = types::one_line(&answer.said.by, 80);
            (answer.at, nonempty(&format!("{by}: {}", answer.said.text)))
        });
        blocker(run, &format!("blocker/question/{place}"), &one.text, one.asked, said)
    });
    let failures = &run.notes().failures;
    let given_up = failures.iter().enumerate().map(|(place, failure)| {
        let before = failures[..place].iter().filter(|one| one.task == failure.task).count();
        let more = if before == 0 { String::new() } else { format!("/{before}") };
        let text = format!("{}: {}", failure.task, failure.what);
        let how = failure.resolved.map(|at| (at, "a later attempt finished the task".to_owned()));
        blocker(run, &format!("blocker/{}{more}", failure.task), &text, failure.at, how)
    });
    questions.chain(given_up).collect()
}

fn blocker(
    run: &Run,
    what: &str,
    text: &str,
    at: Timestamp,
    resolved: Option<(Timestamp, String)>,
) -> Blocker {
    let (resolved_at, resolution) = resolved.unzip();
    let status = if resolved_at.is_some() { BlockerStatus::Resolved } else { BlockerStatus::Open };
    Blocker {
        id: uuid(run, what),
        description: nonempty(text),
        status,
        reported_at: at,
        resolved_at,
        resolution,
    }
}

/// A text that the format accepts: not empty and not too long.
fn nonempty(text: &str) -> String {
    let text: String = text.trim().chars().take(10_000).collect();
    if text.is_empty() { "not specified".to_owned() } else { text }
}

#[cfg(test)]
mod tests;
