//! The deeds of an attempt: ask its model, run its calls, commit what it leaves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Attempt;
use futures::future::BoxFuture;
use llm::Model;
use sandbox::Environment;
use tokio_util::sync::CancellationToken;
use types::{
    Brief, CommitId, Effect, Fault, LogId, ModelRequest, Outcome, Replied, SandboxPolicy,
    StreamItem, Timestamp, ToolOutput,
};

use super::{kept, stopped};
use crate::drive::Hands;
use crate::hub::Delta;
use crate::shop::Shop;
use crate::walls::Ground;
use crate::workshop::Workshop;

/// What an attempt's effects are performed with.
#[derive(Debug, Clone)]
pub(crate) struct AttemptHands {
    shop: Arc<Shop>,
    workshop: Arc<Workshop>,
    model: Arc<dyn Model>,
    env: Arc<dyn Environment>,
    folder: PathBuf,
    start: CommitId,
    /// The most characters of an output that the model will see.
    shown: usize,
    log: LogId,
}

impl AttemptHands {
    pub(crate) async fn open(
        shop: Arc<Shop>,
        workshop: Arc<Workshop>,
        policy: &SandboxPolicy,
        brief: &Brief,
        folder: &Path,
    ) -> Result<Self, Fault> {
        let ground = Ground {
            folder,
            repo: workshop.repo(),
            scope: Some(&brief.scope),
            walls: brief.walls,
            policy,
        };
        let env = shop.yard.open(ground).await?;
        let model = shop.models.find(&brief.model, &*shop.journal).await?;
        Ok(Self {
            model,
            env: Arc::new(env),
            folder: folder.to_owned(),
            start: brief.start.clone(),
            shown: brief.output_chars,
            log: LogId::attempt(brief.run.clone(), brief.attempt.clone()),
            shop,
            workshop,
        })
    }

    async fn ask(&self, request: ModelRequest, stop: &CancellationToken) -> Outcome {
        let hub = self.shop.hub.clone();
        let log = self.log.clone();
        let show = move |item: &StreamItem| {
            if let Some(delta) = Delta::of(&log, item) {
                hub.publish(delta);
            }
        };
        let reply = tokio::select! {
            reply = llm::gather(self.model.stream(Arc::new(request)), show) => reply,
            () = stop.cancelled() => Err(stopped()),
        };
        Outcome::Model(reply.map(|reply| {
            let inspections = reply.calls().map(|call| self.shop.registry.inspect(call)).collect();
            Box::new(Replied { reply, inspections })
        }))
    }

    async fn call(
        &self,
        tool: &str,
        arguments: &serde_json::Value,
        stop: &CancellationToken,
    ) -> Outcome {
        let output = self.shop.registry.run(tool, arguments, &*self.env, stop).await;
        match kept(&self.shop, output.text, self.shown).await {
            Ok((text, blob)) => Outcome::Tool(ToolOutput { success: output.success, text, blob }),
            Err(fault) => Outcome::Broke(fault),
        }
    }

    async fn seal(&self, message: &str, at: Timestamp) -> Outcome {
        let sealed = self.workshop.repo().seal(&self.folder, &self.start, message, at).await;
        Outcome::Sealed(sealed.map_err(|error| error.fault()))
    }
}

impl Hands<Attempt> for AttemptHands {
    fn look(&self, attempt: &Attempt) -> BoxFuture<'static, Option<String>> {
        if !attempt.has_open_calls() {
            return Box::pin(std::future::ready(None));
        }
        let hands = self.clone();
        Box::pin(async move {
            let status = hands.workshop.repo().status(&hands.folder).await;
            Some(status.unwrap_or_else(|error| format!("(its state cannot be read: {error})")))
        })
    }

    fn perform(&self, effect: Effect, stop: CancellationToken) -> BoxFuture<'static, Outcome> {
        let hands = self.clone();
        Box::pin(async move {
            match effect {
                Effect::AskModel { request } => hands.ask(*request, &stop).await,
                Effect::RunTool { tool, arguments, .. } => {
                    hands.call(&tool, &arguments, &stop).await
                }
                Effect::Seal { message, at } => hands.seal(&message, at).await,
                other => Outcome::Broke(Fault::bug(format!(
                    "an attempt cannot perform {:?}",
                    other.id()
                ))),
            }
        })
    }
}
