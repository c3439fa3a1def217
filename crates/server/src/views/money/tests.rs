//! Costs of recorded runs.

use super::*;
use crate::views::testing::{recorded, recorded_after};

#[test]
fn the_parts_come_to_the_whole() {
    let recorded = recorded("schedule/parallel_then_dependant", None);
    let report = money(&recorded);
    assert_eq!(report.spent, recorded.run.view(recorded.now).spent);
    assert!(report.spent.tokens > 0 && report.spent.calls > 0);
    for parts in [&report.by_task, &report.by_role, &report.by_model] {
        let tokens: u64 = parts.iter().map(|part| part.tokens).sum();
        assert_eq!(tokens, report.spent.tokens, "{parts:?}");
    }
    let mut tasks: Vec<&str> = report.by_task.iter().map(|part| part.name.as_str()).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, ["T1", "T2", "T3", "plan"]);
    assert_eq!((report.set_aside, report.reserved), (Spend::default(), Spend::default()));
    let last = report.series.last().expect("a point");
    assert_eq!((last.tokens, last.set_aside_tokens), (report.spent.tokens, 0));
    assert!(report.series.is_sorted_by_key(|point| point.at));
    assert!(report.series.is_sorted_by_key(|point| point.tokens));
}

#[test]
fn what_an_attempt_may_still_spend_is_set_aside() {
    let recorded = recorded_after("schedule/parallel_then_dependant", "attempt.started", "T1.1");
    let report = money(&recorded);
    assert_eq!(report.set_aside, recorded.run.set_aside());
    assert!(report.set_aside.money > Money::ZERO, "{report:?}");
    let budget = report.budget.money.expect("a limit");
    let gone = report.spent.money.plus(report.set_aside.money);
    assert_eq!(report.left.money, Some(budget.less(gone)));
}

#[test]
fn a_long_course_has_fewer_points_and_keeps_its_end() {
    let point = |n: i64| CostPoint {
        at: Timestamp::from_millis(n),
        tokens: 1,
        money: Money::ZERO,
        set_aside_tokens: 0,
        set_aside_money: Money::ZERO,
    };
    let thin = thinned((0..5_000).map(point).collect());
    assert!(thin.len() <= MOST_POINTS);
    assert_eq!(thin.last().map(|point| point.at.millis()), Some(4_999));
    assert_eq!(thinned(vec![]), []);
}
