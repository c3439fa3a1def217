//! The text of node's own test runner in its `spec` form: ✔ ✖ ﹣ with durations, groups after ▶, then the totals. Its
//! other form is TAP and read there.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

const RUNNER: &str = "node";

static TEST: Pattern =
    Pattern::new(r"^((?:  )*)([✔✖﹣▶]) (.*?)(?: (\(\d+(?:\.\d+)?m?s\))(?: # ?(.*))?)?$");
static TOTAL: Pattern = Pattern::new(
    r"^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) (\d+)(?:\.\d+)?$",
);

/// Reads every run in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut run = Run::default();
    for line in lines {
        let line = line.trim_end();
        if let Some(total) = TOTAL.captures(line) {
            if run.total(&total[1], number(&total[2])) {
                parts.extend(std::mem::take(&mut run).finish(true));
                run.in_details = true;
            }
        } else if line == "✖ failing tests:" {
            run.in_details = true;
        } else if let Some(test) = TEST.captures(line) {
            let part = |at| test.get(at).map_or("", |part: regex::Match<'_>| part.as_str());
            // Others print such marks too, but no fractions of milliseconds after them.
            run.begun |= !run.in_details && part(4).contains('.') && part(4).ends_with("ms)");
            run.test(part(1).len() / 2, part(2), part(3), part(5));
        }
    }
    parts.extend(run.finish(false));
    parts
}

#[derive(Default)]
struct Run {
    begun: bool,
    /// After the totals, where failures are repeated.
    in_details: bool,
    groups: Vec<(String, bool)>,
    closed: u32,
    tests: u32,
    counts: Counts,
    cases: Cases,
}

impl Run {
    /// Takes a total; returns whether it was the last.
    fn total(&mut self, word: &str, many: u32) -> bool {
        let one = match word {
            "tests" => &mut self.tests,
            "pass" => &mut self.counts.passed,
            "fail" | "cancelled" => &mut self.counts.failed,
            "skipped" | "todo" => &mut self.counts.skipped,
            "duration_ms" => return true,
            _ => return false,
        };
        *one = one.saturating_add(many);
        self.begun = true;
        false
    }

    fn test(&mut self, depth: usize, mark: &str, name: &str, note: &str) {
        if self.in_details && mark == "✖" {
            return;
        }
        self.in_details = false;
        let closes = self.groups.get(depth).is_some_and(|(group, _)| group == name);
        if mark == "▶" && !closes {
            self.groups.truncate(depth);
            if self.groups.len() == depth {
                self.groups.push((name.to_owned(), false));
            }
            return;
        }
        let failed_inside = closes && self.groups.get(depth).is_some_and(|(_, failed)| *failed);
        self.groups.truncate(depth);
        let outcome = match mark {
            _ if note.starts_with("TODO") => TestOutcome::Skipped,
            "﹣" => TestOutcome::Skipped,
            _ if note.starts_with("SKIP") => TestOutcome::Skipped,
            "✖" => TestOutcome::Failed,
            _ => TestOutcome::Passed,
        };
        if outcome == TestOutcome::Failed {
            self.groups.iter_mut().for_each(|(_, failed)| *failed = true);
        }
        if closes {
            self.closed = self.closed.saturating_add(1);
            if outcome != TestOutcome::Failed || failed_inside {
                return;
            }
        }
        let groups = self.groups.iter().map(|(group, _)| group.as_str());
        let path = groups.chain([name]).collect::<Vec<_>>().join(" > ");
        self.cases.push(&path, outcome);
    }

    fn finish(self, ended: bool) -> Option<Part> {
        if !self.begun {
            return None;
        }
        let named = self.cases.counts().total();
        // Groups are tests or suites, which the text does not distinguish.
        let agree = named <= self.tests && self.tests <= named.saturating_add(self.closed);
        Some(match ended && !agree {
            true => Part::counted(RUNNER, true, self.counts, self.cases),
            false => Part::named(RUNNER, ended, self.cases),
        })
    }
}
