//! A project of the preset `strict`: its layout, and its files in `config/`: the goal, the agents, and the limits. A
//! missing file means the preset's values; an unknown key is an error.

mod wishes;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rules::command::Part;
use sandbox::EnvError;
use serde::Deserialize;
use types::{Check, FailureRule, Millis, ModelRef, Policy, Remedy, RoleId, RuleId, WorkPath};

use super::project::MOST;
use wishes::{Constraints, Started, TestsPolicy};

/// The paths and texts that `bosun init --preset strict` creates.
pub const LAYOUT: [(&str, &str); 13] = [
    ("prompts/system.md", include_str!("../../../../prompts/strict/system.md")),
    ("prompts/planner.md", include_str!("../../../../prompts/strict/planner.md")),
    ("prompts/coder.md", include_str!("../../../../prompts/strict/coder.md")),
    ("prompts/tester.md", include_str!("../../../../prompts/strict/tester.md")),
    ("config/tasks.yaml", include_str!("layout/tasks.yaml")),
    ("config/agents.yaml", include_str!("layout/agents.yaml")),
    ("config/policies.yaml", include_str!("layout/policies.yaml")),
    (
        "kb/README.md",
        "Notes on the project, one file for each. They are not passed to agents automatically.\n",
    ),
    ("workspace/.gitkeep", ""),
    ("runs/.gitkeep", ""),
    ("docs/architecture.md", include_str!("layout/architecture.md")),
    ("docs/decisions.md", "# Decisions\n\nOne line for each, the newest first.\n"),
    ("README.md", include_str!("layout/README.md")),
];

const AGENTS: &str = "config/agents.yaml";
const TASKS: &str = "config/tasks.yaml";
const POLICIES: &str = "config/policies.yaml";
/// The default check command.
const TEST: &str = "pytest -q";
/// The allowed length of a goal.
const GOAL: std::ops::RangeInclusive<usize> = 10..=20_000;

/// Why a project is unusable.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("reading {path}")]
    Env {
        path: PathBuf,
        #[source]
        source: EnvError,
    },
    #[error("reading {path}, {cause}")]
    Yaml { path: PathBuf, cause: types::yaml::NotYaml },
    #[error("reading {path}: {cause}")]
    Wrong { path: PathBuf, cause: String },
}

/// A project's settings beyond its policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    pub goal: Option<String>,
    /// The deciding check, run in the code folder.
    pub check: Check,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tasks {
    #[serde(alias = "mvp")]
    goal: Option<String>,
    plan_id: Option<String>,
    workspace_dir: Option<String>,
    acceptance_criteria: Vec<String>,
    /// The required artifacts; some task of the plan must promise each.
    artifacts: Vec<String>,
    constraints: Constraints,
    run: Started,
    tests_policy: TestsPolicy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    #[serde(default)]
    model: Option<String>,
    #[serde(alias = "prompt_file")]
    prompt: String,
    #[serde(alias = "system_file", default = "Agent::system")]
    system: String,
}

