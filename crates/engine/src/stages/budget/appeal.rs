//! Exhausted budgets: by policy the run ends in an orderly way, or asks a person for more while the work waits. At most
//! one such question is open.

use types::{
    About, AttemptId, Budget, Choice, Decision, Escalation, Event, Fault, FaultClass, Millis,
    OnExhausted, RuleId, Severity, Spend, TaskId, Terms, Timestamp,
};

use super::tree::{NO_ROOM, lack, least, part};
use crate::Run;
use crate::stages::question;
use crate::state::TaskStatus;
use rules::ledger::CALL;
use types::choices::STOP;

/// The run's time is up.
pub(crate) const TIME: &str = "budget.time";
/// The rule that asks a person.
pub(crate) const ASK: &str = "budget.ask_for_more";

/// The answer that continues the work.
const RAISE: &str = "raise";

/// The consequence of an answer, or for the next task that cannot pay for its call.
pub(super) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if let Some(appeal) = &run.budget_state().asked {
        let question = run.questions().get(appeal.question as usize);
        let answer = question.and_then(|question| Some((question, question.answer.as_ref()?)));
        let Some((question, answer)) = answer else { return vec![] };
        let by = answer.said.by.clone();
        if answer.choice.as_deref() != Some(RAISE) {
            return stopped(run, appeal.task.as_ref(), &by);
        }
        let named = question.words().and_then(|words| types::amount_in(&words));
        let add = named.unwrap_or(appeal.add);
        return vec![raised(by, add, appeal.task.clone())];
    }
    if !may_ask(run) {
        return vec![];
    }
    let broke = run.busy().find_map(|(task, task_state)| match &task_state.stage {
        TaskStatus::Rejected { fault, commit }
            if fault.code == CALL && run.tested_task(&task).is_none() =>
        {
            Some((task, fault, commit))
        }
        _ => None,
    });
    let Some((task, fault, commit)) = broke else { return vec![] };
    if run.budget_state().granted.contains(&task) {
        let reason = format!("the budget was raised, so {task} continues from its files");
        return vec![Event::RetryScheduled {
            task,
            at: now,
            left: 1,
            start: commit.clone(),
            feedback: Some(format!(
                "It ran out of budget ({}). There is more now; go on.",
                fault.what
            )),
            role: None,
            model: None,
            decision: Decision::new(RuleId::fixed("budget.raised"), reason),
        }];
    }
    let decision = Decision::new(RuleId::fixed(CALL), fault.what.clone());
    vec![exhausted(run, Some(&task), decision, now)]
}

/// Raises limits of the run to these totals, which answers a question about the budget.
pub(crate) fn raised_to(run: &Run, by: &str, to: Budget) -> Vec<Event> {
    fn above<T: Ord>(to: Option<T>, now: Option<T>, less: impl Fn(T, T) -> T) -> Option<T> {
        to.zip(now).filter(|(to, now)| to > now).map(|(to, now)| less(to, now))
    }
    let now = run.ledger().budget();
    let to = rules::ledger::raised(now, to);
    let add = Budget {
        tokens: above(to.tokens, now.tokens, |to, now| to - now),
        money: above(to.money, now.money, types::Money::less),
        calls: above(to.calls, now.calls, |to, now| to - now),
        time_ms: above(to.time_ms, now.time_ms, |to, now| Millis(to.0 - now.0)),
    };
    if add == Budget::default() {
        return vec![];
    }
    let asked = run.budget_state().asked.as_ref();
    let task = asked.and_then(|appeal| appeal.task.clone());
    let answered = asked.map(|appeal| Event::QuestionAnswered {
        question: appeal.question,
        by: by.to_owned(),
        text: RAISE.to_owned(),
        choice: Some(RAISE.to_owned()),
        feedback: None,
        halts: None,
    });
    std::iter::once(raised(by.to_owned(), add, task)).chain(answered).collect()
}

/// Answers the question about the budget if the work was finished without any more of it.
pub(crate) fn closed(run: &Run) -> Option<Event> {
    let asked = run.budget_state().asked.as_ref().filter(|_| !run.winds_down())?;
    run.questions().get(asked.question as usize).filter(|question| question.is_open())?;
    Some(Event::QuestionAnswered {
        question: asked.question,
        by: types::Answer::POLICY.to_owned(),
        text: "the work has ended without it".to_owned(),
        choice: None,
        feedback: None,
        halts: None,
    })
}

