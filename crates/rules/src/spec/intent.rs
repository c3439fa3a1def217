//! The Intent Spec as a version of the living spec: validation and conversion. It is stricter: no requirement without a
//! way to verify it, no assumption without a source, never an empty out of scope.

use std::collections::BTreeSet;

use serde_json::Value;
use types::{
    Constraint, INTENT_FORMAT, IntentRequirement, IntentSpec, Priority, Problem, Requirement, Spec,
    SpecMeta, SpecStatus, Timestamp, Uuid, Verification,
};

/// The source of an assumption that is not a document.
const OPERATOR: &str = "operator_input";

/// Reads a product agent's submission. `given` are the documents that it may refer to.
pub(crate) fn read(value: &Value, given: &[String]) -> Result<IntentSpec, Vec<Problem>> {
    let value = INTENT_FORMAT.read(value)?;
    let spec: IntentSpec = serde_json::from_value(value)
        .map_err(|error| vec![Problem::new("", "invalid", error.to_string())])?;
    let problems = problems(&spec, given);
    if problems.is_empty() { Ok(spec) } else { Err(problems) }
}

/// The JSON Schema of a product agent's submission.
#[must_use]
pub fn schema() -> Value {
    INTENT_FORMAT.schema()
}

fn problems(spec: &IntentSpec, given: &[String]) -> Vec<Problem> {
    let mut found = Vec::new();
    let requirements: Vec<&str> = spec.requirements.iter().map(|one| one.id.as_str()).collect();
    let constraints: Vec<&str> = spec.constraints.iter().map(|one| one.id.as_str()).collect();
    let assumptions: Vec<&str> = spec.assumptions.iter().map(|one| one.id.as_str()).collect();
    found.extend(super::repeated("requirements", &requirements));
    found.extend(super::repeated("constraints", &constraints));
    found.extend(super::repeated("assumptions", &assumptions));
    if spec.objective.trim().lines().count() > 1 {
        found.push(Problem::new("objective", "one_sentence", "must be one sentence, on one line"));
    }
    let given: BTreeSet<&str> = given.iter().map(String::as_str).collect();
    for (place, reference) in spec.context_refs.iter().enumerate() {
        if !given.contains(reference.as_str()) {
            let path = format!("context_refs.{place}");
            found.push(Problem::new(path, "not_given", not_given(reference)));
        }
    }
    for (place, assumption) in spec.assumptions.iter().enumerate() {
        let source = assumption.source.as_str();
        if source != OPERATOR && !given.contains(source) {
            let path = format!("assumptions.{place}.source");
            found.push(Problem::new(path, "not_given", not_given(source)));
        }
    }
    found
}

fn not_given(reference: &str) -> String {
    format!("{:?} is not one of the given documents", types::one_line(reference, 80))
}

/// The gaps that keep a living spec from being an Intent Spec.
#[must_use]
pub fn missing(spec: &Spec) -> Vec<Problem> {
    let mut found = Vec::new();
    if spec.requirements.is_empty() {
        found.push(Problem::new("requirements", "empty", "must not be empty"));
    }
    for (place, requirement) in spec.requirements.iter().enumerate() {
        if requirement.verification.is_none() {
            let path = format!("requirements.{place}.verification");
            found.push(Problem::new(path, "missing", "is missing"));
        }
    }
    if spec.out_of_scope.is_empty() {
        found.push(Problem::new("out_of_scope", "empty", "must not be empty"));
    }
    found
}

/// A living spec as an Intent Spec, or its gaps.
pub fn of(spec: &Spec, task_id: &str) -> Result<IntentSpec, Vec<Problem>> {
    let missing = missing(spec);
    if !missing.is_empty() {
        return Err(missing);
    }
    let requirement = |one: &Requirement| IntentRequirement {
        id: one.id.clone(),
        description: one.description.clone(),
        verification: one.verification.clone().unwrap_or_default(),
    };
    Ok(IntentSpec {
        spec_id: spec.id.to_string(),
        task_id: task_id.to_owned(),
        objective: spec.intent.split_whitespace().collect::<Vec<_>>().join(" "),
        requirements: spec.requirements.iter().map(requirement).collect(),
        constraints: spec.constraints.clone(),
        out_of_scope: spec.out_of_scope.clone(),
        assumptions: spec.assumptions.clone(),
        context_refs: spec.context_refs.clone(),
    })
}

/// An Intent Spec as the first version of a living spec, approved because it passed review.
#[must_use]
pub fn living(intent: &IntentSpec, at: Timestamp) -> Spec {
    let nobody = Uuid::of("nobody");
    let requirement = |one: &IntentRequirement| Requirement {
        id: one.id.clone(),
        description: one.description.clone(),
        priority: Priority::Must,
        verification: Some(one.verification.clone()),
    };
    let constraints: Vec<Constraint> = intent.constraints.clone();
    Spec {
        id: intent.spec_id.parse().unwrap_or_else(|_| Uuid::of(&intent.spec_id)),
        team_id: nobody.clone(),
        title: types::one_line(&intent.objective, 120),
        status: SpecStatus::Approved,
        meta: SpecMeta { version: 1, created_at: at, updated_at: at, previous: None, run: None },
        intent: intent.objective.clone(),
        requirements: intent.requirements.iter().map(requirement).collect(),
        constraints,
        out_of_scope: intent.out_of_scope.clone(),
        assumptions: intent.assumptions.clone(),
        context_refs: intent.context_refs.clone(),
        verification: Verification {
            criteria: intent.requirements.iter().map(|one| one.verification.clone()).collect(),
            ..Verification::default()
        },
        budget: None,
        tasks: vec![],
        decisions: vec![],
        blockers: vec![],
        created_by: nobody,
    }
}
