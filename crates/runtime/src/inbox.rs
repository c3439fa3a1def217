//! The inbox of a run or session: whether it is driven, its unread commands, and their delivery to its loop.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use types::{LogId, RunId};

use crate::api::Bosun;
use crate::error::Error;
use crate::event_loop::Posted;
use crate::services::Services;

/// How often drivers poll the inbox, and senders check whether a command was taken.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(200);

impl Bosun {
    /// Whether the run has a driver, here or in another process.
    pub async fn is_driven(&self, run: &RunId) -> Result<bool, Error> {
        Ok(self.services.journal.is_leased(&LogId::run(run.clone())).await?)
    }

    /// Whether a run or session has unread commands.
    pub async fn has_posted(&self, run: &RunId) -> Result<bool, Error> {
        Ok(!self.services.journal.posted(run).await?.is_empty())
    }
}

/// Forwards commands from the run's inbox, each once.
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
