//! Interrupted calls whose outcome is known: they are reported as such, and work continues.

use std::sync::Arc;

use types::{CallId, CallOutcome, Input, Message, Part, Recovered, SessionId};

use super::Attempt;
use super::tests::results;
use crate::testing::{Bench, brief, crew, fold, only, render, same};

/// An attempt killed during the first of two calls and resumed with its recovered outcome.
fn woken(recovered: Option<Recovered>) -> (Bench<Attempt>, String) {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    bench.tell("model calls shell make + write_file src/a.rs");
    let machine = fold(Attempt::new(Arc::new(crew())), &bench.log);
    let mut bench = Bench { machine, ..bench };
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 0 };
    assert_eq!(bench.machine.open_calls().first().map(|(open, _)| *open), Some(call));
    let recovered = recovered.map(|became| (call, became)).into_iter().collect();
    let workspace = Some("M src/b.rs".to_owned());
    let events = render(&bench.send(&Input::Woke { workspace, recovered }));
    (bench, events)
}

fn told(bench: &Bench<Attempt>) -> String {
    let texts = bench.machine.history().iter().find_map(|message| match &**message {
        Message::Results { results } => match &results[0].parts[0] {
            Part::Text { text } => Some(text.clone()),
            _ => None,
        },
        _ => None,
    });
    texts.expect("a result")
}

#[test]
fn a_call_that_was_completed_is_told_as_made_and_the_next_one_goes_ahead() {
    let (mut bench, events) = woken(Some(Recovered::Finished));
    assert!(events.contains("tool.started s1.t1.c1 write_file"), "{events}");
    bench.tell("tool c1 ok");
    let outcomes: Vec<CallOutcome> = results(&bench.machine).into_iter().map(|r| r.1).collect();
    assert_eq!(outcomes, [CallOutcome::Ok, CallOutcome::Ok]);
    let told = told(&bench);
    assert!(told.contains("All its changes are made") && told.ends_with("M src/b.rs"), "{told}");
}

#[test]
fn a_call_that_was_taken_back_is_told_as_failed() {
    let (mut bench, _) = woken(Some(Recovered::Undone));
    bench.tell("tool c1 ok");
    assert_eq!(results(&bench.machine)[0].1, CallOutcome::Error);
    assert!(told(&bench).contains("None of its changes is made"));
}

#[test]
fn a_call_of_which_nothing_is_known_stops_what_comes_after_it() {
    let (_, events) = woken(None);
    assert!(events.contains("write_file refused, permit.after_lost_call"), "{events}");
}

/// A change that is refused counts for a submission in the same reply, as it does after a crash between the two.
#[test]
fn a_refused_change_holds_back_the_submission_beside_it() {
    let mut bench = Bench::of(Attempt::new(Arc::new(crew())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    same(
        &only(&bench.tell("model calls write_file out.rs + submit"), &["tool"]),
        "tool.refused s1.t1.c0 write_file refused, permit.outside_artifacts
         tool.refused s1.t1.c1 submit refused, permit.after_failed_change",
    );
}
