//! Is a proposed plan one that can be executed? It is read strictly and every problem is named, so that whoever
//! made it can mend it in one go. A plan may be given instead of made, and a person may have to approve it first.

mod outlook;
mod problems;

use serde_json::{Value, json};
use types::yaml::{self, NotYaml};
use types::{
    About, AttemptId, Brief, Budget, Choice, Decision, Event, Fault, PLAN_FORMAT, Phase, Plan,
    PlanApproval, Policy, Problem, QuestionKind, Request, RuleId, Severity, TaskId, Terms,
    Timestamp, ToolSpec,
};

use crate::run::{Question, Run, Stage};
use crate::{budget, question};

pub use outlook::Headroom;

const APPROVAL: &str = "plan.approval";
const APPROVE: &str = "approve";
const REJECT: &str = "reject";
/// The rule by which a plan goes back because a person wants it otherwise. That is nobody's failure.
pub(crate) const SENT_BACK: &str = "plan.sent_back";

pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if run.plan().is_some() {
        return vec![];
    }
    let Some(request) = run.request() else { return vec![] };
    if let Some(plan) = &request.planning.given {
        let ready = run.passed(Phase::Initiation) && run.proof().is_some();
        return if ready { given(run, plan, now) } else { vec![] };
    }
    let Stage::Submitted { submission, .. } = run.planning().stage() else { return vec![] };
    let attempt = AttemptId::new(TaskId::plan(), run.planning().attempts());
    let shown = approval(run, &attempt);
    if shown.is_some_and(Question::is_open) {
        return vec![];
    }
    // What a person was shown is what is adopted, however much later.
    let room = shown.map_or_else(|| Headroom::of_run(run, now), |question| question.room);
    match judged(run.policy(), request, submission, &room) {
        Ok(plan) => approved(run, request, plan, (attempt, shown), now),
        Err(problems) => {
            let reason = "a plan must be valid before anything is executed";
            let decision = Decision::new(RuleId::fixed("plan.invalid"), reason);
            vec![Event::PlanRefused { attempt, problems, decision }]
        }
    }
}

/// The fault of an attempt that handed in a plan with problems.
pub(crate) fn fault(problems: &[String]) -> Fault {
    Fault::structural("plan.invalid", format!("the plan is not valid: {}", problems.join("; ")))
}

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
    let room = Headroom::of_budget(budget::narrower(policy.budget.limits(), request.budget));
    let problems = problems::of(policy, &plan, &room);
    if problems.is_empty() { Ok(plan) } else { Err(invalid(problems)) }
}

fn of_value(value: &Value) -> Result<Plan, Vec<Problem>> {
    let read = PLAN_FORMAT.read(value)?;
    serde_json::from_value(read)
        .map_err(|error| vec![Problem::new("", "invalid", error.to_string())])
}

