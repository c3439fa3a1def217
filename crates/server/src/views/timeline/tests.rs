//! Bars of recorded runs.

use super::*;
use crate::views::testing::{recorded, recorded_after};

fn bars<'a>(timeline: &'a Timeline, row: &str) -> Vec<&'a Bar> {
    let row = timeline.rows.iter().find(|one| one.id == row).expect("a row");
    row.bars.iter().collect()
}

fn kinds(timeline: &Timeline, row: &str) -> Vec<BarKind> {
    bars(timeline, row).iter().map(|bar| bar.kind).collect()
}

fn reasons(timeline: &Timeline, row: &str, label: &str) -> Vec<String> {
    let bars = bars(timeline, row).into_iter().filter(|bar| bar.label.starts_with(label));
    bars.map(|bar| bar.reason.clone()).collect()
}

#[test]
fn a_task_has_bars_for_what_was_done_and_what_was_waited_for() {
    let timeline = timeline(&recorded("schedule/parallel_then_dependant", None));
    let ids: Vec<&str> = timeline.rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["run", "plan", "T1", "T2", "T3"]);
    assert_eq!(reasons(&timeline, "T3", "blocked"), ["blocked by T1, T2"]);
    let blocked = bars(&timeline, "T3").into_iter().find(|bar| bar.label == "blocked");
    let attempt = bars(&timeline, "T3").into_iter().find(|bar| bar.kind == BarKind::Attempt);
    let (blocked, attempt) = (blocked.expect("a wait"), attempt.expect("an attempt"));
    assert!(blocked.to.is_some_and(|to| to <= attempt.from), "{blocked:?} {attempt:?}");
    assert_eq!(reasons(&timeline, "T2", "wait for its turn"), ["T1 first, in the plan's order"]);
    for kind in [BarKind::Attempt, BarKind::Check, BarKind::Merge, BarKind::Prepare] {
        assert!(kinds(&timeline, "T1").contains(&kind), "{kind:?}");
    }
    assert_eq!(kinds(&timeline, "plan")[0], BarKind::Plan);
    let gates = kinds(&timeline, "run").into_iter().filter(|kind| *kind == BarKind::Gate).count();
    assert_eq!(gates, 5);
    let open = timeline.rows.iter().flat_map(|row| &row.bars).filter(|bar| bar.to.is_none());
    assert_eq!(open.count(), 0, "the run is over");
}

#[test]
fn what_goes_on_has_no_end() {
    let recorded = recorded_after("schedule/parallel_then_dependant", "attempt.started", "T1.1");
    let timeline = timeline(&recorded);
    let attempt = bars(&timeline, "T1").into_iter().find(|bar| bar.kind == BarKind::Attempt);
    let attempt = attempt.expect("an attempt");
    assert_eq!((attempt.to, attempt.outcome), (None, BarOutcome::Open));
    let blocked = bars(&timeline, "T3").into_iter().find(|bar| bar.label == "blocked");
    assert_eq!(blocked.and_then(|bar| bar.to), None);
    assert_eq!(timeline.to, recorded.now);
}

#[test]
fn a_retry_is_waited_for_and_a_failed_attempt_says_why() {
    let timeline = timeline(&recorded("failure/model_overloaded", None));
    let attempts = bars(&timeline, "T1").into_iter().filter(|bar| bar.kind == BarKind::Attempt);
    let outcomes: Vec<BarOutcome> = attempts.map(|bar| bar.outcome).collect();
    assert_eq!(outcomes, [BarOutcome::Failed, BarOutcome::Ok]);
    assert_eq!(reasons(&timeline, "T1", "attempt 1"), ["the model is overloaded"]);
    assert_eq!(reasons(&timeline, "T1", "wait for a retry").len(), 1);
}

#[test]
fn a_model_that_is_away_is_waited_for_inside_of_the_attempt() {
    let timeline = timeline(&recorded("failure/model_away", None));
    let waits: Vec<&Bar> = timeline
        .rows
        .iter()
        .flat_map(|row| &row.bars)
        .filter(|bar| bar.label == "wait for the model")
        .collect();
    assert!(!waits.is_empty() && waits.iter().all(|bar| bar.inner && !bar.reason.is_empty()));
}

#[test]
fn a_question_is_a_bar_until_it_is_answered() {
    let timeline = timeline(&recorded("human/asked_and_denied", None));
    let asked = bars(&timeline, "T1").into_iter().find(|bar| bar.kind == BarKind::Question);
    let asked = asked.expect("a question");
    assert!(asked.inner && asked.reason.starts_with("Allow or deny"), "{asked:?}");
    assert_eq!(asked.label, "question 0, answered by person");
}

#[test]
fn a_task_waits_for_a_slot_where_there_is_only_one() {
    let timeline = timeline(&recorded("schedule/one_at_a_time", None));
    let reasons = reasons(&timeline, "T2", "wait for a slot");
    assert_eq!(reasons, ["at most 1 task at once; T1 had the slots"]);
}
