//! Open questions as shown to people: equal ones grouped, so that a person answers them once, and the most informative
//! lines of evidence. Makes no decision about answers.

use types::{About, Package, QuestionView, RunView, TaskId};

/// Open questions with the same text and the same possible answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionGroup<'a> {
    /// The question asked first.
    pub first: &'a QuestionView,
    /// The numbers of all questions in the group, including the first.
    pub ids: Vec<u32>,
}

impl QuestionGroup<'_> {
    /// The tasks that ask, in order of their questions; empty for questions of the run itself.
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

/// The open questions of a run in the order asked, with equal ones grouped.
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

/// Equal for the person who answers: the same text, rule, kind and choices, and neither has evidence of its own.
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

/// Up to `most` lines that show a failure: from the output of failed checks, or else from the evidence of the fault.
#[must_use]
pub fn evidence_lines(package: &Package, most: usize) -> Vec<&str> {
    let texts = [&package.evidence, &package.fault.evidence];
    let shows = texts.into_iter().find(|text| !text.trim().is_empty());
    let lines: Vec<&str> = shows
        .map(|text| text.lines().filter(|line| !line.trim().is_empty()).collect())
        .unwrap_or_default();
    telling(&lines, most).to_vec()
}

/// Prefixes of test runner and compiler lines that report a failure.
const FAILURES: [&str; 12] = [
    "not ok ", "FAILED", "FAIL ", "FAIL:", "--- FAIL", "✖", "✗", "✕", "E   ", "error", "Error",
    "thread '",
];

/// The lines of a check's output to show: the last ones, unless they only count, as the summary of a TAP report does.
/// Then those from the first failure on.
fn telling<'a, 'b>(lines: &'b [&'a str], most: usize) -> &'b [&'a str] {
    let tells = |line: &&str| FAILURES.iter().any(|start| line.trim_start().starts_with(start));
    let (before, last) = lines.split_at(lines.len().saturating_sub(most));
    match before.iter().position(tells) {
        Some(first) if !last.iter().any(tells) => &lines[first..lines.len().min(first + most)],
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_that_ends_with_counts_is_shown_from_its_first_failure_on() {
        let tap = "TAP version 13\n# Subtest: a\nok 1 - a\n# Subtest: rounds\nnot ok 2 - rounds\n  ---\n  \
                   duration_ms: 2.6\n  location: 'test/a.test.js:5:1'\n  failureType: 'testCodeFailure'\n  error: |-\n    \
                   Expected values to be strictly equal:\n    8.991 !== 8.99\n  code: 'ERR_ASSERTION'\n1..2\n# tests 2\n\
                   # suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 350.5";
        let lines: Vec<&str> = tap.lines().collect();
        let shown = telling(&lines, 8);
        assert_eq!((shown[0], shown[7]), ("not ok 2 - rounds", "    8.991 !== 8.99"), "{shown:?}");
        // Other runners print the failure last.
        let pytest: Vec<&str> = std::iter::repeat_n("E   assert 1 == 2", 9)
            .chain(["FAILED tests/test_a.py::test_a", "1 failed in 0.07s"])
            .collect();
        assert_eq!(telling(&pytest, 8).last(), Some(&"1 failed in 0.07s"));
        assert_eq!(telling(&["one"], 8), ["one"]);
    }
}
