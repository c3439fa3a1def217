//! Ids of work beside a task, derived from the task's id: its review, and the tests that another author writes for it.

use types::TaskId;

/// The suffix of a review's id.
const REVIEW: &str = "-review";
/// The suffix of the id of another author's tests.
const TESTS: &str = "-tests";

/// Whether a task's id differs from any review id and leaves room for one.
pub(crate) fn can_be_reviewed(task: &TaskId) -> bool {
    !task.as_str().ends_with(REVIEW) && review_of(task).is_some()
}

/// The task that work with this id is beside, by name alone.
#[must_use]
pub fn task_of(beside: &TaskId) -> Option<TaskId> {
    reviewed_by(beside).or_else(|| tested_by(beside))
}

/// The task whose review has this id, by name alone.
#[must_use]
pub fn reviewed_by(review: &TaskId) -> Option<TaskId> {
    review.as_str().strip_suffix(REVIEW)?.parse().ok()
}

/// The id of the review of a task.
#[must_use]
pub fn review_of(task: &TaskId) -> Option<TaskId> {
    format!("{task}{REVIEW}").parse().ok()
}

/// The task whose tests by another author have this id, by name alone.
#[must_use]
pub fn tested_by(tests: &TaskId) -> Option<TaskId> {
    tests.as_str().strip_suffix(TESTS)?.parse().ok()
}

/// The id of another author's tests of a task.
#[must_use]
pub fn tests_of(task: &TaskId) -> Option<TaskId> {
    format!("{task}{TESTS}").parse().ok()
}
