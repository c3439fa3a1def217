//! The expected cost of a run, from the plan's estimates or the kind of project, and afterwards the actual cost of each
//! part. Figures for people; no decision uses them.

use types::{Forecast, ForecastBasis, Millis, Money, Spend, Task, TaskId, Variance};

use super::Run;

/// The expected cost of the run, if known: from earlier runs in the repository, else from the plan, else from the kind of
/// project.
pub(crate) fn forecast(run: &Run) -> Option<Forecast> {
    let (usual, budget) = (of_earlier_runs(run), &run.policy().budget);
    let (from, expected) = match (usual, of_plan(run)) {
        // They had tests by another author too, if the policy wants them.
        (Some(usual), _) => (ForecastBasis::EarlierRuns, Expected { work: usual.tokens, tests: 0 }),
        (None, Some(expected)) => (ForecastBasis::Plan, expected),
        (None, None) => (ForecastBasis::ProjectType, of_project(run)?),
    };
    let tokens = budget.with_reserve(expected.work.saturating_add(expected.tests));
    let tests_tokens = budget.with_reserve(expected.tests);
    // What was really paid includes what the cache saved.
    let paid = usual.map(|usual| usual.money).filter(|money| *money > Money::ZERO);
    let paid = paid.map(|money| Money::nanos(budget.with_reserve(money.as_nanos())));
    let money = paid.or_else(|| cost(run, tokens));
    let time_ms = time(run);
    let reserve_percent = budget.reserve_percent;
    Some(Forecast { from, tokens, tests_tokens, money, time_ms, reserve_percent })
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

/// Expected tokens. Whoever writes tests reads what the coder reads, and is expected to use as much.
#[derive(Default)]
struct Expected {
    work: u64,
    /// For tests by another author.
    tests: u64,
}

/// The sum of the estimates; a task without one counts as the average.
fn of_plan(run: &Run) -> Option<Expected> {
    let tasks = &run.plan()?.tasks;
    let known: Vec<u64> = tasks.iter().filter_map(|task| task.estimate_tokens).collect();
    let mean = known.iter().copied().fold(0, u64::saturating_add).checked_div(known.len() as u64)?;
    let estimates = tasks.iter().map(|task| (task, task.estimate_tokens.unwrap_or(mean)));
    let with_tests = estimates.clone().filter(|(task, _)| run.expects_tests(task));
    let sum = |tokens: u64, (_, more): (&Task, u64)| tokens.saturating_add(more);
    Some(Expected { work: estimates.fold(0, sum), tests: with_tests.fold(0, sum) })
}

fn of_project(run: &Run) -> Option<Expected> {
    let request = &run.asked()?.request;
    let text = run.full_text();
    let reading = rules::admission::read(run.policy(), request, &text, run.ledger().budget());
    let work = reading.facts.estimate?;
    Some(Expected { work, tests: if run.wants_tests(true) { work } else { 0 } })
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
