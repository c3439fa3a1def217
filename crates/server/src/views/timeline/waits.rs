//! Waits of tasks: for the preceding gate, for dependencies, for a free slot, for the delay before a retry, and for
//! their turn to be merged.

use std::collections::BTreeMap;

use rules::dag;
use types::{AttemptResult, Envelope, Event, Phase, Plan, TaskId, Timestamp};

use super::bar::{Bar, BarKind, BarOutcome, Rows, push};
use crate::views::source::Recorded;

/// The times of one task's events that matter for waits.
#[derive(Debug, Clone, Default)]
struct Times {
    settled: Option<Timestamp>,
    /// Start of each attempt.
    started: Vec<Timestamp>,
    verified: Vec<Timestamp>,
    merging: Vec<Timestamp>,
    /// When it released its slot, after each attempt.
    left: Vec<Timestamp>,
}

pub(super) fn waits(recorded: &Recorded, own: &[&Envelope], rows: &mut Rows) {
    retries(own, rows);
    let Some(plan) = recorded.run.plan() else { return };
    let (times, adopted, gate) = times(own);
    let Some(adopted) = adopted else { return };
    let mut shape = dag::shape(&plan.tasks);
    let order = dag::order(&shape).unwrap_or_default();
    dag::keep_apart(&mut shape, &plan.tasks, &order);
    let needs = needs(plan, &shape);
    for (place, task) in plan.tasks.iter().enumerate() {
        let own = times.get(&task.id).cloned().unwrap_or_default();
        // A task that was skipped or given up without an attempt no longer waits.
        let until = own.started.first().copied().or(own.settled);
        let mut from = adopted;
        if until.is_none_or(|until| until > from) && gate.is_none_or(|gate| gate > from) {
            let end = gate.into_iter().chain(until).min();
            let bar = Bar::new(BarKind::Wait, from, end, "wait for the gate of planning");
            push(rows, Some(&task.id), bar.because("no task starts before the plan has passed"));
            let Some(end) = end else { continue };
            from = end;
        }
        let named: Vec<&TaskId> =
            needs[place].iter().filter_map(|need| Some(&plan.tasks.get(*need)?.id)).collect();
        from = match blocked(&task.id, &named, &times, from, until, rows) {
            Some(from) => from,
            None => continue,
        };
        if until.is_none_or(|until| until > from) {
            let bar = Bar::new(BarKind::Wait, from, until, "wait for a slot");
            push(rows, Some(&task.id), bar.because(&slots(recorded, plan, &times, (from, until))));
        }
        turns(&task.id, &own, plan, &order, &times, rows);
    }
}

/// Adds the wait for a task's dependencies. Returns when it ended, if it has.
fn blocked(
    task: &TaskId,
    needs: &[&TaskId],
    times: &BTreeMap<&TaskId, Times>,
    from: Timestamp,
    until: Option<Timestamp>,
    rows: &mut Rows,
) -> Option<Timestamp> {
    let settled = |need: &TaskId| times.get(need).and_then(|times| times.settled);
    let late = needs.iter().filter(|need| settled(need).is_none_or(|at| at > from));
    let late: Vec<&TaskId> = late.copied().collect();
    if late.is_empty() {
        return Some(from);
    }
    let open: Vec<&TaskId> = late.iter().copied().filter(|need| settled(need).is_none()).collect();
    let last = late.iter().filter_map(|need| settled(need)).max().filter(|_| open.is_empty());
    let end = last.map(|last| until.map_or(last, |until| last.min(until)));
    // While the wait lasts, only the unsettled dependencies are named.
    let named = if open.is_empty() { late } else { open };
    let named: Vec<&str> = named.into_iter().map(TaskId::as_str).collect();
    let bar = Bar::new(BarKind::Wait, from, end.or(until), "blocked");
    push(rows, Some(task), bar.because(&format!("blocked by {}", named.join(", "))));
    end
}

/// Why a ready task did not start: the tasks of the plan that occupied the slots meanwhile.
fn slots(
    recorded: &Recorded,
    plan: &Plan,
    times: &BTreeMap<&TaskId, Times>,
    (from, until): (Timestamp, Option<Timestamp>),
) -> String {
    let until = until.unwrap_or(recorded.now);
    let had = |times: &Times| {
        let left = |start: &Timestamp| times.left.iter().find(|left| *left >= start).copied();
        let mut taken = times.started.iter().filter(|start| **start < until);
        taken.any(|start| left(start).is_none_or(|left| left > from))
    };
    let ids = plan.tasks.iter().map(|task| &task.id);
    let busy: Vec<&str> =
        ids.filter(|id| times.get(id).is_some_and(had)).map(TaskId::as_str).collect();
    let most = recorded.run.policy().limits.parallel_tasks;
    if busy.len() >= most {
        let tasks = types::count(most, "task");
        return format!("at most {tasks} at once; {} had the slots", busy.join(", "));
    }
    "ready, and not started yet".to_owned()
}

