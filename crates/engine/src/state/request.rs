//! The request of a run after admission: its text with the answers about it.

use rules::admission::insists;

use super::Run;

impl Run {
    /// The request with the answers to questions about it.
    pub(crate) fn full_text(&self) -> String {
        let text = self.asked.as_ref().map(|asked| asked.request.text.as_str()).unwrap_or_default();
        let says = |answer: &&str| !self.policy.insist || insists(answer).is_none();
        let answers = self.answers_about_the_request().filter(says);
        std::iter::once(text).chain(answers).collect::<Vec<_>>().join("\n")
    }

    /// The answers to questions about the request.
    pub(crate) fn answers_about_the_request(&self) -> impl Iterator<Item = &str> {
        let ours = self.questions.iter().filter(|question| question.is_about_the_request());
        ours.filter_map(|question| question.said())
    }
}
