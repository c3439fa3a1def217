//! Scenarios of files that never become a run: an unusable spec, plan or policy. The messages about each are the trace.

use rules::plan::BadPlan;
use rules::spec::BadSpec;
use types::Request;

use crate::play::policy;
use crate::scenario::Scenario;

/// The problems of a scenario's files, one line each.
pub fn unread(scenario: &Scenario) -> anyhow::Result<String> {
    let policy = match policy(&scenario.preset, &scenario.policy) {
        Ok(policy) => policy,
        Err(error) => return Ok(format!("policy  {error:#}\n")),
    };
    let mut lines = Vec::new();
    if let Some(text) = &scenario.goal.spec {
        match rules::spec::read(text) {
            Ok(_) => {}
            Err(BadSpec::Parse(error)) => lines.push(format!("spec    parse: {error}")),
            Err(BadSpec::Validation(problems)) => {
                lines.extend(problems.iter().map(|problem| format!("spec    {problem}")));
            }
        }
    }
    if let Some(text) = &scenario.goal.plan {
        let request = Request::new(scenario.goal.text.clone(), "none/none".parse()?);
        match rules::plan::read(&policy, &request, text) {
            Ok(_) => {}
            Err(BadPlan::Parse(error)) => lines.push(format!("plan    parse: {error}")),
            Err(BadPlan::Invalid(problems)) => {
                lines.extend(problems.iter().map(|problem| format!("plan    {problem}")));
            }
        }
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}
