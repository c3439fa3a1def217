//! What a run keeps for statistics is what a reader of its whole log counts; of a fork, only what came after its origin.

use std::collections::BTreeMap;

use proptest::prelude::*;
use types::{AttemptId, Forked, RunView, TaskView, Timestamp};

use super::*;
use crate::Machine as _;
use crate::testing::world::{World, worlds};
use crate::testing::{fold, planned};

type Log = Vec<(Event, Timestamp)>;

/// The figures according to the view at the end, the view where it was forked, and the lines in between.
fn counted(run: &Run, before: Option<&RunView>, log: &Log, rest: usize) -> RunFigures {
    let role = |(event, _): &(Event, Timestamp)| match event {
        Event::AttemptStarted { attempt, role, .. } => Some((attempt.clone(), role.clone())),
        _ => None,
    };
    let roles: BTreeMap<AttemptId, RoleId> = log.iter().filter_map(role).collect();
    let view = run.view(Timestamp::default());
    let is_new = |task: &&TaskView| {
        let same = |old: &TaskView| old.id == task.id && old.stage == TaskStage::Finished;
        !before.is_some_and(|before| before.tasks.iter().any(same))
    };
    let tasks: Vec<&TaskView> = view.tasks.iter().filter(is_new).collect();
    let count =
        |is: &dyn Fn(&TaskView) -> bool| tasks.iter().filter(|task| is(task)).count() as u64;
    let finished = |task: &TaskView| task.stage == TaskStage::Finished;
    let over = view.ended.is_some();
    let mut costs: BTreeMap<RoleId, Spend> = BTreeMap::new();
    let mut broken = Vec::new();
    for (event, _) in &log[rest..] {
        match event {
            Event::AttemptFinished { attempt, spent, turns: 0, .. } if spent.calls == 0 => {
                broken.push(attempt.clone());
            }
            Event::AttemptFinished { attempt, spent, .. } => {
                let sum = costs.entry(roles[attempt].clone()).or_default();
                *sum = sum.plus(*spent);
            }
            _ => {}
        }
    }
    let model = || run.request().expect("a request").model.clone();
    let cost = |(role, spent)| AttemptCost { role, model: model(), spent };
    RunFigures {
        finished: count(&finished),
        first_pass: count(&|task| finished(task) && task.attempts == 1),
        retried: count(&|task| task.attempts > 1 && (over || finished(task))),
        recovered: count(&|task| task.attempts > 1 && finished(task)),
        questions: (view.questions.len() - before.map_or(0, |view| view.questions.len())) as u64,
        forecast: view.forecast.filter(|_| view.status == Status::Done).map(|one| one.tokens),
        spent: view.spent.less(before.map(|view| view.spent).unwrap_or_default()),
        attempts: costs.into_iter().map(cost).collect(),
        broken,
    }
}

/// A fork of a run after this many lines, with the same lines as the run that it was made from.
fn forked(log: &Log, lines: usize) -> Log {
    let mut log = log.clone();
    if let Some((Event::RunRequested { request, .. }, _)) = log.first_mut() {
        let run = types::RunId::fixed("r_origin");
        request.forked =
            Some(Box::new(Forked { run, seq: lines as u64, head: Digest::of(b"its line") }));
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn figures_are_those_of_the_whole_log(
        world in worlds(), seed in any::<u64>(), cut in any::<prop::sample::Index>(),
    ) {
        let world: World = world;
        let log = world.ended(seed).bench.log;
        // Also while it is not over.
        for end in [cut.index(log.len()) + 1, log.len()] {
            let log = log[..end].to_vec();
            let run = fold(world.fresh(), &log);
            prop_assert_eq!(run.figures(), counted(&run, None, &log, 0));
        }
    }

    #[test]
    fn of_a_fork_only_what_it_did_itself_is_counted(
        world in worlds(), seed in any::<u64>(), cut in any::<prop::sample::Index>(),
    ) {
        let world: World = world;
        let log = world.ended(seed).bench.log;
        let lines = cut.index(log.len()) + 1;
        let log = forked(&log, lines);
        let run = fold(world.fresh(), &log);
        let before = fold(world.fresh(), &log[..lines]).view(Timestamp::default());
        prop_assert_eq!(run.figures(), counted(&run, Some(&before), &log, lines));
    }
}

/// Nothing was charged for it; whether it began is in its own log.
#[test]
fn an_attempt_that_broke_off_is_named_and_costs_nothing() {
    let mut bench = planned("T1 a");
    let before = bench.machine.figures();
    bench.tell("T1.1 breaks down");
    let figures = bench.machine.figures();
    assert_eq!(figures.broken, ["T1.1".parse().expect("an attempt")]);
    assert_eq!((figures.attempts, figures.spent), (before.attempts, before.spent));
}

#[test]
fn an_entry_in_a_list_has_the_figures_of_its_run() {
    let bench = planned("T1 a; T2 b");
    let Some(types::Listed::Run(listed)) = bench.machine.listed() else { panic!("no entry") };
    assert_eq!(listed.figures.as_deref(), Some(&bench.machine.figures()));
}
