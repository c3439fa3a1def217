//! Shares, limits, warnings, and exhausted budgets.

use super::*;
use crate::Machine as _;
use crate::testing::{crew, only, planned_with, run_with, same, submission};
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

fn given(bench: &crate::testing::Bench<Run>, attempt: &str) -> Budget {
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
fn ended_with(attempt: &str, spent: Spend) -> types::Input {
    failed_with(attempt, Fault::structural("session.no_submission", "it said nothing"), spent)
}

fn failed_with(attempt: &str, fault: Fault, spent: Spend) -> types::Input {
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

fn asking() -> types::Policy {
    let mut policy = crew();
    policy.budget.on_exhausted = types::OnExhausted::Ask;
    policy
}

/// P23: a task that cannot be paid for becomes a question, and continues from its files with the added budget.
#[test]
fn a_person_who_gives_more_lets_the_task_go_on_from_its_files() {
    let mut bench = planned_with(asking(), "T1 a");
    let before = bench.machine.ledger().budget();
    same(
        &bench.tell("T1.1 fails resource budget.call_does_not_fit"),
        "attempt.finished T1.1 failed resource budget.call_does_not_fit
         question.asked 0 budget.ask_for_more",
    );
    assert_eq!(bench.machine.status(), types::Status::Waiting);
    same(
        &only(
            &bench.tell("answer 0 raise\ntimer T1 fires"),
            &["budget", "retry", "attempt", "task"],
        ),
        "budget.raised budget.raised
         retry.scheduled T1 budget.raised 1 left, from c-T1.1, told why
         retry.released T1
         attempt.started T1.2 coder",
    );
    // The run had more than the role's limit, so only that is lifted.
    assert_eq!(bench.machine.ledger().budget(), before);
    assert!(given(&bench, "T1.2").tokens > given(&bench, "T1.1").tokens);
}

fn share_of(bench: &crate::testing::Bench<Run>, task: &str) -> u64 {
    let task = bench.machine.task_state(&task.parse().expect("a task")).expect("its state");
    task.share.tokens.expect("a limit of tokens")
}

/// A crew of two with one limit: the run's.
fn two_with(tokens: u64) -> crate::testing::Bench<Run> {
    let mut policy = asking();
    policy.budget.tokens = Some(tokens);
    policy.roles.values_mut().for_each(|role| role.budget = Budget::default());
    planned_with(policy, "T1 a; T2 b")
}

/// A share is a division, not a limit: one that is used up waits for what the others give back, and no longer.
#[test]
fn a_share_that_is_used_up_is_enlarged_by_what_others_give_back() {
    let mut bench = two_with(101_000);
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (50_000, 50_000));
    same(&bench.tell("T1.1 spent 45000 and wants 9000"), "budget.warned budget.call_does_not_fit");
    assert!(bench.asked().iter().all(|effect| !matches!(effect, types::Effect::RunAttempt { brief, .. } if brief.attempt.to_string() == "T1.1")), "it is not driven meanwhile");
    assert!(!bench.machine.waits_for_a_person());
    same(
        &only(&bench.tell("T2.1 hands in b"), &["budget", "question", "retry", "task"]),
        "budget.raised budget.share_enlarged",
    );
    // The other one took 1000 of its 50000.
    assert_eq!(share_of(&bench, "T1"), 99_000);
    assert_eq!(bench.machine.ledger().free().tokens, Some(0), "it is set aside");
    let budget = bench.asked().into_iter().find_map(|effect| match effect {
        types::Effect::RunAttempt { brief, .. } => Some(brief.budget),
        _ => None,
    });
    assert_eq!(budget.and_then(|budget| budget.tokens), Some(99_000), "the same attempt goes on");
    bench.tell("T1.1 hands in a");
    assert_eq!(bench.machine.ledger().free().tokens, Some(98_000));
}

/// X33, P23: only the run's own limit asks, and everything waits as it is.
#[test]
fn when_the_run_has_no_more_a_person_is_asked_and_the_attempt_goes_on() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000");
    same(
        &bench.tell("T2.1 spent 48000 and wants 70000"),
        "budget.warned budget.call_does_not_fit\nquestion.asked 0 budget.ask_for_more",
    );
    assert!(bench.machine.waits_for_a_person());
    assert_eq!(bench.machine.view(bench.now).spent.tokens, 94_000, "what is known is shown");
    same(
        &bench.tell("answer 0 raise 200k"),
        "question.answered 0
         budget.raised budget.raised
         budget.raised budget.share_enlarged
         budget.raised budget.share_enlarged",
    );
    assert_eq!((share_of(&bench, "T1"), share_of(&bench, "T2")), (150_000, 150_000));
    assert!(!bench.machine.waits_for_a_person());
    let driven = bench
        .asked()
        .into_iter()
        .filter(|effect| matches!(effect, types::Effect::RunAttempt { .. }));
    assert_eq!(driven.count(), 2);
}

