//! Follows a run until it is over: shows events as they happen, and suspends the run on Ctrl-C.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use engine::{Machine as _, Run};
use futures::StreamExt as _;
use runtime::store::JournalError;
use runtime::{Bosun, Clock as _, Delta, Handle, Left, Mix, Order, Projected, RealClock, Words};
use tokio::sync::broadcast;
use types::{Envelope, Event, LogId, RunId, Status};

use super::live::{Live, progress};
use super::prompt;
use super::runs_folder::RunsFolder;
use super::signals::take_signals;
use crate::exit::Exit;
use crate::home::Home;
use crate::print::{self, error_object, is_closed_pipe, json, line, lines, note, report, text};

/// How often a run that goes on says how far it is: well within the ten seconds that are promised.
const PACE: Duration = Duration::from_secs(5);

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A live view on a terminal.
    Live,
    /// Plain lines.
    Plain,
    /// JSON lines.
    Json(Mix),
    /// In the words that a program expects.
    Told(Words),
    /// Not at all.
    Quiet,
}

impl Form {
    pub(crate) fn choose(json: bool, order: Order) -> Self {
        match (json, order) {
            (true, Order::Arrival) => Self::Json(Mix::Live),
            (true, Order::Started) => Self::Json(Mix::Grouped),
            (false, _) if print::is_quiet() => Self::Plain,
            (false, _) if std::io::stdout().is_terminal() => Self::Live,
            (false, _) => Self::Plain,
        }
    }
}

/// Stays with a run until it is over or nobody answers what it asks, with answers for its first questions.
pub(crate) async fn follow_with(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    form: Form,
    answers: &[&str],
) -> anyhow::Result<Exit> {
    Ok(until_over(home, bosun, handle, form, answers).await?.told())
}

/// The same for somebody who has more to print before it is said what went wrong.
pub(crate) async fn until_over(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    form: Form,
    answers: &[&str],
) -> anyhow::Result<Over> {
    // What is on the screen is large, and whoever waits for it need not be.
    Box::pin(stay(home, bosun, handle, form, answers)).await
}

/// A run that is over or was left.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) exit: Exit,
    /// What went wrong, where that is said as an object.
    pub(crate) wrong: Option<String>,
}

impl Over {
    /// Says what went wrong, after everything else.
    pub(crate) fn told(self) -> Exit {
        self.wrong.as_deref().into_iter().for_each(error_object);
        self.exit
    }
}

async fn stay(
    home: &Home,
    bosun: &Bosun,
    handle: Handle,
    form: Form,
    answers: &[&str],
) -> anyhow::Result<Over> {
    let run = handle.run().clone();
    let mut screen = Screen::open(bosun, &run, form).await?;
    let runs = RunsFolder::begin(bosun, &run, &bosun.view(&run).await?, screen.run.policy());
    let mix = if let Form::Json(mix) = form { mix } else { Mix::Live };
    let mut events = Box::pin(bosun.watch(&run, mix));
    let pieces = screen.live.is_some() || form == Form::Told(Words::Coordinator);
    let mut deltas = pieces.then(|| bosun.deltas());
    let (mut tick, mut handle, mut answers) = (tokio::time::interval(PACE), handle, answers.iter());
    tick.reset();
    let left = loop {
        let suspend = handle.suspender();
        let listening = tokio::spawn(take_signals(suspend.clone()));
        let (finished, mut unread) = (handle.finished(), None);
        tokio::pin!(finished);
        let left = loop {
            let shown = tokio::select! {
                left = &mut finished => break left,
                Some(event) = events.next(), if unread.is_none() => {
                    screen.take_after(&run, &mut deltas, event).await
                }
                Some(delta) = heard(&mut deltas), if unread.is_none() => screen.hear(&run, &delta),
                _ = tick.tick(), if unread.is_none() => screen.tick(),
            };
            if let Err(error) = shown {
                // Nobody reads any more: the run is left in good order, and it is said how to go on with it.
                suspend.cancel();
                unread = Some(error);
            }
        };
        listening.abort();
        if let Some(error) = unread {
            return given_up(home, &run, &left?, error);
        }
        // Also what was recorded before a failure, or before somebody is asked, is shown.
        let shown = screen.catch_up(bosun, &run, mix, &mut events).await;
        let left = left?;
        if let Err(error) = shown {
            return given_up(home, &run, &left, error);
        }
        match screen.answered(bosun, &left, answers.next().copied()).await? {
            Some(next) => handle = next,
            None => break left,
        }
    };
    screen.live.into_iter().for_each(Live::clear);
    let exit = finish(home, &left, form)?;
    let wrong = match runs {
        Some(runs) => runs.end(&left.view).await?,
        None => None,
    };
    Ok(Over { exit, wrong })
}

