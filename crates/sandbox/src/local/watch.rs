//! Tracks each command of a workspace from beginning to end, so that guarded settings are restored after the last one.
//! The restoration itself is in `guard.rs`.

use std::collections::BTreeSet;

use tokio_util::sync::CancellationToken;
use types::WorkPath;

use super::LocalEnvironment;
use super::guard::{Guarding, Now, Restored};
use crate::error::EnvError;
use crate::git::workspace;
use crate::repository::is_in_git;
use crate::search::{OddPath, Survey};

impl LocalEnvironment {
    /// Surveys the workspace for an unconfined command. Fails if it contains something that no command may see.
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

    /// The guarded files that exist now, also those whose names are no paths.
    async fn settings(&self) -> (Vec<WorkPath>, BTreeSet<OddPath>) {
        let stop = CancellationToken::new();
        let found = self.look_through(&stop, |search, names| search.guarded(names)).await;
        found.unwrap_or_default()
    }
}

/// A running command.
pub(super) struct Watch<'a> {
    env: &'a LocalEnvironment,
    /// Whether the kernel keeps commands from closed paths, and from git's own files.
    held: bool,
    ended: bool,
}

impl<'a> Watch<'a> {
    /// Registers a command that begins, with a survey of the workspace.
    pub(super) fn begin(env: &'a LocalEnvironment, survey: Survey, held: bool) -> Self {
        if let Some(guarding) = &env.guarding {
            guarding.begin(&env.jail, survey);
        }
        Self { env, held, ended: false }
    }

    /// Registers the end of a command. Returns what was removed or restored.
    pub(super) async fn end(mut self) -> Restored {
        let Some((guarding, before)) = self.leave() else { return Restored::default() };
        let (mut new, mut odd) = match before.complete {
            true => self.env.settings().await,
            // Without a complete survey, new files cannot be told from old ones.
            false => Default::default(),
        };
        new.retain(|path| before.is_new(path));
        odd.retain(|path| !before.odd.contains(path));
        // Commands cannot write to git's own files, so files that git tracks were added by the user.
        // Git tracks no files of repositories.
        let (mut new, of_git): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|path| !is_in_git(path));
        if self.held && !new.is_empty() {
            match workspace::tracked(self.env.root(), &new).await {
                Some(known) => new.retain(|path| !known.contains(path)),
                None => new.clear(),
            }
        }
        new.extend(of_git);
        guarding.restore(&self.env.jail, &before, (new, odd), self.held)
    }

    /// The state from before, if this was the last command.
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
        // Nothing is restored, because there is no result to report it in.
        self.leave();
    }
}
