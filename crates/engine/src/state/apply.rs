//! The only place where the state of a run changes: one arm for each event of a run's log. An event that does not
//! fit the state is passed over, so that any log can be folded.

use types::{
    About, Answer, AttemptId, AttemptResult, Category, Changes, CommitId, Decision, Event,
    GateView, Level, Phase, Plan, RuleId, Scorecard, Settled, Side, Spend, TaskId, Timestamp,
};

use super::change::{change, change_running, reject};
use super::checks::{all_checks, finish_check, finish_merge, start_check, take_off};
use super::progress;
use super::questions::{Answered, Question};
use super::review_state::Reviewed;
use super::task_state::{CheckState, Last, Running, Stage, TaskState};
use super::{Asked, Run, answers};
use rules::dag;
use rules::ledger::{Ledger, claim, narrower};

impl Run {
    /// Takes one event into the state.
    pub(crate) fn take(&mut self, event: &Event, at: Timestamp) {
        take(self, event, at);
        progress::note(self, event, at);
        let still = self.stands_still();
        self.standstill.note(still, at);
    }
}

fn take(run: &mut Run, event: &Event, at: Timestamp) {
    match event.clone() {
        Event::RunRequested { request, survey, policy, price } => {
            run.started = at;
            run.head = survey.base.clone();
            run.ledger = Ledger::new(narrower(run.policy.budget.limits(), request.budget));
            run.budget_state.price = price;
            run.check_results.find_checks(&request.checks, &run.policy.checks, &survey.checks);
            run.asked = Some(Asked { request: *request, survey, policy });
        }
        Event::RunAccepted { decision } => run.admitted = Some(decision),
        Event::RunRefused { decision } => run.refused = Some(decision),
        Event::SpecWritten { spec, digest, .. } => {
            run.reviews.spec.get_or_insert((spec, digest));
        }
        Event::RunRouted { to, category, .. } => {
            run.side = category.map_or(Side::Product, Category::side);
            run.route = Some(to);
        }
        Event::RunCancelled { by, reason } => {
            let reason = format!("{by}: {reason}");
            run.cancelled = Some(Decision::new(RuleId::fixed("person.cancel"), reason));
        }
        Event::RunFinished { status, .. } => {
            run.ended = Some(at);
            run.finished = Some(status);
        }
        Event::ContextSelected { included, .. } => {
            run.documents = Some(included);
            run.reviews.selections += 1;
        }
        Event::SandboxProbed { proof, decision } => run.proof = Some((proof, decision)),
        Event::PlanAdopted { plan, .. } => adopt(run, plan),
        Event::PlanRefused { fault: Some(fault), .. } => {
            reject(run, &TaskId::plan(), *fault, None);
        }
        Event::PlanRefused { problems, fault: None, .. } => {
            super::reopen::plan_once_more(run, Some(problems.join("; ")));
        }
        Event::BudgetWarned { task: None, .. } => run.ledger.mark_warned(),
        Event::BudgetWarned { task: Some(task), .. } => {
            change(run, &task, |task_state| task_state.warned = true);
        }
        Event::BudgetExhausted { decision } => {
            run.budget_state.close();
            run.exhausted = Some(decision);
        }
        Event::BudgetRaised { add, task, .. } => answers::raised(run, add, task),
        Event::ResultSettled { how, commit, by } => {
            run.settlement.get_or_insert(Settled { how, commit, by });
        }
        other => take_verdict(run, other, at),
    }
}

fn judged(run: &mut Run, phase: Phase, go: bool, decision: Decision, card: Option<Box<Scorecard>>) {
    let card = card.map(|card| *card);
    run.gates.push(GateView { phase, go, decision, card, reopened: false });
}

/// The task's failure is in a person's hands.
fn escalate(run: &mut Run, task: &TaskId) {
    let question = u32::try_from(run.questions.len()).unwrap_or(u32::MAX);
    change(run, task, |task_state| {
        if let Stage::Rejected { fault, commit } = &task_state.stage {
            let (fault, commit) = (fault.clone(), commit.clone());
            task_state.stage = Stage::Escalated { fault, commit, question };
        }
    });
}

/// What gates and people say.
fn take_verdict(run: &mut Run, event: Event, at: Timestamp) {
    match event {
        Event::GatePassed { phase, decision, card } => judged(run, phase, true, decision, card),
        Event::GateBlocked { phase, decision, card } => judged(run, phase, false, decision, card),
        Event::QuestionAsked { text, decision, attempt, terms, question, .. } => {
            let offer = terms.as_ref().and_then(|terms| terms.offer);
            answers::asked_for_more(run, question, attempt.as_ref(), offer);
            if let Some(attempt) = &attempt {
                change_running(run, attempt, |running| {
                    running.asked = running.asked.saturating_add(1);
                });
            }
            if let Some(About::Task(task)) = terms.as_ref().and_then(|terms| terms.about.as_ref()) {
                escalate(run, task);
            }
            let (rule, from, asked, answer) = (decision.rule, attempt, at, None);
            let room = run.headroom(at);
            let question = Question { text, rule, from, terms, asked, room, answer };
            answers::asked(run, question);
        }
        Event::QuestionAnswered { question, by, text, choice, feedback, halts } => {
            let answer = Answered { said: Answer { by, text }, choice, at };
            answers::answered(run, question, answer, feedback);
            if let Some(decision) = halts {
                run.halted = Some(*decision);
            }
        }
        other => apply_to_lane(run, other, at),
    }
}