/// A run that was left because what it said could not be shown any more.
fn given_up(home: &Home, run: &RunId, left: &Left, error: anyhow::Error) -> anyhow::Result<Over> {
    if !is_closed_pipe(&error) {
        return Err(error);
    }
    if !left.suspended {
        return Ok(Over { exit: Exit::of(left.view.status), wrong: None });
    }
    let go_on = format!("{} resume {run}", home.flag());
    note(&format!("nobody reads the output any more; everything is kept. Go on with: {go_on}"));
    Ok(Over { exit: Exit::Cancelled, wrong: None })
}

/// The next piece of what is going on; nothing any more when nobody listens.
async fn heard(deltas: &mut Option<broadcast::Receiver<Delta>>) -> Option<Delta> {
    loop {
        match deltas.as_mut()?.recv().await {
            Ok(delta) => return Some(delta),
            // What was missed is in the log.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *deltas = None,
        }
    }
}

/// What is on the screen, and what it is made from.
struct Screen {
    form: Form,
    run: Run,
    teller: lines::Teller,
    live: Option<Live>,
    projected: Option<Projected>,
    /// The last line of each log that was shown.
    seen: BTreeMap<LogId, u64>,
}

impl Screen {
    async fn open(bosun: &Bosun, run: &RunId, form: Form) -> anyhow::Result<Self> {
        Ok(Self {
            form,
            run: bosun.blank(run).await?,
            teller: lines::Teller::default(),
            live: (form == Form::Live).then(Live::new),
            projected: match form {
                Form::Told(words) => Some(Projected::new(words, bosun.journal().clone())),
                _ => None,
            },
            seen: BTreeMap::new(),
        })
    }

    /// The run that goes on, if what it waits for is answered: by what was brought along, or by who sits here.
    async fn answered(
        &mut self,
        bosun: &Bosun,
        left: &Left,
        brought: Option<&str>,
    ) -> anyhow::Result<Option<Handle>> {
        if left.view.status != Status::Waiting || left.suspended {
            return Ok(None);
        }
        if let Some(answer) = brought {
            return Ok(Some(prompt::answered_for(bosun, left, answer).await?));
        }
        let Some(live) = self.live.take() else { return Ok(None) };
        live.clear();
        let next = prompt::answered_here(bosun, left).await?;
        self.live = next.is_some().then(Live::new);
        Ok(next)
    }

