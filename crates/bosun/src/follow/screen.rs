//! The display of a followed run, and its state: plain lines, JSON lines or the live view. Shows the events passed to
//! it; `run.rs` drives the run and answers its questions.

use std::collections::BTreeMap;

use crossterm::event::Event as Key;
use engine::{Machine as _, Run};
use futures::StreamExt as _;
use runtime::store::JournalError;
use runtime::{Activity, Bosun, Clock as _, Delta, Mix, Projected, RealClock};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use types::{Envelope, Event, LogId, Progress, RunId, RunView, Timestamp};

use super::form::Form;
use super::live::{Act, Answers, Live, progress};
use super::long_checks::LongChecks;
use super::notify::{self, Occasion};
use super::signals::STOPPING;
use crate::print::{self, Printed, json, lines, report};

/// The display of a run, and its state.
pub(super) struct Screen {
    form: Form,
    pub(super) run: Run,
    activity: Activity,
    long_checks: LongChecks,
    teller: lines::Teller,
    printed: Printed,
    /// The last progress report, without its times.
    progress: String,
    pub(super) live: Option<Live>,
    projected: Option<Projected>,
    /// Last shown line of each log.
    seen: BTreeMap<LogId, u64>,
    /// Last line of each log that was shown before and is not shown again.
    pub(super) known: BTreeMap<LogId, u64>,
    /// Start of the display; earlier questions cause no notification.
    opened: Timestamp,
    /// Whether to notify the user of questions and of the end.
    pub(super) notifies: bool,
}

