//! The inbox: every open question of every run and session that the caller may see, identical ones grouped, with the
//! same evidence as in the terminal. Only the logs of waiting runs and sessions are read.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use runtime::{Entry, Found, evidence_lines, open_questions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{
    About, AttemptId, Choice, Command, Package, RuleId, RunId, Severity, TaskId, Terms, Timestamp,
};

use super::Page;
use crate::access::Caller;
use crate::app::{App, Visible};
use crate::extract::{Body, Named, OfRun};
use crate::problem::Problem;

/// Number of evidence lines shown with a question.
const EVIDENCE: usize = 12;

/// What kind of work asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asker {
    Run,
    Session,
}

/// A question that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InboxItem {
    pub(crate) run: RunId,
    pub(crate) kind: Asker,
    pub(crate) goal: String,
    pub(crate) project: Option<String>,
    /// The numbers of equal questions of the run; an answer to each is needed.
    pub(crate) ids: Vec<u32>,
    pub(crate) text: String,
    /// The rule that requires a person.
    pub(crate) rule: Option<RuleId>,
    pub(crate) asked: Timestamp,
    pub(crate) task: Option<TaskId>,
    pub(crate) attempt: Option<AttemptId>,
    pub(crate) choices: Vec<Choice>,
    /// Whether words other than the choices are accepted.
    pub(crate) free: bool,
    /// What holds if nobody answers.
    pub(crate) default: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) severity: Option<Severity>,
    pub(crate) escalation: Option<types::Escalation>,
    /// The lines that show what is wrong.
    pub(crate) evidence: Vec<String>,
    /// Everything that belongs to the question.
    pub(crate) package: Option<Package>,
}

impl InboxItem {
    /// What a question of a run and one of a session have in common.
    fn new(
        entry: &Entry,
        visible: &Visible,
        kind: Asker,
        goal: &str,
        terms: Option<&Terms>,
    ) -> Self {
        let project = entry.place().and_then(|place| visible.project_of(Path::new(place)));
        let package = terms.and_then(|terms| terms.package.as_deref());
        let evidence = package.map(|package| evidence_lines(package, EVIDENCE)).unwrap_or_default();
        Self {
            run: entry.run.clone(),
            kind,
            goal: goal.to_owned(),
            project: project.map(str::to_owned),
            ids: vec![],
            text: String::new(),
            rule: None,
            asked: entry.updated,
            task: terms.and_then(|terms| match &terms.about {
                Some(About::Task(task)) => Some(task.clone()),
                _ => None,
            }),
            attempt: None,
            choices: terms.map(|terms| terms.choices.clone()).unwrap_or_default(),
            free: terms.is_none_or(|terms| terms.free || terms.choices.is_empty()),
            default: terms.and_then(|terms| terms.default.clone()),
            expires: terms.and_then(|terms| terms.expires),
            severity: terms.map(|terms| terms.severity),
            escalation: terms.and_then(|terms| terms.escalation),
            evidence: evidence.into_iter().map(str::to_owned).collect(),
            package: package.cloned(),
        }
    }
}

/// All open questions, the most serious first, then the oldest.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
) -> Result<Json<Page<InboxItem>>, Problem> {
    let visible = app.visible(&caller)?;
    let mut items = Vec::new();
    for entry in app.entries().await?.iter().filter(|entry| visible.shows(entry)) {
        match asked_by(&app, entry, &visible).await {
            Ok(asked) => items.extend(asked),
            Err(problem) => {
                tracing::warn!(run = %entry.run, detail = %problem.detail, "reading what a run asks");
            }
        }
    }
    items.sort_by_key(|item: &InboxItem| (std::cmp::Reverse(item.severity), item.asked));
    Ok(Json(Page::whole(items)))
}

/// The open questions of a run or session.
async fn asked_by(app: &App, entry: &Entry, visible: &Visible) -> Result<Vec<InboxItem>, Problem> {
    match &entry.found {
        Found::Run { listed, .. } if listed.ended.is_none() && listed.questions > 0 => {
            let view = app.bosun.view(&entry.run).await?;
            let item = |group: &runtime::QuestionGroup<'_>| {
                let first = group.first;
                let terms = first.terms.as_ref();
                let mut item = InboxItem::new(entry, visible, Asker::Run, &view.goal, terms);
                item.ids.clone_from(&group.ids);
                item.text.clone_from(&first.text);
                item.rule.clone_from(&first.rule);
                item.asked = first.asked;
                item.attempt.clone_from(&first.attempt);
                item.task = item.task.or_else(|| Some(first.attempt.as_ref()?.task.clone()));
                item
            };
            Ok(open_questions(&view).iter().map(item).collect())
        }
        Found::Session(listed) if listed.question.is_some() => {
            let view = app.bosun.session_view(&entry.run).await?;
            let Some(asked) = view.question else { return Ok(vec![]) };
            let terms = asked.terms.as_deref();
            let mut item = InboxItem::new(entry, visible, Asker::Session, &listed.about, terms);
            item.ids = vec![asked.question];
            item.text = asked.text;
            item.rule = Some(asked.decision.rule);
            Ok(vec![item])
        }
        _ => Ok(vec![]),
    }
}

/// An answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// The id of a choice, its number counted from 1, or words where they are accepted.
    #[schemars(length(min = 1))]
    pub(crate) text: String,
}

/// That an answer was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Delivery {
    pub(crate) delivered: bool,
}

pub(crate) async fn answer(
    Named((_, question)): Named<(String, u32)>,
    OfRun { app, caller, run }: OfRun,
    Body(answer): Body<Answer>,
) -> Result<Json<Delivery>, Problem> {
    give(&app, &caller, &run, question, &answer.text).await?;
    Ok(Json(Delivery { delivered: true }))
}

/// Answers an open question of a run.
pub(crate) async fn give(
    app: &App,
    caller: &Caller,
    run: &RunId,
    question: u32,
    text: &str,
) -> Result<(), Problem> {
    let view = app.bosun.view(run).await?;
    let asked = view.questions.iter().find(|asked| asked.id == question);
    let asked =
        asked.ok_or_else(|| Problem::not_found(format!("run {run} has no question {question}")))?;
    if let Some(by) = asked.answer.as_ref().map(|_| asked.by.as_deref().unwrap_or("the policy")) {
        return Err(Problem::conflict(format!("question {question} was answered by {by}")));
    }
    let posted = app.bosun.journal().posted(run).await?;
    let answers = |command: &Command| matches!(command, Command::Answer { question: other, .. } if *other == question);
    if posted.iter().any(|(_, command)| answers(command)) {
        return Err(Problem::conflict(format!("question {question} has an answer on its way")));
    }
    if text.trim().is_empty() {
        return Err(Problem::unfit("the answer is empty"));
    }
    if let Some(terms) = &asked.terms {
        terms.choose(text).map_err(|wrong| Problem::unfit(wrong.to_string()))?;
    }
    let by = caller.user.name.clone();
    let command = Command::Answer { by, question, text: text.to_owned() };
    Ok(app.drivers.deliver(run, &command).await?)
}
