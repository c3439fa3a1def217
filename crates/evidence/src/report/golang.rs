//! The output of `go test`: JSON lines, the verbose text, or the plain text with one line per package. A package
//! without test names counts as one test; one without tests counts as none.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use types::TestOutcome;

use super::part::{Cases, Part};
use crate::pattern::Pattern;

const RUNNER: &str = "go test";

static PACKAGE: Pattern =
    Pattern::new(r"^(ok  |FAIL|\?   )\t(\S+)(?:\t| )(\(cached\)|\d+\.\d+s|\[[a-z ]+\])(.*)$");
static RUN: Pattern = Pattern::new(r"=== RUN   (\S+)$");
static END: Pattern = Pattern::new(r"--- (PASS|FAIL|SKIP): (\S+) \(\d+\.\d+s\)$");

/// Reads the packages in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    parts.extend(json(lines));
    parts.extend(text(lines));
    parts
}

fn text(lines: &[&str]) -> Option<Part> {
    let mut cases = Cases::default();
    let mut block = Block::default();
    let (mut complete, mut seen) = (true, false);
    for line in lines.iter().filter(|line| !line.starts_with('{')) {
        if let Some(package) = PACKAGE.captures(line) {
            seen = true;
            let tail = format!("{}{}", &package[3], &package[4]);
            complete &=
                std::mem::take(&mut block).finish(&package[2], &package[1], &tail, &mut cases);
        } else if let Some(run) = RUN.captures(line) {
            block.begun = true;
            block.outcomes.entry(run[1].to_owned()).or_insert(None);
        } else if let Some(end) = END.captures(line) {
            block.end(&end[2], &end[1]);
        }
    }
    if block.begun || (seen && !block.outcomes.is_empty()) {
        block.finish("", "cut", "", &mut cases);
        (complete, seen) = (false, true);
    }
    seen.then(|| Part::named(RUNNER, complete, cases))
}

/// The lines of one package, which end with its own.
#[derive(Default)]
struct Block {
    /// Whether the tests announce their start, as with `-v`.
    begun: bool,
    outcomes: BTreeMap<String, Option<TestOutcome>>,
}

impl Block {
    fn end(&mut self, test: &str, word: &str) {
        let outcome = outcome(word);
        match self.outcomes.get_mut(test) {
            Some(Some(TestOutcome::Failed)) => {}
            Some(held) => *held = Some(outcome),
            // A verbose runner announces every test: an end without a start was printed by a test.
            None if self.begun => {}
            None => {
                self.outcomes.insert(test.to_owned(), Some(outcome));
            }
        }
    }

    /// Adds the tests of the package; returns whether each of them ended.
    fn finish(self, package: &str, verdict: &str, tail: &str, cases: &mut Cases) -> bool {
        let mut complete = true;
        let mut failed = false;
        for (test, outcome) in &self.outcomes {
            failed |= *outcome == Some(TestOutcome::Failed);
            complete &= outcome.is_some();
            cases.merge(&format!("{package}.{test}"), outcome.unwrap_or(TestOutcome::Failed));
        }
        let nothing = tail.contains("[no test");
        match verdict {
            "FAIL" if !failed => cases.merge(package, TestOutcome::Failed),
            "ok  " if self.outcomes.is_empty() && !nothing => {
                cases.merge(package, TestOutcome::Passed);
            }
            _ => {}
        }
        complete
    }
}

fn outcome(word: &str) -> TestOutcome {
    match word {
        "PASS" | "pass" => TestOutcome::Passed,
        "SKIP" | "skip" => TestOutcome::Skipped,
        _ => TestOutcome::Failed,
    }
}

fn json(lines: &[&str]) -> Option<Part> {
    let mut tests: BTreeMap<(String, String), Option<TestOutcome>> = BTreeMap::new();
    let mut packages: HashMap<String, Option<TestOutcome>> = HashMap::new();
    for line in lines.iter().filter(|line| line.starts_with("{\"") && line.contains("\"Action\":"))
    {
        let Ok(event) = serde_json::from_str::<Value>(line) else {
            // A truncated line belongs to a truncated run.
            packages.insert(String::new(), None);
            continue;
        };
        let get = |key: &str| event[key].as_str().unwrap_or_default();
        let (package, test, action) = (get("Package"), get("Test"), get("Action"));
        // Before go 1.20 the end of a test that printed an unfinished line is only in the output.
        let ended = match END.captures(get("Output").trim_end()) {
            Some(end) if &end[2] == test => Some(outcome(&end[1])),
            _ => matches!(action, "pass" | "fail" | "skip").then(|| outcome(action)),
        };
        if package.is_empty() {
            continue;
        }
        let held = match test {
            "" => packages.entry(package.to_owned()).or_insert(None),
            _ => {
                packages.entry(package.to_owned()).or_insert(None);
                tests.entry((package.to_owned(), test.to_owned())).or_insert(None)
            }
        };
        if ended.is_some() && *held != Some(TestOutcome::Failed) {
            *held = ended;
        }
    }
    if packages.is_empty() {
        return None;
    }
    let complete = packages.values().chain(tests.values()).all(Option::is_some);
    let mut cases = Cases::default();
    let mut failed_in = Vec::new();
    for ((package, test), outcome) in &tests {
        let outcome = outcome.unwrap_or(TestOutcome::Failed);
        if outcome == TestOutcome::Failed && failed_in.last() != Some(package) {
            failed_in.push(package.clone());
        }
        cases.merge(&format!("{package}.{test}"), outcome);
    }
    let mut failed: Vec<_> =
        packages.iter().filter(|(_, end)| **end == Some(TestOutcome::Failed)).collect();
    failed.sort();
    for (package, _) in failed {
        if failed_in.binary_search(package).is_err() {
            cases.merge(package, TestOutcome::Failed);
        }
    }
    Some(Part::named(RUNNER, complete, cases))
}
