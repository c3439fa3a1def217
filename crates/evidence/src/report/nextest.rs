//! The text of `cargo nextest run`: a line per test, with its binary, and the summary. Skipped tests are counted, not
//! named.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

const RUNNER: &str = "cargo nextest";

static STARTING: Pattern = Pattern::new(r"^ +Starting (\d+) tests? across \d+ binar");
static TEST: Pattern = Pattern::new(
    r"^ +(?:(?:TRY|FLAKY) \d+(?:/\d+)? )?([A-Z]+(?: \+ [A-Z]+)?) +\[ *[>0-9.]+s\] (?:\( *\d+/\d+\) )?(\S+) +(\S.*)$",
);
static SUMMARY: Pattern =
    Pattern::new(r"^ +Summary \[ *[0-9.]+s\] +(\d+)(/\d+)? tests? run: (.*)$");
static COUNT: Pattern = Pattern::new(r"(\d+) (passed|failed|exec failed|timed out|skipped)");

/// Reads every run in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open: Option<(u32, Cases)> = None;
    for line in lines {
        let line = line.trim_end();
        if let Some(starting) = STARTING.captures(line) {
            parts.extend(open.take().map(|(_, cases)| Part::named(RUNNER, false, cases)));
            open = Some((number(&starting[1]), Cases::default()));
        } else if let Some(summary) = SUMMARY.captures(line) {
            let (started, cases) = open.take().unwrap_or_default();
            let (ran, counts) = (number(&summary[1]), counts(&summary[3]));
            let adds_up = started == ran && counts.passed.saturating_add(counts.failed) == ran;
            let complete = summary.get(2).is_none() && adds_up;
            parts.push(Part::counted(RUNNER, complete, counts, cases));
        } else if let Some((_, cases)) = &mut open
            && let Some(test) = TEST.captures(line)
        {
            let outcome = match &test[1] {
                "PASS" | "LEAK" => TestOutcome::Passed,
                "SLOW" | "START" | "TERMINATING" | "TRY" => continue,
                "SKIP" => TestOutcome::Skipped,
                _ => TestOutcome::Failed,
            };
            cases.merge(&format!("{} {}", &test[2], &test[3]), outcome);
        }
    }
    parts.extend(open.map(|(_, cases)| Part::named(RUNNER, false, cases)));
    parts
}

fn counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for count in COUNT.captures_iter(text) {
        let one = match &count[2] {
            "passed" => &mut counts.passed,
            "skipped" => &mut counts.skipped,
            _ => &mut counts.failed,
        };
        *one = one.saturating_add(number(&count[1]));
    }
    counts
}
