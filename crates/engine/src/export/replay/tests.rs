//! Replay finds nothing in logs that the machines made, and detects alterations.

use proptest::collection::vec;
use proptest::prelude::*;
use types::{Command, Envelope, Event, Input, LogId, RunId, SessionEnd};

use super::{Difference, How, Recorded, Replayed, replay};
use crate::testing::noise::inputs;
use crate::testing::talk::{Talk, talks};
use crate::testing::world::{World, worlds};
use crate::testing::{Bench, reread};

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { cases: count, failure_persistence: None, ..ProptestConfig::default() }
}

fn difference<M: Recorded>(blank: M, lines: &[Envelope]) -> Option<Difference> {
    replayed(blank, lines).difference
}

fn replayed<M: Recorded>(blank: M, lines: &[Envelope]) -> Replayed<M> {
    let how = How { clean: &|event| event, torn: false };
    replay(blank, &LogId::run(RunId::fixed("r_test")), lines, &how, |_, _| {})
}

/// The lines as read back.
fn lines<M: crate::Machine>(bench: &Bench<M>) -> Vec<Envelope> {
    let events = reread(&bench.log);
    let line = |(line, (event, _)): (Envelope, _)| Envelope { event, ..line };
    bench.lines().into_iter().zip(events).map(line).collect()
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn every_run_is_decided_again_as_it_is_recorded(
        world in worlds(), seed in any::<u64>(), noise in vec((0..4_usize, inputs()), 0..20),
    ) {
        let mut drive = world.begun(seed);
        for (steps, input) in noise {
            (0..steps).take_while(|_| drive.step()).count();
            drive.bench.send(&input);
        }
        drive.finish(|run| run.status() == types::Status::Waiting);
        prop_assert_eq!(difference(world.fresh(), &lines(&drive.bench)), None);
    }

    #[test]
    fn every_attempt_is_decided_again_as_it_is_recorded(
        talk in talks(), seed in any::<u64>(), noise in vec((0..4_usize, inputs()), 0..20),
    ) {
        let mut drive = talk.begun(seed);
        for (steps, input) in noise {
            (0..steps).take_while(|_| drive.step()).count();
            drive.bench.send(&input);
        }
        drive.finish(|_| false);
        prop_assert_eq!(difference(Talk::fresh(), &lines(&drive.bench)), None);
    }

    #[test]
    fn a_decision_that_is_left_out_is_missed(
        world in worlds(), seed in any::<u64>(), which in any::<prop::sample::Index>(),
    ) {
        let all = lines(&world.ended(seed).bench);
        let decided: Vec<usize> = all
            .iter()
            .enumerate()
            .filter(|(_, line)| crate::export::explain::is_decided(&line.event))
            .map(|(place, _)| place)
            .collect();
        let place = decided[which.index(decided.len())];
        let mut cut = all.clone();
        cut.remove(place);
        prop_assert!(difference(world.fresh(), &cut).is_some(), "without {:?}", all[place].event);
    }
}

#[test]
fn an_altered_reason_is_found_where_it_stands() {
    let world = World::of_independent_tasks(2);
    let mut lines = lines(&world.ended(3).bench);
    let line = lines
        .iter_mut()
        .find(|line| matches!(line.event, Event::TaskVerified { .. }))
        .expect("a task was verified");
    let seq = line.seq;
    let Event::TaskVerified { decision, .. } = &mut line.event else { unreachable!() };
    decision.reason = "it looks good".to_owned();
    let found = difference(world.fresh(), &lines).expect("a difference");
    assert_eq!(found.seq, seq);
    let reason = |event: &Option<Event>| {
        event.as_ref().and_then(crate::export::explain::decision).map(|it| it.reason.clone())
    };
    assert_eq!(reason(&found.recorded).as_deref(), Some("it looks good"));
    let fields = found.fields();
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["decision.reason"]);
    assert_eq!(fields[0].recorded.as_deref(), Some("\"it looks good\""));
    assert!(reason(&found.decided).is_some_and(|reason| reason.contains("check")), "{found:?}");

    // A log of another wording has the same decisions in other words.
    let Event::RunRequested { wording, .. } = &mut lines[0].event else { unreachable!() };
    *wording = types::Wording::default();
    let replayed = replayed(world.fresh(), &lines);
    assert_eq!((replayed.difference, replayed.rewording.lines), (None, 1));
    assert_eq!(replayed.rewording.first, Some(found));
}

#[test]
fn a_decision_by_another_rule_is_a_difference_in_any_wording() {
    let world = World::of_independent_tasks(2);
    let mut lines = lines(&world.ended(3).bench);
    let verified = |line: &&mut Envelope| matches!(line.event, Event::TaskVerified { .. });
    let line = lines.iter_mut().find(verified).expect("a task was verified");
    let seq = line.seq;
    let Event::TaskVerified { decision, .. } = &mut line.event else { unreachable!() };
    decision.rule = types::RuleId::fixed("verify.looks_good");
    let Event::RunRequested { wording, .. } = &mut lines[0].event else { unreachable!() };
    *wording = types::Wording::default();
    let found = replayed(world.fresh(), &lines).difference.expect("a difference");
    assert_eq!(found.seq, seq);
}

#[test]
fn a_log_that_ends_within_a_decision_is_not_whole_unless_that_is_allowed() {
    let world = World::of_independent_tasks(1);
    let all = lines(&world.ended(1).bench);
    let within = all.iter().position(|line| matches!(line.event, Event::RunAccepted { .. }));
    let cut = &all[..=within.expect("it was accepted")];
    let found = difference(world.fresh(), cut).expect("a difference");
    assert_eq!((found.seq, found.recorded), (cut.len() as u64 + 1, None));
    let how = How { clean: &|event| event, torn: true };
    let log = LogId::run(RunId::fixed("r_test"));
    assert_eq!(replay(world.fresh(), &log, cut, &how, |_, _| {}).difference, None);
}

#[test]
fn a_conversation_that_somebody_closed_is_decided_again() {
    let policy = crate::agent::testing::policy();
    let blank = crate::Attempt::new(policy.into());
    let mut bench = Bench::of(blank.clone());
    bench.send(&Input::Brief(Box::new(crate::agent::testing::open_brief())));
    let (by, text) = ("ann".to_owned(), "hello".to_owned());
    bench.send(&Input::Command(Command::Tell {
        how: types::Telling::Submit,
        by,
        text,
        images: vec![],
    }));
    bench.send(&Input::Command(Command::Interrupt { by: "ann".to_owned(), said: None }));
    let (by, reason) = ("ann".to_owned(), "enough".to_owned());
    bench.send(&Input::Command(Command::Cancel { by, reason }));
    let last = bench.log.last().map(|(event, _)| event);
    assert!(matches!(last, Some(Event::SessionEnded { end: SessionEnd::Closed, .. })), "{last:?}");
    assert_eq!(difference(blank, &lines(&bench)), None);
}
