//! The report of one runner, and how the parts of one check become one report with stable, unique names. Reads no text.

use std::collections::HashMap;

use types::{TestCase, TestOutcome, TestReport};

use crate::pattern::Pattern;

/// More tests than this are counted, not named.
const MOST_CASES: usize = 50_000;
const LONGEST_NAME: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) passed: u32,
    pub(super) failed: u32,
    pub(super) skipped: u32,
}

impl Counts {
    pub(super) fn total(self) -> u32 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    pub(super) fn add(&mut self, other: Counts) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }

    fn count(&mut self, outcome: TestOutcome) {
        let one = match outcome {
            TestOutcome::Passed => &mut self.passed,
            TestOutcome::Failed => &mut self.failed,
            TestOutcome::Skipped => &mut self.skipped,
        };
        *one = one.saturating_add(1);
    }
}

/// Tests by name, in the order they were reported.
#[derive(Debug, Clone, Default)]
pub(super) struct Cases {
    list: Vec<TestCase>,
    places: HashMap<String, usize>,
    unnamed: Counts,
}

impl Cases {
    /// Adds a test; a repeated name is another test.
    pub(super) fn push(&mut self, name: &str, outcome: TestOutcome) {
        if self.list.len() < MOST_CASES {
            self.list.push(TestCase { name: stable(name), outcome });
        } else {
            self.unnamed.count(outcome);
        }
    }

    /// Adds a test; a repeated name is the same test, and its worst outcome counts.
    pub(super) fn merge(&mut self, name: &str, outcome: TestOutcome) {
        if let Some(place) = self.places.get(name) {
            let case = &mut self.list[*place];
            if badness(outcome) > badness(case.outcome) {
                case.outcome = outcome;
            }
            return;
        }
        if self.list.len() < MOST_CASES {
            self.places.insert(name.to_owned(), self.list.len());
        }
        self.push(name, outcome);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn counts(&self) -> Counts {
        let mut counts = self.unnamed;
        for case in &self.list {
            counts.count(case.outcome);
        }
        counts
    }
}

fn badness(outcome: TestOutcome) -> u8 {
    match outcome {
        TestOutcome::Passed => 0,
        TestOutcome::Skipped => 1,
        TestOutcome::Failed => 2,
    }
}

/// The report of one runner in one session, or in one set of report files.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) runner: &'static str,
    pub(super) complete: bool,
    pub(super) counts: Counts,
    /// The tolerated difference from a report file in the number of tests: some runners count phases.
    pub(super) slack: u32,
    /// Whether it is complete if a report file agrees.
    pub(super) complete_with_file: bool,
    /// Whether it is incomplete only because no summary was printed.
    pub(super) quiet: bool,
    cases: Vec<TestCase>,
}

impl Part {
    /// A runner that names every test.
    pub(super) fn named(runner: &'static str, complete: bool, cases: Cases) -> Part {
        Self::counted(runner, complete, cases.counts(), cases)
    }

    /// A runner that counts. Names are used if they agree with the counts, otherwise only those of failures.
    pub(super) fn counted(
        runner: &'static str,
        complete: bool,
        counts: Counts,
        cases: Cases,
    ) -> Part {
        let named = cases.counts();
        let agree = named.passed == counts.passed && named.failed == counts.failed;
        let mut cases = cases.list;
        if !agree {
            cases.retain(|case| case.outcome == TestOutcome::Failed);
            cases.truncate(counts.failed as usize);
        }
        let (slack, complete_with_file, quiet) = (0, complete, false);
        Part { runner, complete, counts, slack, complete_with_file, quiet, cases }
    }

    /// Adds the tests of another part of the same runner.
    pub(super) fn absorb(&mut self, other: Part) {
        self.complete &= other.complete;
        self.complete_with_file &= other.complete_with_file;
        self.slack = self.slack.saturating_add(other.slack);
        self.counts.add(other.counts);
        self.cases.extend(other.cases);
    }

    pub(super) fn same_tests(&self, other: &Part) -> bool {
        self.counts == other.counts && self.cases == other.cases
    }
}

/// One report of all parts; `None` without any.
pub(super) fn combine(parts: Vec<Part>) -> Option<TestReport> {
    let cut = parts.iter().any(|part| !part.complete && !part.quiet);
    let mut report = TestReport { complete: true, ..TestReport::default() };
    let mut runners: Vec<&str> = Vec::new();
    let mut counts = Counts::default();
    for part in parts {
        if !runners.contains(&part.runner) {
            runners.push(part.runner);
        }
        report.complete &= part.complete;
        counts.add(part.counts);
        report.cases.extend(part.cases);
    }
    report.quiet = !report.complete && !cut;
    report.cases.truncate(MOST_CASES);
    number_repeated(&mut report.cases);
    (report.passed, report.failed, report.skipped) = (counts.passed, counts.failed, counts.skipped);
    report.runner = runners.join(", ");
    (!runners.is_empty()).then_some(report)
}

/// Numbers tests of the same name, by outcome first: parallel runners report them in any order.
fn number_repeated(cases: &mut [TestCase]) {
    let mut outcomes: HashMap<String, Vec<TestOutcome>> = HashMap::new();
    for case in cases.iter() {
        outcomes.entry(case.name.clone()).or_default().push(case.outcome);
    }
    outcomes.retain(|_, outcomes| outcomes.len() > 1);
    for outcomes in outcomes.values_mut() {
        outcomes.sort();
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    for case in cases.iter_mut() {
        let Some(outcomes) = outcomes.get(&case.name) else { continue };
        let nth = seen.entry(case.name.clone()).or_default();
        case.outcome = outcomes.get(*nth).copied().unwrap_or(case.outcome);
        *nth += 1;
        if *nth > 1 {
            case.name = format!("{} #{nth}", case.name);
        }
    }
}

static ADDRESS: Pattern = Pattern::new("0x[0-9a-fA-F]{6,16}");
static FOLDERS: Pattern = Pattern::new(
    r"/(?:tmp|private|var|home|srv|root|Users|work|workspace|mnt|opt|build|builds|run)/(?:[^/\s]+/)*",
);

/// A name without parts that vary between runs: addresses, folders of this machine, odd blanks.
fn stable(name: &str) -> String {
    let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut name = ADDRESS.replace_all(&words, "0x").into_owned();
    name = FOLDERS.replace_all(&name, "").into_owned();
    if name.starts_with('/') && !name.contains(' ') {
        name = name.rsplit('/').next().unwrap_or_default().to_owned();
    }
    if name.is_empty() {
        name = words;
    }
    name.truncate(name.floor_char_boundary(LONGEST_NAME));
    name
}
