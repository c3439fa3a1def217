//! Gates in full: the score with its evidence, the tests before and after, the findings in the changes, and the level
//! of proof for each task. Shows the record as of the gate's decision, not later events.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use types::{
    AttemptId, Decision, Envelope, Event, Findings, Level, Measure, Phase, Scorecard, Subject,
    TaskId, Tests, Timestamp, Verdict, WorkPath, one_line,
};

use super::checks::TestCounts;
use super::source::Recorded;

/// Maximum number of test names, and of findings, listed.
const MOST: usize = 200;

/// The verdict of one gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GateDetail {
    /// The line of the run's log, for `why`.
    pub place: String,
    pub at: Timestamp,
    pub phase: Phase,
    pub go: bool,
    pub decision: Decision,
    /// A person's answer opened it again.
    pub reopened: bool,
    /// Not there where nothing had to be shown.
    pub verdict: Option<Verdict>,
    /// Of 100, and the lowest that is a go.
    pub score: Option<u32>,
    pub threshold: Option<u32>,
    pub evidence: Vec<EvidenceItem>,
    pub measures: Vec<MeasureItem>,
    /// Each reason for a no-go, and what would make it a go.
    pub issues: Vec<String>,
    pub actions: Vec<String>,
    /// The tests on the untouched tree, and on the newest tree that was checked as a whole.
    pub tests_before: Option<TestCounts>,
    pub tests_after: Option<TestCounts>,
    /// What was found in the changes of the attempts whose results count.
    pub findings: Vec<FindingItem>,
    /// How far each task's result is proven.
    pub proven: Vec<ProvenItem>,
}

/// A required piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceItem {
    /// Such as `merged_checks_passed`.
    pub name: String,
    pub met: bool,
    /// Why it is missing.
    pub what: Option<String>,
}

/// A measure in the score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MeasureItem {
    pub name: Measure,
    /// Of 100.
    pub value: u32,
    pub weight: u32,
    /// The counts behind it.
    pub seen: String,
}

/// Something in a change that a person should know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingItem {
    pub attempt: Option<AttemptId>,
    /// Such as `test_deleted`.
    pub kind: String,
    pub path: WorkPath,
    /// The line that shows it; empty, if there is none.
    pub line: String,
    /// The finding as the rest of a sentence, which ends with the path.
    pub says: String,
}

/// How far a task's result is proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProvenItem {
    pub task: TaskId,
    pub level: Level,
    /// What was observed, a sentence each.
    pub how: Vec<String>,
}

impl FindingItem {
    /// The findings of an attempt, up to the limit.
    pub(super) fn of(findings: &Findings, attempt: Option<&AttemptId>) -> Vec<Self> {
        let item = |one: &types::Finding| Self {
            attempt: attempt.cloned(),
            kind: written(&one.kind),
            path: one.path.clone(),
            line: one_line(&one.line, 300),
            says: one.kind.says().to_owned(),
        };
        findings.0.iter().take(MOST).map(item).collect()
    }
}