fn apply_to_lane(run: &mut Run, event: Event, at: Timestamp) {
    match event {
        Event::AttemptStarted { attempt, role, start, scope, budget, feedback, model } => {
            run.attempts += 1;
            run.budget_state.went_on(&attempt.task);
            run.breakers.started(&role);
            run.ledger.hold(claim(budget));
            // Files that an earlier attempt left stand where that one stood.
            let base = (start == run.head).then(|| start.clone());
            let running =
                Running { role, model, start, scope, budget, feedback, asked: 0, answers: vec![] };
            change(run, &attempt.task, |task_state| {
                task_state.attempts = attempt.n;
                task_state.checks.clear();
                task_state.proofs.clear();
                task_state.trials.clear();
                task_state.evidence = None;
                task_state.base = base.or(task_state.base.take());
                task_state.share = budget;
                task_state.stage = Stage::Running(Box::new(running));
            });
        }
        Event::AttemptFinished { attempt, result, spent, usage, denied, .. } => {
            run.usage = run.usage.plus(usage);
            run.reviews.warn(&run.policy, &attempt, &denied);
            if run.policy.review.is_some() && !denied.is_empty() {
                run.reviews.denied.insert(attempt.clone(), denied);
            }
            finish_attempt(run, &attempt, result, spent, at);
        }
        Event::CheckStarted { check, what, commit } => {
            start_check(run, &check, CheckState { what, commit, end: None });
        }
        Event::CheckFinished { check, end } => finish_check(run, &check, &end),
        Event::MergeStarted { task, commit, onto } => {
            change(run, &task, |task_state| {
                task_state.stage = Stage::Merging { commit, onto, since: at }
            });
        }
        Event::MergeFinished { task, end, fault } => finish_merge(run, &task, end, fault),
        Event::RetryScheduled { .. } | Event::RetryReleased { .. } => again(run, event),
        other => judged_task(run, other),
    }
}

/// What was said of a task.
fn judged_task(run: &mut Run, event: Event) {
    match event {
        Event::TaskVerified { attempt, commit, evidence, .. } => {
            change(run, &attempt.task, |task_state| {
                task_state.stage = Stage::Verified { commit };
                task_state.evidence = evidence;
            });
        }
        Event::TaskRejected { attempt, fault } => {
            let commit = run.task_state(&attempt.task).and_then(handed_in);
            take_off(run, &attempt.task);
            reject(run, &attempt.task, fault, commit);
        }
        Event::TaskReviewed { attempt, review, passed, report, .. } => {
            run.reviews.reviewed.insert(attempt, Reviewed { passed, report });
            // The lane of the review is free for the next attempt at the task.
            change(run, &review.task, |task_state| {
                task_state.stage = Stage::Waiting;
                task_state.faults.clear();
            });
        }
        Event::TaskFinished { task, commit } => {
            change(run, &task, |task_state| {
                task_state.stage = Stage::Finished { commit };
                // What it changed is kept for as long as it may still have to be proven.
                if task_state
                    .evidence
                    .as_ref()
                    .is_none_or(|weighed| weighed.level != Level::Unproven)
                {
                    task_state.last = None;
                }
            });
            release(run, &task);
        }
        Event::TaskFailed { task, fault, decision, halts } => {
            if halts {
                run.halted = Some(decision);
            }
            run.budget_state.close_for(&task);
            change(run, &task, |task_state| {
                if task_state.faults.last() != Some(&fault) {
                    task_state.faults.push(fault);
                }
                task_state.stage = Stage::Failed;
            });
            release(run, &task);
        }
        Event::TaskSkipped { task, .. } => {
            change(run, &task, |task_state| {
                task_state.waived = matches!(task_state.stage, Stage::Escalated { .. });
                task_state.stage = Stage::Skipped;
            });
            release(run, &task);
        }
        // The rest belongs to the logs of attempts.
        _ => {}
    }
}

/// There will be another attempt, or its time has come.
fn again(run: &mut Run, event: Event) {
    match event {
        Event::RetryScheduled { task, at, start, feedback, role, model, .. } => {
            run.budget_state.went_on(&task);
            // An attempt that is only put off is not one more.
            let stage = run.task_state(&task).map(TaskState::stage);
            if !matches!(stage, None | Some(Stage::Waiting | Stage::Retrying { .. })) {
                run.retries += 1;
            }
            change(run, &task, |task_state| {
                let released = false;
                task_state.stage = Stage::Retrying { at, start, feedback, role, model, released };
            });
        }
        Event::RetryReleased { task } => change(run, &task, |task_state| {
            if let Stage::Retrying { released, .. } = &mut task_state.stage {
                *released = true;
            }
        }),
        _ => {}
    }
}

