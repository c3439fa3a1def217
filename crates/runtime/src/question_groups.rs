//! Open questions, with equal ones as one group, so that a person answers them once. Decides nothing about answers.

use types::{About, QuestionView, RunView, TaskId};

/// Open questions that read the same and may be answered the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionGroup<'a> {
    /// The one that was asked first.
    pub first: &'a QuestionView,
    /// The numbers of all of them, the first included.
    pub ids: Vec<u32>,
}

impl QuestionGroup<'_> {
    /// The tasks that ask, in the order in which they asked; none for questions of the run itself.
    #[must_use]
    pub fn tasks(&self, view: &RunView) -> Vec<String> {
        let asks = view.questions.iter().filter(|asked| self.ids.contains(&asked.id));
        let mut tasks: Vec<String> = Vec::new();
        for task in asks.filter_map(task_of).map(ToString::to_string) {
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        tasks
    }
}

/// The task that asks, or that the question is about.
fn task_of(asked: &QuestionView) -> Option<&TaskId> {
    let about = asked.terms.as_ref().and_then(|terms| terms.about.as_ref());
    match (&asked.attempt, about) {
        (Some(attempt), _) => Some(&attempt.task),
        (None, Some(About::Task(task))) => Some(task),
        _ => None,
    }
}

/// The open questions of a run in the order in which they were asked, equal ones together.
#[must_use]
pub fn open_questions(view: &RunView) -> Vec<QuestionGroup<'_>> {
    let mut groups: Vec<QuestionGroup<'_>> = Vec::new();
    for asked in view.questions.iter().filter(|asked| asked.answer.is_none()) {
        match groups.iter_mut().find(|group| are_equal(group.first, asked)) {
            Some(group) => group.ids.push(asked.id),
            None => groups.push(QuestionGroup { first: asked, ids: vec![asked.id] }),
        }
    }
    groups
}

/// Equal to whoever answers: the same words by the same rule, with the same choices, and no evidence of their own.
fn are_equal(one: &QuestionView, other: &QuestionView) -> bool {
    let (a, b) = (one.terms.as_ref(), other.terms.as_ref());
    let choices = a.map(|terms| &terms.choices) == b.map(|terms| &terms.choices);
    let kind = a.map(|terms| terms.kind) == b.map(|terms| terms.kind);
    let plain = |asked: &QuestionView| {
        asked.terms.as_ref().is_none_or(|terms| terms.package.is_none() && terms.offer.is_none())
    };
    one.text == other.text
        && one.rule == other.rule
        && choices
        && kind
        && plain(one)
        && plain(other)
}
