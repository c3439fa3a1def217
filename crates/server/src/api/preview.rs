//! Preview of a request: admission, routing, documents and forecast, before anything is spent.

use axum::Json;
use axum::extract::State;
use rules::routing::Course;
use runtime::Preview;
use schemars::JsonSchema;
use serde::Serialize;
use types::{
    Budget, Category, CommitId, Decision, Forecast, ModelRef, RoleId, RuleId, Selected, Status,
    WorkPath,
};

use super::create::prepare;
use crate::access::Caller;
use crate::app::{App, refused};
use crate::extract::Body;
use crate::factory::WantedRun;
use crate::guard;
use crate::problem::Problem;

/// What would happen to a request.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PreviewReport {
    admission: AdmissionItem,
    route: RouteItem,
    documents: Documents,
    /// What it may cost, by the kind of project; the plan's estimates take its place later.
    forecast: Option<Forecast>,
    /// The commands that decide.
    checks: Vec<String>,
    baseline: Baseline,
    model: ModelRef,
    budget: Budget,
    /// The state in which the run would be after its first decisions.
    status: Status,
    /// The questions that it would ask at once.
    questions: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AdmissionItem {
    /// `accept`, `ask` or `refuse`.
    verdict: &'static str,
    decision: Decision,
    questions: Vec<String>,
    /// Whether the verdict gives way to `insist`.
    may_insist: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RouteItem {
    category: Option<Category>,
    /// Where it is from: the caller's hint, or the text.
    confidence: &'static str,
    /// Who works on it first; null if a person decides.
    role: Option<RoleId>,
    decision: Decision,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Documents {
    given: Vec<DocumentItem>,
    withheld: Vec<DocumentItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct DocumentItem {
    path: WorkPath,
    rule: RuleId,
}

/// The commit that the run would begin with.
#[derive(Debug, Serialize, JsonSchema)]
struct Baseline {
    branch: Option<String>,
    commit: CommitId,
    files: u64,
}

pub(crate) async fn show(
    State(app): State<App>,
    caller: Caller,
    Body(wanted): Body<WantedRun>,
) -> Result<Json<PreviewReport>, Problem> {
    guard::previews(&app, &caller.user.name)?;
    let work = previewed(app.clone(), caller.clone(), wanted);
    Ok(Json(app.in_turn(&caller, work).await?))
}

async fn previewed(app: App, caller: Caller, wanted: WantedRun) -> Result<PreviewReport, Problem> {
    let new = prepare(&app, &caller, &wanted).await?;
    app.check_model(&caller, &new.request.model).await?;
    let preview = Box::pin(app.bosun.preview(&new)).await.map_err(refused)?;
    let Preview { survey, explained, view } = preview;
    let own: Vec<String> = new.request.checks.iter().map(|check| check.name.clone()).collect();
    let found = || survey.checks.iter().map(|check| check.name.clone()).collect();
    Ok(PreviewReport {
        admission: AdmissionItem {
            verdict: explained.admission.verdict.as_str(),
            decision: explained.admission.decision,
            questions: explained.admission.questions,
            may_insist: explained.admission.insist,
        },
        route: RouteItem {
            category: explained.route.category,
            confidence: explained.route.confidence.as_str(),
            role: match explained.route.course {
                Course::To(role) => Some(role),
                Course::Person | Course::Nobody => None,
            },
            decision: explained.route.decision,
        },
        documents: Documents {
            given: documents(&explained.context.included),
            withheld: documents(&explained.context.excluded),
        },
        forecast: view.forecast,
        checks: if own.is_empty() { found() } else { own },
        baseline: Baseline { branch: survey.branch, commit: survey.base, files: survey.file_count },
        model: new.request.model,
        budget: view.budget,
        status: view.status,
        questions: view.questions.into_iter().map(|asked| asked.text).collect(),
    })
}

fn documents(selected: &[Selected]) -> Vec<DocumentItem> {
    let item = |one: &Selected| DocumentItem { path: one.path.clone(), rule: one.rule.clone() };
    selected.iter().map(item).collect()
}
