//! Recorded runs for the tests of views: scenarios, played once, with one second between consecutive lines.

use std::sync::Arc;

use engine::Run;
use testkit::{Scenario, play, policy_of, scenarios};
use types::{Envelope, Timestamp};

use super::source::Recorded;

/// The time of the first line, in seconds.
pub(super) const START: i64 = 1_000;

/// The time this many seconds after the first line.
pub(super) fn second(n: i64) -> Timestamp {
    Timestamp::from_millis((START + n) * 1_000)
}

/// The run before its first line, and all lines of a scenario such as `plan/approved`.
pub(super) fn played(name: &str) -> (Run, Vec<Envelope>) {
    let path = scenarios().join(format!("{name}.toml"));
    let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let played = runtime.block_on(play(&scenario)).expect("it can be played");
    let policy = policy_of(&scenario).expect("a policy");
    let mut lines = played.lines;
    for (line, n) in lines.iter_mut().zip(0..) {
        line.at = second(n);
    }
    (Run::new(lines[0].run.clone(), Arc::new(policy)), lines)
}

/// A scenario as of a line of the run's log, or at its end.
pub(super) fn recorded(name: &str, at: Option<u64>) -> Recorded {
    let (blank, lines) = played(name);
    let end = lines.last().map(|line| line.at).unwrap_or_default();
    Recorded::at(&blank, lines, at, end)
}

/// The sequence number of the first line in the run's log with this kind and this text in its summary.
pub(super) fn line_of(lines: &[Envelope], kind: &str, with: &str) -> u64 {
    let is = |line: &&Envelope| {
        line.attempt.is_none() && line.event.kind() == kind && line.event.summary().contains(with)
    };
    lines.iter().find(is).unwrap_or_else(|| panic!("there is no {kind} {with}")).seq
}

/// A scenario after the first such line.
pub(super) fn recorded_after(name: &str, kind: &str, with: &str) -> Recorded {
    let (blank, lines) = played(name);
    let at = line_of(&lines, kind, with);
    let end = lines.last().map(|line| line.at).unwrap_or_default();
    Recorded::at(&blank, lines, Some(at), end)
}
