//! Properties that hold in every world: the log is the state, every run ends, the order of outcomes does not matter, a
//! crash changes nothing, the budget is kept. Worlds are random and shrink to the smallest failure.

use proptest::collection::vec;
use proptest::prelude::*;
use types::{
    AttemptResult, Command, Digest, EffectId, Event, Input, MergeCheck, Status, Timestamp,
};

use crate::testing::drive::Drive;
use crate::testing::noise::inputs;
use crate::testing::talk::{Talk, talks};
use crate::testing::world::{World, report, worlds};
use crate::testing::{Bench, begin, check, fold, request, reread, survey};
use crate::{Attempt, Run};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() }
}

/// A machine restored from the first `length` events of a log, and woken.
fn woken<M: crate::Machine>(fresh: M, log: &[(Event, Timestamp)], length: usize) -> Bench<M> {
    let log = reread(&log[..length]);
    let now = log.last().map_or(Timestamp::default(), |(_, at)| *at);
    let mut bench = Bench { machine: fold(fresh, &log), log, now, walled: false, scripts: None };
    bench.send(&Input::Woke { workspace: None, recovered: vec![] });
    bench
}

/// A run resumed from a truncated log and driven to its end.
fn resumed<'w>(
    world: &'w World,
    log: &[(Event, Timestamp)],
    length: usize,
) -> Drive<'w, Run, World> {
    let mut bench = woken(world.fresh(), log, length);
    let mut request = request("Build a CLI");
    request.budget = world.budget;
    bench.send(&begin(request, survey()));
    let mut drive = Drive::new(world.fresh(), bench, world, 5);
    drive.finish(|_| false);
    drive
}

fn cancel() -> Input {
    Input::Command(Command::Cancel { by: "ann".to_owned(), reason: "enough".to_owned() })
}

proptest! {
    #![proptest_config(cases(64))]

    // `Drive` asserts the fold of the log, the pending effects and the end at every step of every test.

    #[test]
    fn every_run_ends_and_is_the_fold_of_its_log(world in worlds(), seed in any::<u64>()) {
        let drive = world.ended(seed);
        prop_assert!(drive.bench.machine.status() != Status::Running);
    }

    #[test]
    fn every_run_ends_when_a_person_cancels_it(
        world in worlds(), seed in any::<u64>(), after in 0..60_usize,
    ) {
        let mut drive = world.begun(seed);
        (0..after).take_while(|_| drive.step()).count();
        let was_over = drive.bench.machine.is_over();
        drive.bench.send(&cancel());
        drive.is_the_fold_of_its_log();
        drive.finish(|_| false);
        prop_assert_eq!(drive.bench.machine.status() == Status::Cancelled, !was_over);
    }

    #[test]
    fn the_order_of_outcomes_does_not_change_the_report(
        world in worlds(), one in any::<u64>(), other in any::<u64>(), parallel in 1..=4_usize,
    ) {
        // Merges during an attempt decide whether its result is checked again, so here only the end is checked.
        let mut world = world;
        world.proves = MergeCheck::End;
        let mut elsewhere = world.clone();
        elsewhere.parallel = parallel;
        let (first, second) = (world.ended(one), elsewhere.ended(other));
        prop_assert_eq!(
            report(&first.bench.machine), report(&second.bench.machine),
            "{}\n\n{}", first.story(), second.story()
        );
    }

    #[test]
    fn a_run_that_was_cut_off_comes_to_the_same_end(
        world in worlds(), seed in any::<u64>(), cut in any::<prop::sample::Index>(),
    ) {
        // Effects that are open at the cut end in another order; see the test above.
        let mut world = world;
        world.proves = MergeCheck::End;
        let whole = world.ended(seed);
        let length = cut.index(whole.bench.log.len() + 1);
        let drive = resumed(&world, &whole.bench.log, length);
        prop_assert_eq!(report(&whole.bench.machine), report(&drive.bench.machine));
        for (event, _) in &whole.bench.log[..length] {
            let ended = match event {
                Event::AttemptFinished { attempt, .. } => EffectId::Attempt(attempt.clone()),
                Event::CheckFinished { check, .. } => EffectId::Check(check.clone()),
                _ => continue,
            };
            prop_assert!(!drive.performed.contains(&ended), "{:?} was done twice", ended);
        }
    }

    #[test]
    fn a_run_never_spends_more_than_its_budget(
        world in worlds(), seed in any::<u64>(), tokens in 10_000..120_000_u64, percent in 0..=100_u64,
    ) {
        let mut world = world;
        (world.budget.tokens, world.percent_spent) = (Some(tokens), Some(percent));
        let mut drive = world.begun(seed);
        while drive.step() {
            let spent = drive.bench.machine.view(drive.bench.now).spent.tokens;
            prop_assert!(spent <= tokens, "{} of {} are spent", spent, tokens);
        }
        drive.finish(|_| false);
    }

    #[test]
    fn a_run_has_an_answer_to_any_input_and_ends_all_the_same(
        world in worlds(), seed in any::<u64>(), noise in vec((0..4_usize, inputs()), 0..40),
    ) {
        let mut drive = world.begun(seed);
        for (steps, input) in noise {
            (0..steps).take_while(|_| drive.step()).count();
            drive.bench.send(&input);
            prop_assert!(!drive.bench.machine.view(drive.bench.now).tasks.is_empty());
        }
        drive.finish(|run| run.status() == Status::Waiting);
    }

    #[test]
    fn a_run_that_has_not_begun_has_an_answer_to_any_input(
        world in worlds(), seed in any::<u64>(), noise in vec(inputs(), 0..20),
    ) {
        let mut drive = Drive::new(world.fresh(), Bench::of(world.fresh()), &world, seed);
        for input in noise {
            drive.bench.send(&input);
        }
        drive.finish(|run| run.request().is_none() || run.status() == Status::Waiting);
    }

    #[test]
    fn an_attempt_has_an_answer_to_any_input_and_ends_all_the_same(
        talk in talks(), seed in any::<u64>(), noise in vec((0..4_usize, inputs()), 0..40),
    ) {
        let mut drive = talk.begun(seed);
        for (steps, input) in noise {
            (0..steps).take_while(|_| drive.step()).count();
            drive.bench.send(&input);
        }
        drive.finish(|_| false);
        answered(&drive.bench.machine);
    }

    #[test]
    fn every_attempt_ends_and_every_call_has_one_result(talk in talks(), seed in any::<u64>()) {
        let drive = talk.ended(seed);
        answered(&drive.bench.machine);
    }

    #[test]
    fn every_attempt_ends_when_it_is_cancelled(
        talk in talks(), seed in any::<u64>(), after in 0..30_usize,
    ) {
        let mut drive = talk.begun(seed);
        (0..after).take_while(|_| drive.step()).count();
        drive.bench.send(&cancel());
        drive.finish(|_| false);
        answered(&drive.bench.machine);
    }

    #[test]
    fn the_order_in_which_calls_end_does_not_change_the_conversation(
        talk in talks(), one in any::<u64>(), other in any::<u64>(),
    ) {
        let (first, second) = (talk.ended(one), talk.ended(other));
        prop_assert_eq!(first.bench.machine.history(), second.bench.machine.history());
    }

    #[test]
    fn an_attempt_that_was_cut_off_comes_to_the_same_end(
        talk in talks(), seed in any::<u64>(), cut in any::<prop::sample::Index>(),
    ) {
        let whole = talk.ended(seed);
        let length = cut.index(whole.bench.log.len() + 1);
        let mut bench = woken(Talk::fresh(), &whole.bench.log, length);
        bench.send(&Input::Brief(Box::new(talk.brief.clone())));
        let mut drive = Drive::new(Talk::fresh(), bench, &talk, seed);
        drive.finish(|_| false);
        answered(&drive.bench.machine);
        // Calls after a lost one are refused, which may take another turn.
        let lost = |(event, _): &(Event, _)| matches!(event, Event::ToolLost { .. });
        if !drive.bench.log.iter().any(lost) {
            prop_assert_eq!(outcome(&whole.bench.machine), outcome(&drive.bench.machine));
        }
        for (event, _) in &whole.bench.log[..length] {
            if let Event::ToolFinished { call, .. } = event {
                prop_assert!(!drive.performed.contains(&EffectId::Tool(*call)), "{call} ran twice");
            }
        }
    }

    #[test]
    fn an_attempt_never_spends_more_than_its_budget(
        talk in talks(), seed in any::<u64>(), tokens in 500..8_000_u64, percent in 0..=100_u64,
    ) {
        let mut talk = talk;
        (talk.brief.budget.tokens, talk.percent_spent) = (Some(tokens), Some(percent));
        let attempt = talk.ended(seed).bench.machine;
        let spent = attempt.view().map_or(0, |view| view.spent.tokens);
        prop_assert!(spent <= tokens, "{} of {} are spent", spent, tokens);
    }
}

