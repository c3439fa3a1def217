//! Accounting of model calls in the shares of an attempt: reserved, settled, or booked when a call is cut off. The
//! tokens of a call that was cut off are unknown, so they are estimated and recorded with the event that cut it off.
//! Whether a call fits is decided elsewhere.

use std::collections::BTreeSet;

use types::{Event, Money, SessionId, Spend, Usage, Used};

use super::Attempt;
use super::session::{Session, SessionPhase};
use super::window::BYTES_A_TOKEN;

/// Reserves an amount in the conversation's share and in every share above it.
pub(super) fn hold(attempt: &mut Attempt, id: SessionId, amount: Spend) {
    each_ledger(attempt, id, |session| session.ledger.hold(amount));
}

pub(super) fn settle(attempt: &mut Attempt, id: SessionId, held: Spend, used: Spend) {
    each_ledger(attempt, id, |session| session.ledger.settle(held, used));
}

fn each_ledger(attempt: &mut Attempt, id: SessionId, change: impl Fn(&mut Session)) {
    let mut next = Some(id);
    while let Some(session) = next.and_then(|id| attempt.sessions.get_mut(&id)) {
        change(session);
        next = session.parent.map(|call| call.session);
    }
}

/// What these tokens use of a budget.
pub(super) fn spend(attempt: &Attempt, usage: Usage, cost: Option<Money>, calls: u64) -> Spend {
    let uncounted = attempt.policy.budget.uncounted(usage);
    Spend { tokens: usage.total(), uncounted, money: cost.unwrap_or_default(), calls }
}

/// Adds the usage of a request, successful or not.
pub(super) fn count(attempt: &mut Attempt, usage: Usage, cost: Option<Money>) {
    attempt.usage = attempt.usage.plus(usage.plausible());
    attempt.cost = attempt.cost.into_iter().chain(cost).reduce(Money::plus);
}

/// Books the usage of calls that no longer have a reservation. Logs of earlier versions lack the figure.
pub(super) fn book(attempt: &mut Attempt, id: SessionId, used: Option<&Used>, calls: u64) {
    let Some(used) = used else { return };
    let spent = spend(attempt, used.usage, used.cost, calls);
    settle(attempt, id, Spend::default(), spent);
    count(attempt, used.marked(), used.cost);
}

/// Returns the events with the usage of the model calls that they cut off.
pub(super) fn booked(attempt: &Attempt, mut events: Vec<Event>) -> Vec<Event> {
    let mut closed = BTreeSet::new();
    for event in &mut events {
        match event {
            Event::SessionPaused { session, said, used, .. } => {
                closed.insert(*session);
                *used = cut_off(attempt, *session, said.as_deref()).map(Box::new);
            }
            Event::SessionEnded { session, used, .. } => {
                // All others end with the root conversation.
                let all = attempt.sessions.keys().filter(|_| *session == SessionId::ROOT);
                let ids = all.chain([&*session]).filter(|id| closed.insert(**id));
                let each = ids.filter_map(|id| cut_off(attempt, *id, None));
                *used = each.reduce(Used::plus).map(Box::new);
            }
            _ => {}
        }
    }
    events
}

/// The estimated usage of a conversation's pending call: everything sent, and the part of the reply received. Never
/// more than was reserved.
fn cut_off(attempt: &Attempt, id: SessionId, said: Option<&str>) -> Option<Used> {
    let session = attempt.sessions.get(&id).filter(|session| session.end.is_none())?;
    let SessionPhase::Asking { reserved, .. } = session.phase else { return None };
    let input = session.context().min(reserved.tokens);
    let said = (said.unwrap_or_default().len() as u64).div_ceil(BYTES_A_TOKEN);
    let output = said.min(reserved.tokens - input);
    let cost = session.price.map(|price| price.of(input, output).min(reserved.money));
    let usage = Usage { input, output, ..Usage::default() };
    Some(Used { usage, cost, estimated: true })
}
