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
            let says = match (trial, passed) {
                (Trial::BaseTests, true) => {
                    marked(true, format!("{name} also passes with the original tests"))
                }
                (Trial::BaseTests, false) => {
                    marked(false, format!("{name} fails with the original tests"))
                }
                (Trial::NewTests, false) if !end.is_excused() => {
                    marked(true, format!("{name} fails without the change, as expected"))
                }
                (Trial::NewTests, _) => {
                    marked(false, format!("{name} also passes without the change"))
                }
                (Trial::Altered, false) if end.unnoticed.is_empty() => {
                    marked(true, format!("{name} detects altered expectations"))
                }
                (Trial::Altered, _) => marked(false, format!("{name} misses altered expectations")),
                (Trial::Mutated, _) if end.unnoticed.is_empty() => {
                    marked(true, format!("{name} fails when the changed lines are faulty"))
                }
                (Trial::Mutated, _) => {
                    marked(false, format!("{name} does not notice faults in all changed lines"))
                }
            };
            (attempt.to_string(), says)
        }
        Subject::Without(task) => {
            let says = if passed { "passes" } else { "fails" };
            ("merged".to_owned(), marked(!passed, format!("{name} {says} without {task}")))
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
