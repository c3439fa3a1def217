//! The person: answers questions, now or later or wrongly, cancels, and sends unsolicited commands.

use std::sync::Arc;

use engine::{Machine as _, Run};
use store::Journal;
use types::{Command, Envelope, Event, Millis, QuestionView, Telling, Timestamp};

use super::clock::START;
use super::dice::Dice;
use super::world::World;
use crate::clock::Clock as _;

pub(super) const ANN: &str = "person:ann";

/// The person returns to the run and has seen nothing since.
pub(super) fn sits_down(world: &Arc<World>, journal: &Arc<dyn Journal>, run: &Run) {
    let now = world.clock.now();
    if let Some(after) = world.case.person.cancels_after {
        let left = START.after(after).since(now);
        says_later(world, journal, left, cancel());
    }
    for question in open(run, now) {
        may_answer(world, journal, &question);
    }
}

/// Shows an event to the person.
pub(super) fn hears(world: &Arc<World>, journal: &Arc<dyn Journal>, run: &Run, lines: &[Envelope]) {
    for line in lines {
        if let Event::QuestionAsked { question, .. } = &line.event {
            let view = run.view(line.at);
            let asked = view.questions.iter().find(|view| view.id == *question);
            asked.into_iter().for_each(|asked| may_answer(world, journal, asked));
        }
    }
    let talkative = world.case.person.talkative;
    let word = {
        let dice = &mut world.lock().dice;
        (dice.chance(talkative) && !run.is_over()).then(|| (dice.delay(), noise(dice)))
    };
    if let Some((delay, command)) = word {
        says_later(world, journal, delay, command);
    }
}

fn may_answer(world: &Arc<World>, journal: &Arc<dyn Journal>, question: &QuestionView) {
    let answer = {
        let state = &mut *world.lock();
        let answers = state.dice.chance(world.case.person.attentive)
            && state.answers < world.case.person.patience;
        state.answers += u64::from(answers);
        answers.then(|| (state.dice.delay(), answer(question, &mut state.dice)))
    };
    if let Some((delay, command)) = answer {
        says_later(world, journal, delay, command);
    }
}

fn says_later(world: &Arc<World>, journal: &Arc<dyn Journal>, delay: Millis, command: Command) {
    let (world, journal) = (world.clone(), journal.clone());
    tokio::spawn(async move {
        world.clock.sleep(delay).await;
        // A full inbox takes nothing more, like the real one.
        let _heard = journal.post(&world.case.run, world.clock.now(), &command).await;
    });
}

pub(super) fn open(run: &Run, now: Timestamp) -> Vec<QuestionView> {
    let questions = run.view(now).questions;
    questions.into_iter().filter(|question| question.answer.is_none()).collect()
}

pub(super) fn cancel() -> Command {
    Command::Cancel { by: ANN.to_owned(), reason: "enough".to_owned() }
}

/// One of the offered answers, or free text.
pub(super) fn answer(question: &QuestionView, dice: &mut Dice) -> Command {
    let choices = question.terms.as_ref().map_or(&[][..], |terms| &terms.choices[..]);
    let text = if choices.is_empty() || dice.chance(10) {
        dice.pick(&["yes", "no", "approve", "use two tasks", ""]).to_owned()
    } else {
        let place = usize::try_from(dice.below(choices.len() as u64)).unwrap_or(0);
        choices[place].id.clone()
    };
    Command::Answer { by: ANN.to_owned(), question: question.id, text }
}

/// An unsolicited command.
pub(super) fn noise(dice: &mut Dice) -> Command {
    let (by, text) = (ANN.to_owned(), "and quickly".to_owned());
    match dice.below(6) {
        0 => Command::Tell { how: Telling::Steer, by, text, images: vec![] },
        1 => Command::Tell { how: Telling::FollowUp, by, text, images: vec![] },
        2 => Command::Interrupt { by, said: None },
        3 => Command::GoOn { by },
        4 => Command::Compact { by },
        _ => Command::Answer { by, question: 7, text },
    }
}
