//! Plans, from an agent or a person: parsing and strict validation, with all problems reported at once. Approval of a
//! plan is not decided here.

mod outlook;
mod problems;

use serde_json::{Value, json};
use types::yaml::{self, NotYaml};
use types::{Brief, PLAN_FORMAT, Plan, Policy, Problem, Request, TaskId, ToolSpec};

use crate::ledger;

pub use outlook::{Headroom, complete, told};
pub use problems::of as problems;

/// The JSON Schema of a planner's submission.
#[must_use]
pub fn schema() -> Value {
    PLAN_FORMAT.schema()
}

/// Why a file is not an executable plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadPlan {
    /// It is neither YAML nor JSON.
    Parse(NotYaml),
    /// It can be parsed, but is not an executable plan.
    Invalid(Vec<Problem>),
}

/// Reads a person's plan and validates it as the run will.
pub fn read(policy: &Policy, request: &Request, text: &str) -> Result<Plan, BadPlan> {
    let read = yaml::read(text).map_err(BadPlan::Parse)?;
    let invalid = |problems: Vec<Problem>| {
        BadPlan::Invalid(problems.into_iter().map(|one| one.in_file(&read)).collect())
    };
    let plan = PLAN_FORMAT.read_as(&read.value).map_err(invalid)?;
    let left = ledger::narrower(policy.budget.limits(), request.budget);
    let room = Headroom { left, ..Headroom::default() };
    let problems = problems(policy, &plan, &room);
    if problems.is_empty() { Ok(plan) } else { Err(invalid(problems)) }
}

/// A submitted plan, completed with computed values, or all of its problems.
pub fn judged(
    policy: &Policy,
    request: &Request,
    submission: &Value,
    room: &Headroom,
) -> Result<Plan, Vec<String>> {
    if let Some(problem) = shapeless(submission) {
        return Err(vec![problem.to_owned()]);
    }
    let plan = PLAN_FORMAT
        .read_as(submission)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let problems = problems(policy, &plan, room);
    if problems.is_empty() {
        return Ok(complete(policy, request, plan, room));
    }
    Err(problems.into_iter().map(|problem| problem.message).collect())
}

/// The problem with a submission that is not an object.
fn shapeless(submission: &Value) -> Option<&'static str> {
    match submission {
        Value::String(text) if text.contains("```") => Some(
            "it is text with a code fence; submit the object itself, as the arguments of `submit`",
        ),
        Value::String(_) => Some("it is text; a plan is an object with tasks"),
        Value::Array(_) => Some("it is a list; a plan is an object with tasks"),
        Value::Object(_) => None,
        _ => Some("it is not an object; a plan is an object with tasks"),
    }
}

/// All problems in one line.
#[must_use]
pub fn named(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Sets the schema of `submit`, for roles without a contract.
pub fn carry_schema(tools: &mut [ToolSpec], brief: &Brief) {
    let submit = tools.iter_mut().find(|tool| tool.name == "submit");
    let Some(submit) = submit.filter(|_| brief.reply.is_none()) else { return };
    submit.schema = if brief.attempt.task == TaskId::plan() { schema() } else { work_schema() };
}

/// The schema of a task's submission.
fn work_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string", "description": "what you did, in one or two sentences"},
            "decisions": {
                "type": "array",
                "items": {"type": "string"},
                "description": "what you decided that others should know, each with its reason",
            },
            "blocked": {
                "type": "string",
                "description": "only if the task cannot be done as it is: why; a person decides then",
            },
            "evidence": {
                "type": "string",
                "description": "what shows that it is blocked: the lines, the output, the contradiction",
            },
        },
    })
}
