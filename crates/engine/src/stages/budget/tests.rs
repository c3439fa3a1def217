//! Shares, limits, warnings, and forecasts.

use super::*;
use crate::testing::{crew, only, run_with, same, submission};
use rules::ledger::{Ledger, lacking, share, worst};
use types::{Fault, Money};

fn tokens(tokens: u64) -> Spend {
    Spend { tokens, ..Spend::default() }
}

fn fits(ledger: &Ledger, amount: u64) -> bool {
    lacking(ledger.free(), tokens(amount)).is_none()
}

#[test]
fn what_is_set_aside_cannot_be_set_aside_twice() {
    let mut ledger = Ledger::new(Budget { tokens: Some(100), ..Budget::default() });
    assert!(fits(&ledger, 100));
    ledger.hold(tokens(60));
    assert!(fits(&ledger, 40) && !fits(&ledger, 41));
    ledger.settle(tokens(60), tokens(10));
    assert_eq!(ledger.free().tokens, Some(90));
    assert!(!ledger.is_overspent());
}

#[test]
fn a_budget_that_names_no_limit_does_not_bind() {
    assert!(fits(&Ledger::new(Budget::default()), u64::MAX));
}

#[test]
fn a_share_is_equal_and_below_the_roles_limit() {
    let free = Budget { tokens: Some(100), ..Budget::default() };
    let role = Budget { tokens: Some(30), ..Budget::default() };
    assert_eq!(share(free, role, 2).tokens, Some(30));
    assert_eq!(share(free, role, 4).tokens, Some(25));
    assert_eq!(share(Budget::default(), role, 4).tokens, Some(30));
    assert_eq!(share(free, Budget::default(), 0).tokens, Some(100));
}

fn in_money(nanos: u64) -> Budget {
    Budget { money: Some(Money::nanos(nanos)), ..Budget::default() }
}

const PRICE: types::PriceCap =
    types::PriceCap { input: Money::nanos(1_000_000), output: Money::nanos(2_000_000) };

/// X33: one ledger for tokens, calls and money; reservations cover the worst case of each.
#[test]
fn the_worst_case_of_a_call_is_known_in_tokens_and_in_money() {
    let spend = worst(in_money(9), Some(PRICE), (1_000, 500)).expect("a price is known");
    assert_eq!((spend.tokens, spend.calls), (1_500, 1));
    assert_eq!(spend.money, Money::nanos(1_000 + 1_000));
    assert_eq!(worst(Budget::default(), None, (1, 1)).expect("no limit").money, Money::ZERO);
    let unknown = worst(in_money(9), None, (1, 1)).expect_err("unknown is not nothing");
    assert!(unknown.contains("price is unknown"), "{unknown}");
}

#[test]
fn what_is_lacking_is_named_with_both_numbers() {
    let wanted =
        Spend { tokens: 10, money: Money::nanos(5_000_000_000), calls: 1, ..Spend::default() };
    let lacks = |free: Budget| lacking(free, wanted).unwrap_or_default();
    let tokens = lacks(Budget { tokens: Some(9), ..Budget::default() });
    assert!(tokens.contains("10 tokens, but only 9 are left"), "{tokens}");
    assert!(lacks(in_money(1)).contains("$5.0000, but only $0.000000001 is left"));
    assert!(lacks(Budget { calls: Some(0), ..Budget::default() }).contains("is used up"));
    assert_eq!(lacking(in_money(5_000_000_000), wanted), None);
}

/// A plan of one task with an estimate.
fn estimated(estimate: u64) -> serde_json::Value {
    let mut plan = crate::testing::plan("T1 a");
    plan["tasks"][0]["estimate_tokens"] = estimate.into();
    plan
}

fn planned_at(policy: types::Policy, estimate: u64) -> crate::testing::Bench<Run> {
    let mut bench = run_with(policy);
    bench.tell("begin Build a CLI");
    bench.send(&submission("plan.1", estimated(estimate)));
    bench
}

pub(super) fn given(bench: &crate::testing::Bench<Run>, attempt: &str) -> Budget {
    let found = bench.log.iter().rev().find_map(|(event, _)| match event {
        Event::AttemptStarted { attempt: started, budget, .. }
            if started.to_string() == attempt =>
        {
            Some(*budget)
        }
        _ => None,
    });
    found.expect("the attempt was started")
}

