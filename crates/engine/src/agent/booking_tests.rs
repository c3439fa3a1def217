//! Usage of calls that were cut off, and of retries before the call that was answered.

use std::sync::Arc;

use types::{
    Command, Event, Input, ModelReply, Money, Outcome, PriceCap, Replied, SessionId, StopReason,
    Usage, Used,
};

use super::Attempt;
use super::session_tests::{open_brief, opened, policy};
use crate::testing::{Bench, brief, crew, fold};

fn interrupted(bench: &mut Bench<Attempt>, said: Option<&str>) {
    let said = said.map(str::to_owned);
    bench.send(&Input::Command(Command::Interrupt { by: "ada".to_owned(), said }));
}

/// The usage of cut-off calls in the last event.
fn recorded(bench: &Bench<Attempt>) -> Option<Used> {
    match &bench.log.last().expect("an event").0 {
        Event::SessionPaused { used, .. } | Event::SessionEnded { used, .. } => {
            used.as_deref().copied()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_that_a_person_interrupts_is_booked_as_estimated() {
    let million = Money::nanos(1_000_000_000);
    let price = Some(PriceCap { input: million, output: million });
    let mut bench = opened(policy(), types::Brief { price, ..open_brief() });
    bench.tell("submit look at everything there is");
    interrupted(&mut bench, Some(&"seen ".repeat(40)));
    let used = recorded(&bench).expect("something was used");
    let view = bench.machine.view().expect("a view");
    assert!(used.estimated && used.usage.input > 0 && used.usage.output == 50, "{used:?}");
    assert_eq!(view.usage.estimated, used.usage.total());
    assert_eq!((view.spent.tokens, view.spent.calls), (used.usage.total(), 1));
    assert_eq!(view.cost, Some(Money::nanos(used.usage.total() * 1_000)));
    assert_eq!(view.spent.money, Money::nanos(used.usage.total() * 1_000));
    let again = fold(Attempt::new(Arc::new(policy())), &bench.log);
    assert_eq!(again.view().expect("a view").usage, view.usage);
}

#[test]
fn what_nobody_asked_is_not_booked() {
    let mut bench = opened(policy(), open_brief());
    bench.tell("submit look at a\nmodel calls shell ls");
    let before = bench.machine.view().expect("a view").spent;
    interrupted(&mut bench, None);
    assert_eq!((recorded(&bench), bench.machine.view().expect("a view").spent), (None, before));
}

#[test]
fn the_end_of_an_attempt_books_what_it_cuts_off() {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    bench.tell("cancel");
    let used = recorded(&bench).expect("something was used");
    let end = bench.machine.end(types::Digest::ZERO).expect("an end");
    assert_eq!((end.spent.tokens, end.spent.calls), (used.usage.total(), 1));
    assert_eq!(end.usage.estimated, used.usage.total());
}

#[test]
fn a_log_of_an_earlier_version_folds_as_it_did() {
    let mut bench = opened(policy(), open_brief());
    bench.tell("submit go");
    interrupted(&mut bench, None);
    let last = bench.log.last_mut().expect("an event");
    if let Event::SessionPaused { used, .. } = &mut last.0 {
        *used = None;
    }
    let view = fold(Attempt::new(Arc::new(policy())), &bench.log).view().expect("a view");
    assert_eq!((view.spent.tokens, view.spent.calls), (0, 0));
}

#[test]
fn tries_before_the_one_that_was_answered_are_booked() {
    let mut bench = opened(policy(), open_brief());
    bench.tell("submit go");
    let usage = |input| Usage { input, output: 3, ..Usage::default() };
    let mut reply = ModelReply::new(
        vec![types::Block::text("Done.")],
        StopReason::End,
        usage(10),
        Some(Money::nanos(1)),
    );
    let cost = Some(Money::nanos(5));
    reply.provenance.failed_tries = Some(Box::new(Used { usage: usage(7), cost, estimated: true }));
    let replied = Replied { reply, inspections: vec![], exact: vec![] };
    let effect = types::EffectId::Model(SessionId::ROOT, 1);
    bench.send(&Input::Outcome(effect, Outcome::Model(Ok(Box::new(replied)))));
    let view = bench.machine.view().expect("a view");
    assert_eq!((view.spent.tokens, view.spent.calls), (23, 1));
    assert_eq!((view.usage.total(), view.usage.estimated), (23, 10));
    assert_eq!(view.cost, Some(Money::nanos(6)));
}
