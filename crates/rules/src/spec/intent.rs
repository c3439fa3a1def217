//! Validation of the Intent Spec, a version of the living spec. It is stricter: no requirement without a way to verify
//! it, no assumption without a source, never an empty out of scope.

use std::collections::BTreeSet;

use serde_json::Value;
use types::{INTENT_FORMAT, IntentSpec, Problem, Spec};

use super::repeated;

/// The source of an assumption that is not a document.
const OPERATOR: &str = "operator_input";

/// Reads a product agent's submission. `given` are the documents that it may refer to.
pub(crate) fn read(value: &Value, given: &[String]) -> Result<IntentSpec, Vec<Problem>> {
    let spec: IntentSpec = INTENT_FORMAT.read_as(value)?;
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
    repeated("requirements", spec.requirements.iter().map(|one| one.id.as_str()), &mut found);
    repeated("constraints", spec.constraints.iter().map(|one| one.id.as_str()), &mut found);
    repeated("assumptions", spec.assumptions.iter().map(|one| one.id.as_str()), &mut found);
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
