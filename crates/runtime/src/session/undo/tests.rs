//! Which lines of a log an undo takes back.

mod laws;

use super::*;
use types::{CallId, CallOutcome, Shown};

fn tree(name: &str) -> Digest {
    Digest::of(name.as_bytes())
}

fn trees(before: &str, after: &str) -> Trees {
    Trees { before: tree(before), after: tree(after), switched: false }
}

fn changed(turn: u32, trees: Trees) -> Event {
    Event::ToolFinished {
        call: CallId { session: SessionId::ROOT, turn, index: 0 },
        outcome: CallOutcome::Ok,
        output: Shown::default(),
        images: vec![],
        files: vec![],
        trees: Some(trees),
        metadata: Box::default(),
        note: None,
    }
}

fn restored(to: u64, trees: Trees) -> Event {
    Event::WorkspaceRestored { by: "ann".to_owned(), to, trees }
}

/// The error names a missing line and the last existing one.
#[test]
fn a_line_that_does_not_exist_is_an_error() {
    let mut changes = Changes::default();
    changes.take(3, &changed(1, trees("a", "b")));
    changes.end = 5;
    assert_eq!(changes.after(3, vec![]).expect("a line").changes, []);
    for line in [0, 6, u64::MAX] {
        let error = changes.after(line, vec![]).expect_err("there is no such line");
        assert!(matches!(error, SessionError::NoSuchLine { last: 5, .. }), "{error}");
    }
}

#[test]
fn rounds_are_taken_back_one_after_the_other() {
    let mut changes = Changes::default();
    let (one, two, three) = (trees("a", "b"), trees("b", "c"), trees("c", "d"));
    changes.take(10, &changed(1, one));
    changes.take(11, &changed(1, two));
    changes.take(20, &changed(2, three));
    let last = |changes: &Changes| changes.last_round().map(|wanted| (wanted.to, wanted.changes));
    assert_eq!(last(&changes), Some((19, vec![three])));
    let back = trees("d", "c");
    changes.take(21, &restored(19, back));
    assert_eq!(last(&changes), Some((9, vec![back, three, two, one])));
    assert_eq!(changes.at(5), Some(tree("a")));
    assert_eq!((changes.at(10), changes.at(15)), (Some(tree("b")), Some(tree("c"))));
    assert_eq!((changes.at(20), changes.at(30)), (Some(tree("d")), Some(tree("c"))));
    changes.take(22, &restored(9, trees("c", "a")));
    assert_eq!(last(&changes), None);
}

#[test]
fn a_round_whose_undo_was_undone_can_be_undone_again() {
    let mut changes = Changes::default();
    changes.take(10, &changed(1, trees("a", "b")));
    changes.take(11, &restored(9, trees("b", "a")));
    assert!(changes.last_round().is_none());
    changes.take(12, &restored(10, trees("a", "b")));
    assert_eq!(changes.last_round().map(|wanted| wanted.to), Some(9));
}
