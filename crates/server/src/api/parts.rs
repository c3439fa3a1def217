//! The parts of a run: graph, timeline, money, plan, tasks, transcripts, change, gates, checks, decisions, lines,
//! files. Most are available as of any line of the run's log.

use std::future::{Ready, ready};

use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use engine::export::proof::unprovable;
use engine::export::{TranscriptEntry, response};
use runtime::RunPart;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use types::{AttemptId, Digest, LogId, Plan, TaskId};

use super::Page;
use super::run::recorded;
use crate::app::App;
use crate::extract::{Named, OfRun, Params};
use crate::problem::Problem;
use crate::views::{Recorded, artifacts, diff, events, task, why};

/// Number of lines or entries in a page, unless fewer are asked for.
const MOST: usize = 1_000;

type Shown<T> = Result<Json<T>, Problem>;

/// A handler that answers with one view of a run.
pub(crate) fn view<T: Serialize + Send + 'static>(
    of: fn(&Recorded) -> T,
) -> impl Fn(Recorded) -> Ready<Json<T>> + Clone + Send + Sync + 'static {
    move |recorded| ready(Json(of(&recorded)))
}

/// The same with a list.
pub(crate) fn list<T: Serialize + Send + 'static>(
    of: fn(&Recorded) -> Vec<T>,
) -> impl Fn(Recorded) -> Ready<Json<Page<T>>> + Clone + Send + Sync + 'static {
    move |recorded| ready(Json(Page::whole(of(&recorded))))
}

pub(crate) async fn explain(
    Named((_, place)): Named<(String, String)>,
    recorded: Recorded,
) -> Shown<Page<why::Explanation>> {
    let found = why::explain(&recorded, &place);
    if found.is_empty() {
        let detail = "the run has no such decision; name a line, task, attempt or question of it";
        return Err(Problem::not_found(detail));
    }
    Ok(Json(Page::whole(found)))
}

pub(crate) async fn plan(recorded: Recorded) -> Shown<Plan> {
    let plan = recorded.plan().cloned();
    plan.map(Json).ok_or_else(|| Problem::not_found("the run has no plan yet"))
}

/// The response object of a run.
pub(crate) async fn respond(recorded: Recorded) -> Shown<Value> {
    let response = response(&recorded.run, &recorded.lines, recorded.now);
    serde_json::to_value(response).map(Json).map_err(|error| Problem::internal(&error))
}

/// Whether a run can be proven, and what its logs end with.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ProofView {
    provable: bool,
    /// Why it cannot be proven.
    why: Option<String>,
    /// Whether every log of the run is as it was written.
    intact: bool,
    /// What is wrong with the logs.
    flaws: Vec<String>,
    logs: Vec<LogEnd>,
}

/// The end of a log.
#[derive(Debug, Serialize, JsonSchema)]
struct LogEnd {
    log: String,
    lines: u64,
    head: Digest,
}

pub(crate) async fn proof(OfRun { app, run, .. }: OfRun) -> Shown<ProofView> {
    let view = app.bosun.view(&run).await?;
    let why = unprovable(&view).map(|why| why.to_string());
    let (mut logs, mut flaws) = (Vec::new(), Vec::new());
    for log in app.bosun.journal().logs(Some(&run)).await? {
        if let Err(error) = app.bosun.journal().verify(&log.log).await {
            flaws.push(error.to_string());
        }
        logs.push(LogEnd { log: log.log.to_string(), lines: log.last_seq, head: log.head });
    }
    Ok(Json(ProofView { provable: why.is_none(), why, intact: flaws.is_empty(), flaws, logs }))
}

pub(crate) async fn one_task(
    Named((_, id)): Named<(String, String)>,
    recorded: Recorded,
) -> Shown<task::TaskDetail> {
    let unknown = || Problem::not_found("the run has no such task");
    let id: TaskId = id.parse().map_err(|_| unknown())?;
    task::task(&recorded, &id).map(Json).ok_or_else(unknown)
}

/// A part of a log or transcript.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Part {
    /// Only what comes after this line.
    after: Option<u64>,
    /// At most 1,000, which is the default.
    limit: Option<u16>,
}

