//! A question on a terminal: its text, the possible answers, and the default without an answer.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use types::{About, Choice, Package, QuestionView, RunId, Severity, Terms, Timestamp, one_line};

use super::age;

/// A question with its head line, its choices and, with `whole`, its complete package.
pub(crate) fn shown(run: &RunId, asked: &QuestionView, now: Timestamp, whole: bool) -> String {
    let mut text = format!("{run} #{}", asked.id);
    if let Some(terms) = &asked.terms {
        let kind = terms.escalation.map_or_else(|| terms.kind.as_str(), |sort| sort.as_str());
        let kind = kind.replace('_', " ");
        let _ = write!(text, "  {kind}, {}", severity(terms.severity));
    }
    let _ = writeln!(text, ", asked {} ago", age(now.since(asked.asked)));
    for line in asked.text.lines().take(20) {
        let _ = writeln!(text, "  {}", one_line(line, 400).yellow());
    }
    if let Some(terms) = &asked.terms {
        match &terms.package {
            Some(package) if !whole => text.push_str(&evidence(package, "    ")),
            _ => {}
        }
        text.push_str(&choices(terms, example(asked), now));
        if let Some(package) = terms.package.as_ref().filter(|_| whole) {
            text.push_str(&contents(package));
        }
    }
    text
}

/// Maximum lines of evidence shown with a question.
const MOST_EVIDENCE: usize = 8;

/// Evidence of a fault: the output of the failed checks, or else the evidence of the fault itself.
pub(crate) fn evidence(package: &Package, indent: &str) -> String {
    let lines = runtime::evidence_lines(package, MOST_EVIDENCE);
    let shown = lines.iter().map(|line| format!("{indent}│ {}\n", one_line(line, 200)));
    shown.collect()
}

/// The answers to choose from, the suggested one marked.
fn choices(terms: &Terms, suggested: &str, now: Timestamp) -> String {
    let mut text = String::new();
    for (choice, number) in terms.choices.iter().zip(1..) {
        let name = terms.written(choice);
        let note = if is_suggested(choice, suggested) { " (suggested)" } else { "" };
        let _ = writeln!(text, "    {number} {name:<15} {}{note}", choice.says);
    }
    if let Some(expires) = terms.expires {
        let what = terms.default.as_deref().unwrap_or("stop");
        let left = expires.since(now);
        let _ = writeln!(text, "    without an answer: {} in {left}", one_line(what, 60));
    }
    text
}

/// Whether the suggested answer is this choice.
pub(crate) fn is_suggested(choice: &Choice, suggested: &str) -> bool {
    suggested.split_whitespace().next().is_some_and(|first| first == choice.id)
}

/// An example answer that can be pasted into a shell. Before any work, one that lets it begin; otherwise the default,
/// unless that ends the run: then another try, or else the first choice.
pub(crate) fn example(asked: &QuestionView) -> &str {
    let Some(terms) = &asked.terms else { return WORDS };
    match terms.about {
        Some(About::Baseline(None)) => return "check 'make test'",
        Some(About::Baseline(Some(_))) => return "again",
        _ => {}
    }
    let offered = |id: &str| terms.choices.iter().find(|choice| choice.id == id);
    let default = terms.default.as_deref().filter(|id| *id != "stop").and_then(offered);
    let tries = || ["retry", "again"].into_iter().find_map(offered);
    default.or_else(tries).or(terms.choices.first()).map_or(WORDS, |choice| &choice.id)
}

/// Placeholder for a free-text answer.
const WORDS: &str = "\"…\"";

fn severity(severity: Severity) -> String {
    match severity {
        Severity::Critical | Severity::High => severity.as_str().red().to_string(),
        Severity::Medium | Severity::Low => severity.as_str().to_owned(),
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
        ("fault", format!("{} {}: {}", fault.class.as_str(), fault.code, fault.what)),
        ("evidence", fault.evidence.clone()),
        ("changed", changes.join(", ")),
        ("commit", commit),
        ("documents", documents.join(", ")),
        ("output", package.output.clone()),
        ("checks", package.evidence.clone()),
        ("input", package.input.clone()),
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
    use types::{Escalation, QuestionKind};

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

    #[test]
    fn a_question_after_a_failed_check_shows_what_the_check_said_last() {
        let fault =
            types::Fault::new(types::FaultClass::CheckFailed, "verify.check", "test failed");
        let said: Vec<String> = (0..20).map(|n| format!("line {n}")).collect();
        let package = Package {
            attempt: "T1.1".parse().expect("an attempt"),
            input: String::new(),
            documents: vec![],
            output: String::new(),
            commit: None,
            changes: types::Changes::default(),
            fault: fault.with_evidence("of the fault"),
            evidence: said.join("\n"),
        };
        let (sort, high) = (Escalation::QualityFailure, Severity::High);
        let terms = Terms {
            package: Some(Box::new(package.clone())),
            ..Terms::escalation(sort, high, About::Budget, vec![], "stop")
        };
        let run = "r_01".parse().expect("a run");
        let text = shown(&run, &asked(Some(terms)), Timestamp::from_millis(0), false);
        assert!(text.contains("│ line 19\n") && text.contains("│ line 12\n"), "{text}");
        assert!(!text.contains("line 11\n") && !text.contains("of the fault"), "{text}");
        let alone = Package { evidence: String::new(), ..package };
        assert_eq!(evidence(&alone, ""), "│ of the fault\n");
    }

    /// One word for one answer: what holds after expiry is named only where it can happen.
    #[test]
    fn the_suggested_answer_is_marked_as_in_the_live_view() {
        let choices = vec![Choice::new("raise", "go on"), Choice::new("stop", "end it")];
        let (sort, high) = (Escalation::ResourceExhaustion, Severity::High);
        let terms = Terms::escalation(sort, high, About::Budget, choices, "stop");
        let run = "r_01".parse().expect("a run");
        let text = shown(&run, &asked(Some(terms)), Timestamp::from_millis(0), false);
        assert!(text.contains("go on (suggested)\n") && text.ends_with("end it\n"), "{text}");
    }

    /// A `|` in the example would start another program.
    #[test]
    fn the_example_is_one_answer() {
        let choices = || vec![Choice::new("retry", "once more"), Choice::new("stop", "end it")];
        let escalation = |default| {
            let (sort, high) = (Escalation::Unknown, Severity::High);
            Terms::escalation(sort, high, About::Budget, choices(), default)
        };
        assert_eq!(example(&asked(Some(escalation("stop")))), "retry");
        assert_eq!(example(&asked(Some(escalation("Decide yourself.")))), "retry");
        let open = Terms::open(QuestionKind::Clarification, Severity::Low);
        assert_eq!(example(&asked(Some(open))), "\"…\"");
        assert_eq!(example(&asked(None)), "\"…\"");
    }
}
