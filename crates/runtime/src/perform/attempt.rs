//! The deeds of an attempt: ask its model, run its calls, commit what it leaves.

use std::path::PathBuf;
use std::sync::Arc;

use engine::{Attempt, Cut};
use futures::future::BoxFuture;
use llm::Model;
use sandbox::{LocalEnvironment, MAX_OUTPUT};
use tokio_util::sync::CancellationToken;
use tools::{Place, Registry, Seen, Web};
use types::{
    Brief, CommitId, Effect, Fault, FileState, LogId, ModelRequest, Outcome, Policy, Replied,
    StreamItem, Timestamp, ToolOutput,
};

use super::hearing::Hearing;
use super::run::RunHands;
use super::{kept_whole, stopped};
use crate::drive::Hands;
use crate::hub::Delta;
use crate::shop::Shop;
use crate::walls::Ground;
use crate::web::Internet;
use crate::workshop::Workshop;

/// What an attempt's effects are performed with.
#[derive(Debug, Clone)]
pub(crate) struct AttemptHands {
    shop: Arc<Shop>,
    workshop: Arc<Workshop>,
    model: Arc<dyn Model>,
    env: LocalEnvironment,
    folder: PathBuf,
    start: CommitId,
    policy: Arc<Policy>,
    /// The tools in the words of the model's family.
    registry: Registry,
    seen: Arc<Seen>,
    web: Option<Arc<Internet>>,
    /// The most characters that are shown of the output of a tool without a limit of its own.
    shown: usize,
    log: LogId,
}

impl AttemptHands {
    pub(crate) async fn open(
        run: &RunHands,
        brief: &Brief,
        registry: Registry,
        seen: &[FileState],
    ) -> Result<Self, Fault> {
        let RunHands { shop, workshop, policy, .. } = run;
        let folder = workshop.of_attempt(&brief.attempt);
        let ground = Ground {
            folder: &folder,
            repo: Some(workshop.repo()),
            start: Some(&brief.start),
            scope: Some(&brief.scope),
            walls: brief.walls,
            policy: &policy.sandbox,
        };
        let env = shop.yard.open(ground).await?;
        let model = shop.models.find(&brief.model, &*shop.journal).await?;
        let web = Internet::of(&policy.sandbox)?;
        let guarded = policy.tools.read_before_write;
        let seen = if guarded { Seen::guarded(seen) } else { Seen::unguarded() };
        let registry = registry.rooted(env.root()).rooted(&folder);
        Ok(Self {
            model,
            env,
            folder,
            start: brief.start.clone(),
            policy: policy.clone(),
            registry,
            seen: Arc::new(seen),
            web: web.map(Arc::new),
            shown: brief.output_chars,
            log: LogId::attempt(brief.run.clone(), brief.attempt.clone()),
            shop: shop.clone(),
            workshop: workshop.clone(),
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
            let inspections = reply.calls().map(|call| self.registry.inspect(call)).collect();
            Box::new(Replied { reply, inspections })
        }))
    }

    async fn call(
        &self,
        tool: &str,
        arguments: &serde_json::Value,
        stop: &CancellationToken,
    ) -> Outcome {
        let web = self.web.as_deref().map(|web| web as &dyn Web);
        let hearing =
            Hearing::new(self.log.clone(), self.shop.hub.clone(), self.shop.redactor.clone());
        let env = self.env.clone().heard_by(hearing.listener());
        let place = Place::new(&env, &self.seen, stop).with_web(web);
        let mut output = self.registry.run(tool, arguments, &place).await;
        let cut = Cut::of(tool, &self.policy.tools, self.shown);
        let said = std::mem::take(&mut output.text);
        let whole = hearing.whole_above(MAX_OUTPUT);
        match kept_whole(&self.shop, said, whole, |text| cut.cuts(text)).await {
            Ok((text, blob)) => Outcome::Tool(ToolOutput { text, blob, ..output }),
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
