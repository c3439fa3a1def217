//! Follows a run that another process drives, in the form that `bosun run` uses for its own. Read-only: never drives,
//! answers or stops the run.

use futures::StreamExt as _;
use runtime::{Bosun, Mix};
use types::RunId;

use super::form::{Form, PACE, frames};
use super::live::{Act, Answers, Live};
use super::screen::Screen;
use super::signals::signal;
use crate::driven;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, json, note, report, text};

/// Shows the events of a run until it is over or paused, and returns the run's exit code; `Cancelled` if the user leaves
/// first.
pub(crate) async fn watch(
    home: &Home,
    bosun: &Bosun,
    run: &RunId,
    form: Form,
) -> anyhow::Result<Exit> {
    let answers = Answers::By(format!("{} answer {run}", home.flag()));
    let mut screen = Screen::open(bosun, run, form, answers).await?;
    screen.notifies = false;
    let mut events = Box::pin(bosun.watch(run, Mix::Live));
    let (mut frames, mut tick) = (frames(), tokio::time::interval(PACE));
    let mut looks = tokio::time::interval(driven::LOOK_EVERY);
    tick.reset();
    looks.reset();
    let stopped = signal();
    tokio::pin!(stopped);
    let mut told: Option<String> = None;
    let is_over = loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => screen.take(event).await?,
                None => break true,
            },
            _ = frames.tick(), if screen.live.is_some() => screen.paint()?,
            _ = tick.tick() => screen.tick()?,
            _ = looks.tick() => {
                if driven::is_paused(bosun, run).await? {
                    screen.catch_up(bosun, run, Mix::Live, &mut events).await?;
                    break true;
                }
                let alone = driven::alone(home, bosun, run).await?;
                match &mut screen.live {
                    Some(live) => live.notice = alone,
                    None if alone != told => {
                        alone.iter().for_each(|why| note(why));
                        told = alone;
                    }
                    None => {}
                }
            }
            _ = &mut stopped => break false,
            Some(key) = screen.key() => match screen.on_key(key) {
                Some(Act::Stop | Act::Leave) => break false,
                Some(Act::StopJob) => screen.stop_job()?,
                Some(Act::Answer { .. }) | None => {}
            },
        }
    };
    screen.live.into_iter().for_each(Live::clear);
    if !is_over {
        note(&format!("detached; the run is unaffected. Status: {} show {run}", home.flag()));
        return Ok(Exit::Cancelled);
    }
    ended(home, bosun, run, &form).await
}

/// Prints the report of a run that is over or paused.
async fn ended(home: &Home, bosun: &Bosun, run: &RunId, form: &Form) -> anyhow::Result<Exit> {
    let view = bosun.view(run).await?;
    match form {
        Form::Json(_) => json(&serde_json::json!({ "report": view }))?,
        _ if print::is_quiet() => {}
        _ => text(&report::report(&view, home, false))?,
    }
    Ok(match print::budget::continues(&view) {
        Some(_) => Exit::OutOfBudget,
        None => Exit::of(view.status),
    })
}
