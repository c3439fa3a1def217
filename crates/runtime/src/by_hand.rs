//! One tool call by hand, without a run: same permissions, sandbox and truncation as an agent's call. People test their
//! policies with it. Nothing is recorded, and files count as read.

use std::path::Path;

use rules::folder::MachineFolders;
use rules::truncate::{Cut, Gaps};
use rules::{approval, permit};
use sandbox::{LocalEnvironment, Repo};
use serde_json::Value;
use store::Redactor;
use tokio_util::sync::CancellationToken;
use tools::{FileReadTracker, Registry, ToolContext, Web, profile};
use types::{
    Access, Answer, Arguments, Call, CallFacts, Decision, Fault, FileState, Inspection, Metadata,
    Permission, Policy, RuleId, Scope, Shown, Source, ToolProfile,
};

use crate::effects::exact::InFiles;
use crate::look::look;
use crate::sandbox_factory::{Isolation, SandboxFactory, SandboxSpec, Whose};
use crate::web::Internet;

/// Asks a person: returns the answer to a question, if there is one.
pub struct Person<'a>(pub Box<Says<'a>>);

type Says<'a> = dyn FnMut(&str) -> Option<String> + Send + 'a;

impl std::fmt::Debug for Person<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Person")
    }
}

/// A single tool call.
#[derive(Debug)]
pub struct HandCall<'a> {
    pub policy: &'a Policy,
    pub workspace: &'a Path,
    /// The write scope.
    pub scope: Scope,
    pub isolation: Isolation,
    /// Folders of this machine that agents must not use.
    pub machine: MachineFolders,
    pub redactor: &'a Redactor,
    /// The tool profile of the call.
    pub profile: ToolProfile,
    pub tool: &'a str,
    pub arguments: Arguments,
    /// Asked if the rules require a person; without one the call is not made.
    pub person: Option<Person<'a>>,
    /// How often to make it; repeats test for interference from outside.
    pub times: u32,
}

/// The result of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    pub outcome: MadeOutcome,
    /// The rules' decision.
    pub decision: Decision,
    /// The output as shown to a model.
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
    /// A person would be asked; the call was not made.
    Asked,
}

impl MadeOutcome {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
            Self::Asked => "asked",
        }
    }
}