impl Agent {
    fn system() -> String {
        "prompts/system.md".to_owned()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Policies {
    max_task_retries: u32,
    test_command: Option<String>,
    allowed_commands: Vec<String>,
    file_access: FileAccess,
    timeouts: Timeouts,
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct FileAccess {
    restrict_to_workspace: bool,
    allow_paths: Vec<String>,
}

impl Default for FileAccess {
    fn default() -> Self {
        Self { restrict_to_workspace: true, allow_paths: vec![] }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Timeouts {
    per_agent_seconds: Option<u64>,
    subprocess_seconds: Option<u64>,
    global_seconds: Option<u64>,
}

/// Reads a project's files into the policy.
pub fn read(folder: &Path, policy: &mut Policy) -> Result<Project, ProjectError> {
    let tasks: Tasks = file(folder, TASKS)?.unwrap_or_default();
    agents(folder, policy)?;
    let policies: Policies = file(folder, POLICIES)?.unwrap_or_default();
    let wrong = |path: &str, cause: String| ProjectError::Wrong { path: folder.join(path), cause };
    limits(policy, &policies);
    let command = policies.test_command.as_deref().unwrap_or(TEST);
    may_run(command, &policies).map_err(|cause| wrong(POLICIES, cause))?;
    let root = root(&tasks, policy).map_err(|cause| wrong(TASKS, cause))?;
    stays_inside(&policies.file_access, &root).map_err(|cause| wrong(POLICIES, cause))?;
    policy.contracts.root = (!root.is_root()).then(|| root.clone());
    policy.contracts.artifacts = artifacts(&tasks, &root).map_err(|cause| wrong(TASKS, cause))?;
    if let Some(id) = &tasks.plan_id {
        if !id.starts_with("plan_") || id.len() < 6 {
            return Err(wrong(TASKS, format!("plan_id is {id:?}; expected plan_…")));
        }
        policy.contracts.plan_id = Some(id.clone());
    }
    let goal = goal(&tasks).map_err(|cause| wrong(TASKS, cause))?;
    let quoted = root.as_str().replace('\'', r"'\''");
    let command = match root.is_root() {
        true => command.to_owned(),
        false if folder.join(root.as_str()).is_dir() => format!("cd '{quoted}' && {command}"),
        // The first task creates it.
        false => format!("mkdir -p '{quoted}' && cd '{quoted}' && {command}"),
    };
    Ok(Project { goal, check: Check::new("tests", command) })
}

/// The folder that agents write to; it need not exist.
fn root(tasks: &Tasks, policy: &Policy) -> Result<WorkPath, String> {
    let named = tasks.workspace_dir.as_deref().unwrap_or("workspace").trim_end_matches('/');
    let root: WorkPath = named.parse().map_err(|error: types::BadPath| error.to_string())?;
    let first = root.components().next().unwrap_or_default();
    let closed = |folder: &&WorkPath| folder.as_str().eq_ignore_ascii_case(first);
    match policy.contracts.closed.iter().find(closed) {
        Some(closed) => Err(format!("workspace_dir is in {closed}/, which agents cannot write to")),
        None => Ok(root),
    }
}

/// The required files, as paths of the repository. Some projects include the workspace in them, some do not.
fn artifacts(tasks: &Tasks, root: &WorkPath) -> Result<Vec<WorkPath>, String> {
    let one = |named: &String| -> Result<WorkPath, String> {
        let wrong = |error: types::BadPath| format!("artifacts: {named:?}: {error}");
        let path: WorkPath = named.trim().parse().map_err(wrong)?;
        let inside = path.as_str().strip_prefix(root.as_str()).is_some_and(|s| s.starts_with('/'));
        if inside || root.is_root() {
            return Ok(path);
        }
        format!("{root}/{path}").parse().map_err(wrong)
    };
    tasks.artifacts.iter().map(one).collect()
}

fn goal(tasks: &Tasks) -> Result<Option<String>, String> {
    let said = tasks.goal.as_deref().map(str::trim).filter(|goal| !goal.is_empty());
    let Some(goal) = said else { return Ok(None) };
    let length = goal.chars().count();
    if !GOAL.contains(&length) {
        let (least, most) = GOAL.into_inner();
        return Err(format!("the goal has {length} characters; expected {least} to {most}"));
    }
    let lists = [
        ("It is done when", tasks.acceptance_criteria.clone()),
        ("Files that must be there in the end:", tasks.artifacts.clone()),
        ("Constraints:", tasks.constraints.lines()),
        ("How it is run:", tasks.run.lines()),
        ("Tests:", tasks.tests_policy.lines()?),
    ];
    let mut text = goal.to_owned();
    for (title, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        text.push_str(&format!("\n\n{title}"));
        lines.iter().for_each(|line| text.push_str(&format!("\n- {}", line.trim())));
    }
    Ok(Some(text))
}

/// The agents. All three are required once one is named.
fn agents(folder: &Path, policy: &mut Policy) -> Result<(), ProjectError> {
    let Some(mut all) = file::<serde_json::Value>(folder, AGENTS)? else { return Ok(()) };
    let path = folder.join(AGENTS);
    let wrong = |cause: String| ProjectError::Wrong { path: path.clone(), cause };
    if let Some(inner) = all.get_mut("agents") {
        all = inner.take();
    }
    let mut agents: BTreeMap<String, Agent> =
        serde_json::from_value(all).map_err(|error| wrong(error.to_string()))?;
    for name in ["planner", "coder", "tester"] {
        let agent = agents.remove(name).ok_or_else(|| wrong(format!("agent {name} is missing")))?;
        let Some(role) = policy.roles.get_mut(&RoleId::fixed(name)) else { continue };
        let prompt_of = |named: &str| {
            let text = text(folder, named)?;
            text.ok_or_else(|| wrong(format!("the {name}'s {named} does not exist")))
        };
        let (system, prompt) = (prompt_of(&agent.system)?, prompt_of(&agent.prompt)?);
        role.prompt = format!("{}\n{prompt}", system.trim_end().to_owned() + "\n");
        if let Some(model) = &agent.model {
            let named: Result<ModelRef, _> = model.parse();
            role.model =
                Some(named.map_err(|error| wrong(format!("the {name}'s model: {error}")))?);
        }
    }
    match agents.keys().find(|name| *name != "thinker") {
        Some(other) => {
            Err(wrong(format!("unknown agent {other:?}; known agents: planner, coder, tester")))
        }
        None => Ok(()),
    }
}

fn limits(policy: &mut Policy, said: &Policies) {
    let Timeouts { per_agent_seconds, subprocess_seconds, global_seconds } = said.timeouts;
    for role in policy.roles.values_mut() {
        role.budget.time_ms = per_agent_seconds.map(Millis::seconds).or(role.budget.time_ms);
    }
    policy.budget.time_ms = global_seconds.map(Millis::seconds).or(policy.budget.time_ms);
    if let Some(seconds) = subprocess_seconds {
        policy.limits.check_timeout_ms = Millis::seconds(seconds);
    }
    if said.max_task_retries > 0 {
        let retry = FailureRule {
            id: RuleId::fixed("failure.task_retries"),
            classes: vec![types::FaultClass::CheckFailed],
            codes: vec![],
            action: Remedy::RetryWithFeedback,
            reason: "config/policies.yaml allows so many retries with what the tests said"
                .to_owned(),
            fresh_after: None,
            max_executions: said.max_task_retries.saturating_add(1),
            backoff_ms: Millis::default(),
            then: Some(Remedy::Halt),
            role: None,
            model: None,
            escalation: None,
            severity: None,
        };
        policy.failures.insert(0, retry);
    }
}

/// Only commands on the list may run, and files are written only inside.
fn may_run(command: &str, said: &Policies) -> Result<(), String> {
    if !said.file_access.restrict_to_workspace {
        return Err("file_access.restrict_to_workspace cannot be switched off".to_owned());
    }
    if command.trim().is_empty() {
        return Err("test_command is empty".to_owned());
    }
    if said.allowed_commands.is_empty() {
        return Ok(());
    }
    // A shell runs it, so every part must be on the list, not only the first.
    let allowed = |part: &Part| {
        let shown = part.shown();
        let begins = |allowed: &String| {
            shown
                .strip_prefix(allowed.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        part.unclear.is_none() && said.allowed_commands.iter().any(begins)
    };
    let list = said.allowed_commands.join(", ");
    match rules::command::read(command).iter().find(|part| !allowed(part)) {
        None => Ok(()),
        Some(part) => Err(format!(
            "test_command is {command:?}, but {:?} is not among the allowed_commands: {list}",
            part.shown()
        )),
    }
}

/// Only the workspace may be named as an open path.
fn stays_inside(access: &FileAccess, root: &WorkPath) -> Result<(), String> {
    let is_root = |path: &String| {
        let path = path.trim_start_matches("./").trim_end_matches('/');
        path == root.as_str() || path.parse::<WorkPath>().is_ok_and(|path| path == *root)
    };
    match access.allow_paths.iter().find(|path| !is_root(path)) {
        Some(other) => Err(format!(
            "file_access.allow_paths: {other:?} cannot be granted: agents write only below {root}/"
        )),
        None => Ok(()),
    }
}

/// Reads a file; `None` if it is missing or empty.
fn file<T: serde::de::DeserializeOwned>(
    folder: &Path,
    name: &str,
) -> Result<Option<T>, ProjectError> {
    let Some(text) = text(folder, name)? else { return Ok(None) };
    let path = folder.join(name);
    let read = types::yaml::read(&text)
        .map_err(|cause| ProjectError::Yaml { path: path.clone(), cause })?;
    if read.value.is_null() {
        return Ok(None);
    }
    let value = serde_json::from_value(read.value)
        .map_err(|error| ProjectError::Wrong { path, cause: error.to_string() })?;
    Ok(Some(value))
}

/// Reads a text file whose contents and name may come from an untrusted author.
fn text(folder: &Path, name: &str) -> Result<Option<String>, ProjectError> {
    let path = folder.join(name);
    let inside: WorkPath = name.parse().map_err(|error: types::BadPath| ProjectError::Wrong {
        path: path.clone(),
        cause: error.to_string(),
    })?;
    sandbox::text(folder, &inside, MOST).map_err(|source| ProjectError::Env { path, source })
}

#[cfg(test)]
mod tests;