/// P60: using most of a task's own share is reported once, with the numbers.
#[test]
fn a_task_with_an_estimate_has_a_share_of_its_own_and_is_warned_about() {
    let mut policy = crew();
    policy.budget.estimate_percent = Some(100);
    let mut bench = planned_at(policy, 40_000);
    assert_eq!(given(&bench, "T1.1").tokens, Some(40_000), "the estimate binds");
    let spent = Spend { tokens: 33_000, calls: 1, ..Spend::default() };
    let events = bench.send(&ended_with("T1.1", spent));
    let warned = events.iter().find_map(|event| match event {
        Event::BudgetWarned { task, decision, .. } => Some((task.clone(), decision.reason.clone())),
        _ => None,
    });
    let (task, reason) = warned.expect("a warning");
    assert_eq!(task.map(|task| task.to_string()).as_deref(), Some("T1"));
    assert_eq!(reason, "at least 80 % of T1's share is spent: 33000 of 40000 tokens");
}

/// An attempt that failed its checks would be retried; this one fails outright.
pub(super) fn ended_with(attempt: &str, spent: Spend) -> types::Input {
    failed_with(attempt, Fault::structural("session.no_submission", "it said nothing"), spent)
}

pub(super) fn failed_with(attempt: &str, fault: Fault, spent: Spend) -> types::Input {
    let end = types::AttemptEnd {
        result: types::AttemptResult::Failed { fault, commit: None },
        spent,
        usage: types::Usage::default(),
        turns: 1,
        log_head: types::Digest::ZERO,
        denied: vec![],
    };
    let id = types::EffectId::Attempt(attempt.parse().expect("an attempt"));
    types::Input::Outcome(id, types::Outcome::Attempt(Box::new(end)))
}

#[test]
fn a_task_that_has_used_up_its_share_ends_as_not_paid_for() {
    let mut policy = crew();
    policy.budget.estimate_percent = Some(100);
    let mut bench = planned_at(policy, 40_000);
    bench.send(&ended_with("T1.1", Spend { tokens: 39_000, calls: 1, ..Spend::default() }));
    let events = bench.tell("timer T1 fires");
    same(
        &only(&events, &["task", "run"]),
        "task.failed T1 budget.task_share\nrun.finished out of budget, gate.execution",
    );
}

#[test]
fn an_estimate_that_leaves_no_room_for_a_try_is_not_taken_at_its_word() {
    let mut policy = crew();
    policy.budget.estimate_percent = Some(100);
    assert_eq!(given(&planned_at(policy, 10), "T1.1").tokens, Some(32_000));
}

#[test]
fn a_phase_takes_no_more_than_its_part() {
    let mut policy = crew();
    policy.budget.tokens = Some(100_000);
    policy.budget.phases = [(types::Phase::Planning, 10)].into();
    let mut bench = run_with(policy.clone());
    bench.tell("begin Build a CLI");
    assert_eq!(given(&bench, "plan.1").tokens, Some(10_000));
    policy.budget.phases = [(types::Phase::Planning, 1)].into();
    let events = run_with(policy).tell("begin Build a CLI");
    same(
        &only(&events, &["task", "run.f"]),
        "task.failed plan budget.phase_share\nrun.finished out of budget, gate.planning",
    );
}

/// The guard holds where nobody has set a limit: in dollars if the price is known, otherwise in tokens.
#[test]
fn a_run_without_a_limit_is_guarded() {
    let mut policy = crew();
    policy.budget.tokens = None;
    let dollars = Money::nanos(25_000_000_000);
    policy.budget.guard = types::Guard { money: Some(dollars), tokens: Some(50_000_000) };
    let limits = |policy: &types::Policy, price: Option<types::PriceCap>, own: Budget| {
        let mut bench = run_with(policy.clone());
        let mut request = crate::testing::request("Build a CLI");
        request.budget = own;
        let types::Input::Begin(mut begin) =
            crate::testing::begin(request, crate::testing::survey())
        else {
            unreachable!("a run begins")
        };
        begin.price = price;
        bench.send(&types::Input::Begin(begin));
        let budget = bench.machine.ledger().budget();
        (budget.money, budget.tokens)
    };
    let none = Budget::default();
    assert_eq!(limits(&policy, Some(PRICE), none), (Some(dollars), None));
    assert_eq!(limits(&policy, None, none), (None, Some(50_000_000)));
    let own = Budget { tokens: Some(9), ..none };
    assert_eq!(
        limits(&policy, Some(PRICE), own),
        (None, Some(9)),
        "the person's limit is the limit"
    );
    let coder = policy.roles.get_mut(&types::RoleId::fixed("coder")).expect("a coder");
    coder.model = Some("local/small".parse().expect("a model"));
    assert_eq!(
        limits(&policy, Some(PRICE), none),
        (None, Some(50_000_000)),
        "one price is unknown"
    );
}

