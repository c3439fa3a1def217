//! Files and blobs of recorded runs.

use super::*;
use crate::views::testing::{recorded, recorded_after};

#[test]
fn a_file_is_pending_until_its_task_is_merged() {
    let told = |recorded: &Recorded| -> Vec<(String, ArtifactStatus)> {
        artifacts(recorded).into_iter().map(|item| (item.path, item.status)).collect()
    };
    let name = "schedule/parallel_then_dependant";
    let begun = told(&recorded_after(name, "task.finished", "T1"));
    let is = |path: &str, status| (path.to_owned(), status);
    assert_eq!(
        begun,
        [
            is("greeting.txt", ArtifactStatus::Added),
            is("name.txt", ArtifactStatus::Pending),
            is("letter.txt", ArtifactStatus::Pending),
        ]
    );
    let over = artifacts(&recorded(name, None));
    assert!(over.iter().all(|item| item.status == ArtifactStatus::Added && item.promised));
    let tasks: Vec<Option<&str>> =
        over.iter().map(|item| item.task.as_ref().map(TaskId::as_str)).collect();
    assert_eq!(tasks, [Some("T1"), Some("T3"), Some("T2")], "by path");
    let letter = over.iter().find(|item| item.path == "letter.txt").expect("a file");
    assert_eq!((letter.task.as_ref().map(TaskId::as_str), letter.added), (Some("T3"), 2));
}

#[test]
fn what_was_promised_and_is_not_there_is_missing() {
    let items = artifacts(&recorded("gate/missing_artifact", None));
    assert!(items.iter().any(|item| item.status == ArtifactStatus::Missing), "{items:?}");
}

#[test]
fn only_blobs_that_a_line_names_are_the_runs() {
    let recorded = recorded("session/long_output", None);
    let blobs = blobs(&recorded);
    let kept = recorded.lines.iter().find_map(engine::export::whole_output).expect("a blob");
    assert!(blobs.contains(&kept.digest));
    let policy = recorded.run.policy_digest().expect("a policy");
    assert!(blobs.contains(&policy));
    assert!(!blobs.contains(&Digest::of(b"another run's")));
}