/// The commit that a lane's attempt left, if it left one.
fn handed_in(task_state: &TaskState) -> Option<CommitId> {
    match &task_state.stage {
        Stage::Submitted { commit, .. }
        | Stage::Checking { commit }
        | Stage::Landed { commit, .. }
        | Stage::Merging { commit, .. } => Some(commit.clone()),
        Stage::Rejected { commit, .. } => commit.clone(),
        _ => None,
    }
}

fn adopt(run: &mut Run, plan: Plan) {
    run.dag = dag::shape(&plan.tasks);
    // A plan with a cycle is never adopted; a forged log with one is folded to a run that cannot start.
    run.order = dag::order(&run.dag).unwrap_or_default();
    dag::keep_apart(&mut run.dag, &plan.tasks, &run.order);
    run.places = dag::places(&plan.tasks);
    run.final_checks = all_checks(&run.all_project_checks(), &plan.tasks);
    run.task_states = run.dag.waits_for.iter().map(|count| TaskState::waiting(*count)).collect();
    let free =
        plan.tasks.iter().zip(0..).filter(|(_, place)| run.task_states[*place].waits_for == 0);
    run.ready = free.map(|(task, place)| (task.priority, place)).collect();
    run.planning.stage = Stage::Finished { commit: run.head.clone() };
    run.plan = Some(plan);
}

/// A task is settled: whoever waited for it has one thing less to wait for.
fn release(run: &mut Run, task: &TaskId) {
    let Some(place) = run.places.get(task).copied() else { return };
    let finished = run.task_states.get(place).is_some_and(TaskState::is_finished);
    let followers = run.dag.followers.get(place).cloned().unwrap_or_default();
    let dependants = run.dag.dependants.get(place).cloned().unwrap_or_default();
    run.done += 1;
    run.unreachable.remove(&place);
    if !finished {
        let waiting = |place: &usize| matches!(run.task_states[*place].stage, Stage::Waiting);
        run.unreachable.extend(dependants.iter().copied().filter(waiting));
    }
    // Those that needed the result of a task that failed stay where they are until they are skipped.
    let freed = followers.into_iter().chain(dependants.into_iter().filter(|_| finished));
    for waiter in freed {
        let Some(task_state) = run.task_states.get_mut(waiter) else { continue };
        task_state.waits_for = task_state.waits_for.saturating_sub(1);
        if task_state.waits_for == 0 && matches!(task_state.stage, Stage::Waiting) {
            let priority =
                run.plan.as_ref().and_then(|plan| Some(plan.tasks.get(waiter)?.priority));
            run.ready.insert((priority.unwrap_or_default(), waiter));
        }
    }
    while let Some(next) = run.order.get(run.settled) {
        if !run.task_states.get(*next).is_some_and(TaskState::is_settled) {
            break;
        }
        run.settled += 1;
    }
}

fn finish_attempt(
    run: &mut Run,
    attempt: &AttemptId,
    result: AttemptResult,
    spent: Spend,
    at: Timestamp,
) {
    let running = match run.task_state(&attempt.task).map(TaskState::stage) {
        Some(Stage::Running(running)) => Some((**running).clone()),
        _ => None,
    };
    run.ledger.settle(running.as_ref().map_or(Spend::default(), |one| claim(one.budget)), spent);
    change(run, &attempt.task, |task_state| task_state.spent = task_state.spent.plus(spent));
    if let Some(running) = running {
        run.breakers.ended(&running.role, &result, run.policy.breaker, at);
        let (output, changes, findings) = match &result {
            AttemptResult::Submitted { submission, changes, findings, .. } => {
                (Some(submission.clone()), changes.clone(), findings.clone())
            }
            _ => (None, Changes::default(), types::Findings::default()),
        };
        let last = Some(Box::new(Last { running, output, changes, findings }));
        change(run, &attempt.task, |task_state| task_state.last = last);
    }
    match result {
        AttemptResult::Submitted { commit, changes, submission, findings } => {
            if run.policy.review.is_some() {
                run.reviews.handed_in.insert(attempt.task.clone(), submission.clone());
            }
            change(run, &attempt.task, |task_state| {
                task_state.stage = Stage::Submitted { commit, changes, submission, findings };
            });
        }
        AttemptResult::Failed { fault, commit } => reject(run, &attempt.task, fault, commit),
        AttemptResult::Cancelled => {
            change(run, &attempt.task, |task_state| task_state.stage = Stage::Skipped);
            release(run, &attempt.task);
        }
    }
}
