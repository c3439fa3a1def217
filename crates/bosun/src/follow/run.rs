//! Follows a run until it is over: shows events as they happen, and suspends the run on Ctrl-C.

use std::collections::BTreeMap;

use crossterm::event::Event as Key;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use runtime::store::JournalError;
use runtime::{Bosun, Delta, Handle, Left, Mix, Words};
use tokio::sync::broadcast;
use tokio::time::Interval;
use tokio_util::sync::CancellationToken;
use types::{Command, Envelope, LogId, RunId};

use super::form::{Form, PACE, frames};
use super::live::{Act, Answers, Live};
use super::outputs::hand_out;
use super::screen::Screen;
use super::signals::{leave_at_once, take_signals};
use super::{notify, prompt, runs_folder};
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print::{self, error_object, is_closed_pipe, json, note, report, text};

/// Follows a run until it is over or a question stays unanswered, hands out what was requested, and reports the error
/// last. Shows only the lines after the `known` ones.
pub(crate) async fn follow(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    form: Form,
    known: BTreeMap<LogId, u64>,
) -> anyhow::Result<Exit> {
    let run = handle.run().clone();
    let over = until_over(home, bosun, handle, (form, known), &[]).await?;
    hand_out(bosun, form, &run).await?;
    Ok(over.told())
}

/// Follows a run, for callers that do more at its end. `answers` are for its first questions.
pub(crate) async fn until_over(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    (form, known): (Form, BTreeMap<LogId, u64>),
    answers: &[&str],
) -> anyhow::Result<Over> {
    // Boxed: the screen makes this future large, and the caller's need not be.
    Box::pin(stay(home, bosun, handle, (form, known), answers)).await
}

/// A run that is over or was left.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) exit: Exit,
    /// The error, where errors are reported as an object.
    pub(crate) wrong: Option<String>,
}

impl Over {
    /// Prints the error, after everything else.
    pub(crate) fn told(self) -> Exit {
        self.wrong.as_deref().into_iter().for_each(error_object);
        self.exit
    }
}

async fn stay(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    (form, known): (Form, BTreeMap<LogId, u64>),
    answers: &[&str],
) -> anyhow::Result<Over> {
    let run = handle.run().clone();
    let mut screen = Screen::open(bosun, &run, form, Answers::Typed).await?.driving();
    screen.known = known;
    screen.notifies = !home.passing && answers.is_empty();
    let writing = runs_folder::begin(bosun, &bosun.view(&run).await?, screen.run.policy());
    let mix = if let Form::Json(mix) = form { mix } else { Mix::Live };
    let pieces = matches!(form, Form::Live | Form::Plain | Form::Told(Words::Coordinator));
    let mut streams = Streams::new(bosun, &run, mix, pieces);
    let (mut handle, mut answers) = (handle, answers.iter());
    let left = loop {
        let (left, unread) = until_left(&mut screen, bosun, handle, &mut streams).await;
        if let Some(error) = unread {
            return given_up(home, &run, &left?, error);
        }
        // Shows also the lines recorded before a failure or before a prompt.
        let shown = screen.catch_up(bosun, &run, mix, &mut streams.events).await;
        let left = left?;
        if let Err(error) = shown {
            return given_up(home, &run, &left, error);
        }
        let brought = answers.next().copied();
        match prompt::answered(&mut screen, bosun, &left, brought, &mut streams.events).await? {
            Some(next) => handle = next,
            None => break left,
        }
    };
    screen.tell_end(&left.view);
    screen.live.into_iter().for_each(Live::clear);
    let exit = finish(home, &left, form)?;
    let wrong = match writing {
        Some(writing) => runs_folder::end(writing, &left).await?,
        None => None,
    };
    notify::hooks_done().await;
    Ok(Over { exit, wrong })
}

/// Event sources of a followed run, and the timers of its display.
struct Streams {
    events: BoxStream<'static, Result<Envelope, JournalError>>,
    deltas: Option<broadcast::Receiver<Delta>>,
    tick: Interval,
    frames: Interval,
}

impl Streams {
    fn new(bosun: &Bosun, run: &RunId, mix: Mix, pieces: bool) -> Self {
        let mut tick = tokio::time::interval(PACE);
        tick.reset();
        Self {
            events: bosun.watch(run, mix).boxed(),
            deltas: pieces.then(|| bosun.deltas()),
            tick,
            frames: frames(),
        }
    }
}