/// An offer is never too small for the call that waits for it.
#[test]
fn the_offer_covers_the_call() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000\nT2.1 spent 48000 and wants 700000");
    bench.tell("answer 0 raise");
    bench.tell("T1.1 hands in a");
    assert_eq!(
        bench.machine.status(),
        types::Status::Waiting,
        "one half more was not enough for both"
    );
    same(
        &only(&bench.tell("answer 1 raise"), &["question", "budget"]),
        "question.answered 1
        budget.raised budget.raised
        budget.raised budget.share_enlarged",
    );
}

#[test]
fn a_limit_that_a_person_raises_answers_the_question() {
    let mut bench = two_with(101_000);
    bench.tell("T1.1 spent 45000 and wants 9000\nT2.1 spent 48000 and wants 70000");
    let raise = |tokens| {
        let budget = Budget { tokens: Some(tokens), ..Budget::default() };
        types::Input::Command(types::Command::Raise { by: "ann".to_owned(), budget })
    };
    assert_eq!(bench.send(&raise(101_000)), [], "that is no more than there is");
    let events = bench.send(&raise(1_000_000));
    same(
        &crate::testing::render(&events),
        "budget.raised budget.raised
         question.answered 0
         budget.raised budget.share_enlarged
         budget.raised budget.share_enlarged",
    );
    assert_eq!(bench.machine.ledger().budget().tokens, Some(1_000_000));
}

/// The limit of a role is the policy's own: the run has more, so the answer only lifts it.
#[test]
fn the_limit_of_a_role_asks_and_is_lifted() {
    let mut bench = planned_with(asking(), "T1 a");
    assert_eq!(share_of(&bench, "T1"), 400_000);
    let before = bench.machine.ledger().budget();
    same(
        &bench.tell("T1.1 spent 390000 and wants 20000"),
        "budget.warned budget.call_does_not_fit\nquestion.asked 0 budget.ask_for_more",
    );
    same(
        &only(&bench.tell("answer 0 raise"), &["budget"]),
        "budget.raised budget.raised\nbudget.raised budget.share_enlarged",
    );
    assert_eq!(bench.machine.ledger().budget(), before);
    assert!(share_of(&bench, "T1") > 1_000_000);
}

#[test]
fn a_policy_that_stops_ends_the_run_and_the_attempt_with_it() {
    let mut policy = crew();
    policy.budget.on_exhausted = types::OnExhausted::Stop;
    let mut bench = planned_with(policy, "T1 a");
    same(
        &bench.tell("T1.1 spent 390000 and wants 20000"),
        "budget.warned budget.call_does_not_fit\nbudget.exhausted budget.role_limit",
    );
    same(
        &only(&bench.tell("T1.1 is cancelled"), &["run"]),
        "run.finished out of budget, budget.role_limit",
    );
}

