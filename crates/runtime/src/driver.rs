//! Delivery of commands: the sender stays until the driver of the run has taken the command, or drives the run itself.
//! A driver that leaves checks the inbox as well (`start.rs`), so no command is lost in between. What a command means
//! is decided in `engine`.

use types::{Command, RunId, RunView};

use crate::api::Bosun;
use crate::error::Error;
use crate::handle::Handle;
use crate::inbox::LOOK_EVERY;
use crate::session::{Session, SessionError};

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

    /// Whether a command is still in the inbox.
    async fn waits(&self, run: &RunId, number: u64) -> Result<bool, Error> {
        let posted = self.services.journal.posted(run).await?;
        Ok(posted.iter().any(|(other, _)| *other == number))
    }
}

#[cfg(test)]
mod tests;