/// P14: a forecast includes its reserve; afterwards it is shown beside the actual cost.
#[test]
fn a_run_is_forecast_from_its_plan_and_measured_against_it() {
    let mut bench = planned_at(crew(), 10_000);
    let forecast = bench.machine.view(bench.now).forecast.expect("a forecast");
    assert_eq!((forecast.tokens, forecast.from), (12_000, types::ForecastBasis::Plan));
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 0");
    let view = bench.machine.view(bench.now);
    let took: Vec<(String, Option<u64>, u64)> = view
        .variance
        .iter()
        .map(|one| (one.task.to_string(), one.estimate_tokens, one.spent.tokens))
        .collect();
    assert_eq!(took, [("plan".to_owned(), None, 1_000), ("T1".to_owned(), Some(10_000), 1_000)]);
}

/// Whoever writes tests for changed code costs something, too.
#[test]
fn a_forecast_has_the_tests_by_another_author() {
    let mut policy = crate::testing::proving();
    policy.verify.tester = types::Tester::Auto;
    let coder = policy.roles[&types::RoleId::fixed("coder")].clone();
    policy.roles.insert(types::RoleId::tester(), coder);
    for (file, tokens) in [("a.py", (24_000, 12_000)), ("a.md", (12_000, 0))] {
        let mut bench = run_with(policy.clone());
        let survey = types::Survey { has_tester: true, ..crate::testing::survey() };
        let request = crate::testing::request("Build a CLI");
        bench.send(&crate::testing::begin(request, survey));
        bench.tell("check base/0 exits 0 passed=3");
        let mut plan = crate::testing::plan(&format!("T1 {file}"));
        plan["tasks"][0]["estimate_tokens"] = 10_000.into();
        bench.send(&submission("plan.1", plan));
        let forecast = bench.machine.view(bench.now).forecast.expect("a forecast");
        assert_eq!((forecast.tokens, forecast.tests_tokens), tokens, "{file}");
    }
}

/// What earlier runs really used is a better forecast than what a planner says.
#[test]
fn a_forecast_learns_from_earlier_runs_of_the_repository() {
    let spent = |tokens, nanos| Spend { tokens, money: Money::nanos(nanos), ..Spend::default() };
    let mut survey = crate::testing::survey();
    survey.usual = types::Usual::of(&[(spent(900_000, 600_000_000), 3)]);
    let mut bench = run_with(crew());
    bench.send(&crate::testing::begin(crate::testing::request("Build a CLI"), survey));
    bench.tell("isolation full");
    let forecast = |bench: &crate::testing::Bench<Run>| {
        let forecast = bench.machine.view(bench.now).forecast.expect("a forecast");
        assert_eq!(forecast.from, types::ForecastBasis::EarlierRuns);
        (forecast.tokens, forecast.money.map(Money::as_nanos))
    };
    assert_eq!(forecast(&bench), (1_080_000, Some(720_000_000)), "a whole run, and the reserve");
    bench.send(&submission("plan.1", estimated(2_000)));
    assert_eq!(forecast(&bench), (360_000, Some(240_000_000)), "one task of three");
}

#[test]
fn before_there_is_a_plan_the_sort_of_project_tells() {
    let mut bench = run_with(crew());
    bench.tell("begin Build a CLI");
    let forecast = bench.machine.view(bench.now).forecast.expect("a forecast");
    assert_eq!(forecast.from, types::ForecastBasis::ProjectType);
    assert!(forecast.tokens > 0);
}