/// How an attempt ended, for comparison.
fn outcome(attempt: &Attempt) -> (AttemptResult, u32) {
    let end = attempt.end(Digest::ZERO).expect("it is over");
    (end.result, end.turns)
}

/// Asserts that every call in the history has exactly one result, in the message right after it.
fn answered(attempt: &Attempt) {
    use types::{BlockBody, Message};
    let mut messages = attempt.history().iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Assistant { blocks, .. } = &**message else { continue };
        let calls = blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Call(call) => Some(call.wire_id.as_str()),
            _ => None,
        });
        let calls: Vec<&str> = calls.collect();
        let results: Vec<&str> = match messages.peek().map(|next| &***next) {
            Some(Message::Results { results }) => results.iter().map(|r| &*r.wire_id).collect(),
            _ => vec![],
        };
        assert_eq!(calls, results);
    }
}

#[test]
fn a_run_can_be_cut_off_after_each_of_its_events() {
    let mut world = World::of_independent_tasks(5);
    world.plan.tasks[4].depends_on = vec![world.plan.tasks[0].id.clone()];
    let whole = world.ended(3);
    for length in 0..=whole.bench.log.len() {
        let drive = resumed(&world, &whole.bench.log, length);
        assert_eq!(report(&whole.bench.machine), report(&drive.bench.machine), "cut at {length}");
    }
}

/// The largest possible plan; more in release builds.
const MANY: usize = if cfg!(debug_assertions) { 2_000 } else { 10_000 };

#[test]
fn a_plan_of_thousands_of_tasks_is_driven_to_its_end() {
    let world = World::of_independent_tasks(MANY);
    let drive = world.ended(11);
    let view = drive.bench.machine.view(drive.bench.now);
    assert_eq!((view.status, view.tasks.len()), (Status::Done, MANY));
}

#[test]
fn a_plan_with_a_check_for_each_of_its_many_tasks_is_driven_to_its_end() {
    let mut world = World::of_independent_tasks(MANY / 4);
    for task in &mut world.plan.tasks {
        task.checks = vec![check("own", &format!("make {}", task.id))];
    }
    let drive = world.ended(11);
    assert_eq!(drive.bench.machine.status(), Status::Done);
    assert_eq!(drive.bench.machine.check_results().merged.len(), MANY / 4 + 1);
}
