//! Outcomes of checks and trials as lines for people. A trial may be expected to fail; its line says whether it met the
//! expectation.

use owo_colors::OwoColorize as _;
use types::{CheckEnd, Decision, Ended, Millis, Subject, Trial};

use super::{bad_mark, good_mark};

/// Subject and outcome; `None` for a trial that could not be run.
pub(super) fn finished(on: &Subject, name: &str, end: &CheckEnd) -> Option<(String, String)> {
    if end.untried.is_some() {
        return None;
    }
    let passed = end.passed();
    let marked = |good: bool, says: String| {
        format!("{} {says}", if good { good_mark() } else { bad_mark() })
    };
    if end.ended == Ended::TimedOut {
        let says = format!("check {name} timed out after {}", end.elapsed_ms);
        return Some((on.to_string(), marked(false, says)));
    }
    Some(match on {
        Subject::Trial { attempt, trial } => {
            let (good, says) = tried(*trial, end);
            let says = marked(good, format!("{name} {says}"));
            (attempt.to_string(), says)
        }
        Subject::Without(task) => {
            let says = if passed { "passes" } else { "fails" };
            ("merged".to_owned(), marked(!passed, format!("{name} {says} without {task}")))
        }
        Subject::WithTests => {
            let says = if passed { "passes" } else { "fails" };
            let says = format!("{name} {says} with another author's tests");
            ("merged".to_owned(), marked(passed, says))
        }
        Subject::Base if end.cannot_run.is_some() => {
            ("base".to_owned(), marked(false, format!("check {name} cannot run ({})", end.says())))
        }
        Subject::Base if !passed => ("base".to_owned(), fails_already(name, end)),
        _ if end.is_excused() => {
            let says = format!("check {name} has no new failures ({})", end.says());
            (on.to_string(), marked(true, says))
        }
        _ => {
            let word = match passed {
                true => "passed".green().to_string(),
                false => "failed".red().to_string(),
            };
            (on.to_string(), marked(passed, format!("check {name} {word} ({})", end.says())))
        }
    })
}

/// Whether a trial met the expectation, and what it showed.
fn tried(trial: Trial, end: &CheckEnd) -> (bool, &'static str) {
    let noticed = end.unnoticed.is_empty();
    match (trial, end.passed()) {
        (Trial::BaseTests, true) => (true, "also passes with the original tests"),
        (Trial::BaseTests, false) => (false, "fails with the original tests"),
        (Trial::NewTests, false) if !end.is_excused() => {
            (true, "fails without the change, as expected")
        }
        (Trial::NewTests, _) => (false, "also passes without the change"),
        (Trial::Altered, false) if noticed => (true, "detects altered expectations"),
        (Trial::Altered, _) => (false, "misses altered expectations"),
        (Trial::OthersWithout, false) => {
            (true, "fails with another author's tests without the change, as expected")
        }
        (Trial::OthersWithout, true) => {
            (false, "passes with another author's tests without the change")
        }
        (Trial::Others, true) => (true, "passes with another author's tests"),
        (Trial::Others, false) => (false, "fails with another author's tests"),
        (Trial::OthersAltered, false) if noticed => {
            (true, "detects altered expectations in another author's tests")
        }
        (Trial::OthersAltered, _) => {
            (false, "misses altered expectations in another author's tests")
        }
        (Trial::Mutated, _) if noticed => (true, "notices faults in the changed lines"),
        (Trial::Mutated, _) => (false, "does not notice faults in all changed lines"),
        (Trial::Moved, _) if end.tests.as_ref().is_none_or(|tests| tests.lost.is_empty()) => {
            (true, "passes with its tests moved")
        }
        (Trial::Moved, _) => (false, "fails with its tests moved"),
    }
}

/// A check that timed out and gets more time.
pub(super) fn again(
    on: &Subject,
    name: &str,
    (limit, decision): (Millis, &Decision),
) -> (String, String) {
    let rule = &decision.rule;
    (on.to_string(), format!("check {name} runs again, for up to {limit} ({rule})"))
}

/// A check that fails on the unchanged tree, with its failing tests.
fn fails_already(name: &str, end: &CheckEnd) -> String {
    let failing = end.tests.as_ref().map(|tests| tests.failing.join(", "));
    let failing = failing.filter(|names| !names.is_empty());
    let names = failing.map(|names| format!(": {}", types::one_line(&names, 100)));
    format!("check {name} fails before any change ({}){}", end.says(), names.unwrap_or_default())
}
