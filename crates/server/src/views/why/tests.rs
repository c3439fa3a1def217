//! Decisions of recorded runs.

use super::*;
use crate::views::testing::recorded;

#[test]
fn a_decision_is_listed_and_decided_again() {
    let recorded = recorded("failure/model_overloaded", None);
    let list = list(&recorded);
    let retry = list.iter().find(|item| item.event == "retry.scheduled").expect("a retry");
    assert_eq!(retry.rule.as_ref().map(RuleId::as_str), Some("failure.transient_retry"));
    let found = explain(&recorded, &retry.place);
    assert_eq!(found.len(), 1);
    let (last, before) = found[0].rules.split_last().expect("rules");
    assert!(last.matched && !before.iter().any(|rule| rule.matched));
    assert!(found[0].inputs.iter().any(|input| input.name == "class"));
    let gate = list.iter().find(|item| item.event == "gate.passed").expect("a gate");
    assert_eq!(explain(&recorded, &gate.place)[0].again, Some(true));
}

#[test]
fn a_task_a_question_and_a_call_can_be_asked_about() {
    let recorded = recorded("human/asked_and_denied", None);
    assert!(explain(&recorded, "T1").len() > 1);
    assert_eq!(explain(&recorded, "q0")[0].event, "question.asked");
    let refused = list(&recorded).into_iter().find(|item| item.event == "tool.refused");
    let place = refused.expect("a refused call").place;
    assert!(place.starts_with("T1.1:"), "{place}");
    assert_eq!(explain(&recorded, &place).len(), 1);
    for nothing in ["", "T9", "q7", "0", "\u{202e}"] {
        assert_eq!(explain(&recorded, nothing), [], "{nothing:?}");
    }
}
