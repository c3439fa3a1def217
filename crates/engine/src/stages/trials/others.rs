//! What tests by another author show: they fail without the change and pass with it. Who writes them, and whether any
//! are wanted, is decided by `stages/tester.rs`.

use types::{CheckEnd, Fault, FaultClass, Level, TaskId, Trial};

use super::compare::{keeps, report_of};
use super::doubt::{Next, Tried, fails_anew, listed};
use super::ends::trial;
use super::mutants;
use super::shape::Shape;
use crate::stages::tester::{self, Standing};
use crate::state::{Run, TaskState};

/// Maximum number of lines of a failing check that are told.
const MOST_LINES: usize = 20;
/// What lines have in common that tell what was expected and what was seen.
const TELLING: &[&str] =
    &["assert", "expected", "actual", "left:", "right:", "got", "error", "panicked"];

/// The level of a result after tests by another author, if there are or should be any.
pub(super) fn shown(
    run: &Run,
    task: &TaskId,
    task_state: &TaskState,
    (shape, tried): (&Shape, &[Tried<'_>]),
    level: Level,
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    if !mutants::count_here(run) || !tester::is_wanted(run, level, shape.code) {
        return Ok(level);
    }
    match tester::standing(run, task) {
        Standing::Nobody => return Ok(level),
        Standing::Due => return Err(Next::Tests(None)),
        Standing::Working => return Err(Next::Wait),
        Standing::Failed(why) => {
            because.push(format!("there are no tests by another author: {why}"));
            return Ok(level);
        }
        Standing::Written => {}
    }
    for one in tried {
        let name = &one.what.name;
        let Some(without) = trial(run, task_state, Trial::OthersWithout, one)? else { continue };
        let Some(with) = trial(run, task_state, Trial::Others, one)? else {
            because.push(format!("{name} does not end with another author's tests"));
            continue;
        };
        if !keeps(with, one.now) || !runs_them(one, without, with) {
            let fault = fails(run, task, one, with);
            return Err(match tester::may_look_again(run, task) {
                true => Next::Tests(Some(format!("{}\n\n{}", fault.what, fault.evidence))),
                false => one.doubted(fault),
            });
        }
        if fails_anew(one.before, without) {
            because.push(format!(
                "{name} fails with another author's tests and the old code, and passes with the change"
            ));
            return Ok(Level::ProvenByOthers);
        }
    }
    because.push("another author's tests also pass without the change".to_owned());
    Ok(level)
}

/// Whether tests that fail without the change are there with it, as far as the check names its tests.
fn runs_them(one: &Tried<'_>, without: &CheckEnd, with: &CheckEnd) -> bool {
    let named = without.tests.as_ref().is_some_and(|tests| !tests.failing.is_empty());
    let compared = one.before.and_then(report_of).is_some();
    !(named && compared && fails_anew(one.before, without))
        || with.tests.as_ref().is_some_and(|tests| !tests.won.is_empty())
}

/// The objection to a result that fails tests by another author. It tells what they expect and what was seen; the tests
/// themselves stay held back.
fn fails(run: &Run, task: &TaskId, one: &Tried<'_>, with: &CheckEnd) -> Fault {
    let failing = with.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let known = one.now.tests.as_ref().map(|tests| tests.failing.as_slice()).unwrap_or_default();
    let failing = failing.iter().filter(|name| !known.contains(name));
    let demands = tester::demands(run, task);
    let expects =
        |name: &str, expects: &str| format!("{name} (expects: {})", types::one_line(expects, 200));
    let named = failing.map(|name| {
        let demand = demands.iter().find(|(test, _)| !test.is_empty() && name.ends_with(test));
        demand.map_or_else(|| name.clone(), |(_, what)| expects(name, what))
    });
    let mut failing: Vec<String> = named.collect();
    if failing.is_empty() {
        // Without names any of them may be the one.
        failing = demands.iter().map(|(test, what)| expects(test, what)).collect();
    }
    let which = if failing.is_empty() { String::new() } else { format!(": {}", listed(&failing)) };
    let name = &one.what.name;
    let what =
        format!("{name} fails with tests by another author, who has not seen the change{which}");
    Fault::new(FaultClass::CheckFailed, "evidence.others", what).with_evidence(seen(with))
}

/// The lines of a check's output that tell what was expected and what was seen.
fn seen(end: &CheckEnd) -> String {
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        !line.trim_start().starts_with('>') && TELLING.iter().any(|word| line.contains(word))
    };
    let lines: Vec<&str> = end.output.text.lines().filter(tells).take(MOST_LINES).collect();
    lines.join("\n")
}