/// A first call larger than the whole budget: each answer adds more of it.
#[test]
fn a_run_that_is_too_small_for_the_first_call_asks_for_more_of_it() {
    let mut bench = planned_with(asking(), "T1 a");
    let broke = |attempt: &str| {
        failed_with(
            attempt,
            super::appeal::unpaid(rules::ledger::CALL, "too much"),
            Spend::default(),
        )
    };
    bench.send(&broke("T1.1"));
    bench.tell("answer 0 raise\ntimer T1 fires");
    let before = bench.machine.ledger().budget().tokens.expect("a limit");
    bench.send(&broke("T1.2"));
    bench.tell("answer 1 raise\ntimer T1 fires");
    assert_eq!(bench.machine.ledger().budget().tokens, Some(before + before / 2));
    assert!(given(&bench, "T1.3").tokens > given(&bench, "T1.2").tokens);
}

#[test]
fn what_is_no_number_of_tokens_gives_nothing() {
    let mut bench = planned_with(asking(), "T1 a");
    bench.tell("T1.1 fails resource budget.call_does_not_fit");
    same(&bench.tell("answer 0 raise $0\nanswer 0 raise as you like"), "");
    let before = bench.machine.ledger().budget().tokens.expect("a limit");
    bench.tell("answer 0 raise 50k");
    assert_eq!(bench.machine.ledger().budget().tokens, Some(before + 50_000));
}

#[test]
fn a_person_who_gives_no_more_ends_the_task_as_not_paid_for() {
    let mut bench = planned_with(asking(), "T1 a");
    bench.tell("T1.1 fails resource budget.call_does_not_fit");
    same(
        &only(&bench.tell("answer 0 stop"), &["budget", "task", "run"]),
        "task.failed T1 budget.not_raised\nrun.finished out of budget, gate.execution",
    );
}

#[test]
fn a_run_that_is_short_asks_for_more_before_it_begins_an_attempt() {
    let mut policy = asking();
    policy.budget.tokens = Some(10_000);
    policy.budget.phases.clear();
    let mut bench = planned_with(policy, "T1 a");
    // Planning took 1000; an attempt that takes half leaves too little for the next.
    bench.send(&ended_with("T1.1", Spend { tokens: 8_000, calls: 1, ..Spend::default() }));
    same(
        &only(&bench.tell("timer T1 fires"), &["question", "attempt"]),
        "question.asked 0 budget.ask_for_more",
    );
    same(&bench.tell("due\ndue"), "");
    same(
        &only(&bench.tell("answer 0 raise 20,000"), &["budget.r", "attempt"]),
        "budget.raised budget.raised\nattempt.started T1.2 coder",
    );
    assert_eq!(bench.machine.ledger().budget().tokens, Some(30_000));
}

#[test]
fn time_can_be_given_too_and_nothing_new_begins_before_the_answer() {
    let mut policy = asking();
    policy.limits.parallel_tasks = 1;
    let mut bench = planned_with(policy, "T1 a; T2 b");
    same(&bench.tell("timer deadline fires"), "question.asked 0 budget.ask_for_more");
    let events = bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0");
    assert!(!events.contains("attempt.started"), "{events}");
    let events = bench.tell("answer 0 raise");
    same(
        &only(&events, &["budget.r", "attempt"]),
        "budget.raised budget.raised\nattempt.started T2.1 coder",
    );
    same(
        &only(&bench.tell("timer deadline fires\nanswer 1 stop"), &["budget"]),
        "budget.exhausted budget.time",
    );
}

/// Out of budget is a pause: the question waits until somebody resumes the run.
#[test]
fn where_nobody_can_answer_the_run_waits_all_the_same() {
    let mut policy = asking();
    policy.headless = true;
    let mut bench = planned_with(policy, "T1 a");
    same(
        &only(&bench.tell("T1.1 spent 390000 and wants 20000"), &["question", "task", "run"]),
        "question.asked 0 budget.ask_for_more",
    );
    assert_eq!(bench.machine.status(), types::Status::Waiting);
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
