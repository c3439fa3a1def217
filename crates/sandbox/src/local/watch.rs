//! One command of a workspace from its beginning to its end, so that guarded settings are restored after the last one.
//! What is restored, and how, is in `guard.rs`.

use tokio_util::sync::CancellationToken;
use types::WorkPath;

use super::LocalEnvironment;
use super::guard::{Guarding, Now, Restored};
use crate::error::EnvError;
use crate::git::workspace;
use crate::search::Survey;

impl LocalEnvironment {
    /// What a command finds that nothing holds. Where that is something which no command may see, it is not run.
    pub(super) async fn survey_unheld(&self, stop: &CancellationToken) -> Result<Survey, EnvError> {
        if self.guarding.is_none() && !self.hidden.has_globs() {
            return Ok(Survey::default());
        }
        let survey = self.survey(stop).await?;
        match survey.never {
            Some(path) => Err(EnvError::Unheld { path }),
            None => Ok(survey),
        }
    }

    /// The settings that are there now.
    async fn settings(&self) -> Vec<WorkPath> {
        let stop = CancellationToken::new();
        let found = self.look_through(stop, |search, names| search.guarded(names)).await;
        found.unwrap_or_default()
    }
}

/// One command, while it runs.
pub(super) struct Watch<'a> {
    env: &'a LocalEnvironment,
    /// Whether the kernel keeps commands from what is closed, and from git's own files.
    held: bool,
    ended: bool,
}

impl<'a> Watch<'a> {
    /// One more command is running, and this is there.
    pub(super) fn begin(env: &'a LocalEnvironment, survey: Survey, held: bool) -> Self {
        if let Some(guarding) = &env.guarding {
            guarding.begin(&env.jail, survey);
        }
        Self { env, held, ended: false }
    }

    /// One command less. The answer says what is removed or put back.
    pub(super) async fn end(mut self) -> Restored {
        let Some((guarding, before)) = self.leave() else { return Restored::default() };
        let mut new = match before.complete {
            true => self.env.settings().await,
            // What was not seen before cannot be told from what is new.
            false => vec![],
        };
        new.retain(|path| before.is_new(path));
        // Commands cannot write to git's own files, so what git knows was put there by the person.
        if self.held && !new.is_empty() {
            match workspace::tracked(self.env.root(), &new).await {
                Some(known) => new.retain(|path| !known.contains(path)),
                None => new.clear(),
            }
        }
        guarding.restore(&self.env.jail, &before, new, self.held)
    }

    /// What was there before, if this was the last command.
    fn leave(&mut self) -> Option<(&'a Guarding, Now)> {
        let guarding = self.env.guarding.as_deref()?;
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        Some((guarding, guarding.leave()?))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // Nobody is left to say it to, so nothing is taken away.
        self.leave();
    }
}