fn raised(by: String, add: Budget, task: Option<TaskId>) -> Event {
    let reason = format!("{by} granted {}", shown(add));
    let decision = Decision::new(RuleId::fixed("budget.raised"), reason);
    Event::BudgetRaised { by, add, task, share: None, decision }
}

/// Whether a fault waits for an answer about the budget.
pub(crate) fn is_ours(run: &Run, fault: &Fault) -> bool {
    may_ask(run) && fault.code == CALL
}

fn may_ask(run: &Run) -> bool {
    // Without anybody to answer, the run waits with everything in place.
    run.policy().budget.on_exhausted == OnExhausted::Ask
        && (!run.policy().headless || run.budget_state().waits)
}

/// Whether the run's time is up; not while it only waits for a person.
pub(super) fn is_out_of_time(run: &Run, now: Timestamp) -> bool {
    run.deadline().is_some_and(|deadline| now >= deadline)
}

/// The decision that the run's time is up.
pub(crate) fn out_of_time(run: &Run) -> Decision {
    let time = run.ledger().budget().time_ms.unwrap_or_default();
    Decision::new(RuleId::fixed(TIME), format!("the run's time limit of {time} is reached"))
}

/// Ends the run, or asks for more. `task` is the one that cannot continue; `None` when time is up.
pub(crate) fn exhausted(
    run: &Run,
    task: Option<&TaskId>,
    decision: Decision,
    now: Timestamp,
) -> Event {
    if !may_ask(run) {
        return Event::BudgetExhausted { decision };
    }
    let add = offer(run, task);
    let what =
        task.map_or_else(|| "The run".to_owned(), |task| stopped_tasks(run, task, &decision));
    let text = format!("{what} cannot continue: {}. Raise the budget?", decision.reason);
    let choices = vec![
        raise(task, add, run.ledger().budget()),
        Choice::new(STOP, "stop without raising the budget; merged results are kept"),
    ];
    let escalation = Escalation::ResourceExhaustion;
    let terms = Terms::escalation(escalation, Severity::High, About::Budget, choices, STOP);
    let asks = Decision::new(RuleId::fixed(ASK), decision.reason);
    let asks = asks.seeing(decision.rule.to_string());
    let attempt = task.map(|task| AttemptId::new(task.clone(), stuck(run, task)));
    question::ask(run, (text, asks), attempt, Some(terms), now)
}

/// The answer that continues, with the amounts that can be added to these limits. Other amounts are no time.
fn raise(task: Option<&TaskId>, add: Budget, limits: Budget) -> Choice {
    let amounts = match (limits.tokens, limits.money) {
        _ if task.is_none() => "",
        (Some(_), Some(_)) => "; `raise N` adds N tokens, `raise $N` dollars",
        (Some(_), None) => "; `raise N` adds N tokens",
        (None, Some(_)) => "; `raise $N` adds N dollars",
        (None, None) => "",
    };
    let choice = Choice::new(RAISE, &format!("continue with {}{amounts}", shown(add)));
    if amounts.is_empty() { choice } else { choice.with_words() }
}

/// The tasks that cannot continue: by the run's limit, all that wait.
fn stopped_tasks(run: &Run, task: &TaskId, decision: &Decision) -> String {
    let mut waiting: Vec<String> = run.waiting().map(|(task, ..)| task.to_string()).collect();
    let all = decision.rule.as_str() == NO_ROOM && waiting.contains(&task.to_string());
    match waiting.pop().filter(|_| all) {
        Some(last) if !waiting.is_empty() => format!("{} and {last}", waiting.join(", ")),
        _ => task.to_string(),
    }
}

/// The number of the attempt that cannot continue or start.
fn stuck(run: &Run, task: &TaskId) -> u32 {
    run.task_state(task).map_or(1, |task_state| {
        let stage = &task_state.stage;
        let now = matches!(stage, TaskStatus::Rejected { .. } | TaskStatus::Running(_));
        let next = u32::from(!now);
        task_state.attempts.saturating_add(next)
    })
}

