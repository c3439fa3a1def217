//! The ids of reviews: a review is an attempt at a task of its own, whose id is made from that of the task it is about.

use types::TaskId;

/// How the lane of a review is named after its task.
const SUFFIX: &str = "-review";

/// Whether a task's id can be told from that of a review, and leaves room for one.
pub fn can_be_reviewed(task: &TaskId) -> bool {
    !task.as_str().ends_with(SUFFIX) && review_of(task).is_some()
}

/// The task whose review has this id, by its name alone.
pub fn task_of(review: &TaskId) -> Option<TaskId> {
    review.as_str().strip_suffix(SUFFIX)?.parse().ok()
}

/// The id of the review of a task.
pub fn review_of(task: &TaskId) -> Option<TaskId> {
    format!("{task}{SUFFIX}").parse().ok()
}