    /// Some time has passed: says how far the run is. This is no event; it is recorded nowhere.
    fn tick(&mut self) -> anyhow::Result<()> {
        let now = RealClock.now();
        match (self.form, &mut self.live) {
            (Form::Json(_), _) => json(&serde_json::json!({ "progress": self.run.progress(now) })),
            (Form::Plain, _) if print::is_quiet() => Ok(()),
            (Form::Plain, _) => Ok(line(&progress(&self.run.progress(now)))?),
            (_, Some(live)) => {
                live.show(&self.run.view(now));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, run: &RunId, delta: &Delta) -> anyhow::Result<()> {
        if delta.log.run != *run {
            return Ok(());
        }
        if let Some(live) = &self.live {
            live.hear(delta);
        }
        match &mut self.projected {
            Some(projected) => projected.delta(delta).iter().try_for_each(json),
            None => Ok(()),
        }
    }

    /// Shows a line after the pieces that have come by now: all pieces of a reply were sent before the line that has the
    /// whole of it was written.
    async fn take_after(
        &mut self,
        run: &RunId,
        deltas: &mut Option<broadcast::Receiver<Delta>>,
        event: Result<Envelope, JournalError>,
    ) -> anyhow::Result<()> {
        self.hear_all(run, deltas)?;
        self.take(event).await
    }

    fn hear_all(
        &mut self,
        run: &RunId,
        deltas: &mut Option<broadcast::Receiver<Delta>>,
    ) -> anyhow::Result<()> {
        let Some(deltas) = deltas else { return Ok(()) };
        loop {
            match deltas.try_recv() {
                Ok(delta) => self.hear(run, &delta)?,
                // What was missed is in the log.
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(_) => return Ok(()),
            }
        }
    }

    async fn take(&mut self, event: Result<Envelope, JournalError>) -> anyhow::Result<()> {
        self.show(&event?).await
    }

    /// Shows everything that is recorded by now. A mix in groups has the lines of an attempt only when it is over.
    async fn catch_up(
        &mut self,
        bosun: &Bosun,
        run: &RunId,
        mix: Mix,
        events: &mut (impl futures::Stream<Item = Result<Envelope, JournalError>> + Unpin),
    ) -> anyhow::Result<()> {
        let mut logs = bosun.journal().logs(Some(run)).await?;
        logs.retain(|log| mix == Mix::Live || log.log.attempt.is_none());
        while logs.iter().any(|log| self.seen.get(&log.log).is_none_or(|seen| *seen < log.last_seq))
        {
            let Some(event) = events.next().await else { break };
            self.take(event).await?;
        }
        Ok(())
    }

    async fn show(&mut self, event: &Envelope) -> anyhow::Result<()> {
        let log = LogId { run: event.run.clone(), attempt: event.attempt.clone() };
        self.seen.insert(log, event.seq);
        if let Some(projected) = &mut self.projected {
            return projected.line(event).await?.iter().try_for_each(json);
        }
        if event.attempt.is_none() {
            self.run.apply(&event.event, event.at);
        }
        match self.form {
            Form::Json(_) => return json(event),
            Form::Quiet => return Ok(()),
            Form::Plain if print::is_quiet() => return Ok(()),
            Form::Live | Form::Plain | Form::Told(_) => {}
        }
        let whole = || print::is_verbose().then(|| lines::recorded(event));
        let mut text = self.teller.tell(event).or_else(whole);
        if let (Some(text), Event::PlanAdopted { .. }) = (&mut text, &event.event) {
            text.push_str(&report::forecast(&self.run.view(event.at)));
        }
        match (&mut self.live, text) {
            (Some(live), text) => {
                if let Some(text) = text {
                    live.say(&text);
                }
                live.show(&self.run.view(event.at));
            }
            (None, Some(text)) => line(&text)?,
            (None, None) => {}
        }
        Ok(())
    }
}

fn finish(home: &Home, left: &Left, form: Form) -> anyhow::Result<Exit> {
    let view = &left.view;
    if let Form::Json(_) = form {
        json(&serde_json::json!({ "report": view }))?;
    } else if !left.suspended && !matches!(form, Form::Told(_) | Form::Quiet) {
        text(&report::report(view, home))?;
    }
    if let Some(fault) = &left.away {
        note(&print::session::away(fault, home, &view.run));
        return Ok(Exit::ModelAway);
    }
    if left.suspended && home.is_passing() {
        note("stopped; the sample repository is removed");
        return Ok(Exit::Cancelled);
    }
    if left.suspended {
        note(&format!(
            "stopped; everything is kept. Go on with: {} resume {}",
            home.flag(),
            view.run
        ));
        return Ok(Exit::Cancelled);
    }
    Ok(Exit::of(view.status))
}