/// Ends the task alone, or asks: the share of its task or phase is exhausted.
pub(crate) fn unpaid_task(run: &Run, task: &TaskId, decision: Decision, now: Timestamp) -> Event {
    if may_ask(run) {
        return exhausted(run, Some(task), decision, now);
    }
    let fault = unpaid(NO_ROOM, decision.reason.clone());
    Event::TaskFailed { task: task.clone(), fault, decision, halts: false }
}

/// The amount that a person is asked to add: part of the run's budget if the run is short; otherwise only the
/// permission for the task to use the run's budget.
pub(crate) fn offer(run: &Run, task: Option<&TaskId>) -> Budget {
    let (budget, percent) = (run.ledger().budget(), run.policy().budget.raise_percent.max(1));
    match task {
        None => {
            let more = |time: Millis| Millis(time.0.saturating_mul(percent).div_ceil(100).max(1));
            Budget { time_ms: budget.time_ms.map(more), ..Budget::default() }
        }
        Some(task) if is_short(run, task) => {
            let offer = part(budget, percent);
            lack(run, task).map_or(offer, |lack| at_least(offer, lack))
        }
        Some(_) => Budget::default(),
    }
}

/// An offer with which the next call can be made, of what is lacking alone.
fn at_least(offer: Budget, lack: Spend) -> Budget {
    let more = |offer: Option<u64>, lack: u64| offer.filter(|_| lack > 0).map(|all| all.max(lack));
    Budget {
        tokens: more(offer.tokens, lack.tokens),
        money: offer
            .money
            .filter(|_| lack.money > types::Money::ZERO)
            .map(|money| money.max(lack.money)),
        calls: more(offer.calls, lack.calls),
        ..offer
    }
}

/// Whether the run has less than the task's last attempt was given, or than any attempt needs. A task freed of its
/// limits had everything, so the run is short.
fn is_short(run: &Run, task: &TaskId) -> bool {
    if let Some(lack) = lack(run, task) {
        return lack != Spend::default();
    }
    if run.budget_state().lifted.contains(task) {
        return true;
    }
    let free = run.free();
    let share = run.task_state(task).map(|task_state| task_state.share).unwrap_or_default();
    let role = match run.planned(task) {
        Some(task) => Some(&task.role),
        None => run.route(),
    };
    let least = role.and_then(|role| run.policy().roles.get(role)).map_or(1, least);
    free.tokens.is_some_and(|left| left < share.tokens.unwrap_or(0).max(least))
        || free.calls.is_some_and(|left| left < share.calls.unwrap_or(0).max(1))
        || free.money.is_some_and(|left| {
            left == types::Money::ZERO || left < share.money.unwrap_or_default()
        })
}

/// The person declined: the run ends, unless only the task's share was at stake.
fn stopped(run: &Run, task: Option<&TaskId>, by: &str) -> Vec<Event> {
    let reason = format!("{by} did not raise the budget");
    match task {
        None => {
            vec![Event::BudgetExhausted { decision: Decision::new(RuleId::fixed(TIME), reason) }]
        }
        // An attempt in progress ends with the run.
        Some(task) if is_short(run, task) || lack(run, task).is_some() => {
            let decision = Decision::new(RuleId::fixed("budget.not_raised"), reason);
            vec![Event::BudgetExhausted { decision }]
        }
        Some(task) => {
            let fault = match run.stage(task) {
                Some(TaskStatus::Rejected { fault, .. }) => fault.clone(),
                _ => unpaid("budget.not_raised", reason.clone()),
            };
            let decision = Decision::new(RuleId::fixed("budget.not_raised"), reason);
            vec![Event::TaskFailed { task: task.clone(), fault, decision, halts: false }]
        }
    }
}

fn shown(add: Budget) -> String {
    let parts: Vec<String> = [
        add.tokens.map(|tokens| types::count(tokens, "more token")),
        add.money.map(|money| format!("${money} more")),
        add.calls.map(|calls| types::count(calls, "more call")),
        add.time_ms.map(|time| format!("{time} more")),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { "the rest of the run's budget".to_owned() } else { parts.join(", ") }
}

/// The fault of a task that cannot be paid for.
pub(super) fn unpaid(code: &'static str, what: impl Into<String>) -> Fault {
    Fault::new(FaultClass::Resource, code, what)
}
