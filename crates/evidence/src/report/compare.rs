//! Comparison of two reports of the same check: lost and won tests. If a report does not name its tests, only their
//! number is compared.

use std::collections::HashMap;

use types::{TestCase, TestOutcome, TestReport};

/// How a report differs from the earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Compared {
    /// Tests that passed before and are missing, skipped or failing now.
    pub lost: Vec<String>,
    /// Tests that pass now and did not before, or did not exist.
    pub won: Vec<String>,
    /// Tests that failed before and are missing or skipped now: they were not made to pass.
    pub silenced: Vec<String>,
    /// How many fewer tests were reported than before, regardless of outcome.
    pub fewer: u32,
    /// Whether the earlier report named every test and this one does not: the same runner ran differently.
    pub no_longer_named: bool,
}

/// Compares two reports of the same check. Without a report now, compare with the default one: it is empty.
pub fn compare(before: &TestReport, now: &TestReport) -> Compared {
    let (then_named, now_named) = (names_all(before), names_all(now));
    let mut won = passing_only_in(now, before, then_named);
    won.extend(won_by_count(before, now));
    Compared {
        lost: passing_only_in(before, now, now_named),
        won,
        silenced: silenced(before, now, now_named),
        fewer: total(before).saturating_sub(total(now)),
        no_longer_named: then_named && !now_named && total(before) > 0,
    }
}

/// Whether no test ran at all, so that the check proves nothing.
pub fn ran_nothing(report: &TestReport) -> bool {
    report.passed == 0 && report.failed == 0
}

fn silenced(before: &TestReport, now: &TestReport, now_named: bool) -> Vec<String> {
    let held = outcomes(now);
    // A build or import failure is reported as one test with the name of the whole.
    let has_parts = |whole: &str| {
        let inside = |name: &&str| {
            let rest = name.strip_prefix(whole).and_then(|rest| rest.chars().next());
            rest.is_some_and(|next| !next.is_alphanumeric() && next != '_')
        };
        held.keys().any(inside)
    };
    let gone = |case: &&TestCase| match held.get(case.name.as_str()) {
        Some(outcome) => *outcome == TestOutcome::Skipped,
        None => now_named && !has_parts(&case.name),
    };
    let failed = before.cases.iter().filter(|case| case.outcome == TestOutcome::Failed);
    failed.filter(gone).map(|case| case.name.clone()).collect()
}

fn outcomes(report: &TestReport) -> HashMap<&str, TestOutcome> {
    report.cases.iter().map(|case| (case.name.as_str(), case.outcome)).collect()
}

/// Tests that pass in one report and not in the other; an unnamed one is missing only if the other names all.
fn passing_only_in(one: &TestReport, other: &TestReport, other_named: bool) -> Vec<String> {
    let others = outcomes(other);
    let passes = |case: &&TestCase| case.outcome == TestOutcome::Passed;
    let missing = |case: &&TestCase| match others.get(case.name.as_str()) {
        Some(outcome) => *outcome != TestOutcome::Passed,
        None => other_named,
    };
    one.cases.iter().filter(passes).filter(missing).map(|case| case.name.clone()).collect()
}

/// Tests that failed before and do not now, if a report names only those that fail, and no test is gone by their number.
fn won_by_count(before: &TestReport, now: &TestReport) -> Vec<String> {
    let failing = |report: &TestReport| -> Vec<String> {
        let failed = report.cases.iter().filter(|case| case.outcome == TestOutcome::Failed);
        failed.map(|case| case.name.clone()).collect()
    };
    let (then, still) = (failing(before), failing(now));
    let names_failing = now.complete && still.len() == now.failed as usize;
    let all_there = total(now) >= total(before) && now.skipped <= before.skipped;
    if names_all(now) || !names_failing || !all_there || now.passed <= before.passed {
        return vec![];
    }
    then.into_iter().filter(|name| !still.contains(name)).collect()
}

/// Whether every test that ran is named.
fn names_all(report: &TestReport) -> bool {
    let named = |outcome| report.cases.iter().filter(|case| case.outcome == outcome).count();
    named(TestOutcome::Passed) == report.passed as usize
        && named(TestOutcome::Failed) == report.failed as usize
}

fn total(report: &TestReport) -> u32 {
    report.passed.saturating_add(report.failed).saturating_add(report.skipped)
}
