//! One call made by hand, without a run: looked at, permitted, held and cut as an agent's would be. People try their
//! policies with it. Nothing is recorded, and whoever makes it is taken to have read what is there.

use std::path::Path;

use engine::{Cut, permit};
use sandbox::{LocalEnvironment, Repo};
use serde_json::Value;
use store::Redactor;
use tokio_util::sync::CancellationToken;
use tools::{Place, Registry, Seen, Web, profile};
use types::{
    Access, Arguments, Call, CallFacts, Decision, Family, Fault, FileState, Inspection, Metadata,
    Permission, Policy, RuleId, Scope, Shown, Source,
};

use crate::walls::{Ground, Walls, Yard};
use crate::web::Internet;

/// A call to be made.
#[derive(Debug)]
pub struct HandCall<'a> {
    pub policy: &'a Policy,
    pub workspace: &'a Path,
    /// Where it may write.
    pub scope: Scope,
    pub walls: Walls,
    pub redactor: &'a Redactor,
    /// In whose words it is made.
    pub family: Family,
    pub tool: &'a str,
    pub arguments: Arguments,
    /// How often; more than once only to try whether something else gets between.
    pub times: u32,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    pub outcome: MadeOutcome,
    /// What the rules said.
    pub decision: Decision,
    /// What a model would be shown.
    pub shown: Shown,
    pub images: Vec<Source>,
    pub files: Vec<FileState>,
    pub metadata: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MadeOutcome {
    Ok,
    Error,
    Denied,
    /// A person would be asked, and it was not made.
    Asked,
}

impl MadeOutcome {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Asked => "asked",
        }
    }
}

impl HandCall<'_> {
    /// Makes the call. Only a place that cannot be worked in is an error.
    pub async fn make(mut self, stop: &CancellationToken) -> Result<Made, Fault> {
        let root = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.to_owned());
        let registry = profile::dressed(self.family, &Registry::standard());
        let registry = registry.rooted(&root).rooted(self.workspace);
        let call = Call {
            wire_id: String::new(),
            tool: self.tool.to_owned(),
            arguments: std::mem::replace(&mut self.arguments, Arguments::Broken(String::new())),
        };
        let facts = match registry.inspect(&call) {
            Inspection::Would(facts) => facts,
            Inspection::Invalid(why) => {
                let decision = Decision::new(RuleId::fixed("permit.invalid_call"), why);
                return Ok(self.not_made(MadeOutcome::Error, decision));
            }
        };
        let permit = permit::judge(self.policy, &self.scope, self.tool, &facts);
        match permit.verdict {
            Permission::Allow => {
                let env = self.open(&root, facts.access).await?;
                self.run(&registry, &call, &env, permit.decision, stop).await
            }
            Permission::Ask => Ok(self.asked(&facts, permit.decision)),
            Permission::Deny => Ok(self.not_made(MadeOutcome::Denied, permit.decision)),
        }
    }

    async fn run(
        &self,
        registry: &Registry,
        call: &Call,
        env: &LocalEnvironment,
        decision: Decision,
        stop: &CancellationToken,
    ) -> Result<Made, Fault> {
        let web = Internet::of(&self.policy.sandbox)?;
        let arguments = match &call.arguments {
            Arguments::Json(arguments) => arguments,
            Arguments::Broken(_) => &Value::Null,
        };
        let seen = Seen::unguarded();
        let web = web.as_ref().map(|web| web as &dyn Web);
        let place = Place::new(env, &seen, stop).with_web(web);
        let mut output = registry.run(self.tool, arguments, &place).await;
        for _ in 1..self.times {
            output = registry.run(self.tool, arguments, &place).await;
        }
        Ok(Made {
            outcome: if output.success { MadeOutcome::Ok } else { MadeOutcome::Error },
            decision,
            shown: self.shown(&output.text),
            images: output.images,
            files: output.files,
            metadata: *output.metadata,
        })
    }

    /// The workspace. Only a command needs walls, and only then are they tried.
    async fn open(&self, root: &Path, access: Access) -> Result<LocalEnvironment, Fault> {
        let walls = if access == Access::Execute { self.walls.clone() } else { Walls::None };
        let require =
            if access == Access::Execute { self.policy.sandbox.require } else { types::Rung::None };
        // A repository around the workspace is not the workspace's own, and stays out of sight.
        let repo = Repo::discover(root).await.ok().filter(|repo| repo.root() == root);
        let whole = self.scope.0.iter().any(|place| place.path.is_root() && place.whole_folder);
        let ground = Ground {
            folder: root,
            repo: repo.as_ref(),
            start: None,
            scope: Some(&self.scope).filter(|_| !whole),
            walls: require,
            policy: &self.policy.sandbox,
        };
        Yard::new(walls).open(ground).await
    }

    fn shown(&self, text: &str) -> Shown {
        let cut = Cut::of(self.tool, &self.policy.tools, self.policy.limits.output_chars);
        cut.shown(&self.redactor.scrub(text), None)
    }

    /// What the person would be asked, on one line, whatever line breaks are in it.
    fn asked(&self, facts: &CallFacts, decision: Decision) -> Made {
        let paths: Vec<&str> = facts.paths.iter().map(types::WorkPath::as_str).collect();
        let what = facts.command.clone().unwrap_or_else(|| paths.join(" "));
        let text = format!("{} {what:?} ({})", self.tool, decision.reason);
        Made { shown: self.shown(&text), ..self.not_made(MadeOutcome::Asked, decision) }
    }

    fn not_made(&self, outcome: MadeOutcome, decision: Decision) -> Made {
        Made {
            outcome,
            shown: self.shown(&decision.reason),
            decision,
            images: vec![],
            files: vec![],
            metadata: Metadata::default(),
        }
    }
}
