//! The reservation for the next reply. The model's longest reply is requested if it fits, a shorter one if the budget
//! or the window leaves less. A call is refused only if not even a short reply fits.

use types::{Budget, Shortage, Spend};

use super::Attempt;
use super::session::{Session, SessionPhase};
use rules::ledger::{CALL, LEAST_REPLY, UNPRICED, lacking, most_tokens, worst};

/// The precision of the search, in tokens.
const STEP: u64 = 256;

/// Why a call does not fit: a code and a message.
type Refused = (&'static str, String);

/// The longest reply that fits, and its reservation.
pub(super) fn longest(attempt: &Attempt, session: &Session) -> Result<(u64, Spend), Refused> {
    let most = by_window(session);
    let least = most.min(LEAST_REPLY);
    if let Ok(reserved) = reservation(attempt, session, most) {
        return Ok((most, reserved));
    }
    let mut fits = (least, reservation(attempt, session, least)?);
    let mut too_long = most;
    while too_long - fits.0 > STEP {
        let middle = fits.0.midpoint(too_long);
        match reservation(attempt, session, middle) {
            Ok(reserved) => fits = (middle, reserved),
            Err(_) => too_long = middle,
        }
    }
    Ok(fits)
}

impl Attempt {
    /// The call that does not fit its budget, if it waits for more of it.
    #[must_use]
    pub fn short(&self) -> Option<Shortage> {
        let root = self.root().filter(|root| root.end.is_none())?;
        let SessionPhase::Short { what } = &root.phase else { return None };
        let (wanted, spent) = (least(root), root.ledger.spent());
        Some(Shortage { wanted, spent, what: what.clone() })
    }
}

/// The reservation for the shortest reply, whether or not it fits.
fn least(session: &Session) -> Spend {
    let output = by_window(session).min(LEAST_REPLY);
    let tokens = (most_tokens(session.bytes), output);
    worst(Budget::default(), session.price, tokens).unwrap_or_default()
}

/// The longest reply that fits the model's window, if known. If the usage is only an estimate, a short reply is
/// requested in any case.
fn by_window(session: &Session) -> u64 {
    let most = session.most_output;
    let least = if session.room.counted.is_some() { 1 } else { most.min(LEAST_REPLY) };
    match session.room.window {
        Some(window) => most.min(window.saturating_sub(session.context()).max(least)),
        None => most,
    }
}

/// The reservation for a reply of this length, or why it does not fit the share of the conversation or of one above it.
fn reservation(attempt: &Attempt, session: &Session, output: u64) -> Result<Spend, Refused> {
    // Half a token per byte exceeds ordinary text.
    let tokens = (most_tokens(session.bytes), output);
    let reserved =
        worst(session.ledger.budget(), session.price, tokens).map_err(|what| (UNPRICED, what))?;
    let mut next = Some(session);
    while let Some(session) = next {
        if let Some(what) = lacking(session.ledger.free(), reserved) {
            return Err((CALL, what));
        }
        next = session.parent.and_then(|call| attempt.sessions.get(&call.session));
    }
    Ok(reserved)
}
