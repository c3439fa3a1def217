//! Calls that wait for a person: those that a rule asks about, and questions of the model.

use types::{
    Access, Answer, Arguments, Asking, CallId, CallOutcome, Choice, Decision, Event, Fault,
    FileState, Grants, QuestionKind, RuleId, Severity, Terms, Timestamp, ToolOutput,
};

use super::Attempt;
use super::events::{finished, refusal};
use super::session::{CallState, PendingCall, Session};
use rules::approval;

/// The start of the reason for refusing a call whose files cannot be inspected.
pub(super) const NOT_SEEN: &str = "the files that it names cannot be looked at: ";

/// Asks the person.
pub(super) fn ask(
    attempt: &Attempt,
    slot: &PendingCall,
    decision: Decision,
    offer: Option<Grants>,
) -> Event {
    let (text, terms) = match slot.facts() {
        Some(facts) if facts.access == Access::Ask => {
            (facts.command.clone().unwrap_or_default(), clarification())
        }
        _ => {
            let what = decision.seen.join(" ");
            (format!("Allow or deny: {what} ({})", decision.reason), approval_terms(offer))
        }
    };
    Event::QuestionAsked {
        question: attempt.questions,
        text,
        decision,
        attempt: None,
        call: Some(slot.id),
        files: vec![],
        terms: Some(Box::new(terms)),
    }
}

/// The terms of an agent's own question; without an answer the agent decides itself.
fn clarification() -> Terms {
    let default = "Nobody answered. Decide yourself, and say what you assumed.";
    let open = Terms::open(QuestionKind::Clarification, Severity::Medium);
    Terms { default: Some(default.to_owned()), ..open }
}

/// The terms of an approval: anything but yes is a no, and the agent gets the answer's text.
fn approval_terms(grants: Option<Grants>) -> Terms {
    let choices = vec![
        Choice::new("allow", "make the call"),
        Choice::new("deny", "reject the call and tell the agent").with_words(),
    ];
    let open = Terms::open(QuestionKind::Approval, Severity::Medium);
    Terms { choices, default: Some("deny".to_owned()), grants, ..open }
}

/// Refuses a call whose files cannot be inspected, since the approval would cover unknown contents.
pub(super) fn unseen(attempt: &Attempt, call: CallId, fault: &Fault) -> Vec<Event> {
    let slot = attempt.sessions.get(&call.session).and_then(|session| session.slot(call));
    let reason = format!("{NOT_SEEN}{}", fault.what);
    let decision = Decision::new(RuleId::fixed("permit.not_seen"), reason);
    slot.map(|slot| refusal(slot, CallOutcome::Refused, decision)).into_iter().collect()
}

/// Adds the observed files to the question.
pub(super) fn about(mut asked: Event, now: Vec<FileState>) -> Event {
    if let Event::QuestionAsked { files, .. } = &mut asked {
        *files = now;
    }
    asked
}

pub(super) fn asks(judged: &[Event]) -> bool {
    judged.iter().any(|event| matches!(event, Event::QuestionAsked { .. }))
}

/// The words of a call's command that may name files.
pub(super) fn words(slot: &PendingCall) -> Vec<String> {
    slot.facts().map(approval::words).unwrap_or_default()
}

/// Whether a person approved files that may have changed since.
pub(super) fn waits_for_a_look(slot: &PendingCall) -> bool {
    match &slot.state {
        CallState::Answered(asking, said) => said.allows() && !asking.files.is_empty(),
        _ => false,
    }
}

/// Handles the person's answer.
pub(super) fn answered(attempt: &Attempt, question: u32, by: &str, text: &str) -> Vec<Event> {
    match attempt.open_question() {
        Some(asking) if asking.question == question => {
            let (by, text) = (by.to_owned(), text.to_owned());
            let (choice, feedback, halts) = (None, None, None);
            vec![Event::QuestionAnswered { question, by, text, choice, feedback, halts }]
        }
        _ => vec![],
    }
}

/// The event that follows from an answer that was not acted on yet.
pub(super) fn follow(attempt: &Attempt, session: &Session) -> Option<Event> {
    session.round.iter().find_map(|slot| match &slot.state {
        CallState::Answered(asking, said) if !waits_for_a_look(slot) => {
            Some(follow_one(attempt, slot, asking.decision.clone(), said))
        }
        _ => None,
    })
}

pub(super) fn follow_one(
    attempt: &Attempt,
    slot: &PendingCall,
    decision: Decision,
    said: &Answer,
) -> Event {
    let call = slot.id;
    if slot.needs(Access::Ask) {
        return finished(attempt, call, &ToolOutput::ok(worded(&slot.call.arguments, &said.text)));
    }
    if said.allows() {
        let decision = Decision { reason: format!("{} allowed it", said.by), ..decision };
        return Event::ToolStarted { call, tool: slot.call.tool.clone(), decision };
    }
    let reason = format!("{} did not allow it: {}", said.by, said.text);
    refusal(slot, CallOutcome::Refused, Decision { reason, ..decision })
}

/// The text of an answer: the number of an option that the agent offered is replaced by the option.
fn worded(arguments: &Arguments, said: &str) -> String {
    let Arguments::Json(given) = arguments else { return said.to_owned() };
    let options = given.get("options").and_then(|options| options.as_array());
    let place = said.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let option = options.zip(place).and_then(|(options, place)| options.get(place)?.as_str());
    option.unwrap_or(said).to_owned()
}

/// Whether a call of this round waits for an answer or for its consequence.
pub(super) fn is_open(session: &Session) -> bool {
    let open =
        |slot: &PendingCall| matches!(slot.state, CallState::Asked(_) | CallState::Answered(..));
    session.round.iter().any(open)
}

/// Takes a question into the state.
pub(super) fn apply_asked(attempt: &mut Attempt, call: Option<CallId>, asking: &Asking) {
    let slots = attempt.sessions.values_mut().flat_map(|session| &mut session.round);
    for slot in slots.filter(|slot| Some(slot.id) == call && slot.may_start()) {
        slot.state = CallState::Asked(Box::new(asking.clone()));
    }
    attempt.questions = asking.question.saturating_add(1);
}

/// Takes an answer into the state.
pub(super) fn apply_answered(attempt: &mut Attempt, question: u32, said: &Answer, at: Timestamp) {
    for session in attempt.sessions.values_mut() {
        // Time spent waiting for the person does not count against the session.
        session.began = at;
        for slot in &mut session.round {
            if let CallState::Asked(asking) = &slot.state
                && asking.question == question
            {
                slot.state = CallState::Answered(asking.clone(), said.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_offered_option_stands_for_the_option() {
        let offered =
            serde_json::json!({ "question": "Cut?", "options": ["anywhere", "at a dash"] });
        let offered = Arguments::Json(offered);
        for (said, means) in
            [("2", "at a dash"), (" 1 ", "anywhere"), ("3", "3"), ("0", "0"), ("at 2", "at 2")]
        {
            assert_eq!(worded(&offered, said), means, "{said}");
        }
        let open = Arguments::Json(serde_json::json!({ "question": "How many?" }));
        assert_eq!(worded(&open, "2"), "2");
    }
}
