//! A run as of a line.

use types::{Event, TaskStage};

use super::*;
use crate::views::testing::{line_of, played, recorded, second};

#[test]
fn what_came_later_is_not_there() {
    let (blank, lines) = played("schedule/parallel_then_dependant");
    let end = second(10_000);
    let at = line_of(&lines, "attempt.finished", "T1.1");
    let cut = Recorded::at(&blank, lines.clone(), Some(at), end);
    let own: Vec<u64> = cut.own().map(|line| line.seq).collect();
    assert_eq!(own, (1..=at).collect::<Vec<_>>());
    // T1.1 had ended, so all its lines are included; T2.1 had started, but its lines are newer; T3.1 had not started.
    let count = |lines: &[Envelope], attempt: &str| {
        let attempt = attempt.parse().expect("an attempt");
        lines.iter().filter(|line| line.attempt.as_ref() == Some(&attempt)).count()
    };
    assert_eq!(count(&cut.lines, "T1.1"), count(&lines, "T1.1"));
    assert_eq!((count(&cut.lines, "T2.1"), count(&cut.lines, "T3.1")), (0, 0));
    assert!(count(&lines, "T2.1") > 0 && count(&lines, "T3.1") > 0);
    let when = cut.own().last().map(|line| line.at).expect("a line");
    assert_eq!((cut.now, cut.at, cut.last > at), (when, at, true));
    let stages: Vec<TaskStage> =
        cut.run.view(cut.now).tasks.iter().map(|task| task.stage).collect();
    assert_eq!(stages, [TaskStage::Checking, TaskStage::Running, TaskStage::Waiting]);
}

#[test]
fn of_an_attempt_in_progress_the_lines_that_are_not_newer_are_there() {
    let (blank, mut lines) = played("schedule/parallel_then_dependant");
    let at = line_of(&lines, "attempt.finished", "T1.1");
    let when = lines.iter().find(|line| line.attempt.is_none() && line.seq == at);
    let when = when.expect("the line").at;
    let second_attempt = "T2.1".parse().expect("an attempt");
    let of = |line: &&mut Envelope| line.attempt.as_ref() == Some(&second_attempt);
    for line in lines.iter_mut().filter(of).take(3) {
        line.at = when;
    }
    let cut = Recorded::at(&blank, lines, Some(at), second(10_000));
    assert_eq!(cut.of(&second_attempt).count(), 3);
}

#[test]
fn without_a_line_and_beyond_the_last_one_it_is_the_present() {
    let (blank, lines) = played("failure/model_overloaded");
    let now = second(10_000);
    for at in [None, Some(u64::MAX)] {
        let recorded = Recorded::at(&blank, lines.clone(), at, now);
        assert_eq!((recorded.lines.len(), recorded.now), (lines.len(), now));
        assert_eq!(recorded.at, recorded.last);
    }
    let empty = Recorded::at(&blank, vec![], Some(3), now);
    assert_eq!((empty.at, empty.last, empty.lines.len()), (0, 0, 0));
}

#[test]
fn tasks_outside_of_the_plan_are_listed_after_it() {
    let tasks = recorded("audited/direct", None).tasks();
    let tasks: Vec<&str> = tasks.iter().map(TaskId::as_str).collect();
    assert_eq!(tasks, ["T1", "T1-review"]);
    let recorded = recorded("failure/model_overloaded", Some(1));
    assert!(matches!(recorded.lines[0].event, Event::RunRequested { .. }));
    assert_eq!(recorded.tasks(), [TaskId::plan()]);
}