impl HandCall<'_> {
    /// Makes the call. The only error is an unusable workspace.
    pub async fn make(mut self, stop: &CancellationToken) -> Result<Made, Fault> {
        let root = self.workspace.canonicalize().unwrap_or_else(|_| self.workspace.to_owned());
        let registry = profile::adapted(&self.profile, &Registry::standard());
        let registry = registry.rooted(&root).rooted(self.workspace);
        let call = Call {
            wire_id: String::new(),
            tool: self.tool.to_owned(),
            arguments: std::mem::replace(&mut self.arguments, Arguments::Broken(String::new())),
        };
        let facts = match registry.inspect(&call) {
            Inspection::Would(facts) => facts,
            Inspection::Invalid(why) | Inspection::Outside(why) => {
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
            Permission::Ask => {
                let person = self.person.take();
                let Some(person) = person.filter(|_| facts.access != Access::Ask) else {
                    return Ok(self.asked(&facts, permit.decision));
                };
                let env = self.open(&root, facts.access).await?;
                match self.allowed(person, &env, &root, &facts, permit.decision).await {
                    Ok(decision) => self.run(&registry, &call, &env, decision, stop).await,
                    Err(made) => Ok(*made),
                }
            }
            Permission::Deny => Ok(self.not_made(MadeOutcome::Denied, permit.decision)),
        }
    }

    /// Asks the person, and again while the named files differ from those in the question.
    async fn allowed(
        &self,
        mut person: Person<'_>,
        env: &LocalEnvironment,
        root: &Path,
        facts: &CallFacts,
        mut decision: Decision,
    ) -> Result<Decision, Box<Made>> {
        let (words, roots) = (approval::words(facts), [root.to_owned(), self.workspace.to_owned()]);
        let mut files = approval::bound(&look(env, &roots, &words).await);
        loop {
            let asked = self.asked(facts, decision.clone());
            let Some(text) = (person.0)(&asked.shown.text) else { return Err(Box::new(asked)) };
            let said = Answer { by: "you".to_owned(), text };
            if !said.allows() {
                let reason = format!("{} did not allow it: {}", said.by, said.text);
                let decision = Decision { reason, ..decision };
                return Err(Box::new(self.not_made(MadeOutcome::Denied, decision)));
            }
            let now = approval::bound(&look(env, &roots, &words).await);
            let changed = approval::changed(&files, &now);
            if changed.is_empty() {
                return Ok(Decision { reason: format!("{} allowed it", said.by), ..decision });
            }
            decision = approval::outdated(&decision, &changed, &said.by);
            files = now;
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
        let web = Internet::of(self.policy, &[])?;
        let arguments = match &call.arguments {
            Arguments::Json(arguments) => arguments,
            Arguments::Broken(_) => &Value::Null,
        };
        let seen = FileReadTracker::unguarded();
        let web = web.as_ref().map(|web| web as &dyn Web);
        let secrets = InFiles(self.redactor);
        let mut place = ToolContext::new(env, &seen, stop);
        place.web = web;
        place.secrets = Some(&secrets);
        place.policy = self.policy.tools.clone();
        let mut output = registry.run(self.tool, arguments, &place).await;
        for _ in 1..self.times {
            output = registry.run(self.tool, arguments, &place).await;
        }
        Ok(Made {
            outcome: if output.success { MadeOutcome::Ok } else { MadeOutcome::Error },
            decision,
            shown: self.shown(&output.text, output.not_held),
            images: output.images,
            files: output.files,
            metadata: *output.metadata,
        })
    }

    /// Opens the workspace. Only a command needs the sandbox and probes it.
    async fn open(&self, root: &Path, access: Access) -> Result<LocalEnvironment, Fault> {
        let (isolation, require) = match access {
            Access::Execute => (self.isolation.clone(), self.policy.sandbox.require),
            _ => (Isolation::None, types::IsolationLevel::None),
        };
        // A repository around the workspace stays hidden.
        let repo = Repo::discover(root).await.ok().filter(|repo| repo.root() == root);
        let whole = self.scope.0.iter().any(|place| place.path.is_root() && place.whole_folder);
        let spec = SandboxSpec {
            folder: root,
            whose: Whose::Agent,
            repo: repo.as_ref(),
            start: None,
            scope: Some(&self.scope).filter(|_| !whole),
            isolation: require,
            policy: &self.policy.sandbox,
            checks: &self.policy.checks,
            own_check: None,
            ready: None,
            layers: None,
        };
        let sandboxes = SandboxFactory::new(isolation, self.machine.clone(), None);
        sandboxes.refuse_folder(root, &self.policy.sandbox)?;
        sandboxes.open(spec).await
    }

    fn shown(&self, text: &str, not_held: u64) -> Shown {
        let renamed = self.profile.names.iter().find(|(_, called)| *called == self.tool);
        let plain = renamed.map_or(self.tool, |(plain, _)| plain);
        let cut = Cut::of(plain, &self.policy.tools, self.policy.limits.output_chars);
        cut.shown(&self.redactor.scrub(text), None, Gaps { not_held, ..Gaps::default() })
    }

    /// The question for the person, on one line.
    fn asked(&self, facts: &CallFacts, decision: Decision) -> Made {
        let paths: Vec<&str> = facts.paths.iter().map(types::WorkPath::as_str).collect();
        let what = facts.command.clone().unwrap_or_else(|| paths.join(" "));
        let text = format!("{} {what:?} ({})", self.tool, decision.reason);
        Made { shown: self.shown(&text, 0), ..self.not_made(MadeOutcome::Asked, decision) }
    }

    fn not_made(&self, outcome: MadeOutcome, decision: Decision) -> Made {
        Made {
            outcome,
            shown: self.shown(&decision.reason, 0),
            decision,
            images: vec![],
            files: vec![],
            metadata: Metadata::default(),
        }
    }
}
