//! Whether the sandbox meets the policy. The runtime probes it by attacking it; this stage only evaluates the result.
//! No attempt starts before that, or if the sandbox is weaker than the policy accepts.

use rules::isolation::decision;
use types::{Event, Timestamp};

use crate::Run;

pub(crate) fn due(run: &Run, _now: Timestamp) -> Vec<Event> {
    let Some(proof) = run.proof() else { return vec![] };
    if proof.level >= run.policy().sandbox.require {
        return vec![];
    }
    vec![Event::RunRefused { decision: decision(run.policy(), proof) }]
}

/// Whether to probe the sandbox: the documents are selected, and no probe was made yet.
pub(crate) fn wanted(run: &Run) -> bool {
    run.documents().is_some() && run.proof().is_none() && !run.winds_down()
}

#[cfg(test)]
mod tests {
    use types::{IsolationLevel, Status};

    use crate::Run;
    use crate::testing::{Bench, crew, only, run_with, same};

    fn begun(require: IsolationLevel) -> Bench<Run> {
        let mut policy = crew();
        policy.sandbox.require = require;
        let mut bench = Bench { walled: false, ..run_with(policy) };
        bench.tell("begin Build a CLI");
        bench
    }

    #[test]
    fn nobody_starts_before_the_walls_were_tried() {
        let mut bench = begun(IsolationLevel::Full);
        assert_eq!(bench.asked().len(), 2, "the probe and the deadline: {:?}", bench.asked());
        same(
            &bench.tell("isolation full"),
            "sandbox.probed full, sandbox.walls_held
             gate.passed initiation
             attempt.started plan.1 planner",
        );
        same(&bench.tell("isolation none"), "");
    }

    #[test]
    fn less_than_the_policy_requires_ends_the_run_and_says_what_is_missing() {
        let mut bench = begun(IsolationLevel::Full);
        same(
            &bench.tell("isolation landlock"),
            "sandbox.probed landlock, sandbox.refused
             run.refused sandbox.refused
             run.finished refused, sandbox.refused",
        );
        let why = bench.machine.view(bench.now).why.expect("a reason");
        assert!(why.reason.contains("no user namespaces"), "{}", why.reason);
        assert!(why.reason.contains("bosun doctor"), "{}", why.reason);
    }

    #[test]
    fn what_the_policy_accepts_is_used_and_its_gaps_are_on_record() {
        let mut bench = begun(IsolationLevel::Landlock);
        let said = bench.tell("isolation landlock");
        same(
            &only(&said, &["sandbox", "attempt"]),
            "sandbox.probed landlock, sandbox.degraded
             attempt.started plan.1 planner",
        );
        let asked = format!("{:?}", bench.asked());
        assert!(asked.contains("isolation: Landlock"), "{asked}");
        let mut bench = begun(IsolationLevel::None);
        bench.tell("isolation none");
        assert_eq!(bench.machine.status(), Status::Running);
    }

    #[test]
    fn walls_that_could_not_be_tried_are_none() {
        let mut bench = begun(IsolationLevel::Landlock);
        bench.send(&types::Input::Outcome(
            types::EffectId::Probe,
            types::Outcome::Broke(types::Fault::structural("env.exec", "no helper")),
        ));
        assert!(bench.machine.is_over());
        assert_eq!(bench.machine.status(), Status::Refused);
    }
}
