//! Who drives a run, and how a command reaches them. A driver that leaves looks into the inbox before, and once more
//! after the lease is given back; whoever posts a command stays until it was taken, or takes the run up. So no command
//! is left with nobody to hear it, whichever of the two comes first. What a command means is decided in `engine`.

use std::sync::Arc;
use std::time::Duration;

use engine::Run;
use tokio::sync::mpsc;
use types::{Command, LogId, RunId, RunView};

use crate::api::{Bosun, Error, Handle, Left};
use crate::effects::run::RunExecutor;
use crate::event_loop::{self, Drive, Posted, WhenWaiting};
use crate::services::Services;
use crate::session::{Session, SessionError};

/// How often the inbox is looked into for commands of other processes, and by these whether they were taken.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What became of a command that was posted.
#[derive(Debug)]
pub enum Delivered {
    /// Whoever drives the run has taken it.
    Taken,
    /// Nobody drove the run; it is driven here now, and hears the command first.
    Here(Handle),
}

impl Bosun {
    /// Says something to a run, and stays until somebody has heard it: whoever drives the run, or this process, if
    /// nobody does or whoever did leaves.
    pub async fn deliver(&self, run: &RunId, command: &Command) -> Result<Delivered, Error> {
        let number = self.post(run, command).await?;
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            if !self.waits(run, number).await? {
                return Ok(Delivered::Taken);
            }
            match Box::pin(self.resume(run)).await {
                Ok(handle) => return Ok(Delivered::Here(handle)),
                Err(error) if error.is_busy() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The same for a conversation. Where this process goes on with it, it has heard the command already.
    pub async fn deliver_to_session(
        &self,
        run: &RunId,
        command: &Command,
        by: &str,
    ) -> Result<Option<Session>, SessionError> {
        let number = self.post(run, command).await?;
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            if !self.waits(run, number).await? {
                return Ok(None);
            }
            match self.reopen(run, by).await {
                Ok(session) => return Ok(Some(session)),
                Err(SessionError::Door(error)) if error.is_busy() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Stays until a run is over that was told to end. If whoever drives it leaves before, it is driven here.
    pub async fn until_over(&self, run: &RunId) -> Result<RunView, Error> {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            match Box::pin(self.resume(run)).await {
                Ok(handle) => {
                    handle.finished().await?;
                }
                Err(Error::Over { .. }) => return self.view(run).await,
                Err(error) if error.is_busy() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The same for a conversation.
    pub async fn until_closed(&self, run: &RunId, by: &str) -> Result<(), SessionError> {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            match self.reopen(run, by).await {
                Ok(session) => session.abort().await?,
                Err(SessionError::Closed) => return Ok(()),
                Err(SessionError::Door(error)) if error.is_busy() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether somebody, here or in another process, is driving the run right now.
    pub async fn is_driven(&self, run: &RunId) -> Result<bool, Error> {
        Ok(self.services.journal.is_leased(&LogId::run(run.clone())).await?)
    }

    /// Whether something that was said to a run or a conversation was not heard yet.
    pub async fn has_posted(&self, run: &RunId) -> Result<bool, Error> {
        Ok(!self.services.journal.posted(run).await?.is_empty())
    }

    /// Whether a command is still in the inbox.
    async fn waits(&self, run: &RunId, number: u64) -> Result<bool, Error> {
        let posted = self.services.journal.posted(run).await?;
        Ok(posted.iter().any(|(other, _)| *other == number))
    }

    /// The run once more, if something was said to it since it was left and nobody else has taken it up.
    async fn called_back(&self, run: &RunId) -> Result<Option<Drive<Run>>, Error> {
        if !self.has_posted(run).await? {
            return Ok(None);
        }
        match self.held(run).await {
            Ok(drive) => Ok(Some(drive)),
            Err(error) if error.is_busy() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Drives a run until it is over, waits for a person, or is suspended, and leaves nothing unheard.
pub(crate) async fn drive_run(
    bosun: Bosun,
    mut drive: Drive<Run>,
    executor: RunExecutor,
) -> Result<Left, Error> {
    loop {
        // What was said while nobody drove the run is heard before anything is done.
        drive.take_posted().await?;
        let left = drive_once(&mut drive, &executor).await?;
        if left == event_loop::Left::Waiting && bosun.has_posted(&executor.run).await? {
            continue;
        }
        if left == event_loop::Left::Over {
            // It says nothing any more; whoever posted it learns that the run is over.
            drive.take_posted().await?;
            if let Err(error) = executor.worktrees.close(&drive.machine).await {
                // The run is over all the same, and whoever opens it again tries once more.
                tracing::warn!(run = %executor.run, %error, "cleaning up after a run");
            }
        }
        let view = bosun.shown(&drive.machine);
        // This gives the lease back. What was posted between the last look and now, by somebody who found that the
        // run is driven, is seen by the next look.
        drop(drive);
        let again = match left {
            event_loop::Left::Waiting => bosun.called_back(&executor.run).await?,
            event_loop::Left::Over | event_loop::Left::Suspended => None,
        };
        let Some(again) = again else {
            let away = executor.away.lock().ok().and_then(|mut away| away.take());
            return Ok(Left { view, suspended: left == event_loop::Left::Suspended, away });
        };
        drive = again;
    }
}

async fn drive_once(
    drive: &mut Drive<Run>,
    executor: &RunExecutor,
) -> Result<event_loop::Left, Error> {
    let (sender, mut inbox) = mpsc::channel(16);
    let listening = tokio::spawn(listen(executor.services.clone(), executor.run.clone(), sender));
    let left = drive.run(executor, &mut inbox, &executor.suspend, WhenWaiting::Leave).await;
    listening.abort();
    let left = left?;
    let broken = executor.broken.lock().ok().and_then(|mut broken| broken.take());
    match broken {
        Some(error) => Err(error.into()),
        None => Ok(left),
    }
}

/// Hands on what is put into the run's inbox, each command once.
pub(crate) async fn listen(services: Arc<Services>, run: RunId, sender: mpsc::Sender<Posted>) {
    let mut handed_on = 0;
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    loop {
        ticks.tick().await;
        let commands = match services.journal.posted(&run).await {
            Ok(commands) => commands,
            Err(error) => {
                tracing::warn!(%run, %error, "looking into the inbox");
                continue;
            }
        };
        for (number, command) in commands {
            if number <= handed_on {
                continue;
            }
            handed_on = number;
            if sender.send(Posted { number: Some(number), command, heard: None }).await.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests;