impl Screen {
    pub(super) async fn open(
        bosun: &Bosun,
        run: &RunId,
        form: Form,
        answers: Answers,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            form,
            run: bosun.blank(run).await?,
            activity: Activity::default(),
            long_checks: LongChecks::default(),
            teller: lines::Teller::default(),
            printed: Printed::default(),
            progress: String::new(),
            live: (form == Form::Live).then(|| Live::new(answers)),
            projected: match form {
                Form::Told(words) => Some(Projected::new(words, bosun.journal().clone())),
                _ => None,
            },
            seen: BTreeMap::new(),
            known: BTreeMap::new(),
            opened: RealClock.now(),
            notifies: true,
        })
    }

    /// For a run that this process drives.
    pub(super) fn driving(mut self) -> Self {
        self.activity = Activity::driven_since(self.opened);
        self
    }

    pub(super) fn view(&self) -> RunView {
        self.run.view(RealClock.now())
    }

    /// The next key in a live view; pending forever without one.
    pub(super) async fn key(&mut self) -> Option<Key> {
        match &mut self.live {
            Some(live) => live.surface.key().await,
            None => std::future::pending().await,
        }
    }

    /// Action of a key.
    pub(super) fn on_key(&mut self, key: Key) -> Option<Act> {
        let view = self.view();
        self.live.as_mut()?.on_key(key, &view)
    }

    /// Paints the live view, if there is one.
    pub(super) fn paint(&mut self) -> anyhow::Result<()> {
        let Some(live) = &mut self.live else { return Ok(()) };
        let now = RealClock.now();
        let view = self.run.view(now);
        live.is_delivered(&view);
        Ok(live.paint(&view, &self.activity, now)?)
    }

    /// Same, with a notice if the work is being suspended.
    pub(super) fn paint_while(&mut self, suspend: &CancellationToken) -> anyhow::Result<()> {
        if let Some(live) = &mut self.live {
            live.notice = suspend.is_cancelled().then(|| STOPPING.to_owned());
        }
        self.paint()
    }

    /// Suspends this process and leaves the terminal to the shell until it is continued.
    pub(super) fn stop_job(&mut self) -> anyhow::Result<()> {
        match &mut self.live {
            Some(live) => Ok(live.surface.stop_job()?),
            None => Ok(()),
        }
    }

    /// Notifies the user that the run is over.
    pub(super) fn tell_end(&self, view: &RunView) {
        if self.notifies && view.ended.is_some() {
            let took = RealClock.now().since(self.opened);
            let text = format!("{}: {}", view.status_word(), types::headline(&view.goal, 120));
            let on_terminal = self.live.is_some();
            notify::tell(&view.run, Occasion::End(took), &text, Some(view), on_terminal);
        }
    }

    /// Periodic progress report. Not an event; it is recorded nowhere.
    pub(super) fn tick(&mut self) -> anyhow::Result<()> {
        let now = RealClock.now();
        match self.form {
            Form::Json(_) => json(&serde_json::json!({ "progress": self.run.progress(now) })),
            Form::Plain if print::is_quiet() => Ok(()),
            Form::Plain => {
                self.report_progress(&self.run.progress(now))?;
                let long = self.long_checks.due(&self.activity, now);
                Ok(long.iter().try_for_each(|one| self.printed.line(one))?)
            }
            _ => Ok(()),
        }
    }

    /// Prints the progress if more than its times changed since the last report.
    fn report_progress(&mut self, now: &Progress) -> anyhow::Result<()> {
        let content = progress(&Progress { remaining_ms: None, ..now.clone() });
        if let (Some(content), Some(line)) = (content, progress(now))
            && content != self.progress
        {
            self.printed.line(&line)?;
            self.progress = content;
        }
        Ok(())
    }

    pub(super) fn hear(&mut self, run: &RunId, delta: &Delta) -> anyhow::Result<()> {
        if delta.log.run != *run {
            return Ok(());
        }
        self.activity.hear(delta);
        if let Some(live) = &mut self.live {
            live.hear(delta);
        }
        match &mut self.projected {
            Some(projected) => projected.delta(delta).iter().try_for_each(json),
            None => Ok(()),
        }
    }

    /// Shows a line after the deltas received so far: all deltas of a reply are sent before the line with the whole
    /// reply is written.
    pub(super) async fn take_after(
        &mut self,
        run: &RunId,
        deltas: &mut Option<broadcast::Receiver<Delta>>,
        event: Result<Envelope, JournalError>,
    ) -> anyhow::Result<()> {
        while let Some(deltas) = deltas {
            match deltas.try_recv() {
                Ok(delta) => self.hear(run, &delta)?,
                // The log has the missed content.
                Err(broadcast::error::TryRecvError::Lagged(_)) => {}
                Err(_) => break,
            }
        }
        self.take(event).await
    }

    /// Shows everything recorded so far. A grouped mix has the lines of an attempt only when it is over.
    pub(super) async fn catch_up(
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

    /// Shows a line.
    pub(super) async fn take(
        &mut self,
        event: Result<Envelope, JournalError>,
    ) -> anyhow::Result<()> {
        let event = &event?;
        let log = LogId { run: event.run.clone(), attempt: event.attempt.clone() };
        let is_known = self.known.get(&log).is_some_and(|last| event.seq <= *last);
        self.seen.insert(log, event.seq);
        self.tell_question(event);
        if let Some(projected) = &mut self.projected {
            return projected.line(event).await?.iter().try_for_each(json);
        }
        if event.attempt.is_none() {
            self.run.apply(&event.event, event.at);
        }
        self.activity.apply(event);
        let has_ended =
            matches!(&event.event, Event::CheckFinished { .. } | Event::ToolFinished { .. });
        if let Some(live) = self.live.as_mut().filter(|_| has_ended) {
            live.output = None;
        }
        match self.form {
            Form::Json(_) if is_known => return Ok(()),
            Form::Json(_) => return json(event),
            Form::Quiet => return Ok(()),
            Form::Plain if print::is_quiet() => return Ok(()),
            Form::Live | Form::Plain | Form::Told(_) => {}
        }
        let whole = || print::is_verbose().then(|| lines::recorded(event));
        let begun = || lines::check_begun(event).filter(|_| self.form == Form::Plain);
        let mut text = self.teller.tell(event).or_else(begun).or_else(whole);
        if let (Some(text), Event::PlanAdopted { .. }) = (&mut text, &event.event) {
            text.push_str(&report::forecast(&self.run.view(event.at)));
        }
        match (&mut self.live, text.filter(|_| !is_known)) {
            (Some(live), Some(text)) => live.say(&text),
            (None, Some(text)) => self.printed.line(&text)?,
            (_, None) => {}
        }
        Ok(())
    }

    /// Notifies the user of a question, unless it is older than this display.
    fn tell_question(&self, event: &Envelope) {
        let is_new = event.attempt.is_none() && event.at >= self.opened;
        if let (Event::QuestionAsked { text, .. }, true) = (&event.event, is_new && self.notifies) {
            notify::tell(&event.run, Occasion::Question, text, None, self.live.is_some());
        }
    }
}
