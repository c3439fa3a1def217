//! The text of pytest: one session after another, each with its summary line, and the named tests. Used if pytest wrote
//! no XML, and as proof that a session ended if it did.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

const RUNNER: &str = "pytest";

static SUMMARY: Pattern = Pattern::new(concat!(
    r"^(?:=+ )?(no tests ran|(?:\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|",
    r"rerun|retried|subtests (?:passed|failed|skipped|xfailed))(?:, )?)+)(?:no tests ran)? in \d+(?:\.\d+)?(?:s| seconds)",
    r"(?: \([0-9a-z:, ]+\))?(?: =+)?$"
));
static COUNT: Pattern = Pattern::new(r"(\d+) (subtests )?([a-z]+)");
static PROGRESS: Pattern = Pattern::new(r"^(?:\S+\.py )?([.FEsxXRur,]+) +\[ *(\d+)%\]$");
static VERBOSE: Pattern = Pattern::new(
    r"^(\S+\.py::.*?) (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR)(?: \(.*\))?(?: +\[ *\d+%\])?$",
);
static WORKER: Pattern = Pattern::new(
    r"^\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|SKIPPED|XFAIL|XPASS|ERROR) (\S+\.py::.*?) *$",
);
static SHORT: Pattern =
    Pattern::new(r"^(PASSED|FAILED|XFAIL|XPASS|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$");
static DETAILS: Pattern = Pattern::new(r"^=+ (?:FAILURES|ERRORS|PASSES|XPASSES) =+$");

/// Reads every session in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut session = Session::default();
    for line in lines {
        let line = line.trim_end();
        if is_rule(line, "test session starts") {
            parts.extend(std::mem::take(&mut session).finish());
            session.begun = true;
        } else if let Some(summary) = SUMMARY.captures(line) {
            let summary = Some(summary[1].to_owned());
            if session.in_details {
                session.detailed = summary;
            } else {
                session.summary = summary;
                parts.extend(std::mem::take(&mut session).finish());
            }
        } else {
            session.line(line);
        }
    }
    parts.extend(session.finish());
    parts
}

#[derive(Default)]
struct Session {
    begun: bool,
    /// Inside captured output of tests, where another session may be quoted.
    in_details: bool,
    detailed: Option<String>,
    summary: Option<String>,
    subtests: u32,
    dots: Dots,
    cases: Cases,
}

/// The letters of the progress lines.
#[derive(Default)]
struct Dots {
    counts: Counts,
    at_end: bool,
}

impl Session {
    fn line(&mut self, line: &str) {
        if DETAILS.is_match(line) {
            self.in_details = true;
        } else if is_rule(line, "short test summary info") {
            self.in_details = false;
        } else if self.in_details {
        } else if let Some(progress) = PROGRESS.captures(line) {
            self.begun = true;
            self.dots.read(&progress[1]);
            self.dots.at_end = &progress[2] == "100";
        } else if let Some(case) = VERBOSE.captures(line) {
            self.begun = true;
            self.cases.merge(&name(&case[1]), outcome(&case[2]));
        } else if let Some(case) = WORKER.captures(line).or_else(|| SHORT.captures(line)) {
            self.cases.merge(&name(&case[2]), outcome(&case[1]));
        } else if line.starts_with("SUBFAIL") {
            self.subtests = self.subtests.saturating_add(1);
        }
    }

    fn finish(self) -> Option<Part> {
        let Some(summary) = self.summary.or(self.detailed) else {
            if !self.begun {
                return None;
            }
            // `pytest -qq` ends with its progress: only a report file confirms that this was all.
            let mut part = match self.dots.at_end {
                true => Part::counted(RUNNER, false, self.dots.counts, self.cases),
                false => Part::named(RUNNER, false, self.cases),
            };
            part.complete_with_file = self.dots.at_end;
            part.quiet = self.dots.at_end;
            return Some(part);
        };
        let mut counts = Counts::default();
        let mut slack = self.subtests;
        for count in COUNT.captures_iter(&summary) {
            let many = number(&count[1]);
            let one = match &count[3] {
                _ if count.get(2).is_some() => &mut slack,
                "passed" | "xpassed" => &mut counts.passed,
                "failed" => &mut counts.failed,
                "error" | "errors" => {
                    slack = slack.saturating_add(many);
                    &mut counts.failed
                }
                "skipped" | "xfailed" => &mut counts.skipped,
                _ => continue,
            };
            *one = one.saturating_add(many);
        }
        let mut part = Part::counted(RUNNER, true, counts, self.cases);
        part.slack = slack;
        Some(part)
    }
}

impl Dots {
    fn read(&mut self, letters: &str) {
        for letter in letters.chars() {
            let one = match letter {
                '.' | 'X' => &mut self.counts.passed,
                'F' | 'E' => &mut self.counts.failed,
                's' | 'x' => &mut self.counts.skipped,
                _ => continue,
            };
            *one = one.saturating_add(1);
        }
    }
}

fn is_rule(line: &str, title: &str) -> bool {
    line.starts_with("==") && line.trim_matches('=').trim() == title
}

fn outcome(word: &str) -> TestOutcome {
    match word {
        "PASSED" | "XPASS" => TestOutcome::Passed,
        "SKIPPED" | "XFAIL" => TestOutcome::Skipped,
        _ => TestOutcome::Failed,
    }
}

/// `tests/test_a.py::C::test_b[1]` as the XML has it: `tests.test_a.C::test_b[1]`.
fn name(node: &str) -> String {
    let (path, parameters) = node.split_at(node.find('[').unwrap_or(node.len()));
    let mut parts = path.split("::");
    let module = parts.next().unwrap_or_default();
    let mut names = vec![module.strip_suffix(".py").unwrap_or(module).replace('/', ".")];
    names.extend(parts.map(str::to_owned));
    let test = if names.len() > 1 { names.pop() } else { None };
    format!("{}::{}{parameters}", names.join("."), test.unwrap_or_default())
}
