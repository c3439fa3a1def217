//! Time limits of checks. On the untouched tree a check may take as long as the policy allows, later a multiple of what
//! it took. One that reaches its limit says nothing about the work: it runs once more with twice the time, and then a
//! person decides. A limit that a check names itself is only changed by a person.

use types::{Check, CheckId, CommitId, Decision, Event, Fault, Millis, RuleId, Subject, TIMED_OUT};

use crate::state::{CheckState, Run};

/// Starts a check with its limit.
pub(crate) fn start(run: &Run, check: CheckId, what: &Check, commit: CommitId) -> Event {
    let limit_ms = limit(run, &check.on, what);
    Event::CheckStarted { check, what: what.clone(), commit, limit_ms, decision: None }
}

/// The limit of a check; `None` if the policy has one for all.
fn limit(run: &Run, on: &Subject, what: &Check) -> Option<Millis> {
    let limits = &run.policy().limits;
    let factor = u64::from(limits.check_timeout_factor);
    if factor == 0 {
        return None;
    }
    let most = most(run, what);
    let times = run.check_results().times(&what.command);
    let took = times.took.filter(|_| what.timeout_ms.is_none() && *on != Subject::Base);
    let multiple = |took: Millis| Millis(took.0.saturating_mul(factor));
    let learnt =
        took.map_or(most, |took| multiple(took).max(limits.check_timeout_least_ms).min(most));
    Some(times.granted.map_or(learnt, |granted| granted.max(learnt)))
}

/// The longest limit by rule.
fn most(run: &Run, what: &Check) -> Millis {
    what.timeout_ms.unwrap_or(run.policy().limits.check_timeout_ms)
}

/// The checks that reached their limit, except those that a person dropped.
pub(crate) fn late<'a>(
    run: &'a Run,
    checks: &'a [CheckState],
) -> impl Iterator<Item = (u32, &'a CheckState)> {
    let late = |check: &CheckState| check.end.as_ref().is_some_and(|end| run.timed_out(end));
    let counts =
        move |check: &CheckState| late(check) && !run.check_results().is_dropped(&check.what);
    (0_u32..).zip(checks).filter(move |(_, check)| counts(check))
}

/// Runs the first check that reached its limit again, if it may take longer.
pub(crate) fn again(run: &Run, on: &Subject, checks: &[CheckState]) -> Option<Event> {
    late(run, checks).find_map(|(index, before)| {
        let limit = before.limit?;
        let granted = run.check_results().times(&before.what.command).granted;
        let (limit, rule, why) = match granted.filter(|granted| *granted > limit) {
            Some(granted) => (granted, "person.longer_limit", "a person lets it take longer"),
            None => {
                let longer = before.longer().min(most(run, &before.what));
                let once = !before.again && *on != Subject::Base && longer > limit;
                let why = "a check that times out says nothing about the work";
                once.then_some((longer, "verify.longer_limit", why))?
            }
        };
        let decision = Decision::new(RuleId::fixed(rule), why).seeing(says(run, before));
        let (what, commit) = (before.what.clone(), before.commit.clone());
        let (limit_ms, decision) = (Some(limit), Some(Box::new(decision)));
        let check = CheckId { on: on.clone(), index };
        Some(Event::CheckStarted { check, what, commit, limit_ms, decision })
    })
}

/// The fault of a result that could not be verified in time. It is no fault of the attempt, and only a person may pass
/// it on.
pub(crate) fn fault(run: &Run, late: &[&CheckState]) -> Fault {
    let what: Vec<String> = late.iter().map(|check| says(run, check)).collect();
    Fault::structural(TIMED_OUT, what.join("; "))
}

/// How long a check ran until it was ended, compared with the untouched tree.
pub(crate) fn says(run: &Run, check: &CheckState) -> String {
    let end = check.end.as_ref().map(|end| end.elapsed_ms);
    let limit = check.limit.or(end).unwrap_or_default();
    let took = run.check_results().on_the_base(&check.what.command);
    let before = took.map(|took| match limit.0.checked_div(took.0) {
        Some(times @ 2..) => {
            format!(", more than {times} times the {took} that it took on the untouched tree")
        }
        _ => format!("; on the untouched tree it took {took}"),
    });
    format!("{} did not end within {limit}{}", check.what.name, before.unwrap_or_default())
}

#[cfg(test)]
mod tests;
