//! Questions about gates, and the risks that people accepted.

use types::choices::GO;
use types::{About, Phase};

use crate::stages::plan;
use crate::state::{Question, Run};

/// Whether a person accepted the risks of the current plan.
pub(super) fn risks_taken(run: &Run) -> bool {
    let last = questions(run, Phase::Planning).next_back();
    plan::is_a_persons(run) || last.is_some_and(|asked| asked.choice() == Some(GO))
}

/// The questions about the gate of a phase.
pub(super) fn questions(run: &Run, phase: Phase) -> impl DoubleEndedIterator<Item = &Question> {
    run.questions().iter().filter(move |question| question.about() == Some(&About::Gate(phase)))
}
