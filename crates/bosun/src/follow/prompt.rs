//! Answers to a waiting run: typed below the live view, or supplied in advance. Without an answer the run keeps
//! waiting.

use futures::{Stream, StreamExt as _};
use runtime::store::JournalError;
use runtime::{Bosun, Delivered, Handle, Left};
use types::{Command, Envelope, Status};

use super::form::frames;
use super::live::Act;
use super::screen::Screen;
use super::signals::signal;
use crate::home;
use crate::print::note;

/// Resumes the run if its question is answered, either by a supplied answer or by the user at this terminal.
pub(super) async fn answered(
    screen: &mut Screen,
    bosun: &Bosun,
    left: &Left,
    brought: Option<&str>,
    events: &mut (impl Stream<Item = Result<Envelope, JournalError>> + Unpin),
) -> anyhow::Result<Option<Handle>> {
    if left.view.status != Status::Waiting || left.suspended {
        return Ok(None);
    }
    if let Some(answer) = brought {
        return Ok(Some(answered_for(bosun, left, answer).await?));
    }
    // Answers typed while the run was about to be left are in its inbox.
    if bosun.has_posted(&left.view.run).await? {
        return match bosun.resume(&left.view.run).await {
            Ok(handle) => Ok(Some(handle)),
            Err(error) if error.is_busy() => Ok(handed_on(screen)),
            Err(error) => Err(error.into()),
        };
    }
    let Some(live) = screen.live.as_mut().filter(|live| live.takes_answers()) else {
        return Ok(None);
    };
    live.set_waiting(true);
    let next = answered_here(screen, bosun, left, events).await?;
    if let Some(live) = &mut screen.live {
        live.set_waiting(false);
    }
    Ok(next)
}

/// Waits until the user answers or leaves, or another process answers.
async fn answered_here(
    screen: &mut Screen,
    bosun: &Bosun,
    left: &Left,
    events: &mut (impl Stream<Item = Result<Envelope, JournalError>> + Unpin),
) -> anyhow::Result<Option<Handle>> {
    let run = &left.view.run;
    let mut frames = frames();
    let stopped = signal();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            Some(event) = events.next() => {
                screen.take(event).await?;
                // No other process could have written to the log without driving the run.
                if screen.view().status != Status::Waiting {
                    return Ok(handed_on(screen));
                }
            }
            _ = frames.tick() => screen.paint()?,
            _ = &mut stopped => return Ok(None),
            Some(key) = screen.key() => match screen.on_key(key) {
                Some(Act::Stop | Act::Leave) => return Ok(None),
                Some(Act::StopJob) => screen.stop_job()?,
                Some(Act::Answer { questions, text }) => {
                    let answer = |question| {
                        Command::Answer { by: home::person(), question, text: text.clone() }
                    };
                    let Some((last, others)) = questions.split_last() else { continue };
                    for question in others {
                        bosun.post(run, &answer(*question)).await?;
                    }
                    return match bosun.deliver(run, &answer(*last)).await? {
                        Delivered::Here(handle) => Ok(Some(handle)),
                        Delivered::Taken => Ok(handed_on(screen)),
                    };
                }
                None => screen.paint()?,
            },
        }
    }
}

/// Reports that another process drives the run now.
fn handed_on(screen: &mut Screen) -> Option<Handle> {
    let said = "another process has taken over the run; follow it with `bosun watch`";
    match &mut screen.live {
        Some(live) => live.say(said),
        None => note(said),
    }
    None
}

/// Answers on behalf of an absent user, and resumes the run.
async fn answered_for(bosun: &Bosun, left: &Left, answer: &str) -> anyhow::Result<Handle> {
    let view = &left.view;
    let open = view.questions.iter().find(|asked| asked.answer.is_none());
    let (by, question) = ("the script".to_owned(), open.map_or(0, |asked| asked.id));
    let command = Command::Answer { by, question, text: answer.to_owned() };
    bosun.post(&view.run, &command).await?;
    Ok(bosun.resume(&view.run).await?)
}
