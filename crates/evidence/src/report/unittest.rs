//! The text of Python's `unittest`, and of runners built on it: `Ran 8 tests in 0.002s`, then the verdict. Verbose
//! output names all tests; otherwise only failures are named.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

const RUNNER: &str = "unittest";

static RAN: Pattern = Pattern::new(r"^Ran (\d+) tests? in \d+(?:\.\d+)?s$");
static VERDICT: Pattern = Pattern::new(r"^(?:(?:OK|NO TESTS RAN)(?: \((.*)\))?|FAILED \((.*)\))$");
static DETAIL: Pattern =
    Pattern::new(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)");
static BAD: Pattern = Pattern::new(r"^(?:FAIL|ERROR): (\w+) \(([\w.<>]+)\)");
static TEST: Pattern = Pattern::new(r"^(\w+) \(([\w.<>]+)\)(?: \.\.\. ?(.*))?$");
/// Maximum number of lines between `Ran` and the verdict, with output of other streams in between.
const VERDICT_WITHIN: usize = 12;

/// Reads every session in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut session = Session::default();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end();
        let ruled = lines[..at].iter().rev().take(3).any(|line| is_dashes(line));
        if let Some(ran) = RAN.captures(line).filter(|_| ruled) {
            let following = lines[at + 1..].iter().take(VERDICT_WITHIN);
            let verdict = following
                .take_while(|line| !RAN.is_match(line))
                .find_map(|line| VERDICT.captures(line.trim_end()));
            let details = verdict.as_ref().map(|verdict| {
                verdict
                    .get(1)
                    .or(verdict.get(2))
                    .map(|details| details.as_str())
                    .unwrap_or_default()
            });
            parts.push(std::mem::take(&mut session).finish(number(&ran[1]), details));
        } else {
            session.line(line);
        }
    }
    if session.begun {
        parts.push(Part::named(RUNNER, false, session.cases));
    }
    parts
}

#[derive(Default)]
struct Session {
    begun: bool,
    /// A test without an outcome yet.
    waiting: Option<String>,
    cases: Cases,
}

impl Session {
    fn line(&mut self, line: &str) {
        if let Some(bad) = BAD.captures(line) {
            self.cases.merge(&name(&bad[1], &bad[2]), TestOutcome::Failed);
        } else if let Some(test) = TEST.captures(line) {
            let name = name(&test[1], &test[2]);
            let word = test.get(3).map(|word| word.as_str());
            self.begun |= word.is_some();
            match word.and_then(outcome) {
                Some(outcome) => self.cases.merge(&name, outcome),
                None => self.waiting = Some(name),
            }
        } else if self.waiting.is_some() {
            let word = line.rsplit_once(" ... ").map_or(line, |(_, word)| word);
            if let Some(outcome) = outcome(word)
                && let Some(name) = self.waiting.take()
            {
                self.begun = true;
                self.cases.merge(&name, outcome);
            }
        }
    }

    fn finish(self, ran: u32, details: Option<&str>) -> Part {
        let mut counts = Counts::default();
        for detail in DETAIL.captures_iter(details.unwrap_or_default()) {
            let many = number(&detail[2]);
            let one = match &detail[1] {
                "skipped" | "expected failures" => &mut counts.skipped,
                _ => &mut counts.failed,
            };
            *one = one.saturating_add(many);
        }
        counts.passed = ran.saturating_sub(counts.failed).saturating_sub(counts.skipped);
        Part::counted(RUNNER, details.is_some(), counts, self.cases)
    }
}

fn is_dashes(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 60 && line.bytes().all(|byte| byte == b'-')
}

fn outcome(word: &str) -> Option<TestOutcome> {
    match word {
        "ok" => Some(TestOutcome::Passed),
        "FAIL" | "ERROR" | "unexpected success" => Some(TestOutcome::Failed),
        "expected failure" | "skipped" => Some(TestOutcome::Skipped),
        word if word.starts_with("skipped ") => Some(TestOutcome::Skipped),
        _ => None,
    }
}

/// `module.Class.test`; since Python 3.11 the path already ends with the test.
fn name(test: &str, place: &str) -> String {
    match place.strip_suffix(test) {
        Some(before) if before.ends_with('.') => place.to_owned(),
        _ => format!("{place}.{test}"),
    }
}
