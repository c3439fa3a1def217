//! Tasks of recorded runs.

use super::*;
use crate::views::testing::recorded;

fn detail(name: &str, id: &str) -> TaskDetail {
    let id = id.parse().expect("a task");
    task(&recorded(name, None), &id).expect("it is there")
}

#[test]
fn attempts_stand_side_by_side() {
    let detail = detail("failure/model_overloaded", "T1");
    let outcomes: Vec<AttemptOutcome> = detail.attempts.iter().map(|one| one.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Failed, AttemptOutcome::Verified]);
    let (first, second) = (&detail.attempts[0], &detail.attempts[1]);
    assert_eq!(first.fault.as_ref().map(|fault| fault.code.as_str()), Some("model.overloaded"));
    assert_eq!((second.calls, second.turns, second.said.as_str()), (2, 1, "done"));
    assert_eq!(second.changes.0[0].path.as_str(), "greeting.txt");
    assert!(second.tokens > 0 && second.model.is_some() && second.ended.is_some());
    assert_eq!(second.sandbox, Some(IsolationLevel::Full));
    assert!(detail.brief.contains("Write the greeting"), "{}", detail.brief);
    assert!(!detail.system.is_empty());
    assert_eq!(detail.scope.writes, detail.scope.artifacts);
    let sandbox = detail.sandbox.expect("it was probed");
    assert!(sandbox.attacks.iter().all(|attack| attack.through.is_none()));
}

#[test]
fn refused_calls_are_listed_with_their_rule() {
    let detail = detail("human/asked_and_denied", "T1");
    let refused = &detail.attempts[0].refused;
    assert_eq!((refused.len(), refused[0].tool.as_str()), (1, "shell"));
    assert_eq!(refused[0].rule.as_str(), "mine.publish");
    assert_eq!(refused[0].call, "s1.t1.c1");
}

#[test]
fn what_was_wrong_with_a_result_is_told_and_handed_on() {
    let detail = detail("verify/fixed_with_feedback", "T1");
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Rejected);
    assert!(detail.attempts[0].fault.is_some() && detail.attempts[1].feedback.is_some());
}

#[test]
fn documents_of_the_other_side_are_withheld_with_their_rule() {
    let recorded = recorded("context/held_back", None);
    let chosen = recorded.own().find_map(|line| match &line.event {
        Event::ContextSelected { included, excluded } => Some((included.len(), excluded.len())),
        _ => None,
    });
    let (included, excluded) = chosen.expect("documents were selected");
    let detail = task(&recorded, &TaskId::plan()).expect("planning");
    let documents = detail.documents;
    assert_eq!(documents.given.len() + documents.withheld.len(), included + excluded);
    assert!(!documents.withheld.is_empty());
    assert!(documents.withheld.iter().all(|one| one.rule.as_str().starts_with("context.")));
}

#[test]
fn there_is_nothing_of_a_task_that_is_not_there() {
    let id = "T9".parse().expect("a task");
    assert_eq!(task(&recorded("spec/done", None), &id), None);
}