/// The serialized name of a value.
fn written(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Facts on record so far, accumulated while reading the lines.
#[derive(Default)]
struct Known {
    before: BTreeMap<u32, TestCounts>,
    /// By check, on the newest tree; a newer tree replaces an older one.
    after: BTreeMap<u32, TestCounts>,
    on: Option<Subject>,
    /// From the last attempt at each task.
    findings: BTreeMap<TaskId, Vec<FindingItem>>,
    proven: BTreeMap<TaskId, ProvenItem>,
}

/// Every verdict of a gate, in the order of the log.
#[must_use]
pub fn gates(recorded: &Recorded) -> Vec<GateDetail> {
    let reopened = recorded.run.view(recorded.now).gates;
    let mut reopened = reopened.iter().map(|gate| gate.reopened);
    let mut known = Known::default();
    let mut found = Vec::new();
    for line in &recorded.lines {
        let (phase, decision, card, go) = match &line.event {
            Event::GatePassed { phase, decision, card } => (*phase, decision, card, true),
            Event::GateBlocked { phase, decision, card } => (*phase, decision, card, false),
            _ => {
                known.take(line);
                continue;
            }
        };
        let card = card.as_deref();
        found.push(GateDetail {
            place: line.seq.to_string(),
            at: line.at,
            phase,
            go,
            decision: decision.clone(),
            reopened: reopened.next().unwrap_or(false),
            verdict: card.map(|card| card.verdict),
            score: card.map(|card| card.score),
            threshold: card.map(|card| card.threshold),
            evidence: card.map(evidence).unwrap_or_default(),
            measures: card.map(measures).unwrap_or_default(),
            issues: card.map(|card| card.issues.clone()).unwrap_or_default(),
            actions: card.map(|card| card.actions.clone()).unwrap_or_default(),
            tests_before: sum(&known.before),
            tests_after: sum(&known.after),
            findings: known.findings.values().flatten().take(MOST).cloned().collect(),
            proven: known.proven.values().cloned().collect(),
        });
    }
    found
}

fn evidence(card: &Scorecard) -> Vec<EvidenceItem> {
    let item = |one: &types::Deliverable| EvidenceItem {
        name: written(&one.evidence),
        met: one.missing.is_none(),
        what: one.missing.clone(),
    };
    card.deliverables.iter().map(item).collect()
}

fn measures(card: &Scorecard) -> Vec<MeasureItem> {
    let item = |one: &types::Criterion| MeasureItem {
        name: one.measure,
        value: one.value,
        weight: one.weight,
        seen: one.seen.clone(),
    };
    card.criteria.iter().map(item).collect()
}

impl Known {
    fn take(&mut self, line: &Envelope) {
        match &line.event {
            Event::CheckFinished { check, end } => {
                if let Some(tests) = &end.tests {
                    self.tests(&check.on, check.index, tests);
                }
            }
            Event::AttemptSealed { findings, .. } => {
                if let Some(attempt) = &line.attempt {
                    let items = FindingItem::of(findings, Some(attempt));
                    self.findings.insert(attempt.task.clone(), items);
                }
            }
            Event::TaskVerified { attempt, evidence: Some(weighed), .. } => {
                let proven = ProvenItem {
                    task: attempt.task.clone(),
                    level: weighed.level,
                    how: weighed.because.clone(),
                };
                self.proven.insert(attempt.task.clone(), proven);
            }
            _ => {}
        }
    }

    fn tests(&mut self, on: &Subject, index: u32, tests: &Tests) {
        match on {
            Subject::Base => {
                self.before.insert(index, tests.into());
            }
            Subject::Landed(_) | Subject::Merged => {
                if self.on.as_ref() != Some(on) {
                    self.after.clear();
                    self.on = Some(on.clone());
                }
                self.after.insert(index, tests.into());
            }
            Subject::Attempt(_)
            | Subject::Trial { .. }
            | Subject::Without(_)
            | Subject::WithTests => {}
        }
    }
}

/// Sums the reports of several checks.
fn sum(reports: &BTreeMap<u32, TestCounts>) -> Option<TestCounts> {
    let mut all = reports.values();
    let mut sum = all.next()?.clone();
    for one in all {
        if !sum.runner.split(", ").any(|runner| runner == one.runner) {
            sum.runner = format!("{}, {}", sum.runner, one.runner);
        }
        sum.complete &= one.complete;
        sum.passed = sum.passed.saturating_add(one.passed);
        sum.failed = sum.failed.saturating_add(one.failed);
        sum.skipped = sum.skipped.saturating_add(one.skipped);
        sum.mended = sum.mended.saturating_add(one.mended);
        for (names, more) in [
            (&mut sum.failing, &one.failing),
            (&mut sum.lost, &one.lost),
            (&mut sum.won, &one.won),
            (&mut sum.excused, &one.excused),
        ] {
            names.extend(more.iter().cloned());
            names.truncate(MOST);
        }
        // The reports are in different blobs.
        sum.report = None;
    }
    Some(sum)
}

#[cfg(test)]
mod tests;
