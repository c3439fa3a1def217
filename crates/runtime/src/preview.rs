//! Previews a request before anything is spent on it: makes the same decisions as at the start of a run, without
//! recording them.

use std::sync::Arc;

use engine::{Machine as _, Run};
use rules::explain::{Explained, explain};
use types::{Begin, Digest, Input, RunView, Survey};

use crate::api::{Bosun, NewRun, draw_run_id};
use crate::error::Error;

/// The most decisions that follow from a request alone.
const MOST_DECISIONS: usize = 1_000;

/// The decisions on a request, without a run.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The current state of the repository.
    pub survey: Survey,
    /// Admission, route and documents, each with its rule.
    pub explained: Explained,
    /// The run after its first decisions: its questions, its forecast, or the reason for its refusal.
    pub view: RunView,
}

impl Bosun {
    /// Decides on a request without recording anything.
    pub async fn preview(&self, new: &NewRun) -> Result<Preview, Error> {
        let repo = self.services.repo(&new.repository).await?;
        let mut survey = Box::pin(repo.survey_at(new.base.as_ref())).await?;
        survey.usual = Box::pin(self.usual(repo.root())).await?;
        let explained = explain(&new.policy, &new.request, &survey.documents);
        let price = self.services.models.price(&new.request.model, &*self.services.journal).await;
        let now = self.services.clock.now();
        let mut run = Run::new(draw_run_id(), Arc::new(new.policy.clone()));
        let begin = Begin {
            run: run.id().clone(),
            request: new.request.clone(),
            survey: survey.clone(),
            policy: Digest::of(b""),
            price,
        };
        let mut events = run.decide(&Input::Begin(Box::new(begin)), now);
        let mut decided = 0;
        while !events.is_empty() && decided < MOST_DECISIONS {
            decided += events.len();
            events.iter().for_each(|event| run.apply(event, now));
            events = run.decide(&Input::Due, now);
        }
        Ok(Preview { survey, explained, view: run.view(now) })
    }
}
