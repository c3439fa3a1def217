//! What tests by another author show: they fail without the change and pass with it. Who writes them, and whether any
//! are wanted, is decided by `stages/tester.rs`.

use evidence::related::short_name;
use types::{CheckEnd, Ended, Fault, FaultClass, Level, TaskId, Trial};

use super::compare::{keeps, report_of, unreported};
use super::doubt::{Next, Tried, cannot_fail, fails_anew, listed, rewrites};
use super::ends::{ends, goal_changes, ordered, trial};
use super::shape::Shape;
use crate::stages::tester::{self, Standing};
use crate::state::{Run, TaskState};

/// The objection of tests by another author.
pub(crate) const OTHERS: &str = "evidence.others";
/// Maximum number of lines of a failing check that are told.
const MOST_LINES: usize = 20;
/// What lines have in common that tell what was expected and what was seen.
const TELLING: &[&str] =
    &["assert", "expected", "actual", "left:", "right:", "got", "error", "panicked"];

/// The check that shows, with tests by another author, that the change is proven. It ran with the tests of before and is
/// noticed to fail, so its other trials could add nothing. `None`: those decide what comes next, and whose fault it is.
pub(super) fn first(
    run: &Run,
    task: &TaskId,
    task_state: &TaskState,
    (shape, tried): (&Shape, &[Tried<'_>]),
    because: &mut Vec<String>,
) -> Result<Option<usize>, Next> {
    let decides = run.asked().is_some_and(|asked| asked.wording.tries_others_first())
        && run.wants_tests(shape.code)
        && !tried.is_empty()
        && !tried.iter().any(|one| rewrites(one).is_some());
    if !decides {
        return Ok(None);
    }
    match tester::standing(run, task) {
        Standing::Due => return Err(Next::Tests(None)),
        Standing::Working => return Err(Next::Wait),
        Standing::Nobody | Standing::Failed(_) => return Ok(None),
        Standing::Written if !untouched(run, task, task_state).is_empty() => return Ok(None),
        Standing::Written => {}
    }
    for one in tried {
        match of_check(run, task, task_state, one)? {
            Shown::Proven if shows_all(task_state, one) => {
                let ordered = ordered(task_state, one, Trial::Others);
                if !ordered.is_empty() {
                    because.push(goal_changes(ordered));
                }
                because.push(proves(&one.what.name));
                return Ok(Some(one.index));
            }
            Shown::Proven | Shown::Fails { .. } => return Ok(None),
            Shown::Nothing | Shown::NoEnd => {}
        }
    }
    Ok(None)
}

/// Whether the trials with tests by another author show all that the other trials of a check could.
fn shows_all(task_state: &TaskState, one: &Tried<'_>) -> bool {
    let lost = |end: &CheckEnd| end.tests.as_ref().is_some_and(|tests| !tests.lost.is_empty());
    let notices = |end: &CheckEnd| {
        let fails = matches!(end.ended, Ended::Exited(code) if code != 0);
        fails && end.untried.is_none() && end.unnoticed.is_empty()
    };
    !lost(one.now)
        && unreported(one.before, one.now).is_none()
        && !ends(task_state, one, Trial::Others).any(lost)
        && ends(task_state, one, Trial::OthersAltered).any(notices)
}

fn proves(name: &str) -> String {
    format!("{name} fails with another author's tests and the old code, and passes with the change")
}

/// The level of a result after tests by another author, if there are or should be any.
pub(super) fn shown(
    run: &Run,
    task: &TaskId,
    task_state: &TaskState,
    (shape, tried): (&Shape, &[Tried<'_>]),
    level: Level,
    because: &mut Vec<String>,
) -> Result<Level, Next> {
    if !run.wants_tests(shape.code) {
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
    let untouched = untouched(run, task, task_state);
    let (mut proven, mut unclear) = (None, None);
    for one in tried {
        let name = &one.what.name;
        match of_check(run, task, task_state, one)? {
            Shown::Proven => {
                proven = Some(name);
                break;
            }
            Shown::Fails { what, seen } => {
                let what = [what].into_iter().chain(untouched).collect::<Vec<_>>().join("; ");
                return Err(objection(run, task, what, &seen));
            }
            Shown::Nothing => {}
            Shown::NoEnd => {
                unclear = Some(format!("{name} could not be tried with another author's tests"));
            }
        }
    }
    if !untouched.is_empty() {
        return Err(objection(run, task, untouched.join("; "), ""));
    }
    if let Some(name) = proven {
        because.push(proves(name));
        return Ok(Level::ProvenByOthers);
    }
    let passes = || "another author's tests also pass without the change".to_owned();
    let why = unclear.unwrap_or_else(passes);
    if level == Level::Unproven && tester::may_look_again(run, task) {
        return Err(Next::Tests(Some(format!(
            "{why}: either the check does not run them, or they do not test what is missing"
        ))));
    }
    because.push(why);
    Ok(level)
}

/// An objection by another author goes to that author first, who may withdraw it.
fn objection(run: &Run, task: &TaskId, what: String, seen: &str) -> Next {
    if tester::may_look_again(run, task) {
        return Next::Tests(Some(format!("{what}\n\n{seen}").trim_end().to_owned()));
    }
    // Dropping a check would drop the project's own tests, which do not object.
    Next::Doubt(Fault::new(FaultClass::CheckFailed, OTHERS, what), None)
}

/// Demands that no test can show, in files that the change leaves as they are, one sentence each.
fn untouched(run: &Run, task: &TaskId, task_state: &TaskState) -> Vec<String> {
    let changes = &task_state.last_changes().0;
    let demands = tester::demands_on_files(run, task).into_iter();
    let left = demands.filter(|(_, file)| !changes.iter().any(|one| file.covers(&one.path)));
    left.map(|(demand, file)| {
        let demand = types::one_line(&demand, 200);
        format!(
            "{file} is not changed, where an author who has not seen the change expects: {demand}"
        )
    })
    .collect()
}

/// What tests by another author show about a check.
enum Shown {
    Proven,
    /// They pass without the change.
    Nothing,
    /// They could not be tried without the change.
    NoEnd,
    /// They fail with the change: an objection, and the lines of the output that tell what was seen.
    Fails {
        what: String,
        seen: String,
    },
}

fn of_check(
    run: &Run,
    task: &TaskId,
    task_state: &TaskState,
    one: &Tried<'_>,
) -> Result<Shown, Next> {
    let without = trial(run, task_state, Trial::OthersWithout, one)?;
    // The old code may be too slow for them, which the change is to mend.
    let hangs = ends(task_state, one, Trial::OthersWithout).any(|end| run.timed_out(end));
    if without.is_none() && !hangs {
        return Ok(Shown::NoEnd);
    }
    let with = trial(run, task_state, Trial::Others, one)?;
    let anew = without.is_none_or(|without| fails_anew(one.before, without));
    let all_run = |with| without.is_none_or(|without| runs_them(one, without, with));
    // What hangs in tests that fail without the change has not passed them.
    let holds = with.is_some_and(|with| keeps(with, one.now) && all_run(with));
    if !holds && (with.is_some() || anew) {
        return Ok(Shown::Fails { what: fails(run, task, one, with), seen: seen(with) });
    }
    if !anew {
        return Ok(Shown::Nothing);
    }
    let altered = trial(run, task_state, Trial::OthersAltered, one)?;
    // Without a report nobody knows whether what was altered is what the tests compare.
    let missed = |end: &&CheckEnd| end.tests.is_some() && !end.unnoticed.is_empty();
    match altered.filter(missed) {
        Some(end) => Err(Next::Doubt(cannot_fail(one, end), None)),
        None => Ok(Shown::Proven),
    }
}

/// Whether tests that fail without the change are there with it, as far as the check names its tests.
fn runs_them(one: &Tried<'_>, without: &CheckEnd, with: &CheckEnd) -> bool {
    let named = without.tests.as_ref().is_some_and(|tests| !tests.failing.is_empty());
    let compared = one.before.and_then(report_of).is_some();
    let ran = |tests: &types::Tests| u64::from(tests.passed) + u64::from(tests.failed);
    // Many runners name only the tests that fail: then as many as without it have to run.
    let all = without.tests.as_deref().map_or(0, ran);
    let enough = |tests: &types::Tests| !without.narrowed && ran(tests) >= all;
    !(named && compared && fails_anew(one.before, without))
        || with.tests.as_ref().is_some_and(|tests| !tests.won.is_empty() || enough(tests))
}

/// The objection to a result that fails tests by another author. It tells what they expect; the tests themselves, and
/// what they print, stay held back.
fn fails(run: &Run, task: &TaskId, one: &Tried<'_>, with: Option<&CheckEnd>) -> String {
    let failing = |end: &CheckEnd| end.tests.as_ref().map(|tests| tests.failing.clone());
    let known = failing(one.now).unwrap_or_default();
    let all = tester::expectations(run, task);
    let expects =
        |name: &str, what: &str| format!("{name} (expects: {})", types::one_line(what, 200));
    let named = with.and_then(failing).unwrap_or_default();
    let named = named.iter().filter(|name| !known.contains(name)).map(|name| {
        let known = all.iter().find(|(test, _)| short_name(test) == short_name(name));
        known.map_or_else(|| name.clone(), |(_, what)| expects(name, what))
    });
    let mut failing: Vec<String> = named.collect();
    // Without names any of them may be the one.
    let word = if failing.is_empty() { "; one of" } else { "" };
    if failing.is_empty() {
        failing = all.iter().map(|(test, what)| expects(test, what)).collect();
    }
    let which =
        if failing.is_empty() { String::new() } else { format!("{word}: {}", listed(&failing)) };
    let name = &one.what.name;
    let does = if with.is_some() { "fails" } else { "does not end" };
    let held = tester::attempt(run, task).map(|attempt| format!(" ({attempt}, held back)"));
    let held = held.unwrap_or_default();
    format!("{name} {does} with tests by another author, who has not seen the change{held}{which}")
}

/// What checks printed with the tests by another author, for a person: the author of the code is not shown it.
pub(crate) fn seen_with_others(task_state: &TaskState) -> String {
    let tried = task_state.trials.iter().filter(|one| one.trial == Trial::Others);
    let parts = tried.filter_map(|one| {
        let (what, end) = (&one.state.what, one.state.end.as_ref()?);
        let (name, command, ended) = (&what.name, &what.command, end.ended);
        Some(format!("{name} (`{command}`): {ended}\n{}", seen(Some(end))))
    });
    parts.collect::<Vec<_>>().join("\n\n")
}

/// The lines of a check's output that tell what was expected and what was seen.
fn seen(end: Option<&CheckEnd>) -> String {
    let Some(end) = end else { return "it did not end in time".to_owned() };
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        !line.trim_start().starts_with('>') && TELLING.iter().any(|word| line.contains(word))
    };
    let lines: Vec<&str> = end.output.text.lines().filter(tells).take(MOST_LINES).collect();
    lines.join("\n")
}
