//! Decisions of a run. Inputs from outside are recorded; for due work the stages are called in the order of `STAGES`, and
//! the first with an answer wins.

use types::{
    Asking, AttemptEnd, AttemptId, AttemptResult, CheckEnd, CheckId, Command, Digest, Effect,
    EffectId, Ended, Event, Fault, FaultClass, Input, MergeEnd, Millis, Outcome, Proof, Settled,
    Shown, Spend, Subject, TaskId, TimerId, Timestamp, Usage, Wording,
};

use super::pending;
use crate::Machine as _;
use crate::stages::{
    advice, baseline, budget, context, failure, gate, intake, intent, isolation, merge, plan,
    question, report, review, route, schedule, tester, verify,
};
use crate::state::{Run, TaskStatus};

type StageFn = fn(&Run, Timestamp) -> Vec<Event>;

/// All stages, in order.
const STAGES: [StageFn; 18] = [
    question::due,
    intake::due,
    route::due,
    context::due,
    isolation::due,
    advice::due,
    baseline::due,
    intent::due,
    plan::due,
    budget::due,
    tester::due,
    failure::due,
    review::due,
    verify::due,
    merge::due,
    gate::due,
    schedule::due,
    report_due,
];

pub(super) fn decide(run: &Run, input: &Input, now: Timestamp) -> Vec<Event> {
    if run.is_over() {
        return settled(run, input);
    }
    match input {
        Input::Woke { .. } | Input::Due => due(run, now),
        Input::Begin(begin) if run.asked().is_none() => vec![Event::RunRequested {
            request: Box::new(begin.request.clone()),
            survey: begin.survey.clone(),
            policy: begin.policy,
            price: begin.price,
            wording: Wording::CURRENT,
        }],
        Input::Command(command) if run.asked().is_some() => command_given(run, command),
        Input::Outcome(effect, outcome) if run.awaits(effect) => {
            outcome_of(run, effect, outcome, now)
        }
        Input::Begin(_) | Input::Brief(_) | Input::Command(_) | Input::Outcome(..) => vec![],
    }
}

fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    if run.asked().is_none() {
        return vec![];
    }
    if run.winds_down() {
        // Merged results stay merged, however the run ends.
        let landed = merge::landed(run);
        return if landed.is_empty() { report_due(run, now) } else { landed };
    }
    STAGES.iter().map(|stage| stage(run, now)).find(|events| !events.is_empty()).unwrap_or_default()
}

/// After the end of a run only one event can follow: the settlement of its result.
fn settled(run: &Run, input: &Input) -> Vec<Event> {
    match input {
        Input::Command(Command::Settle { settled }) if run.settlement().is_none() => {
            let Settled { how, commit, by } = settled.clone();
            vec![Event::ResultSettled { how, commit, by }]
        }
        _ => vec![],
    }
}

fn command_given(run: &Run, command: &Command) -> Vec<Event> {
    match command {
        Command::Cancel { by, reason } if !run.winds_down() => {
            vec![Event::RunCancelled { by: by.clone(), reason: reason.clone() }]
        }
        Command::Answer { by, question, text } => question::answered(run, *question, by, text),
        Command::Raise { by, budget } if !run.winds_down() => budget::raised_to(run, by, *budget),
        // The other commands are for conversations.
        _ => vec![],
    }
}

