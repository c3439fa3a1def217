//! The response object of design document 001 (docs/differences.md): the outcome of a request, for programs. Computed
//! from a run on demand and stored nowhere; every field is a fact of the log, and no model writes any of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use types::{
    Digest, Envelope, Event, Money, Phase, QuestionView, RunView, Status, Task, TaskStage,
    TaskView, Timestamp, one_line,
};

use crate::Run;

/// The JSON Schema of a response.
pub const RESPONSE_SCHEMA: &str = include_str!("response.schema.json");

/// The longest text by a model or a person in a message.
const SHOWN: usize = 300;

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    pub response_id: String,
    pub request_id: String,
    pub timestamp: Timestamp,
    pub status: Progress,
    pub decision: Verdict,
    pub message: String,
    pub deliverables: Vec<Deliverable>,
    pub project_state: Standing,
    pub resource_usage: Resources,
    pub next_steps: Vec<String>,
    pub blockers: Vec<Blocker>,
}

/// The status of a request. `Pending` never occurs in a response, since the work has begun by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    Pending,
    InProgress,
    Completed,
    Failed,
    Blocked,
}

/// The result of admission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Rejected,
    NeedsClarification,
}

/// A file on the run's branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliverable {
    #[serde(rename = "type")]
    pub kind: Kind,
    pub path: String,
    pub description: String,
    pub metadata: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Code,
    Documentation,
    Report,
    Plan,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    pub phase: Phase,
    pub progress_percentage: u8,
    pub tasks_completed: u64,
    pub tasks_remaining: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resources {
    pub tokens_used: u64,
    pub api_calls: u64,
    pub time_elapsed_seconds: u64,
    pub cost_usd: f64,
    /// The remaining budget, never below zero; absent without a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_remaining: Option<u64>,
    /// Tokens used outside every attempt: the coordinator's own usage.
    pub coordinator_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blocker {
    pub severity: String,
    pub description: String,
    pub resolution_required: bool,
}

/// The response for a run at `now`. The lines are those of the run and its attempts.
#[must_use]
pub fn response(run: &Run, lines: &[Envelope], now: Timestamp) -> Response {
    let view = run.view(now);
    let at = view.ended.unwrap_or(now);
    Response {
        response_id: uuid(&format!("{} {} {}", view.run, view.status.as_str(), at.millis())),
        request_id: request_id(run, &view),
        timestamp: at,
        status: progress(view.status),
        decision: verdict(run, &view),
        message: message(&view),
        deliverables: deliverables(run, &view),
        project_state: standing(&view),
        resource_usage: resources(&view, lines),
        next_steps: next_steps(&view),
        blockers: blockers(&view),
    }
}

/// The response to an unusable request object: nothing was started, and the cause names the remedy.
#[must_use]
pub fn rejected(object: &str, cause: &str, now: Timestamp) -> Response {
    let read: Value = serde_json::from_str(object).unwrap_or_default();
    let named = read.get("request_id").and_then(Value::as_str).map(|id| one_line(id, SHOWN));
    let cause = one_line(cause, 4 * SHOWN);
    Response {
        response_id: uuid(&format!("{object} {}", now.millis())),
        request_id: named.unwrap_or_else(|| uuid(object)),
        timestamp: now,
        status: Progress::Failed,
        decision: Verdict::Rejected,
        message: format!("invalid request object: {cause}"),
        deliverables: vec![],
        project_state: Standing::default(),
        resource_usage: Resources::default(),
        next_steps: vec!["correct the request object and submit it again".to_owned()],
        blockers: vec![Blocker {
            severity: "critical".to_owned(),
            description: cause,
            resolution_required: true,
        }],
    }
}

/// The requester's id, or else one derived from the run.
pub(super) fn request_id(run: &Run, view: &RunView) -> String {
    let named = run.request().and_then(|request| request.id.clone());
    named.unwrap_or_else(|| uuid(view.run.as_str()))
}

/// A UUID derived from a text, stable for the same run.
pub(super) fn uuid(text: &str) -> String {
    let hex: Vec<char> = Digest::of(text.as_bytes()).to_string().chars().collect();
    let part = |from: usize, to: usize| hex.iter().take(to).skip(from).collect::<String>();
    // UUID version 8 is for custom schemes.
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

pub(super) const fn progress(status: Status) -> Progress {
    match status {
        Status::Running => Progress::InProgress,
        Status::Waiting => Progress::Blocked,
        Status::Done => Progress::Completed,
        Status::Failed
        | Status::OutOfBudget
        | Status::Refused
        | Status::NoGo
        | Status::Cancelled => Progress::Failed,
    }
}

fn verdict(run: &Run, view: &RunView) -> Verdict {
    match (view.status, run.is_admitted()) {
        (Status::Refused, _) => Verdict::Rejected,
        (_, true) => Verdict::Approved,
        (Status::Waiting, false) => Verdict::NeedsClarification,
        (Status::Running, false) => Verdict::Approved,
        (_, false) => Verdict::Rejected,
    }
}

fn message(view: &RunView) -> String {
    let finished = view.tasks.iter().filter(|task| task.stage == TaskStage::Finished).count();
    let tasks = format!("{finished} of {} tasks finished", view.tasks.len());
    let why = view.why.as_ref().map(|why| one_line(&why.reason, SHOWN)).unwrap_or_default();
    let goal = types::headline(&view.goal, SHOWN);
    match view.status {
        Status::Done => format!(
            "done: {goal}; {tasks}, {} changed (+{} -{}), all checks passed on branch {}{}",
            types::count(view.changes.0.len(), "file"),
            view.changes.added(),
            view.changes.removed(),
            view.branch,
            refused(view)
        ),
        Status::Running => format!("in progress: {goal}; {tasks}"),
        Status::Waiting => {
            let open = view.questions.iter().find(|question| question.answer.is_none());
            let asked = open.map(|question| one_line(&question.text, SHOWN)).unwrap_or_default();
            format!("waiting for an answer: {asked}")
        }
        status => format!("{}: {why}; {tasks}", status.as_str()),
    }
}

/// The dangerous calls that agents tried.
fn refused(view: &RunView) -> String {
    match view.dangers.len() {
        0 => String::new(),
        tries => format!("; {} by its agents refused as dangerous", types::count(tries, "call")),
    }
}

pub(super) fn standing(view: &RunView) -> Standing {
    let progress = &view.progress;
    Standing {
        phase: view.phase,
        progress_percentage: u8::try_from(progress.percent).unwrap_or(100).min(100),
        tasks_completed: progress.completed,
        tasks_remaining: progress.total.saturating_sub(progress.completed),
    }
}

pub(super) fn resources(view: &RunView, lines: &[Envelope]) -> Resources {
    let spent = view.spent;
    Resources {
        tokens_used: spent.tokens,
        api_calls: spent.calls,
        time_elapsed_seconds: view.elapsed_ms.0 / 1_000,
        cost_usd: dollars(spent.money),
        tokens_remaining: view.budget.tokens.map(|all| all.saturating_sub(spent.counted())),
        coordinator_tokens: coordinator_tokens(lines),
    }
}

/// Tokens of replies that belong to no attempt. Planning is an attempt, too.
fn coordinator_tokens(lines: &[Envelope]) -> u64 {
    let own = lines.iter().filter(|line| line.attempt.is_none());
    own.map(|line| match &line.event {
        Event::ModelReplied { reply, .. } => reply.usage.total(),
        _ => 0,
    })
    .sum()
}

#[expect(clippy::cast_precision_loss, reason = "the document wants a float; amounts are small")]
pub(super) fn dollars(money: Money) -> f64 {
    money.as_nanos() as f64 / 1e9
}

/// Every changed file on the run's branch.
pub(super) fn deliverables(run: &Run, view: &RunView) -> Vec<Deliverable> {
    let owners = owners(run);
    let made = view.changes.0.iter().map(|change| {
        let path = change.path.as_str();
        let tasks: Vec<&Task> =
            and_above(path).filter_map(|one| owners.get(one)).flatten().copied().collect();
        let titles: Vec<String> = tasks.iter().map(|task| one_line(&task.title, SHOWN)).collect();
        let ids: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        let metadata = json!({
            "branch": view.branch,
            "lines_added": change.added,
            "lines_removed": change.removed,
            "tasks": ids,
        });
        Deliverable {
            kind: kind(path),
            path: path.to_owned(),
            description: titles.join("; "),
            metadata: metadata.as_object().cloned().unwrap_or_default(),
        }
    });
    made.collect()
}

/// The tasks that may write each path.
fn owners(run: &Run) -> BTreeMap<&str, Vec<&Task>> {
    let mut owners: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in run.tasks() {
        for artifact in &task.artifacts {
            owners.entry(artifact.path.as_str()).or_default().push(task);
        }
    }
    owners
}

/// A path and all its parent folders.
fn and_above(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.rmatch_indices('/').filter_map(move |(at, _)| path.get(..at));
    std::iter::once(path).chain(folders).chain(std::iter::once("."))
}

fn kind(path: &str) -> Kind {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending).unwrap_or_default();
    match ending {
        "md" | "rst" | "adoc" | "txt" => Kind::Documentation,
        _ if path.starts_with("docs/") || path.starts_with("doc/") => Kind::Documentation,
        _ => Kind::Code,
    }
}

/// Possible next steps for a person, as commands if there is one.
#[must_use]
pub fn next_steps(view: &RunView) -> Vec<String> {
    let run = &view.run;
    if view.settled.is_some() {
        return vec![];
    }
    match view.status {
        Status::Done => vec![
            format!("inspect the result: git log -p {}..{}", view.base.short(), view.branch),
            format!("accept it: bosun accept {run}"),
            format!("or discard it: bosun discard {run}"),
        ],
        Status::Running => vec![format!("continue: bosun resume {run}")],
        Status::Waiting => {
            let open = view.questions.iter().filter(|question| question.answer.is_none());
            open.map(|question| answer(view, question)).collect()
        }
        Status::Refused => vec![format!("see why: bosun why {run}")],
        _ => {
            let mut steps = vec![format!("see why: bosun why {run}")];
            if view.head != view.base {
                let (base, branch) = (view.base.short(), &view.branch);
                steps.push(format!("inspect the partial result: git log -p {base}..{branch}"));
            }
            steps
        }
    }
}

fn answer(view: &RunView, question: &QuestionView) -> String {
    let choices = question.terms.as_ref().map(|terms| terms.choices.as_slice()).unwrap_or_default();
    let ids: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
    let how = if ids.is_empty() { "\"…\"".to_owned() } else { ids.join(" | ") };
    format!("answer: bosun answer {} --question {} {how}", view.run, question.id)
}

/// The blockers of the request, the worst first.
pub(super) fn blockers(view: &RunView) -> Vec<Blocker> {
    let blocker = |severity: &str, description: String, resolution_required: bool| Blocker {
        severity: severity.to_owned(),
        description,
        resolution_required,
    };
    let mut blockers = Vec::new();
    if let Some(why) = &view.why {
        let reason = one_line(&why.reason, SHOWN);
        blockers.push(blocker("critical", format!("{reason} ({})", why.rule), true));
    }
    let open = view.questions.iter().filter(|question| question.answer.is_none());
    blockers.extend(open.map(|question| {
        let severity = question.terms.as_ref().map_or("high", |terms| terms.severity.as_str());
        blocker(severity, one_line(&question.text, SHOWN), true)
    }));
    let failed = |task: &&TaskView| task.stage == TaskStage::Failed;
    blockers.extend(view.tasks.iter().filter(failed).map(|task| {
        let what = task.fault.as_deref().map(|fault| one_line(fault, SHOWN)).unwrap_or_default();
        blocker("high", format!("{} failed: {what}", task.id), true)
    }));
    let dangers = view.dangers.iter();
    blockers.extend(dangers.map(|one| blocker("medium", format!("refused: {one}"), false)));
    let missing = view.missing.iter();
    blockers.extend(
        missing.map(|one| blocker("medium", format!("promised artifact is missing: {one}"), true)),
    );
    blockers
}

#[cfg(test)]
mod tests;
