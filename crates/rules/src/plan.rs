//! Reads and judges plans, made by an agent or given by a person: strictly, with every problem named at once, so that
//! the author can fix them in one go. Whether a person has to approve a plan is not decided here.

mod outlook;
mod problems;

use serde_json::{Value, json};
use types::yaml::{self, NotYaml};
use types::{Brief, PLAN_FORMAT, Plan, Policy, Problem, Request, TaskId, ToolSpec};

use crate::ledger;

pub use outlook::{Headroom, complete, told};
pub use problems::of as problems;

/// The JSON Schema of what a planner hands in.
#[must_use]
pub fn schema() -> Value {
    PLAN_FORMAT.schema()
}

/// Why a file is not a plan that can be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadPlan {
    /// It is neither YAML nor JSON.
    Parse(NotYaml),
    /// It is, but not a plan that can be carried out.
    Invalid(Vec<Problem>),
}

/// Reads a plan that a person hands in, and judges it as the run will.
pub fn read(policy: &Policy, request: &Request, text: &str) -> Result<Plan, BadPlan> {
    let read = yaml::read(text).map_err(BadPlan::Parse)?;
    let invalid = |problems: Vec<Problem>| {
        BadPlan::Invalid(problems.into_iter().map(|one| one.in_file(&read)).collect())
    };
    let plan = of_value(&read.value).map_err(invalid)?;
    let room = Headroom::of_budget(ledger::narrower(policy.budget.limits(), request.budget));
    let problems = problems(policy, &plan, &room);
    if problems.is_empty() { Ok(plan) } else { Err(invalid(problems)) }
}

fn of_value(value: &Value) -> Result<Plan, Vec<Problem>> {
    let read = PLAN_FORMAT.read(value)?;
    serde_json::from_value(read)
        .map_err(|error| vec![Problem::new("", "invalid", error.to_string())])
}

/// The plan that was handed in, with what code adds to it; or everything that is wrong with it.
pub fn judged(
    policy: &Policy,
    request: &Request,
    submission: &Value,
    room: &Headroom,
) -> Result<Plan, Vec<String>> {
    if let Some(problem) = shapeless(submission) {
        return Err(vec![problem.to_owned()]);
    }
    let plan = of_value(submission)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let problems = problems(policy, &plan, room);
    if problems.is_empty() {
        return Ok(complete(policy, request, plan, room));
    }
    Err(problems.into_iter().map(|problem| problem.message).collect())
}

/// What is said of a submission that is no object at all.
fn shapeless(submission: &Value) -> Option<&'static str> {
    match submission {
        Value::String(text) if text.contains("```") => Some(
            "it is a text with a code fence; hand in the object itself, as the arguments of submit",
        ),
        Value::String(_) => Some("it is prose; a plan is an object with tasks"),
        Value::Array(_) => Some("it is a list; a plan is an object with tasks"),
        Value::Object(_) => None,
        _ => Some("it is nothing that could be a plan; a plan is an object with tasks"),
    }
}

/// All problems in one line.
#[must_use]
pub fn named(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Lets `submit` carry the schema of what is wanted, for roles that have no contract of their own.
pub fn carry_schema(tools: &mut [ToolSpec], brief: &Brief) {
    let submit = tools.iter_mut().find(|tool| tool.name == "submit");
    let Some(submit) = submit.filter(|_| brief.reply.is_none()) else { return };
    submit.schema = if brief.attempt.task == TaskId::plan() { schema() } else { work_schema() };
}

/// What whoever does a task hands in.
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
