//! Validates a proposed plan. It is read strictly and every problem is named, so that all can be fixed at once. A plan
//! may be given instead of made, and a person may have to approve it first.

use serde_json::Value;
use types::{
    About, AttemptId, Choice, Decision, Event, Fault, Phase, Plan, PlanApproval, QuestionKind,
    Request, RuleId, Severity, TaskId, Terms, Timestamp,
};

use crate::stages::question;
use crate::state::{Question, Run, TaskStatus};

const APPROVAL: &str = "plan.approval";
const APPROVE: &str = "approve";
const REJECT: &str = "reject";
/// The rule that returns a plan because a person wants another. That is not a failure.
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
    let TaskStatus::Submitted { submission, .. } = &run.planning().stage else { return vec![] };
    let attempt = AttemptId::new(TaskId::plan(), run.planning().attempts);
    let shown = approval(run, &attempt);
    if shown.is_some_and(Question::is_open) {
        return vec![];
    }
    // The plan is adopted as it was shown, however much later.
    let room = shown.map_or_else(|| run.headroom(now), |question| question.room);
    match rules::plan::judged(run.policy(), request, submission, &room) {
        Ok(plan) => approved(run, request, plan, (attempt, shown), now),
        Err(problems) => {
            let reason = "a plan must be valid before it is executed";
            let decision = Decision::new(RuleId::fixed("plan.invalid"), reason);
            vec![Event::PlanRefused { attempt, problems, decision, fault: None }]
        }
    }
}

/// The fault of an attempt that submitted an invalid plan.
pub(crate) fn fault(problems: &[String]) -> Fault {
    Fault::structural("plan.invalid", format!("the plan is invalid: {}", problems.join("; ")))
}

fn given(run: &Run, plan: &Plan, now: Timestamp) -> Vec<Event> {
    let Some(request) = run.request() else { return vec![] };
    let room = run.headroom(now);
    let problems = rules::plan::problems(run.policy(), plan, &room);
    if problems.is_empty() {
        let plan = rules::plan::complete(run.policy(), request, plan.clone(), &room);
        return vec![adopted(plan, "plan.given", "the given plan is valid")];
    }
    let reason = format!("the given plan is invalid: {}", rules::plan::named(&problems));
    let decision = Decision::new(RuleId::fixed("plan.given_invalid"), reason);
    vec![Event::RunRefused { decision }]
}

/// Validates a plan that code made from a spec like any other; its problems cannot be fixed by an agent.
pub(crate) fn of_spec(run: &Run, plan: Value, now: Timestamp) -> Result<Plan, String> {
    let plan = serde_json::from_value(plan).map_err(|error| error.to_string())?;
    let problems = rules::plan::problems(run.policy(), &plan, &run.headroom(now));
    if problems.is_empty() { Ok(plan) } else { Err(rules::plan::named(&problems)) }
}

fn adopted(plan: Plan, rule: &'static str, why: &str) -> Event {
    let reason = format!("{why}: {}", types::count(plan.tasks.len(), "task"));
    Event::PlanAdopted { plan, decision: Decision::new(RuleId::fixed(rule), reason) }
}

/// The question whether to carry out the plan of an attempt.
fn approval<'a>(run: &'a Run, attempt: &AttemptId) -> Option<&'a Question> {
    run.questions().iter().rfind(|question| {
        question.rule.as_str() == APPROVAL && question.from.as_ref() == Some(attempt)
    })
}

/// The plan that waits for a person's approval.
#[must_use]
pub fn proposed(run: &Run) -> Option<Plan> {
    let TaskStatus::Submitted { submission, .. } = &run.planning().stage else { return None };
    let attempt = AttemptId::new(TaskId::plan(), run.planning().attempts);
    let shown = approval(run, &attempt).filter(|question| question.is_open())?;
    rules::plan::judged(run.policy(), run.request()?, submission, &shown.room).ok()
}

/// Whether a person wrote or approved the plan.
pub(crate) fn is_a_persons(run: &Run) -> bool {
    let given = run.request().is_some_and(|request| request.planning.given.is_some());
    let asked = run.questions().iter().rfind(|question| question.rule.as_str() == APPROVAL);
    given || asked.is_some_and(|question| question.choice() == Some(APPROVE))
}

/// Adopts a valid plan, after approval if one is needed.
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
        let reason = "the plan requires approval, but no person can be asked";
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
        Some(REJECT | types::choices::STOP) => {
            vec![Event::RunCancelled { by, reason: "the plan was rejected".to_owned() }]
        }
        _ => {
            let problems = vec![format!("{by} requested changes: {}", answer.said.text)];
            let reason = "the person who was asked for approval requested changes";
            let decision = Decision::new(RuleId::fixed(SENT_BACK), reason);
            vec![Event::PlanRefused { attempt, problems, decision, fault: None }]
        }
    }
}

fn asked(run: &Run, plan: &Plan, attempt: AttemptId, now: Timestamp) -> Event {
    let reason = "the plan is executed only after a person approves it";
    let terms = Terms {
        about: Some(About::Task(TaskId::plan())),
        choices: vec![
            Choice::new(APPROVE, "execute the plan"),
            Choice::new(REJECT, "end the run; any other answer is returned to the planner"),
        ],
        ..Terms::open(QuestionKind::Approval, Severity::Medium)
    };
    let said = (rules::plan::told(plan), Decision::new(RuleId::fixed(APPROVAL), reason));
    question::ask(run, said, Some(attempt), Some(terms), now)
}

#[cfg(test)]
mod approval_tests;
#[cfg(test)]
mod tests;
