//! The request of a run after admission: its text with the answers about it.

use rules::admission::insists;

use super::Run;

impl Run {
    /// The text of the request.
    pub(crate) fn goal(&self) -> &str {
        self.request().map(|request| request.text.as_str()).unwrap_or_default()
    }

    /// The request with the answers to questions about it.
    pub(crate) fn full_text(&self) -> String {
        let says = |answer: &&str| !self.policy.insist || insists(answer).is_none();
        let answers = self.answers_about_the_request().filter(says);
        std::iter::once(self.goal()).chain(answers).collect::<Vec<_>>().join("\n")
    }

    /// The answers to questions about the request.
    pub(crate) fn answers_about_the_request(&self) -> impl Iterator<Item = &str> {
        let ours = self.questions.iter().filter(|question| question.is_about_the_request());
        ours.filter_map(|question| question.said())
    }
}
