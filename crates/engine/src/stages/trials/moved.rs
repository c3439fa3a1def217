//! What moved tests show: the same expectations in another order, on other lines and in another file. Only code that looks
//! at the order, the caller or the line tells them apart. How tests are moved is decided elsewhere.

use types::{CheckEnd, Fault, FaultClass, Level, Trial};

use super::Shape;
use super::compare::report_of;
use super::doubt::{Next, Tried, listed, tail};
use super::ends::trial;
use crate::state::{Run, TaskState};

/// What is still to be done before a level that rests on tests in sight counts. Tests that the author of the code has
/// never seen cannot be answered by their order.
pub(super) fn stands(
    run: &Run,
    task_state: &TaskState,
    (shape, tried): (&Shape, &[Tried<'_>]),
    level: Level,
) -> Option<Next> {
    if !shape.code || !matches!(level, Level::Proven | Level::Covered) {
        return None;
    }
    // Without names nobody knows which test failed.
    let one = tried.iter().find(|one| report_of(one.now).is_some())?;
    match trial(run, task_state, Trial::Moved, one) {
        Ok(end) => end.filter(|end| !lost(end).is_empty()).map(|end| one.doubted(fails(one, end))),
        Err(next) => Some(next),
    }
}

fn lost(end: &CheckEnd) -> &[String] {
    end.tests.as_ref().map(|tests| tests.lost.as_slice()).unwrap_or_default()
}

fn fails(one: &Tried<'_>, end: &CheckEnd) -> Fault {
    let name = &one.what.name;
    let (which, how) = (listed(lost(end)), listed(&end.moved));
    let how = if how.is_empty() { String::new() } else { format!(" ({how})") };
    let what = format!(
        "{name} passes, but not when the same tests stand in another order, file or line{how}: {which}"
    );
    Fault::new(FaultClass::Semantic, "evidence.moved", what).with_evidence(tail(end))
}

#[cfg(test)]
mod tests {
    use types::Level;

    use crate::Run;
    use crate::testing::{Bench, only, proving, run_with};

    /// A result that turns failing tests, as the report with every name says.
    fn turned() -> (Bench<Run>, String) {
        let mut bench = run_with(proving());
        bench.tell(
            "begin Build a CLI\ncheck base/0 exits 1 passed=1 failing=a,b\nplan.1 plans T1 src/",
        );
        bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 mended=2 won=a,b listed");
        let events = bench.tell("check altered:T1.1/0 exits 1 passed=1 failing=a,b");
        (bench, events)
    }

    fn level(bench: &Bench<Run>) -> Option<Level> {
        let view = bench.machine.view(bench.now);
        view.tasks[0].evidence.as_ref().map(|evidence| evidence.level)
    }

    #[test]
    fn tests_in_sight_are_moved_once_before_they_prove_anything() {
        for seen in ["exits 0 passed=3", "exits 1 passed=1 failing=a,b", "exits 0 untried", "hangs"]
        {
            let (mut bench, events) = turned();
            assert!(events.contains("check.started T1.1 with its tests moved/0"), "{events}");
            let events = bench.tell(&format!("check moved:T1.1/0 {seen}"));
            assert!(events.contains("task.verified T1.1"), "{seen}: {events}");
            let expected = if seen == "hangs" { Level::Unproven } else { Level::Proven };
            assert_eq!(level(&bench), Some(expected), "{seen}");
        }
    }

    #[test]
    fn tests_that_fail_once_they_are_moved_are_put_to_a_person() {
        let (mut bench, _) = turned();
        let events =
            bench.tell("check moved:T1.1/0 exits 1 passed=2 failing=b lost=b moved=reversed");
        let events = only(&events, &["task", "question"]);
        assert!(events.contains("task.rejected T1.1 semantic"), "{events}");
        let asked = format!("{:?}", bench.machine.view(bench.now).questions);
        assert!(asked.contains("another order, file or line (reversed): b"), "{asked}");
        let events = bench.tell("answer 0 accept");
        assert!(events.contains("task.verified T1.1 person.accept"), "{events}");
    }

    /// Nothing would be known about single tests, or nothing rests on them.
    #[test]
    fn tests_that_nobody_names_or_that_show_nothing_stay_where_they_are() {
        let mut bench = run_with(proving());
        bench.tell("begin Build a CLI\ncheck base/0 exits 0 passed=3\nplan.1 plans T1 src/");
        bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0 passed=3 listed");
        bench.tell("check altered:T1.1/0 exits 1 failing=a");
        let events = bench.tell("check mutated:T1.1/0 exits 0 unnoticed=x");
        assert!(events.contains("task.verified T1.1"), "{events}");
        let mut bench = run_with(proving());
        bench.tell("begin Build a CLI\ncheck base/0 exits 1\nplan.1 plans T1 src/");
        bench.tell("T1.1 hands in src/a.py\ncheck T1.1/0 exits 0");
        let events = bench.tell("check altered:T1.1/0 exits 1");
        assert!(events.contains("task.verified T1.1"), "{events}");
    }
}
