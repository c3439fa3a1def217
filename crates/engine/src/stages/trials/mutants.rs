//! What mutants of the changed lines show: whether checks notice when a line of the change is wrong. How mutants are made
//! and run is decided elsewhere.

use types::{CheckEnd, Level, Trial, Unproven, one_line};

use super::doubt::{Next, Tried};
use super::ends::{ends, is_unread, timed_out, trial};
use crate::state::{Run, TaskState};

/// One part of a change may go unnoticed for so many that are noticed: a message, or a branch for another platform.
const NOTICED_EACH: usize = 3;
/// The most unnoticed lines in a sentence.
const MOST_LINES: usize = 3;
/// The most characters of a line in a sentence.
const LONGEST: usize = 160;

/// Whether the level decides something, so that mutants are worth their time.
pub(super) fn count_here(run: &Run) -> bool {
    let verify = &run.policy().verify;
    verify.evidence_decides() && verify.unproven == Unproven::Ask
}

/// The level of a change without a test of its own: covered, if the tests of before notice faults in it, or if it only
/// takes away what the goal names.
pub(super) fn keeps(
    run: &Run,
    task_state: &TaskState,
    tried: &[Tried<'_>],
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    let mut missed: Option<Vec<String>> = None;
    let mut most_noticed = 0;
    // A check that did not end in a trial would only hang again.
    let tells = |one: &&Tried<'_>| !is_unread(task_state, one) && !timed_out(run, task_state, one);
    for one in tried.iter().filter(tells) {
        let name = &one.what.name;
        match trial(run, task_state, Trial::Mutated, one)? {
            Some(end) if !end.noticed.is_empty() && end.unnoticed.is_empty() => {
                say(because, noticed(name, end));
                return Ok(Level::Covered);
            }
            Some(end) => {
                if end.noticed.len() > most_noticed {
                    most_noticed = end.noticed.len();
                    say(because, noticed(name, end));
                }
                match &mut missed {
                    Some(missed) => missed.retain(|line| end.unnoticed.contains(line)),
                    None => missed = Some(end.unnoticed.clone()),
                }
            }
            None => {
                let end = ends(task_state, one, Trial::Mutated).next();
                if let Some(end) = end.filter(|end| !end.ordered.is_empty()) {
                    let names = end.ordered.join(", ");
                    say(because, format!("it changes nothing but what the goal orders: {names}"));
                    return Ok(Level::Covered);
                }
                let why = end.and_then(|end| end.untried.as_ref());
                let why = why.map_or_else(String::new, |why| format!(": {why}"));
                say(because, format!("{name} was not tried with faults in the change{why}"));
            }
        }
    }
    match missed {
        Some(missed) if missed.is_empty() => {
            say(because, "each part of the change is noticed by some check".to_owned());
            Ok(Level::Covered)
        }
        Some(missed) => {
            say(because, unnoticed(&missed));
            let few = missed.len() * NOTICED_EACH <= most_noticed;
            Ok(if few { Level::Covered } else { Level::Unproven })
        }
        None if !tried.iter().any(|one| tells(&one)) => {
            say(because, "no check tells whether the changed lines matter".to_owned());
            Ok(Level::Unproven)
        }
        None => Ok(Level::Unproven),
    }
}

/// The level that mutants show for a change with tests of its own: proven, if a fault in it is noticed.
pub(super) fn shown(
    run: &Run,
    task_state: &TaskState,
    one: &Tried<'_>,
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    let name = &one.what.name;
    Ok(match trial(run, task_state, Trial::Mutated, one)? {
        Some(end) if !end.noticed.is_empty() => {
            say(because, noticed(name, end));
            Level::Proven
        }
        Some(end) => {
            say(because, unnoticed(&end.unnoticed));
            Level::Unproven
        }
        None => {
            let tried = ends(task_state, one, Trial::Mutated).next().is_some();
            say(because, format!("{name} was not tried with faults in the change"));
            // What no fault can be made in is judged by the other trials alone.
            if tried && !timed_out(run, task_state, one) { Level::Proven } else { Level::Unproven }
        }
    })
}

/// Adds a reason, once.
fn say(because: &mut Vec<String>, what: String) {
    if !because.contains(&what) {
        because.push(what);
    }
}

fn noticed(name: &str, end: &CheckEnd) -> String {
    let (seen, all) = (end.noticed.len(), end.noticed.len() + end.unnoticed.len());
    let what = match (seen, all) {
        (1, 1) => "the changed lines".to_owned(),
        (seen, all) if seen == all => format!("each of {all} parts of the change"),
        _ => format!("{seen} of {all} parts of the change"),
    };
    format!("{name} notices a fault in {what}")
}

fn unnoticed(lines: &[String]) -> String {
    let shown: Vec<String> =
        lines.iter().take(MOST_LINES).map(|line| one_line(line, LONGEST)).collect();
    let more = lines.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("no test notices a fault here: {}{more}", shown.join("; "))
}

#[cfg(test)]
mod tests {
    use types::Level;

    use crate::Run;
    use crate::testing::{Bench, proving, run_with};

    /// A result that old tests pass on and that brings none.
    fn kept(change: &str) -> Bench<Run> {
        let mut bench = run_with(proving());
        bench.tell("begin Build a CLI\ncheck base/0 exits 0 passed=3\nplan.1 plans T1 src/");
        bench.tell(&format!("T1.1 hands in {change}\ncheck T1.1/0 exits 0 passed=3"));
        bench
    }

    fn level(bench: &Bench<Run>) -> (Level, String) {
        let view = bench.machine.view(bench.now);
        let evidence = view.tasks[0].evidence.clone().expect("a level");
        (evidence.level, evidence.because.join("; "))
    }

    #[test]
    fn a_change_that_old_tests_notice_is_covered() {
        for (seen, level_of, says) in [
            ("exits 1 failing=a noticed=x,y", Level::Covered, "in each of 2 parts"),
            ("exits 0 noticed=x unnoticed=y", Level::Unproven, "notices a fault here: y"),
            ("exits 1 failing=a noticed=v,w,x unnoticed=y", Level::Covered, "fault here: y"),
            ("exits 1 failing=a noticed=v,w unnoticed=y", Level::Unproven, "fault here: y"),
            ("exits 1 failing=a noticed=u,v,w,x unnoticed=y,z", Level::Unproven, "fault here: y"),
            ("exits 0 untried ordered=fee", Level::Covered, "what the goal orders: fee"),
            ("exits 0 untried", Level::Unproven, "faults in the change: nothing to try"),
        ] {
            let mut bench = kept("src/a.py");
            let events = bench.tell("check altered:T1.1/0 exits 1 failing=a");
            assert!(events.contains("check.started T1.1 with faults in it/0"), "{events}");
            bench.tell(&format!("check mutated:T1.1/0 {seen}"));
            let (found, because) = level(&bench);
            assert!(found == level_of && because.contains(says), "{seen}: {found:?}, {because}");
        }
    }

    #[test]
    fn a_new_test_that_only_lacks_a_name_proves_something_if_it_notices_a_fault() {
        for (seen, level_of) in [
            ("exits 1 failing=a noticed=x unnoticed=y", Level::Proven),
            ("exits 0 unnoticed=x", Level::Unproven),
            ("exits 0 untried", Level::Proven),
        ] {
            let mut bench = kept("src/a.py +src/test_b.py");
            bench.tell("check old:T1.1/0 exits 0 passed=3");
            bench.tell("check new:T1.1/0 exits 1 says=ImportError:");
            bench.tell(&format!("check mutated:T1.1/0 {seen}"));
            bench.tell("check altered:T1.1/0 exits 1 failing=a");
            assert_eq!(level(&bench).0, level_of, "{seen}");
        }
    }

    /// As when a refactoring comes with more tests: they neither prove the change nor speak against it.
    #[test]
    fn tests_that_pass_without_the_change_leave_it_to_faults() {
        for (seen, level_of) in [
            ("exits 1 failing=a noticed=x", Level::Covered),
            ("exits 0 unnoticed=x", Level::Unproven),
        ] {
            let mut bench = kept("src/a.py +src/test_b.py");
            bench.tell("check old:T1.1/0 exits 0 passed=3\ncheck new:T1.1/0 exits 0 passed=4");
            bench.tell("check altered:T1.1/0 exits 1 failing=a");
            bench.tell(&format!("check mutated:T1.1/0 {seen}"));
            assert_eq!(level(&bench).0, level_of, "{seen}");
        }
    }

    #[test]
    fn what_was_not_tried_with_altered_tests_is_tried_with_faults() {
        for (seen, level_of) in [
            ("exits 1 failing=a noticed=x", Level::Proven),
            ("exits 0 unnoticed=x", Level::Unproven),
        ] {
            let mut bench = kept("src/a.py +src/test_b.py");
            bench.tell("check old:T1.1/0 exits 0 passed=3\ncheck new:T1.1/0 exits 1");
            bench.tell("check altered:T1.1/0 exits 0 untried");
            bench.tell(&format!("check mutated:T1.1/0 {seen}"));
            assert_eq!(level(&bench).0, level_of, "{seen}");
        }
    }

    #[test]
    fn a_change_that_nothing_would_miss_is_asked_about_at_the_gate() {
        let mut bench = kept("src/a.py");
        bench.tell("check altered:T1.1/0 exits 1 passed=2 failing=a");
        bench.tell("check mutated:T1.1/0 exits 0 passed=3 unnoticed=x\nmerge T1 lands");
        let events = bench.tell("check merged/0 exits 0 passed=3");
        assert!(events.contains("gate.blocked monitoring"), "{events}");
        assert!(events.contains("question.asked"), "{events}");
        let events = bench.tell("answer 0 go");
        assert!(events.contains("run.finished done"), "{events}");
    }
}