impl Part {
    fn limit(&self) -> usize {
        self.limit.map_or(MOST, usize::from).clamp(1, MOST)
    }
}

pub(crate) async fn transcript(
    Named((_, attempt)): Named<(String, String)>,
    Params(part): Params<Part>,
    OfRun { app, run, .. }: OfRun,
) -> Shown<Page<TranscriptEntry>> {
    let attempt = known_attempt(&app, &run, &attempt).await?;
    let mut entries = app.bosun.transcript(&run, &RunPart::Attempt(attempt), true).await?;
    entries.retain(|entry| part.after.is_none_or(|after| entry.seq > after));
    // Entries of one line stay together, so that the next page can start after a line.
    let mut end = part.limit().min(entries.len());
    while end > 0 && end < entries.len() && entries[end].seq == entries[end - 1].seq {
        end += 1;
    }
    let more = end < entries.len();
    entries.truncate(end);
    let next = entries.last().filter(|_| more).map(|entry| entry.seq.to_string());
    Ok(Json(Page { items: entries, next }))
}

async fn known_attempt(app: &App, run: &types::RunId, name: &str) -> Result<AttemptId, Problem> {
    let unknown = || Problem::not_found("the run has no such attempt");
    let attempt: AttemptId = name.parse().map_err(|_| unknown())?;
    let logs = app.bosun.journal().logs(Some(run)).await?;
    let known = logs.iter().any(|log| log.log.attempt.as_ref() == Some(&attempt));
    known.then_some(attempt).ok_or_else(unknown)
}

/// Of what the change is shown: the whole result, unless a task or an attempt is named.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Of {
    /// The change of this task.
    task: Option<String>,
    /// The change of this attempt.
    attempt: Option<String>,
}

pub(crate) async fn change(
    Params(of): Params<Of>,
    OfRun { app, run, .. }: OfRun,
) -> Shown<diff::DiffView> {
    let of = match (of.task, of.attempt) {
        (None, None) => RunPart::Whole,
        (Some(task), None) => {
            let unknown = |_| Problem::not_found("the run has no such task");
            RunPart::Task(task.parse().map_err(unknown)?)
        }
        (None, Some(attempt)) => RunPart::Attempt(known_attempt(&app, &run, &attempt).await?),
        (Some(_), Some(_)) => return Err(Problem::bad("name a task or an attempt, not both")),
    };
    let changed = app.bosun.diff(&run, &of).await?;
    Ok(Json(diff::diff(&changed)))
}

/// Which lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Lines {
    /// Only lines after this one.
    after: Option<u64>,
    /// At most 1,000, which is the default.
    limit: Option<u16>,
    /// The log of this attempt in place of the run's own.
    attempt: Option<String>,
}

pub(crate) async fn lines(
    Params(wanted): Params<Lines>,
    OfRun { app, run, .. }: OfRun,
) -> Shown<Page<events::EventLine>> {
    let log = match &wanted.attempt {
        None => LogId::run(run.clone()),
        Some(name) => LogId::attempt(run.clone(), known_attempt(&app, &run, name).await?),
    };
    let part = Part { after: wanted.after, limit: wanted.limit };
    let found = app.bosun.journal().read(&log, part.after.unwrap_or(0), part.limit()).await?;
    if found.is_empty() && part.after.is_none() {
        return Err(Problem::not_found(format!("there is no run {run}")));
    }
    let next =
        found.last().filter(|_| found.len() == part.limit()).map(|line| line.seq.to_string());
    let items = found.iter().map(|line| events::EventLine::of(line, None)).collect();
    Ok(Json(Page { items, next }))
}

/// A blob named by the run's logs. It is always served as plain text, so that a browser never renders an agent's output
/// as a page.
pub(crate) async fn blob(
    Named((_, digest)): Named<(String, String)>,
    OfRun { app, run, .. }: OfRun,
) -> Result<Response, Problem> {
    let unknown = || Problem::not_found("the run's logs name no such blob");
    let digest: Digest = digest.parse().map_err(|_| unknown())?;
    let recorded = recorded(&app, &run, None).await?;
    if !artifacts::blobs(&recorded).contains(&digest) {
        return Err(unknown());
    }
    let mut response = app.bosun.journal().blob(&digest).await?.into_response();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    Ok(response)
}