/// The waits between verification and merge.
fn turns(
    task: &TaskId,
    own: &Times,
    plan: &Plan,
    order: &[usize],
    times: &BTreeMap<&TaskId, Times>,
    rows: &mut Rows,
) {
    let id = |place: &usize| plan.tasks.get(*place).map(|task| &task.id);
    for from in &own.verified {
        let to = own.merging.iter().find(|at| *at >= from).copied().or(own.settled);
        if to.is_some_and(|to| to <= *from) {
            continue;
        }
        let first: Vec<&str> = order
            .iter()
            .filter_map(id)
            .take_while(|other| *other != task)
            .filter(|other| {
                let settled = times.get(other).and_then(|times| times.settled);
                settled.is_none_or(|at| at > *from)
            })
            .map(TaskId::as_str)
            .collect();
        let reason = if first.is_empty() {
            "its turn comes next".to_owned()
        } else {
            format!("{} first, in the plan's order", first.join(", "))
        };
        let bar = Bar::new(BarKind::Wait, *from, to, "wait for its turn to be merged");
        push(rows, Some(task), bar.because(&reason));
    }
}

/// The delays before retries, of tasks in the plan and outside it.
fn retries(own: &[&Envelope], rows: &mut Rows) {
    let mut open: BTreeMap<&TaskId, Bar> = BTreeMap::new();
    for line in own {
        let task = match &line.event {
            Event::RetryScheduled { task, .. }
            | Event::RetryReleased { task }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. } => task,
            Event::AttemptStarted { attempt, .. } => &attempt.task,
            _ => continue,
        };
        if let Some(mut bar) = open.remove(task) {
            (bar.to, bar.outcome) = (Some(line.at), BarOutcome::Ok);
            if line.at > bar.from {
                push(rows, Some(task), bar);
            }
        }
        if let Event::RetryScheduled { decision, left, .. } = &line.event {
            let label = format!("wait for a retry, {left} left");
            let bar = Bar::new(BarKind::Wait, line.at, None, label);
            open.insert(task, bar.because(&decision.reason));
        }
    }
    for (task, bar) in open {
        push(rows, Some(task), bar);
    }
}

/// For each task, the indices of its dependencies.
fn needs(plan: &Plan, shape: &dag::Dag) -> Vec<Vec<usize>> {
    let mut needs = vec![Vec::new(); plan.tasks.len()];
    for (from, later) in shape.dependants.iter().zip(&shape.followers).enumerate() {
        for to in later.0.iter().chain(later.1) {
            if let Some(needs) = needs.get_mut(*to).filter(|needs| !needs.contains(&from)) {
                needs.push(from);
            }
        }
    }
    needs
}

type Known<'a> = (BTreeMap<&'a TaskId, Times>, Option<Timestamp>, Option<Timestamp>);

/// The times of each task, of the adoption of the last plan, and of the gate that it passed.
fn times<'a>(own: &[&'a Envelope]) -> Known<'a> {
    let mut times: BTreeMap<&TaskId, Times> = BTreeMap::new();
    let (mut adopted, mut gate) = (None, None);
    for line in own {
        let at = line.at;
        match &line.event {
            Event::PlanAdopted { .. } => (adopted, gate) = (Some(at), None),
            Event::GatePassed { phase: Phase::Planning, .. } => gate = gate.or(Some(at)),
            Event::AttemptStarted { attempt, .. } => {
                times.entry(&attempt.task).or_default().started.push(at);
            }
            Event::TaskVerified { attempt, .. } => {
                let times = times.entry(&attempt.task).or_default();
                times.verified.push(at);
                times.left.push(at);
            }
            Event::TaskRejected { attempt, .. }
            | Event::AttemptFinished {
                attempt,
                result: AttemptResult::Failed { .. } | AttemptResult::Cancelled,
                ..
            } => times.entry(&attempt.task).or_default().left.push(at),
            Event::MergeStarted { task, .. } => times.entry(task).or_default().merging.push(at),
            Event::TaskFinished { task, .. }
            | Event::TaskFailed { task, .. }
            | Event::TaskSkipped { task, .. } => {
                times.entry(task).or_default().settled = Some(at);
            }
            _ => {}
        }
    }
    (times, adopted, gate)
}
