//! Delivery of commands: the sender waits until the driver of the run has taken the command, or drives the run itself.
//! A driver that leaves checks the inbox as well (`start.rs`), so no command is lost in between. `engine` decides what
//! a command means.

use types::{Command, RunId, RunView};

use crate::api::Bosun;
use crate::error::Error;
use crate::inbox::LOOK_EVERY;
use crate::session::{Session, SessionError};
use crate::start::Handle;

/// The outcome of a posted command.
#[derive(Debug)]
pub enum Delivered {
    /// The driver of the run has taken it.
    Taken,
    /// The run had no driver; it is now driven here, starting with the command.
    Here(Handle),
}

impl Bosun {
    /// Posts a command and waits until the driver of the run has taken it; drives the run here if it has no driver or
    /// the driver leaves.
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

    /// The same for a session. If this process resumes it, the command is already handled.
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

    /// Waits until a cancelled run is over. If its driver leaves before, it is driven here.
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

    /// The same for a session.
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

    /// Whether a command is still in the inbox.
    async fn waits(&self, run: &RunId, number: u64) -> Result<bool, Error> {
        let posted = self.services.journal.posted(run).await?;
        Ok(posted.iter().any(|(other, _)| *other == number))
    }
}

#[cfg(test)]
mod tests;
