//! Ids of reviews, derived from the id of the reviewed task.

use types::TaskId;

/// The suffix of a review's id.
const SUFFIX: &str = "-review";

/// Whether a task's id differs from any review id and leaves room for one.
pub(crate) fn can_be_reviewed(task: &TaskId) -> bool {
    !task.as_str().ends_with(SUFFIX) && review_of(task).is_some()
}

/// The task whose review has this id, by name alone.
#[must_use]
pub fn task_of(review: &TaskId) -> Option<TaskId> {
    review.as_str().strip_suffix(SUFFIX)?.parse().ok()
}

/// The id of the review of a task.
#[must_use]
pub fn review_of(task: &TaskId) -> Option<TaskId> {
    format!("{task}{SUFFIX}").parse().ok()
}
