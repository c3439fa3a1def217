//! Specs of recorded runs.

use super::*;
use crate::views::testing::recorded;

#[test]
fn a_requirement_leads_to_the_check_that_shows_it() {
    let matrix = spec(&recorded("spec/done", None));
    let head = matrix.spec.expect("a spec");
    assert_eq!((head.status.as_str(), head.title.as_str()), ("done", "Write a greeting"));
    let kinds: Vec<SpecRowKind> = matrix.rows.iter().map(|row| row.kind).collect();
    use SpecRowKind::{Criterion, Requirement};
    assert_eq!(kinds, [Requirement, Criterion, Criterion]);
    for row in &matrix.rows {
        assert_eq!(row.checks.len(), 1, "{row:?}");
        assert_eq!(row.checks[0].passed, Some(true));
        assert!(!row.evidence.is_empty());
    }
    assert_eq!(matrix.rows[0].id, "REQ-001");
    assert_eq!(matrix.rows[0].checks[0].name, "greeting");
    assert_eq!(matrix.out_of_scope, ["Other languages"]);
}

#[test]
fn before_a_check_has_ended_nothing_is_claimed() {
    let matrix = spec(&recorded("spec/done", Some(2)));
    assert!(matrix.rows.iter().all(|row| row.evidence.is_empty()));
    assert!(matrix.rows.iter().all(|row| row.checks.iter().all(|check| check.passed.is_none())));
}

#[test]
fn a_task_that_names_a_requirement_is_in_its_row() {
    let matrix = spec(&recorded("audited/technical", None));
    assert_eq!(matrix.spec.as_ref().map(|spec| spec.status.as_str()), Some("written"));
    let row = matrix.rows.first().expect("a requirement");
    assert_eq!(row.tasks[0].id.as_str(), "T1", "{row:?}");
}

#[test]
fn a_run_without_a_spec_has_an_empty_matrix() {
    let matrix = spec(&recorded("failure/model_overloaded", None));
    assert_eq!((matrix.spec, matrix.rows.len()), (None, 0));
}

#[test]
fn an_id_is_a_whole_word() {
    let mut task = Task::new("T1".parse().expect("an id"), "Do REQ-001, and more", vec![]);
    assert!(names(&task, "REQ-001", "x", None));
    assert!(!names(&task, "REQ-00", "x", None) && !names(&task, "", "x", None));
    task.acceptance.push("it prints hello".to_owned());
    assert!(names(&task, "REQ-9", "x", Some("it prints hello")));
}
