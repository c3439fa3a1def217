//! The verdict contract of a reviewer: a result with evidence for every requirement and constraint of the spec. Reads
//! the shape only; the outcome is computed where results are reviewed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::Contracts;

use super::object::Object;
use super::reply::{Taken, echo, text_fits};

/// A reviewer's verdict.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    #[serde(alias = "taskId")]
    pub task_id: String,
    #[serde(alias = "specId")]
    pub spec_id: String,
    pub verdict: Passing,
    #[serde(alias = "requirementResults")]
    pub requirement_results: Vec<RequirementResult>,
    #[serde(default, alias = "constraintResults")]
    pub constraint_results: Vec<ConstraintResult>,
    #[serde(default, alias = "scopeViolations")]
    pub scope_violations: Vec<Value>,
    #[serde(default)]
    pub summary: Option<Value>,
}

/// Whether something passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    Pass,
    Fail,
}

/// The result for one requirement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequirementResult {
    #[serde(alias = "requirementId")]
    pub requirement_id: String,
    pub status: Passing,
    pub evidence: String,
    #[serde(default, alias = "verificationMethod")]
    pub verification_method: String,
}

/// The result for one constraint.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstraintResult {
    #[serde(alias = "constraintId")]
    pub constraint_id: String,
    pub status: Passing,
    pub evidence: String,
}

pub(super) fn take(
    object: &Object<'_>,
    input: &Value,
    policy: &Contracts,
) -> Result<Taken, String> {
    let verdict: Verdict = object.read()?;
    let spec = &input["intent_spec"];
    echo("task_id", &verdict.task_id, input)?;
    echo("spec_id", &verdict.spec_id, spec)?;
    let results = &verdict.requirement_results;
    all_of("requirement", spec, results.iter().map(|one| one.requirement_id.as_str()))?;
    let results = &verdict.constraint_results;
    all_of("constraint", spec, results.iter().map(|one| one.constraint_id.as_str()))?;
    let evidence = verdict.requirement_results.iter().map(|one| &one.evidence);
    for evidence in evidence.chain(verdict.constraint_results.iter().map(|one| &one.evidence)) {
        text_fits("evidence", evidence, policy)?;
    }
    // Plain data always serializes.
    Ok(Taken::of(serde_json::to_value(&verdict).unwrap_or_default()))
}

/// Checks that each requirement or constraint of the spec has exactly one result.
fn all_of<'a>(
    what: &str,
    spec: &Value,
    judged: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let wanted = spec[format!("{what}s")].as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted: BTreeSet<&str> = wanted.iter().filter_map(|one| one["id"].as_str()).collect();
    let mut seen = BTreeSet::new();
    for id in judged {
        if !wanted.contains(id) || !seen.insert(id) {
            let id = super::reply::short(id);
            return Err(format!("{what} {id:?} is not in the spec, or has two results"));
        }
    }
    match wanted.difference(&seen).next() {
        Some(missing) => Err(format!("{what} {missing} has no result")),
        None => Ok(()),
    }
}
