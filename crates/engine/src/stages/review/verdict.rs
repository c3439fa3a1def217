//! The outcome of a verdict: computed from its results, the existence of its evidence, and denied calls. If the judge
//! and the computation differ, the stricter counts.

use serde_json::{Value, json};
use types::{Decision, RuleId};

use rules::contract::{Passing, Verdict};

/// Whether it passes, the final report, and the reason.
pub(super) fn judged(said: &Value, made: &Value) -> (bool, Value, Decision) {
    let Ok(verdict) = serde_json::from_value::<Verdict>(said.clone()) else {
        let reason = "the verdict cannot be parsed";
        let decision = Decision::new(RuleId::fixed("review.unreadable"), reason);
        return (false, json!({ "verdict": "fail", "why": reason }), decision);
    };
    let why = objections(&verdict, made);
    let (computed, claimed) = (why.is_empty(), verdict.verdict == Passing::Pass);
    let passed = computed && claimed;
    let decision = match (computed, claimed) {
        (true, true) | (false, false) => {
            let reason = format!("the results confirm the verdict: {}", word(passed));
            Decision::new(RuleId::fixed("review.agreed"), reason)
        }
        (false, true) => {
            let reason =
                format!("the verdict is pass, but {}; the stricter one applies", why.join("; "));
            Decision::new(RuleId::fixed("review.stricter"), reason)
        }
        (true, false) => {
            let reason = "every result is pass, but the verdict is fail; the stricter one applies";
            Decision::new(RuleId::fixed("review.stricter"), reason)
        }
    };
    let why = if passed { String::new() } else { why.join("; ") };
    (passed, report(&verdict, passed, &why), decision)
}

const fn word(passed: bool) -> &'static str {
    if passed { "pass" } else { "fail" }
}

/// Every objection to passing.
fn objections(verdict: &Verdict, made: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let requirements = verdict.requirement_results.iter();
    let requirements = requirements.map(|one| (&one.requirement_id, one.status, &one.evidence));
    let constraints = verdict.constraint_results.iter();
    let constraints = constraints.map(|one| (&one.constraint_id, one.status, &one.evidence));
    for (id, status, evidence) in requirements.chain(constraints) {
        if status == Passing::Fail {
            found.push(format!("{id} fails: {}", types::one_line(evidence, 200)));
        } else if !is_there(evidence, made) {
            found.push(format!("the evidence for {id} cites no existing line or text"));
        }
    }
    if !verdict.scope_violations.is_empty() {
        found.push(format!("{} scope violations", verdict.scope_violations.len()));
    }
    found
}

/// Whether evidence cites a line of a file that was made (`src/a.py:3`), or quotes text from one.
pub(super) fn is_there(evidence: &str, made: &Value) -> bool {
    let files = made["artifacts"].as_array().map(Vec::as_slice).unwrap_or_default();
    let files: Vec<(&str, &str)> = files
        .iter()
        .filter_map(|file| Some((file["path"].as_str()?, file["content"].as_str()?)))
        .collect();
    let cites = |(path, content): &(&str, &str)| {
        evidence.match_indices(path).any(|(at, _)| {
            let rest = &evidence[at + path.len()..];
            let rest = rest.trim_start_matches([':', ',', ' ']).trim_start_matches("line ");
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let line: usize = digits.parse().unwrap_or(0);
            line > 0 && line <= content.lines().count()
        })
    };
    let quotes = quoted(evidence)
        .any(|text| text.trim().len() > 2 && files.iter().any(|(_, c)| c.contains(text)));
    files.iter().any(cites) || quotes
}

/// Text between quotation marks or backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    ['"', '\'', '`'].into_iter().flat_map(|mark| text.split(mark).skip(1).step_by(2))
}

/// The judge's report with the computed verdict and numbers.
fn report(verdict: &Verdict, passed: bool, why: &str) -> Value {
    let fails = |status: Passing| status == Passing::Fail;
    let failed = verdict.requirement_results.iter().filter(|one| fails(one.status)).count();
    let violated = verdict.constraint_results.iter().filter(|one| fails(one.status)).count();
    let total = verdict.requirement_results.len();
    let mut report = json!({
        "task_id": verdict.task_id,
        "spec_id": verdict.spec_id,
        "verdict": word(passed),
        "requirement_results": verdict.requirement_results,
        "constraint_results": verdict.constraint_results,
        "scope_violations": verdict.scope_violations,
        "summary": {
            "total_requirements": total,
            "passed_requirements": total - failed,
            "failed_requirements": failed,
            "total_constraints": verdict.constraint_results.len(),
            "violated_constraints": violated,
            "scope_violation_count": verdict.scope_violations.len(),
        },
    });
    if !why.is_empty() {
        report["why"] = why.into();
    }
    report
}
