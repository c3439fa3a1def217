//! Shared ids, times, events and appends of the checks. Nothing is checked here.

use types::{CallId, CallOutcome, Envelope, Event, LogId, SessionId, Shown, Timestamp};

use store::{Batch, Clean, Journal, JournalError, Lease, Redactor};

pub(super) fn log(text: &str) -> LogId {
    text.parse().expect("a log id")
}

pub(super) fn noon(minute: i64) -> Timestamp {
    Timestamp::from_millis(1_793_880_000_000 + minute * 60_000)
}

/// An event identified by its text.
pub(super) fn event(text: impl Into<String>) -> Clean {
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
    let output = Shown { text: text.into(), ..Shown::default() };
    Redactor::none().clean(Event::ToolFinished {
        call,
        outcome: CallOutcome::Ok,
        output,
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    })
}

pub(super) fn text(envelope: &Envelope) -> &str {
    match &envelope.event {
        Event::ToolFinished { output, .. } => &output.text,
        _ => "",
    }
}

pub(super) fn batch(expect: u64, events: &[Clean]) -> Batch<'_> {
    Batch { expect, at: noon(0), events, taken: None }
}

/// Writes lines 1 to `count`, each with its number as text, one append each.
pub(super) async fn count_to(journal: &dyn Journal, lease: &Lease, count: u64) {
    for seq in 1..=count {
        let events = [event(seq.to_string())];
        journal.append(lease, batch(seq - 1, &events)).await.expect("an append");
    }
}

pub(super) fn is_conflict(error: &JournalError, at: u64) -> bool {
    matches!(error, JournalError::Conflict { found, .. } if *found == at)
}