fn outcome_of(run: &Run, effect: &EffectId, outcome: &Outcome, now: Timestamp) -> Vec<Event> {
    match (effect, outcome) {
        (EffectId::Probe, Outcome::Probed(proof)) => {
            vec![rules::isolation::judged(run.policy(), proof.clone())]
        }
        (EffectId::Probe, Outcome::Broke(fault)) => {
            vec![rules::isolation::judged(run.policy(), Proof::nothing(fault.what.as_str()))]
        }
        (EffectId::Attempt(attempt), Outcome::Attempt(end)) => vec![finished(attempt, end)],
        (EffectId::Attempt(attempt), Outcome::Asked(asking)) => asked(run, attempt, asking, now),
        (EffectId::Attempt(attempt), Outcome::Short(short)) => budget::short(run, attempt, short),
        (EffectId::Attempt(attempt), Outcome::Broke(fault)) => {
            vec![finished(attempt, &broken(fault))]
        }
        (EffectId::Check(check), Outcome::Check(end)) => {
            vec![Event::CheckFinished { check: check.clone(), end: (**end).clone() }]
        }
        (EffectId::Check(CheckId { on, .. }), Outcome::Broke(fault))
            if fault.class == FaultClass::Safety && tried(on).is_some() =>
        {
            // The attempt's result is unknown and stays so: inspecting it is not safe.
            let attempt = tried(on).cloned().into_iter();
            attempt.map(|attempt| Event::TaskRejected { attempt, fault: fault.clone() }).collect()
        }
        (EffectId::Check(check), Outcome::Broke(fault)) => {
            let output =
                Shown { text: format!("the check could not be run: {fault}"), ..Shown::default() };
            let mut end = CheckEnd::new(Ended::Stopped, output, Millis::default());
            // On the untouched tree no attempt can be the cause.
            end.cannot_run = (check.on == Subject::Base).then(|| fault.what.clone());
            vec![Event::CheckFinished { check: check.clone(), end }]
        }
        (EffectId::Merge(task), Outcome::Merge(end)) => {
            vec![Event::MergeFinished { task: task.clone(), end: end.clone(), fault: None }]
        }
        (EffectId::Merge(task), Outcome::Broke(fault)) => {
            let end = MergeEnd::Failed { fault: fault.clone() };
            vec![Event::MergeFinished { task: task.clone(), end, fault: None }]
        }
        (EffectId::Timer(TimerId::Deadline), Outcome::Fired) => out_of_time(run, now),
        (EffectId::Timer(TimerId::Retry(task)), Outcome::Fired) => released(run, task, now),
        _ => vec![],
    }
}

/// The attempt that a check is about, if any.
fn tried(on: &Subject) -> Option<&AttemptId> {
    match on {
        Subject::Attempt(attempt) | Subject::Landed(attempt) | Subject::Trial { attempt, .. } => {
            Some(attempt)
        }
        Subject::Base | Subject::Without(_) | Subject::Merged | Subject::WithTests => None,
    }
}

/// Asks a person on behalf of an attempt, once.
fn asked(run: &Run, attempt: &AttemptId, asking: &Asking, now: Timestamp) -> Vec<Event> {
    let asked = match run.stage(&attempt.task) {
        Some(TaskStatus::Running(running)) if !run.winds_down() => running.asked,
        _ => return vec![],
    };
    if asking.question != asked {
        return vec![];
    }
    let said = (asking.text.clone(), asking.decision.clone());
    let terms = asking.terms.as_deref().cloned();
    vec![question::ask(run, said, Some(attempt.clone()), terms, now)]
}

fn finished(attempt: &AttemptId, end: &AttemptEnd) -> Event {
    Event::AttemptFinished {
        attempt: attempt.clone(),
        result: end.result.clone(),
        spent: end.spent,
        usage: end.usage,
        turns: end.turns,
        log_head: end.log_head,
        denied: end.denied.clone(),
    }
}

fn broken(fault: &Fault) -> AttemptEnd {
    AttemptEnd {
        result: AttemptResult::Failed { fault: fault.clone(), commit: None },
        spent: Spend::default(),
        usage: Usage::default(),
        turns: 0,
        log_head: Digest::ZERO,
        denied: vec![],
    }
}

fn released(run: &Run, task: &TaskId, now: Timestamp) -> Vec<Event> {
    match run.stage(task) {
        Some(TaskStatus::Retrying { at, .. }) if *at <= now => {
            vec![Event::RetryReleased { task: task.clone() }]
        }
        _ => vec![],
    }
}

fn out_of_time(run: &Run, now: Timestamp) -> Vec<Event> {
    if pending::deadline(run).is_none_or(|deadline| now < deadline) {
        return vec![];
    }
    vec![budget::exhausted(run, None, budget::out_of_time(run), now)]
}

/// Whether only the run's deadline can still happen by itself.
pub(super) fn only_the_deadline(run: &Run) -> bool {
    let deadline = |effect: &Effect| effect.id() == EffectId::Timer(TimerId::Deadline);
    run.pending(&crate::InFlight::new()).iter().all(deadline)
}

/// A run ends only when nothing is in progress.
fn report_due(run: &Run, now: Timestamp) -> Vec<Event> {
    let events = report::due(run, now);
    let quiet = || {
        let effects = run.pending(&crate::InFlight::new());
        effects.iter().all(|effect| matches!(effect, Effect::Wait { .. }))
    };
    if events.is_empty() || !quiet() {
        return vec![];
    }
    budget::closed(run).into_iter().chain(events).collect()
}