/// The plan that was handed in, with what code adds to it; or everything that is wrong with it.
fn judged(
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
    let problems = problems::of(policy, &plan, room);
    if problems.is_empty() {
        return Ok(outlook::complete(policy, request, plan, room));
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

fn given(run: &Run, plan: &Plan, now: Timestamp) -> Vec<Event> {
    let Some(request) = run.request() else { return vec![] };
    let room = Headroom::of_run(run, now);
    let problems = problems::of(run.policy(), plan, &room);
    if problems.is_empty() {
        let plan = outlook::complete(run.policy(), request, plan.clone(), &room);
        return vec![adopted(plan, "plan.given", "the plan was given and is valid")];
    }
    let reason = format!("the plan that was given is not valid: {}", named(&problems));
    let decision = Decision::new(RuleId::fixed("plan.given_invalid"), reason);
    vec![Event::RunRefused { decision }]
}

/// A plan that code has made of a spec is judged like any other; what is wrong with it nobody can mend.
pub(crate) fn of_spec(run: &Run, plan: Value, now: Timestamp) -> Result<Plan, String> {
    let plan = serde_json::from_value(plan).map_err(|error| error.to_string())?;
    let problems = problems::of(run.policy(), &plan, &Headroom::of_run(run, now));
    if problems.is_empty() { Ok(plan) } else { Err(named(&problems)) }
}

fn named(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn adopted(plan: Plan, rule: &'static str, why: &str) -> Event {
    let reason = match plan.tasks.len() {
        1 => format!("{why}: 1 task"),
        count => format!("{why}: {count} tasks"),
    };
    Event::PlanAdopted { plan, decision: Decision::new(RuleId::fixed(rule), reason) }
}

/// The question whether the plan of an attempt is to be carried out.
fn approval<'a>(run: &'a Run, attempt: &AttemptId) -> Option<&'a Question> {
    run.questions().iter().rfind(|question| {
        question.rule.as_str() == APPROVAL && question.from.as_ref() == Some(attempt)
    })
}

/// Whether a person wrote the plan or approved it.
pub(crate) fn is_a_persons(run: &Run) -> bool {
    let given = run.request().is_some_and(|request| request.planning.given.is_some());
    let asked = run.questions().iter().rfind(|question| question.rule.as_str() == APPROVAL);
    given || asked.is_some_and(|question| question.choice() == Some(APPROVE))
}

/// Adopts a valid plan, once whoever has to approve it has done so.
fn approved(
    run: &Run,
    request: &Request,
    plan: Plan,
    (attempt, shown): (AttemptId, Option<&Question>),
    now: Timestamp,
) -> Vec<Event> {
    let wanted = request.planning.approve || run.policy().plan.approval == PlanApproval::Ask;
    if !wanted {
        return vec![adopted(plan, "plan.valid", "the plan is valid")];
    }
    if run.policy().headless {
        let reason = "a person would have to approve the plan, and nobody can be asked";
        let decision = Decision::new(RuleId::fixed("plan.nobody_to_approve"), reason);
        return vec![Event::RunRefused { decision }];
    }
    let Some(question) = shown else { return vec![asked(run, &plan, attempt, now)] };
    let Some(answer) = &question.answer else { return vec![] };
    let by = answer.said.by.clone();
    match question.choice() {
        Some(APPROVE) => {
            let why = format!("the plan is valid, and {} approved it", types::one_line(&by, 40));
            vec![adopted(plan, "plan.approved", &why)]
        }
        Some(REJECT | question::STOP) => {
            vec![Event::RunCancelled { by, reason: "the plan was rejected".to_owned() }]
        }
        _ => {
            let problems = vec![format!("{by} wants it otherwise: {}", answer.said.text)];
            let reason = "whoever was asked to approve the plan wants it otherwise";
            let decision = Decision::new(RuleId::fixed(SENT_BACK), reason);
            vec![Event::PlanRefused { attempt, problems, decision }]
        }
    }
}

fn asked(run: &Run, plan: &Plan, attempt: AttemptId, now: Timestamp) -> Event {
    let reason = "a plan is carried out only once a person has approved it";
    let terms = Terms {
        kind: QuestionKind::Approval,
        severity: Severity::Medium,
        escalation: None,
        about: Some(About::Task(TaskId::plan())),
        choices: vec![
            Choice::new(APPROVE, "carry the plan out"),
            Choice::new(REJECT, "end the run; anything else goes back to the planner"),
        ],
        free: true,
        default: None,
        expires: question::expiry(run.policy(), now),
        package: None,
    };
    Event::QuestionAsked {
        question: u32::try_from(run.questions().len()).unwrap_or(u32::MAX),
        text: outlook::told(plan),
        decision: Decision::new(RuleId::fixed(APPROVAL), reason),
        attempt: Some(attempt),
        call: None,
        files: vec![],
        terms: Some(Box::new(terms)),
    }
}

/// What a plan may take, as far as a budget says so.
impl Headroom {
    pub(crate) fn of_run(run: &Run, now: Timestamp) -> Self {
        let free = run.ledger().free();
        let time_ms = run.deadline().map(|deadline| deadline.since(now));
        Self { left: Budget { time_ms, ..free }, spent: run.ledger().spent() }
    }
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

#[cfg(test)]
mod approval_tests;
#[cfg(test)]
mod tests;
