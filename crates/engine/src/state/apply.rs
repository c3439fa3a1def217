//! The only place where the state of a run changes: one arm for each event. An event that does not fit the state
//! changes nothing, so any log can be folded.

use types::{
    Answer, AttemptId, AttemptResult, Category, Changes, CommitId, Decision, Event, Fault,
    GateView, Phase, Plan, RuleId, Scorecard, Settled, Shortage, Side, Spend, Status, TaskId,
    Timestamp,
};

use super::change::{change, reject};
use super::checks::{
    all_checks, finish_check, finish_merge, set_checks_aside, start_check, take_off,
};
use super::questions::{Answered, Question};
use super::review_state::Reviewed;
use super::task_state::{CheckState, Last, Running, TaskState, TaskStatus, TrialState};
use super::{Asked, Run, Stop, answers};
use super::{figures, progress};
use rules::dag;
use rules::ledger::{Ledger, claim, narrower};

impl Run {
    /// Takes one event into the state.
    pub(crate) fn take(&mut self, event: &Event, at: Timestamp) {
        take(self, event.clone(), at);
        progress::note(self, event, at);
        figures::note(self, event);
        let still = self.stands_still();
        self.standstill.note(still, at);
    }
}

/// One arm for each event. An event that does not fit the state has no effect.
fn take(run: &mut Run, event: Event, at: Timestamp) {
    match event {
        Event::RunRequested { request, survey, policy, price, wording } => {
            run.started = at;
            run.budget_state.waits = wording.waits_for_budget();
            run.on_branch.head = survey.base.clone();
            let limits = narrower(run.policy.budget.limits(), request.budget);
            let priced = price.is_some() && run.policy.uses_one_model();
            run.ledger = Ledger::new(run.policy.budget.guarded(limits, priced));
            run.budget_state.price = price;
            run.check_results.find_checks(&request.checks, &run.policy.checks, &survey.checks);
            run.asked = Some(Asked { request: *request, survey, policy, wording });
        }
        Event::RunAccepted { decision } => run.admitted = Some(decision),
        Event::RunRefused { decision } => drop(run.stops.insert(Stop::Refused, decision)),
        Event::RequestAdvised { attempt, questions, decision } => {
            let commit = run.on_branch.head.clone();
            let finished = TaskStatus::Finished { commit };
            change(run, &attempt.task, |task_state| task_state.stage = finished);
            run.reviews.advice = (!questions.is_empty()).then_some((questions, decision));
        }
        Event::SpecWritten { spec, digest, .. } => {
            run.reviews.spec.get_or_insert((spec, digest));
        }
        Event::RunRouted { to, category, .. } => {
            run.side = category.map_or(Side::Product, Category::side);
            run.route = Some(to);
        }
        Event::RunCancelled { by, reason } => {
            let reason = format!("{by}: {reason}");
            let decision = Decision::new(RuleId::fixed("person.cancel"), reason);
            run.stops.insert(Stop::Cancelled, decision);
        }
        Event::RunFinished { status, decision } => {
            run.ended = Some(at);
            run.finished = Some(status);
            run.ended_by = (status != Status::Done).then_some(decision);
        }
        Event::ResultSettled { how, commit, by } => {
            run.settlement.get_or_insert(Settled { how, commit, by });
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
        Event::BudgetWarned { task: Some(task), wanted: Some(wanted), spent, decision, .. } => {
            let short = Some(Shortage { wanted, spent, what: decision.reason });
            change(run, &task, |task_state| {
                if let TaskStatus::Running(running) = &mut task_state.stage {
                    running.short = short;
                }
            });
        }
        Event::BudgetWarned { task: Some(task), wanted: None, .. } => {
            change(run, &task, |task_state| task_state.warned = true);
        }
        Event::BudgetExhausted { decision } => {
            run.budget_state.asked = None;
            run.stops.insert(Stop::Exhausted, decision);
        }
        Event::BudgetRaised { task: Some(task), share: Some(share), .. } => {
            answers::shared_out(run, &task, share);
        }
        Event::BudgetRaised { add, task, .. } => answers::raised(run, add, task),
        Event::GatePassed { phase, decision, card } => judged(run, phase, true, decision, card),
        Event::GateBlocked { phase, decision, card } => judged(run, phase, false, decision, card),
        Event::QuestionAsked { text, decision, attempt, terms, question, .. } => {
            let (rule, from, room) = (decision.rule, attempt, run.headroom(at));
            let asked = Question { text, rule, from, terms, asked: at, room, answer: None };
            answers::asked(run, question, asked);
        }
        Event::QuestionAnswered { question, by, text, choice, feedback, halts } => {
            let answer = Answered { said: Answer { by, text }, choice, at };
            answers::answered(run, question, answer, feedback);
            if let Some(decision) = halts {
                run.stops.insert(Stop::Halted, *decision);
            }
        }
        Event::AttemptStarted { attempt, role, start, scope, budget, feedback, model } => {
            let running = Running {
                role,
                model,
                start,
                scope,
                budget,
                feedback,
                asked: 0,
                answers: vec![],
                short: None,
            };
            start_attempt(run, &attempt, running);
        }
        Event::AttemptFinished { attempt, result, spent, usage, denied, .. } => {
            run.usage = run.usage.plus(usage);
            run.reviews.warn(&run.policy, &attempt, &denied);
            if run.policy.review.is_some() && !denied.is_empty() {
                run.reviews.denied.insert(attempt.clone(), denied);
            }
            finish_attempt(run, &attempt, result, spent, at);
        }
        Event::CheckStarted { check, what, commit, limit_ms, decision } => {
            let (limit, again) = (limit_ms, decision.is_some());
            start_check(run, &check, CheckState { what, commit, limit, again, end: None });
        }
        Event::CheckFinished { check, end } => finish_check(run, &check, &end),
        Event::MergeStarted { task, commit, onto } => {
            change(run, &task, |task_state| {
                task_state.stage = TaskStatus::Merging { commit, onto, since: at }
            });
        }
        Event::MergeFinished { task, end, fault } => finish_merge(run, &task, end, fault),
        Event::RetryScheduled { task, at, start, feedback, role, model, .. } => {
            let released = false;
            retry(run, &task, TaskStatus::Retrying { at, start, feedback, role, model, released });
        }
        Event::RetryReleased { task } => change(run, &task, |task_state| {
            if let TaskStatus::Retrying { released, .. } = &mut task_state.stage {
                *released = true;
            }
        }),
        Event::TaskVerified { attempt, commit, evidence, decision, set_aside } => {
            let dropped = decision.rule.as_str() == types::DROPPED_CHECK;
            let in_doubt = dropped || decision.rule.as_str() == types::ACCEPTED_IN_DOUBT;
            set_checks_aside(run, &attempt.task, set_aside, dropped);
            let before = run.before_dispute(&attempt.task, &commit);
            change(run, &attempt.task, |task_state| {
                task_state.stage = TaskStatus::Verified { commit };
                task_state.evidence = evidence;
                task_state.accepted = in_doubt.then_some(decision.reason);
                task_state.last = before.or(task_state.last.take());
            });
        }
        Event::TaskRejected { attempt, fault } => {
            let commit = run.task_state(&attempt.task).and_then(handed_in);
            take_off(run, &attempt.task);
            reject(run, &attempt.task, fault, commit);
        }
        Event::TaskReviewed { attempt, review, passed, report, .. } => {
            run.reviews.reviewed.insert(attempt, Reviewed { passed, report });
            // The review's own state is free for the next attempt at the task.
            change(run, &review.task, |task_state| {
                task_state.stage = TaskStatus::Waiting;
                task_state.faults.clear();
            });
        }
        Event::TaskFinished { task, commit } => finish_task(run, &task, commit),
        Event::TaskFailed { task, fault, decision, halts } => {
            if halts {
                run.stops.insert(Stop::Halted, halt(&fault, decision));
            }
            fail_task(run, &task, fault);
        }
        Event::TaskSkipped { task, .. } => {
            change(run, &task, |task_state| {
                task_state.waived = matches!(task_state.stage, TaskStatus::Escalated { .. });
                task_state.stage = TaskStatus::Skipped;
            });
            release(run, &task);
        }
        // These occur only in the logs of attempts.
        Event::SessionStarted { .. }
        | Event::SessionTold { .. }
        | Event::SessionChanged { .. }
        | Event::SessionWarned { .. }
        | Event::SessionPaused { .. }
        | Event::SessionCompacted { .. }
        | Event::SessionEnded { .. }
        | Event::ModelAsked { .. }
        | Event::ModelReplied { .. }
        | Event::ModelFailed { .. }
        | Event::ToolStarted { .. }
        | Event::ToolRefused { .. }
        | Event::ToolFinished { .. }
        | Event::ToolLost { .. }
        | Event::WorkspaceRestored { .. }
        | Event::AttemptSealed { .. }
        | Event::SealFailed { .. } => {}
    }
}

fn judged(run: &mut Run, phase: Phase, go: bool, decision: Decision, card: Option<Box<Scorecard>>) {
    let card = card.map(|card| *card);
    run.gates.push(GateView { phase, go, decision, card, reopened: false });
}

fn start_attempt(run: &mut Run, attempt: &AttemptId, running: Running) {
    run.attempts += 1;
    run.budget_state.granted.remove(&attempt.task);
    run.breakers.started(&running.role);
    run.ledger.hold(claim(running.budget));
    // Files of an earlier attempt keep the base of that attempt; tests are written on the base of their task.
    let tested = run.tested_task(&attempt.task);
    let base = match &tested {
        Some(task) => run.task_state(task).and_then(|task_state| task_state.base.clone()),
        None => (running.start == run.on_branch.head).then(|| running.start.clone()),
    };
    if let Some(task) = tested {
        let others = |one: &TrialState| one.trial.is_of_others();
        change(run, &task, |task_state| task_state.trials.retain(|one| !others(one)));
    }
    change(run, &attempt.task, |task_state| {
        task_state.attempts = attempt.n;
        task_state.checks.clear();
        task_state.proofs.clear();
        task_state.trials.clear();
        task_state.evidence = None;
        task_state.accepted = None;
        task_state.base = base.or(task_state.base.take());
        task_state.share = running.budget;
        task_state.stage = TaskStatus::Running(Box::new(running));
    });
}

fn retry(run: &mut Run, task: &TaskId, retrying: TaskStatus) {
    run.budget_state.granted.remove(task);
    // An attempt that is only postponed is not another one.
    run.keep_disputed(task);
    let stage = run.stage(task);
    if !matches!(stage, None | Some(TaskStatus::Waiting | TaskStatus::Retrying { .. })) {
        run.retries += 1;
    }
    change(run, task, |task_state| task_state.stage = retrying);
}

fn finish_task(run: &mut Run, task: &TaskId, commit: CommitId) {
    change(run, task, |task_state| {
        task_state.stage = TaskStatus::Finished { commit };
        // The changes of an unproven task are kept: they may still be proven.
        if !task_state.is_unproven() {
            task_state.last = None;
        }
    });
    release(run, task);
}

fn fail_task(run: &mut Run, task: &TaskId, fault: Fault) {
    run.budget_state.close_for(task);
    change(run, task, |task_state| {
        if task_state.faults.last() != Some(&fault) {
            task_state.faults.push(fault);
        }
        task_state.stage = TaskStatus::Failed;
    });
    release(run, task);
}

/// The commit that a task's attempt left, if it left one.
fn handed_in(task_state: &TaskState) -> Option<CommitId> {
    match &task_state.stage {
        TaskStatus::Submitted { commit, .. }
        | TaskStatus::Checking { commit }
        | TaskStatus::Landed { commit, .. }
        | TaskStatus::Merging { commit, .. } => Some(commit.clone()),
        TaskStatus::Rejected { commit, .. } => commit.clone(),
        _ => None,
    }
}

/// The decision to end a run because of a failure, with that failure as its reason, unless a person took it.
fn halt(fault: &Fault, decision: Decision) -> Decision {
    if decision.rule.as_str().starts_with("person.") {
        return decision;
    }
    Decision { reason: fault.cause(), ..decision }
}

fn adopt(run: &mut Run, plan: Plan) {
    run.dag = dag::shape(&plan.tasks);
    // A plan with a cycle is never adopted; a forged log with one is folded to a run that cannot start.
    run.order = dag::order(&run.dag).unwrap_or_default();
    dag::keep_apart(&mut run.dag, &plan.tasks, &run.order);
    run.places = dag::places(&plan.tasks);
    run.check_results.final_checks = all_checks(&run.all_project_checks(), &plan.tasks);
    let waiting = |count: &usize| TaskState { waits_for: *count, ..TaskState::default() };
    run.task_states = run.dag.waits_for.iter().map(waiting).collect();
    let free =
        plan.tasks.iter().zip(0..).filter(|(_, place)| run.task_states[*place].waits_for == 0);
    run.ready = free.map(|(task, place)| (task.priority, place)).collect();
    run.planning.stage = TaskStatus::Finished { commit: run.on_branch.head.clone() };
    run.plan = Some(plan);
}

/// A task is settled: its dependants have one thing less to wait for.
fn release(run: &mut Run, task: &TaskId) {
    let Some(place) = run.places.get(task).copied() else { return };
    let finished = run.task_states.get(place).is_some_and(TaskState::is_finished);
    let followers = run.dag.followers.get(place).cloned().unwrap_or_default();
    let dependants = run.dag.dependants.get(place).cloned().unwrap_or_default();
    run.done += 1;
    run.unreachable.remove(&place);
    if !finished {
        let waiting = |place: &usize| matches!(run.task_states[*place].stage, TaskStatus::Waiting);
        run.unreachable.extend(dependants.iter().copied().filter(waiting));
    }
    // Those that needed the result of a task that failed stay where they are until they are skipped.
    let freed = followers.into_iter().chain(dependants.into_iter().filter(|_| finished));
    for waiter in freed {
        let Some(task_state) = run.task_states.get_mut(waiter) else { continue };
        task_state.waits_for = task_state.waits_for.saturating_sub(1);
        if task_state.waits_for == 0 && matches!(task_state.stage, TaskStatus::Waiting) {
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
    let running = match run.stage(&attempt.task) {
        Some(TaskStatus::Running(running)) => Some((**running).clone()),
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
                task_state.stage = TaskStatus::Submitted { commit, changes, submission, findings };
            });
        }
        AttemptResult::Failed { fault, commit } => reject(run, &attempt.task, fault, commit),
        AttemptResult::Cancelled => {
            change(run, &attempt.task, |task_state| task_state.stage = TaskStatus::Skipped);
            release(run, &attempt.task);
        }
    }
}
