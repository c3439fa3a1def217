//! The text of jest, vitest and mocha: totals, failed tests, and all names if printed. No environment variable makes
//! them write a report file.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

static JEST_FILE: Pattern =
    Pattern::new(r"^(?:PASS|FAIL) (?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([0-9.]+ m?s\))?$");
static JEST_TOTAL: Pattern = Pattern::new(r"^Tests: +((?:\d+ [a-z]+, )*\d+ total)$");
static JEST_BAD: Pattern = Pattern::new(r"^  ● (.+)$");
static VITEST_BEGIN: Pattern = Pattern::new(r"^ ?RUN +v\d+\.\d+\.\d+");
static VITEST_TOTAL: Pattern =
    Pattern::new(r"^ +Tests +((?:\d+ [a-z ]+ \| )*\d+ [a-z ]+|no tests)(?: \(\d+\))?$");
static VITEST_TEST: Pattern = Pattern::new(r"^ ([✓×↓□]) (\S+\.[cm]?[jt]sx? > .*?)(?: \d+m?s)?$");
static VITEST_BAD: Pattern = Pattern::new(r"^ ?FAIL +(\S+\.[cm]?[jt]sx? > .*)$");
static COUNT: Pattern = Pattern::new(r"(\d+) ([a-z]+)");
static TREE: Pattern = Pattern::new(
    r"^( +)(?:([✔✓✕○✎]|\d+\)|-) (?:skipped |todo )?)?(.*?)(?: \(\d+(?:\.\d+)? ?m?s\))?$",
);
static MOCHA_TOTAL: Pattern = Pattern::new(r"^  (\d+) (passing|pending|failing)(?: \([^)]*\))?$");
fn counts(text: &str) -> Counts {
    let mut counts = Counts::default();
    for count in COUNT.captures_iter(text) {
        let one = match &count[2] {
            "passed" | "passing" => &mut counts.passed,
            "failed" | "failing" => &mut counts.failed,
            "skipped" | "todo" | "pending" | "expected" => &mut counts.skipped,
            _ => continue,
        };
        *one = one.saturating_add(number(&count[1]));
    }
    counts
}

/// Reads every run of jest.
pub(super) fn jest(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut begun = false;
    let mut tree = Tree::default();
    let mut bad = Cases::default();
    for line in lines {
        let line = line.trim_end();
        if let Some(file) = JEST_FILE.captures(line) {
            begun = true;
            tree.file(&file[1]);
        } else if let Some(total) = JEST_TOTAL.captures(line) {
            let counts = counts(&total[1]);
            let named = std::mem::take(&mut tree).cases;
            let bad = std::mem::take(&mut bad);
            let agree =
                named.counts().passed == counts.passed && named.counts().failed == counts.failed;
            parts.push(Part::counted("jest", true, counts, if agree { named } else { bad }));
            begun = false;
        } else if let Some(test) = JEST_BAD.captures(line) {
            tree.open = false;
            if begun && !test[1].starts_with("Console") {
                bad.merge(
                    &format!("{} > {}", tree.file, test[1].replace(" › ", " > ")),
                    TestOutcome::Failed,
                );
            }
        } else if line.is_empty() {
            tree.open &= tree.cases.is_empty() || !tree.begun;
        } else {
            tree.line(line);
        }
    }
    if begun {
        parts.push(Part::named("jest", false, bad));
    }
    parts
}

/// Reads every run of vitest.
pub(super) fn vitest(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut run: Option<Cases> = None;
    let mut total = None;
    for line in lines {
        let line = line.trim_end();
        if VITEST_BEGIN.is_match(line) {
            parts.extend(run.take().map(|cases| Part::named("vitest", false, cases)));
            run = Some(Cases::default());
        } else if let Some(cases) = &mut run {
            if let Some(found) = VITEST_TOTAL.captures(line) {
                total = Some(counts(&found[1]));
            } else if line.trim_start().starts_with("Duration ")
                && let Some(counts) = total.take()
            {
                let cases = std::mem::take(cases);
                parts.push(Part::counted("vitest", true, counts, cases));
                run = None;
            } else if let Some(test) = VITEST_TEST.captures(line) {
                let outcome = match &test[1] {
                    "✓" => TestOutcome::Passed,
                    "×" => TestOutcome::Failed,
                    _ => TestOutcome::Skipped,
                };
                cases.merge(&test[2], outcome);
            } else if let Some(test) = VITEST_BAD.captures(line) {
                cases.merge(&test[1], TestOutcome::Failed);
            }
        }
    }
    parts.extend(run.map(|cases| Part::named("vitest", false, cases)));
    parts
}

/// Reads every run of mocha.
pub(super) fn mocha(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut tree = Tree { open: true, ..Tree::default() };
    let mut totals: Option<Counts> = None;
    for line in lines {
        if let Some(total) = MOCHA_TOTAL.captures(line.trim_end()) {
            let held = totals.get_or_insert_default();
            held.add(counts(&format!("{} {}", &total[1], &total[2])));
        } else if let Some(counts) = totals.take() {
            // The totals end with an empty line; without it they may be truncated.
            let cases = std::mem::replace(&mut tree, Tree { open: true, ..Tree::default() }).cases;
            parts.push(Part::counted("mocha", line.is_empty(), counts, cases));
        } else {
            tree.line(line.trim_end());
        }
    }
    parts.extend(totals.map(|counts| Part::counted("mocha", false, counts, tree.cases)));
    parts
}

/// Tests below the titles of their groups, by indentation.
#[derive(Default)]
struct Tree {
    file: String,
    open: bool,
    begun: bool,
    groups: Vec<(usize, String)>,
    cases: Cases,
}

impl Tree {
    fn file(&mut self, file: &str) {
        self.groups.clear();
        file.clone_into(&mut self.file);
        (self.open, self.begun) = (true, false);
    }

    fn line(&mut self, line: &str) {
        let Some(found) = TREE.captures(line).filter(|_| self.open) else { return };
        let indent = found[1].len();
        while self.groups.last().is_some_and(|(at, _)| *at >= indent) {
            self.groups.pop();
        }
        let name = &found[3];
        let Some(mark) = found.get(2) else {
            if self.groups.len() < 64 {
                self.groups.push((indent, name.to_owned()));
            }
            return;
        };
        self.begun = true;
        let outcome = match mark.as_str() {
            "✔" | "✓" => TestOutcome::Passed,
            "-" | "○" | "✎" => TestOutcome::Skipped,
            _ => TestOutcome::Failed,
        };
        let file = Some(self.file.as_str()).filter(|file| !file.is_empty());
        let groups = self.groups.iter().map(|(_, title)| title.as_str());
        let path = file.into_iter().chain(groups).chain([name]).collect::<Vec<_>>().join(" > ");
        self.cases.push(&path, outcome);
    }
}
