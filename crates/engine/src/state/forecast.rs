//! The expected cost of a run, from the plan's estimates or the kind of project, and afterwards the actual cost of each
//! part. Figures for people; no decision uses them.

use types::{Forecast, ForecastBasis, Millis, Money, Spend, TaskId, Variance};

use super::Run;

/// The expected cost of the run, if known: from earlier runs in the repository, else from the plan, else from the kind of
/// project.
pub(crate) fn forecast(run: &Run) -> Option<Forecast> {
    let (usual, budget) = (of_earlier_runs(run), &run.policy().budget);
    let (from, tokens) = match (usual, of_plan(run)) {
        (Some(usual), _) => (ForecastBasis::EarlierRuns, usual.tokens),
        (None, Some(tokens)) => (ForecastBasis::Plan, tokens),
        (None, None) => (ForecastBasis::ProjectType, of_project(run)?),
    };
    let tokens = budget.with_reserve(tokens);
    // What was really paid includes what the cache saved.
    let paid = usual.map(|usual| usual.money).filter(|money| *money > Money::ZERO);
    let paid = paid.map(|money| Money::nanos(budget.with_reserve(money.as_nanos())));
    let money = paid.or_else(|| cost(run, tokens));
    let time_ms = time(run);
    Some(Forecast { from, tokens, money, time_ms, reserve_percent: budget.reserve_percent })
}

/// What earlier runs in this repository used for as many tasks, or as a whole before there is a plan.
fn of_earlier_runs(run: &Run) -> Option<Spend> {
    let usual = run.survey()?.usual?;
    let Some(plan) = run.plan() else { return Some(usual.run) };
    let tasks = plan.tasks.len() as u64;
    let tokens = usual.task.tokens.saturating_mul(tasks);
    Some(Spend { tokens, money: usual.task.money.times(tasks), ..Spend::default() })
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
