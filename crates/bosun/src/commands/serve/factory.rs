//! Makes the runs and sessions that callers of the server request, with the configuration of this machine and the rules
//! of `bosun run` and `bosun chat`. No user is present to be asked: a project with untrusted files is rejected.

use std::path::Path;

use async_trait::async_trait;
use runtime::settings::Settings;
use runtime::{Bosun, NewRun, NewSession, presets};
use server::{ModelItem, PolicyItem, RunFactory, Unfit, WantedRun, WantedSession};
use types::{Budget, Check, ModelRef, Policy, Request, RoleId, UserRequest};

use crate::commands::run::{applied, plan};
use crate::commands::spec;
use crate::home::Home;
use crate::rules::{policy_effort, solo_model, unattended_rules};

/// Factory that uses the configuration of this machine.
#[derive(Debug)]
pub(super) struct MachineFactory {
    home: Home,
    bosun: Bosun,
}

impl MachineFactory {
    pub(super) fn new(home: Home, bosun: Bosun) -> Self {
        Self { home, bosun }
    }

    async fn make_run(&self, wanted: &WantedRun, repository: &Path) -> anyhow::Result<NewRun> {
        let flags = model_flag(wanted.model.as_ref());
        let preset = wanted.preset.as_deref();
        let rules = unattended_rules(&self.home, preset, repository, &flags)?;
        let mut policy = rules.policy;
        if ::rules::policy::is_solo(&policy) {
            anyhow::bail!("policy {} is for a single agent; start a session instead", policy.name);
        }
        if ::rules::policy::is_strict(&policy) {
            anyhow::bail!(
                "policy {} works only with `bosun run`: it reads the project's files",
                policy.name
            );
        }
        policy.headless |= wanted.headless;
        policy.unattended = true;
        let set = applied(&rules.loaded, wanted.script.is_some(), &mut policy)?;
        let model = self.model(wanted.script.as_deref(), wanted.model.clone(), &set).await?;
        if wanted.script.is_none() {
            let of_roles = policy.roles.values().filter_map(|role| role.model.clone());
            let all: Vec<ModelRef> = of_roles.chain([model.clone()]).collect();
            self.home.check_models(&policy, &all).await?;
        }
        set.instruct(&mut policy);
        let budget = wanted.budget.unwrap_or_default().or(set.budget());
        let request = request(wanted, &policy, model, budget)?;
        let repository = repository.to_owned();
        Ok(NewRun { request, repository, policy, id: None, base: None, with_changes: false })
    }

    async fn make_session(
        &self,
        wanted: &WantedSession,
        folder: &Path,
    ) -> anyhow::Result<NewSession> {
        let flags = model_flag(wanted.model.as_ref());
        let rules = unattended_rules(&self.home, Some("solo"), folder, &flags)?;
        let mut policy = rules.policy;
        policy.unattended = true;
        let set = applied(&rules.loaded, wanted.script.is_some(), &mut policy)?;
        let named = wanted.model.clone().or_else(|| solo_model(&policy));
        let model = self.model(wanted.script.as_deref(), named, &set).await?;
        if wanted.script.is_none() {
            self.home.check_models(&policy, [&model]).await?;
        }
        let own = set.roles.get(RoleId::solo().as_str()).and_then(|solo| solo.effort);
        Ok(NewSession {
            effort: own.or(set.effort).or_else(|| policy_effort(&policy)),
            instruction: set.instruction.clone(),
            budget: set.budget(),
            policy,
            ..NewSession::new(folder, model)?
        })
    }

    async fn model(
        &self,
        script: Option<&str>,
        named: Option<ModelRef>,
        set: &Settings,
    ) -> anyhow::Result<ModelRef> {
        match script {
            Some(script) => Ok(self.bosun.keep_script(script).await?),
            None => self.home.model(&self.bosun, None, named.or_else(|| set.model.clone())).await,
        }
    }
}

fn model_flag(model: Option<&ModelRef>) -> Vec<(&'static str, &'static str, String)> {
    model.iter().map(|model| ("model", "model", model.to_string())).collect()
}

/// The request to be recorded.
fn request(
    wanted: &WantedRun,
    policy: &Policy,
    model: ModelRef,
    budget: Budget,
) -> anyhow::Result<Request> {
    let object = match (&wanted.goal, &wanted.issue) {
        (_, Some(issue)) => {
            UserRequest::of_issue(issue).ok_or_else(|| anyhow::anyhow!("the issue is empty"))?
        }
        (goal, None) => UserRequest::of_text(goal.clone().unwrap_or_default()),
    };
    let check = |command: &String| Check::new(command.as_str(), command.as_str());
    let mut request = Request {
        insist: wanted.insist.clone(),
        attachments: object.attachments,
        budget,
        checks: wanted.checks.iter().map(check).collect(),
        ..Request::new(object.user_request, model)
    };
    if let Some(text) = &wanted.spec {
        let spec =
            spec::filled(text).map_err(|cause| anyhow::anyhow!("not a valid spec: {cause}"))?;
        request = ::rules::spec::request(spec, request);
    }
    request.planning.approve = wanted.approve_plan;
    if let Some(text) = &wanted.plan {
        let plan = plan(policy, &request, text);
        let plan = plan.map_err(|cause| anyhow::anyhow!("not a valid plan: {cause}"))?;
        request.planning.given = Some(Box::new(plan));
    }
    Ok(request)
}

fn unfit(error: &anyhow::Error) -> Unfit {
    Unfit(format!("{error:#}"))
}

#[async_trait]
impl RunFactory for MachineFactory {
    async fn run(&self, wanted: &WantedRun, repository: &Path) -> Result<NewRun, Unfit> {
        Box::pin(self.make_run(wanted, repository)).await.map_err(|error| unfit(&error))
    }

    async fn session(&self, wanted: &WantedSession, folder: &Path) -> Result<NewSession, Unfit> {
        Box::pin(self.make_session(wanted, folder)).await.map_err(|error| unfit(&error))
    }

    fn models(&self) -> Vec<ModelItem> {
        self.home.model_items()
    }

    fn policies(&self) -> Vec<PolicyItem> {
        let item = |name: &str| {
            // The first comment of a preset describes its purpose.
            let text = presets::text(name).unwrap_or_default();
            let comment = text.lines().take_while(|line| line.starts_with('#'));
            let words: Vec<&str> =
                comment.map(|line| line.trim_start_matches('#').trim()).collect();
            let (name, description) = (name.to_owned(), words.join(" "));
            PolicyItem { name, description, text: text.to_owned() }
        };
        presets::names().map(item).collect()
    }
}