/// Shows events until the run is left. Also returns the error if they could not be shown.
async fn until_left(
    screen: &mut Screen,
    bosun: &Bosun,
    handle: Handle,
    streams: &mut Streams,
) -> (Result<Left, runtime::Error>, Option<anyhow::Error>) {
    let (run, suspend) = (handle.run().clone(), handle.suspender());
    let listening = tokio::spawn(take_signals(suspend.clone(), screen.live.is_some()));
    let (finished, mut unread) = (handle.finished(), None);
    tokio::pin!(finished);
    let Streams { events, deltas, tick, frames } = streams;
    let left = loop {
        let shown = tokio::select! {
            left = &mut finished => break left,
            Some(event) = events.next(), if unread.is_none() => {
                screen.take_after(&run, deltas, event).await
            }
            Some(delta) = heard(deltas), if unread.is_none() => screen.hear(&run, &delta),
            _ = tick.tick(), if unread.is_none() => screen.tick(),
            _ = frames.tick(), if screen.live.is_some() && unread.is_none() => {
                screen.paint_while(&suspend)
            }
            Some(key) = screen.key(), if unread.is_none() => {
                press(screen, bosun, &run, &suspend, key).await
            }
        };
        if let Err(error) = shown {
            // The output has no reader any more: suspend the run in good order, and report how to resume it.
            suspend.cancel();
            unread = Some(error);
        }
    };
    listening.abort();
    (left, unread)
}

/// Carries out the action of a key during the run.
async fn press(
    screen: &mut Screen,
    bosun: &Bosun,
    run: &RunId,
    suspend: &CancellationToken,
    key: Key,
) -> anyhow::Result<()> {
    match screen.on_key(key) {
        Some(Act::Stop) if suspend.is_cancelled() => leave_at_once(),
        Some(Act::Stop) => suspend.cancel(),
        Some(Act::StopJob) => screen.stop_job()?,
        Some(Act::Answer { questions, text }) => {
            for question in questions {
                let command = Command::Answer { by: home::person(), question, text: text.clone() };
                bosun.post(run, &command).await?;
            }
        }
        Some(Act::Leave) | None => {}
    }
    screen.paint_while(suspend)
}

/// Result for a run that was left because its output could not be shown any more.
fn given_up(home: &Home, run: &RunId, left: &Left, error: anyhow::Error) -> anyhow::Result<Over> {
    if !is_closed_pipe(&error) {
        return Err(error);
    }
    if !left.suspended {
        return Ok(Over { exit: Exit::of(left.view.status), wrong: None });
    }
    let go_on = format!("{} resume {run}", home.flag());
    note(&format!("output closed; progress is saved. Resume with: {go_on}"));
    Ok(Over { exit: Exit::Cancelled, wrong: None })
}

/// The next delta; `None` if there is no subscription or it is closed.
async fn heard(deltas: &mut Option<broadcast::Receiver<Delta>>) -> Option<Delta> {
    loop {
        match deltas.as_mut()?.recv().await {
            Ok(delta) => return Some(delta),
            // The log has the missed content.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *deltas = None,
        }
    }
}

fn finish(home: &Home, left: &Left, form: Form) -> anyhow::Result<Exit> {
    let view = &left.view;
    if let Form::Json(_) = form {
        json(&serde_json::json!({ "report": view }))?;
    } else if !left.suspended && !matches!(form, Form::Told(_) | Form::Quiet) {
        text(&report::report(view, home, false))?;
    }
    if let Some(fault) = &left.away {
        note(&print::session::away(fault, home, &view.run));
        return Ok(Exit::ModelAway);
    }
    if left.suspended && home.passing {
        note("stopped; removing the sample repository");
        return Ok(Exit::Cancelled);
    }
    if left.suspended {
        note(&format!(
            "stopped; progress is saved. Resume with: {} resume {}",
            home.flag(),
            view.run
        ));
        return Ok(Exit::Cancelled);
    }
    if let Some(go_on) = print::budget::continues(view) {
        let bosun = home.flag();
        note(&format!("paused: out of budget; progress is saved. Continue with: {bosun} {go_on}"));
        return Ok(Exit::OutOfBudget);
    }
    Ok(Exit::of(view.status))
}
