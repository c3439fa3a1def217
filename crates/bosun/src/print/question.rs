//! A question on a terminal: what it is, what may be said, what holds if nobody says anything.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use types::{Package, QuestionView, RunId, Severity, Terms, Timestamp, one_line};

/// A question with its head line, its choices and, if that is wanted, everything that belongs to it.
pub(crate) fn shown(run: &RunId, asked: &QuestionView, now: Timestamp, whole: bool) -> String {
    let mut text = format!("{run} #{}", asked.id);
    if let Some(terms) = &asked.terms {
        let kind = terms.escalation.map_or_else(|| terms.kind.word(), |sort| sort.word());
        let _ = write!(text, "  {kind}, {}", severity(terms.severity));
    }
    let _ = writeln!(text, ", asked {} ago", now.since(asked.asked));
    for line in asked.text.lines().take(20) {
        let _ = writeln!(text, "  {}", one_line(line, 400).yellow());
    }
    if let Some(terms) = &asked.terms {
        text.push_str(&choices(terms, now));
        if let Some(package) = terms.package.as_ref().filter(|_| whole) {
            text.push_str(&contents(package));
        }
    }
    text
}

/// The answers to choose from.
pub(crate) fn choices(terms: &Terms, now: Timestamp) -> String {
    let mut text = String::new();
    for (choice, number) in terms.choices.iter().zip(1..) {
        let name = terms.written(choice);
        let default = if terms.default.as_ref() == Some(&choice.id) { " (default)" } else { "" };
        let _ = writeln!(text, "    {number} {name:<15} {}{default}", choice.says);
    }
    if let Some(expires) = terms.expires {
        let what = terms.default.as_deref().unwrap_or("stop");
        let left = expires.since(now);
        let _ = writeln!(text, "    without an answer: {} in {left}", one_line(what, 60));
    }
    text
}

/// What could be said, so that it can be pasted into a shell: what holds if nobody says anything, or else the first choice.
pub(crate) fn example(asked: &QuestionView) -> &str {
    let Some(terms) = &asked.terms else { return WORDS };
    let default = terms.choices.iter().find(|choice| terms.default.as_ref() == Some(&choice.id));
    default.or(terms.choices.first()).map_or(WORDS, |choice| &choice.id)
}

/// In place of words of one's own.
const WORDS: &str = "\"…\"";

fn severity(severity: Severity) -> String {
    match severity {
        Severity::Critical | Severity::High => severity.word().red().to_string(),
        Severity::Medium | Severity::Low => severity.word().to_owned(),
    }
}

fn contents(package: &Package) -> String {
    let mut text = String::new();
    let fault = &package.fault;
    let changes: Vec<&str> = package.changes.0.iter().map(|file| file.path.as_str()).collect();
    let documents: Vec<&str> = package.documents.iter().map(|path| path.as_str()).collect();
    let commit = package.commit.as_ref().map(ToString::to_string).unwrap_or_default();
    for (name, what) in [
        ("attempt", package.attempt.to_string()),
        ("wrong", format!("{} {}: {}", fault.class.word(), fault.code, fault.what)),
        ("changed", changes.join(", ")),
        ("commit", commit),
        ("given", documents.join(", ")),
        ("output", package.output.clone()),
        ("checks", package.evidence.clone()),
        ("told", package.input.clone()),
    ] {
        if what.is_empty() {
            continue;
        }
        let _ = writeln!(text, "    --- {name}");
        for line in what.lines() {
            let _ = writeln!(text, "    {}", one_line(line, 400));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use types::{About, Choice, Escalation, QuestionKind};

    use super::*;

    fn asked(terms: Option<Terms>) -> QuestionView {
        QuestionView {
            id: 0,
            text: "What now?".to_owned(),
            answer: None,
            choice: None,
            by: None,
            attempt: None,
            rule: None,
            asked: Timestamp::from_millis(0),
            terms,
        }
    }

    /// A `|` in it would start another program.
    #[test]
    fn the_example_is_one_answer() {
        let choices = || vec![Choice::new("retry", "once more"), Choice::new("stop", "end it")];
        let escalation = |default| {
            let (sort, high) = (Escalation::Unknown, Severity::High);
            Terms::escalation(sort, high, About::Budget, choices(), default)
        };
        assert_eq!(example(&asked(Some(escalation("stop")))), "stop");
        assert_eq!(example(&asked(Some(escalation("Decide yourself.")))), "retry");
        let open = Terms::open(QuestionKind::Clarification, Severity::Low);
        assert_eq!(example(&asked(Some(open))), "\"…\"");
        assert_eq!(example(&asked(None)), "\"…\"");
    }
}
