//! The expected cost of a run, from the plan's estimates or the kind of project, and afterwards the actual cost of each
//! part. Figures for people; no decision uses them.

use types::{Forecast, ForecastBasis, Millis, Money, TaskId, Variance};

use super::Run;

/// The expected cost of the run, if known: first from the kind of project, then from the plan.
pub(crate) fn forecast(run: &Run) -> Option<Forecast> {
    let (from, tokens) = match of_plan(run) {
        Some(tokens) => (ForecastBasis::Plan, tokens),
        None => (ForecastBasis::ProjectType, of_project(run)?),
    };
    let budget = &run.policy().budget;
    let tokens = budget.with_reserve(tokens);
    let money = cost(run, tokens);
    let time_ms = time(run);
    Some(Forecast { from, tokens, money, time_ms, reserve_percent: budget.reserve_percent })
}

/// The highest cost of these tokens, if the price of the run's model is known.
pub(crate) fn cost(run: &Run, tokens: u64) -> Option<Money> {
    // Conversations are mostly input: three tokens in to one out.
    run.budget_state().price.map(|price| price.of(tokens / 4 * 3, tokens.div_ceil(4)))
}

/// The sum of the plan's estimated times, with the reserve. Concurrent tasks count as sequential.
fn time(run: &Run) -> Option<Millis> {
    let seconds = run.plan()?.tasks.iter().filter_map(|task| task.estimate_seconds);
    seconds
        .reduce(u64::saturating_add)
        .map(|sum| Millis(run.policy().budget.with_reserve(sum.saturating_mul(1_000))))
}

/// The sum of the estimates; a task without one counts as the average.
fn of_plan(run: &Run) -> Option<u64> {
    let tasks = &run.plan()?.tasks;
    let known: Vec<u64> = tasks.iter().filter_map(|task| task.estimate_tokens).collect();
    let sum = known.iter().copied().fold(0, u64::saturating_add);
    let mean = sum.checked_div(known.len() as u64)?;
    let unknown = (tasks.len() - known.len()) as u64;
    Some(sum.saturating_add(mean.saturating_mul(unknown)))
}

fn of_project(run: &Run) -> Option<u64> {
    let request = &run.asked()?.request;
    let text = run.full_text();
    rules::admission::read(run.policy(), request, &text, run.ledger().budget()).facts.estimate
}

/// The actual cost of planning and of each task, against the expected one.
pub(crate) fn variance(run: &Run) -> Vec<Variance> {
    let plan = Variance {
        task: TaskId::plan(),
        estimate_tokens: None,
        spent: run.planning().known_spent(),
    };
    let tasks = run.tasks();
    let tasks = tasks.iter().zip(run.task_states()).map(|(task, task_state)| Variance {
        task: task.id.clone(),
        estimate_tokens: task.estimate_tokens,
        spent: task_state.known_spent(),
    });
    let began =
        |one: &Variance| one.spent != types::Spend::default() || one.estimate_tokens.is_some();
    std::iter::once(plan).chain(tasks).filter(began).collect()
}
