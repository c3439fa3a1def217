//! Possible inputs behind a line of a run's log, derived from the line and the state before it. Deciding again
//! identifies the actual one; nothing is decided here.

use types::{
    Asking, AttemptEnd, AttemptId, Begin, Command, EffectId, Event, FaultClass, Input, Outcome,
    Settled, Shortage, TimerId,
};

use rules::ledger::Ledger;

use crate::Machine as _;
use crate::machine::Recorded;
use crate::state::{Run, TaskStatus};

impl Recorded for Run {
    fn causes(&self, event: &Event) -> Vec<Input> {
        match event {
            Event::RunRequested { request, survey, policy, price, .. } => {
                vec![Input::Begin(Box::new(Begin {
                    run: self.id().clone(),
                    request: (**request).clone(),
                    survey: survey.clone(),
                    policy: *policy,
                    price: *price,
                }))]
            }
            Event::RunCancelled { by, reason } => {
                let (by, reason) = (by.clone(), reason.clone());
                vec![Input::Command(Command::Cancel { by, reason })]
            }
            Event::QuestionAnswered { question, by, text, .. } => {
                let (question, by, text) = (*question, by.clone(), text.clone());
                vec![Input::Command(Command::Answer { by, question, text })]
            }
            Event::BudgetRaised { by, add, share: None, .. } => {
                let mut raised = Ledger::new(self.ledger().budget());
                raised.raise(*add);
                let (by, budget) = (by.clone(), raised.budget());
                vec![Input::Command(Command::Raise { by, budget })]
            }
            Event::ResultSettled { how, commit, by } => {
                let settled = Settled { how: *how, commit: commit.clone(), by: by.clone() };
                vec![Input::Command(Command::Settle { settled })]
            }
            _ => outcome(self, event),
        }
    }
}

fn outcome(run: &Run, event: &Event) -> Vec<Input> {
    let came = |effect, outcome| vec![Input::Outcome(effect, outcome)];
    match event {
        Event::SandboxProbed { proof, .. } => came(EffectId::Probe, Outcome::Probed(proof.clone())),
        Event::AttemptFinished { attempt, result, spent, usage, turns, log_head, denied } => {
            let end = AttemptEnd {
                result: result.clone(),
                spent: *spent,
                usage: *usage,
                turns: *turns,
                log_head: *log_head,
                denied: denied.clone(),
            };
            came(EffectId::Attempt(attempt.clone()), Outcome::Attempt(Box::new(end)))
        }
        Event::QuestionAsked { attempt: Some(attempt), text, decision, terms, .. } => {
            let mut terms = terms.clone();
            if let Some(terms) = &mut terms {
                // The run decides the expiry.
                terms.expires = None;
            }
            let asking = Asking {
                question: asked(run, attempt),
                text: text.clone(),
                decision: decision.clone(),
                files: vec![],
                terms,
            };
            came(EffectId::Attempt(attempt.clone()), Outcome::Asked(Box::new(asking)))
        }
        Event::BudgetWarned { spent, decision, task: Some(task), wanted: Some(wanted), .. } => {
            let n = run.task_state(task).map_or(0, |task_state| task_state.attempts);
            let what = decision.reason.clone();
            let short = Shortage { wanted: *wanted, spent: *spent, what };
            let attempt = AttemptId::new(task.clone(), n);
            came(EffectId::Attempt(attempt), Outcome::Short(Box::new(short)))
        }
        Event::CheckFinished { check, end } => {
            came(EffectId::Check(check.clone()), Outcome::Check(Box::new(end.clone())))
        }
        Event::MergeFinished { task, end, .. } => {
            came(EffectId::Merge(task.clone()), Outcome::Merge(end.clone()))
        }
        Event::TaskRejected { fault, .. } if fault.class == FaultClass::Safety => {
            // One of the running checks could not run safely.
            let open = run.pending(&crate::InFlight::new()).into_iter().map(|effect| effect.id());
            let checks = open.filter(|effect| matches!(effect, EffectId::Check(_)));
            let broke = |effect| Input::Outcome(effect, Outcome::Broke(fault.clone()));
            checks.map(broke).collect()
        }
        Event::RetryReleased { task } => {
            came(EffectId::Timer(TimerId::Retry(task.clone())), Outcome::Fired)
        }
        _ => vec![],
    }
}

/// The number of the attempt's next question.
fn asked(run: &Run, attempt: &AttemptId) -> u32 {
    match run.stage(&attempt.task) {
        Some(TaskStatus::Running(running)) => running.asked,
        _ => 0,
    }
}
