//! The breaker of each role: after a number of consecutive infrastructure failures no attempt in that role starts for a
//! while; then one may try, and its result decides. Time is that of the events.

use std::collections::BTreeMap;

use types::{AttemptResult, FaultClass, RoleBreaker, RoleId, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Breakers(BTreeMap<RoleId, Breaker>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Breaker {
    /// Failures since the last success.
    failures: u32,
    /// While open: when the next start is allowed.
    until: Option<Timestamp>,
    /// The trial attempt is in progress.
    trial: bool,
}

/// Whether an attempt may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    Free,
    /// Not before this time.
    Until(Timestamp),
    /// Another attempt is the trial.
    Trial,
}

impl Breakers {
    pub(crate) fn hold(&self, role: &RoleId, now: Timestamp) -> Hold {
        match self.0.get(role) {
            Some(Breaker { trial: true, .. }) => Hold::Trial,
            Some(Breaker { until: Some(until), .. }) if now < *until => Hold::Until(*until),
            _ => Hold::Free,
        }
    }

    /// The consecutive failures of the role.
    pub(crate) fn failures(&self, role: &RoleId) -> u32 {
        self.0.get(role).map_or(0, |breaker| breaker.failures)
    }

    /// The given time, or the later one at which the role may be tried again.
    pub(crate) fn not_before(&self, role: &RoleId, at: Timestamp) -> Timestamp {
        self.0.get(role).and_then(|breaker| breaker.until).map_or(at, |until| until.max(at))
    }

    pub(super) fn started(&mut self, role: &RoleId) {
        if let Some(breaker) = self.0.get_mut(role).filter(|breaker| breaker.until.is_some()) {
            breaker.trial = true;
        }
    }

    pub(super) fn ended(
        &mut self,
        role: &RoleId,
        result: &AttemptResult,
        policy: RoleBreaker,
        at: Timestamp,
    ) {
        let breaker = self.0.entry(role.clone()).or_default();
        breaker.trial = false;
        match worked(result) {
            Some(true) => *breaker = Breaker::default(),
            Some(false) => {
                breaker.failures = breaker.failures.saturating_add(1);
                if policy.failures > 0 && breaker.failures >= policy.failures {
                    breaker.until = Some(at.after(policy.open_ms));
                }
            }
            None => {}
        }
    }
}

/// Whether the infrastructure worked; `None` if unknown.
fn worked(result: &AttemptResult) -> Option<bool> {
    let AttemptResult::Failed { fault, .. } = result else {
        return matches!(result, AttemptResult::Submitted { .. }).then_some(true);
    };
    match fault.class {
        FaultClass::Transient | FaultClass::Structural | FaultClass::Bug => Some(false),
        FaultClass::Semantic | FaultClass::CheckFailed | FaultClass::Conflict => Some(true),
        FaultClass::Resource | FaultClass::Safety | FaultClass::Person => None,
    }
}

#[cfg(test)]
mod tests {
    use types::{Changes, CommitId, Fault, Millis};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    struct Bench(Breakers, RoleId);

    impl Bench {
        fn new() -> Self {
            Self(Breakers::default(), RoleId::fixed("coder"))
        }

        fn fails(&mut self, seconds: i64) {
            let fault = Fault::structural("x.y", "it broke");
            self.ends(&AttemptResult::Failed { fault, commit: None }, seconds);
        }

        fn hands_in(&mut self, seconds: i64) {
            let (commit, changes) = (CommitId::default(), Changes::default());
            let submission = serde_json::Value::Null;
            let findings = types::Findings::default();
            self.ends(&AttemptResult::Submitted { commit, changes, submission, findings }, seconds);
        }

        fn ends(&mut self, result: &AttemptResult, seconds: i64) {
            let policy = RoleBreaker { failures: 5, open_ms: Millis::seconds(30) };
            self.0.started(&self.1);
            self.0.ended(&self.1, result, policy, at(seconds));
        }

        fn hold(&self, seconds: i64) -> Hold {
            self.0.hold(&self.1, at(seconds))
        }
    }

    /// P38: after five failures no attempt starts for 30 s, then one tries; success closes, failure opens again.
    #[test]
    fn five_failures_open_it_and_one_trial_decides() {
        let mut bench = Bench::new();
        (0..4).for_each(|second| bench.fails(second));
        assert_eq!(bench.hold(4), Hold::Free);
        bench.fails(4);
        assert_eq!(bench.hold(33), Hold::Until(at(34)));
        assert_eq!(bench.hold(34), Hold::Free);
        bench.0.started(&RoleId::fixed("coder"));
        assert_eq!(bench.hold(35), Hold::Trial);
        bench.fails(36);
        assert_eq!(bench.hold(65), Hold::Until(at(66)), "a failed trial opens it again");
        bench.hands_in(70);
        assert_eq!((bench.hold(70), bench.0.failures(&bench.1)), (Hold::Free, 0));
        (71..75).for_each(|second| bench.fails(second));
        assert_eq!(bench.hold(75), Hold::Free, "it counts from zero again");
    }

    /// P39: only consecutive failures count.
    #[test]
    fn a_success_sets_the_count_back() {
        let mut bench = Bench::new();
        for second in 0..20 {
            if second % 5 == 4 { bench.hands_in(second) } else { bench.fails(second) }
        }
        assert_eq!(bench.hold(20), Hold::Free);
    }

    #[test]
    fn each_role_has_its_own() {
        let mut bench = Bench::new();
        (0..5).for_each(|second| bench.fails(second));
        assert_eq!(bench.0.hold(&RoleId::fixed("planner"), at(5)), Hold::Free);
    }

    #[test]
    fn what_says_nothing_about_the_mechanics_leaves_it_as_it_is() {
        let mut bench = Bench::new();
        (0..5).for_each(|second| bench.fails(second));
        bench.ends(&AttemptResult::Cancelled, 40);
        assert_eq!(bench.hold(41), Hold::Free, "the next one may try");
        assert_eq!(bench.0.failures(&bench.1), 5);
    }
}
