//! A person's comments on a run's result, and the follow-up run made from them. A finished run has no task to retry, so
//! comments become a new run: it starts from the result, and its plan consists of the tasks commented on, in their own
//! scopes, with the comments as feedback. Comments are stored beside the journal, in `reviews/`; they are not evidence.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::{
    CommitId, ModelRef, Plan, Planning, Request, RunId, RunView, Settling, Task, TaskId, Timestamp,
    WorkPath, count, one_line,
};

use crate::api::{Bosun, NewRun};
use crate::error::Error;
use crate::small_file;

/// The folder with a file for each run with comments.
const FOLDER: &str = "reviews";
/// The most comments on one run.
const MOST: usize = 500;

/// What a person says about a task's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    pub task: TaskId,
    /// The file that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<WorkPath>,
    /// The line of the file as it is in the result, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    pub text: String,
    pub by: String,
    pub at: Timestamp,
}

impl Comment {
    /// The place that it refers to: `T2`, `T2:src/a.rs` or `T2:src/a.rs:12`.
    #[must_use]
    pub fn place(&self) -> String {
        let path = self.path.as_ref().map(|path| format!(":{path}")).unwrap_or_default();
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{path}{line}", self.task)
    }
}

/// Why a result cannot be commented on, or has no follow-up.
#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error("run {run} is not over; comment on its result when it is")]
    NotOver { run: RunId },
    #[error("run {run} has no changes to review")]
    Nothing { run: RunId },
    #[error("the result of run {run} was discarded")]
    Discarded { run: RunId },
    #[error("there is no task {task} in run {run}; it has {known}")]
    NoSuchTask { task: String, run: RunId, known: String },
    #[error(
        "task {task} did not change {path}; it changed {known}. To comment on the whole task, leave out the file"
    )]
    NoSuchFile { path: String, task: TaskId, known: String },
    #[error("{path} has no line {line}; it has {}, counted from 1", count(*lines, "line"))]
    NoSuchLine { path: String, line: u64, lines: u64 },
    #[error("run {run} has no comments; add one: bosun review {run} --comment TASK:PATH:LINE TEXT")]
    NoComments { run: RunId },
    #[error("run {run} has no comment {}", place + 1)]
    NoSuchComment { run: RunId, place: usize },
    #[error("run {run} already has {MOST} comments; send them first")]
    TooMany { run: RunId },
    #[error("cannot access {path}")]
    File {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Door(#[from] Error),
}

impl Bosun {
    /// The comments on a run's result, in the order made.
    pub fn comments(&self, run: &RunId) -> Result<Vec<Comment>, ReviewError> {
        let path = self.comments_file(run);
        let failed = |source| ReviewError::File { path: path.display().to_string(), source };
        let Some(bytes) = small_file::read(&path).map_err(failed)? else { return Ok(vec![]) };
        serde_json::from_slice(&bytes).map_err(|error| failed(error.into()))
    }

    /// Adds a comment, after checking that its task, file and line exist.
    pub async fn comment(&self, run: &RunId, new: Comment) -> Result<Vec<Comment>, ReviewError> {
        let view = self.reviewable(run).await?;
        let machine = self.load(run).await?;
        let tasks = machine.plan().map(|plan| plan.tasks.as_slice()).unwrap_or_default();
        if !tasks.iter().any(|task| task.id == new.task) {
            let known = tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>().join(", ");
            let (task, run) = (new.task.to_string(), view.run);
            return Err(ReviewError::NoSuchTask { task, run, known });
        }
        if let Some(path) = &new.path {
            Box::pin(self.must_have_changed(run, &new.task, (path, new.line))).await?;
        }
        let mut all = self.comments(run)?;
        if all.len() >= MOST {
            return Err(ReviewError::TooMany { run: run.clone() });
        }
        all.push(new);
        self.keep_comments(run, &all)?;
        Ok(all)
    }

    async fn must_have_changed(
        &self,
        run: &RunId,
        task: &TaskId,
        (path, line): (&WorkPath, Option<u64>),
    ) -> Result<(), ReviewError> {
        // A change that can no longer be shown may still be commented on.
        let Ok(diff) = self.diff(run, &crate::diff::RunPart::Task(task.clone())).await else {
            return Ok(());
        };
        if diff.changes.0.iter().any(|file| file.path == *path) {
            return match line {
                Some(line) => self.must_have_line(run, &diff.to, (path, line)).await,
                None => Ok(()),
            };
        }
        let known = diff.changes.0.iter().take(10).map(|file| one_line(file.path.as_str(), 100));
        let known = known.collect::<Vec<_>>().join(", ");
        Err(ReviewError::NoSuchFile {
            path: one_line(path.as_str(), 200),
            task: task.clone(),
            known,
        })
    }

    /// Refuses a line that is beyond the end of the file both in the task's version and in the result.
    async fn must_have_line(
        &self,
        run: &RunId,
        left: &CommitId,
        (path, line): (&WorkPath, u64),
    ) -> Result<(), ReviewError> {
        let machine = self.load(run).await?;
        let result = self.shown(&machine).head;
        let repo = self.repository_of(&machine).await?;
        let mut lines = 0;
        for commit in [left, &result] {
            let text = repo.text_at(commit, path.as_str()).await.map_err(Error::Git)?;
            lines = lines.max(text.map_or(0, |text| text.lines().count() as u64));
        }
        if (1..=lines).contains(&line) {
            return Ok(());
        }
        Err(ReviewError::NoSuchLine { path: one_line(path.as_str(), 200), line, lines })
    }

    /// Removes one comment by its index; returns the rest.
    pub fn remove_comment(&self, run: &RunId, place: usize) -> Result<Vec<Comment>, ReviewError> {
        let mut all = self.comments(run)?;
        if place >= all.len() {
            return Err(ReviewError::NoSuchComment { run: run.clone(), place });
        }
        all.remove(place);
        self.keep_comments(run, &all)?;
        Ok(all)
    }

    /// Removes all comments on a run.
    pub fn clear_comments(&self, run: &RunId) -> Result<(), ReviewError> {
        let path = self.comments_file(run);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(ReviewError::File { path: path.display().to_string(), source })
            }
            _ => Ok(()),
        }
    }

    /// The follow-up run for the comments: it starts from the result, with the same policy, checks and budget.
    pub async fn follow_up(
        &self,
        run: &RunId,
        model: Option<ModelRef>,
    ) -> Result<NewRun, ReviewError> {
        let view = self.reviewable(run).await?;
        let comments = self.comments(run)?;
        if comments.is_empty() {
            return Err(ReviewError::NoComments { run: run.clone() });
        }
        let machine = self.load(run).await?;
        let (Some(request), Some(plan)) = (machine.request(), machine.plan()) else {
            return Err(ReviewError::Nothing { run: run.clone() });
        };
        let given = Some(Box::new(again(plan, &comments)));
        let accepted = view.settled.as_ref().is_some_and(|it| it.how == Settling::Accepted);
        let model = model.unwrap_or_else(|| request.model.clone());
        let request = Request {
            hint: request.hint,
            insist: request.insist.clone(),
            project_type: request.project_type.clone(),
            budget: request.budget,
            server: request.server.clone(),
            checks: request.checks.clone(),
            follows: Some(run.clone()),
            planning: Planning { given, ..Planning::default() },
            ..Request::new(wanted(&view, &comments), model)
        };
        Ok(NewRun {
            request,
            repository: PathBuf::from(&view.repository),
            policy: machine.policy().as_ref().clone(),
            id: None,
            // An accepted result is already on the person's branch, or was.
            base: (!accepted).then(|| view.head.clone()),
            with_changes: false,
        })
    }

    /// The view of a run that is over and has a result.
    async fn reviewable(&self, run: &RunId) -> Result<RunView, ReviewError> {
        let view = self.view(run).await?;
        let run = run.clone();
        if view.ended.is_none() {
            return Err(ReviewError::NotOver { run });
        }
        if view.head == view.base {
            return Err(ReviewError::Nothing { run });
        }
        match &view.settled {
            Some(settled) if settled.how == Settling::Discarded => {
                Err(ReviewError::Discarded { run })
            }
            _ => Ok(view),
        }
    }

    fn keep_comments(&self, run: &RunId, all: &[Comment]) -> Result<(), ReviewError> {
        let path = self.comments_file(run);
        let failed = |source| ReviewError::File { path: path.display().to_string(), source };
        let text = serde_json::to_vec_pretty(all).map_err(|error| failed(error.into()))?;
        small_file::write(&path, &text).map_err(failed)
    }

    fn comments_file(&self, run: &RunId) -> PathBuf {
        self.services.home.join(FOLDER).join(format!("{run}.json"))
    }
}

/// The tasks with comments, as planned, each with its comments.
fn again(plan: &Plan, comments: &[Comment]) -> Plan {
    let is_wanted = |id: &TaskId| comments.iter().any(|comment| comment.task == *id);
    let tasks = plan.tasks.iter().filter(|task| is_wanted(&task.id)).map(|task| {
        let mut description = task.description.trim_end().to_owned();
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(
            "This task was done before, and its result is in the files. A person reviewed it. ",
        );
        description.push_str("Change what the review asks for, and nothing else:\n");
        for comment in comments.iter().filter(|comment| comment.task == task.id) {
            let _ = writeln!(description, "- {}", said(comment));
        }
        let depends_on = task.depends_on.iter().filter(|id| is_wanted(id)).cloned().collect();
        let title = title(task, comments);
        Task { title, description, depends_on, ..task.clone() }
    });
    let summary = format!("Changes that a review asks for: {}", count(comments.len(), "comment"));
    Plan { summary, tasks: tasks.collect(), ..Plan::default() }
}

/// The title of a repeated task. It becomes the subject of a commit, which must differ from that of the first one.
fn title(task: &Task, comments: &[Comment]) -> String {
    let mut own = comments.iter().filter(|comment| comment.task == task.id);
    let first = own.next().map(|comment| one_line(comment.text.trim(), 200));
    let asked = match (first, own.count()) {
        (Some(only), 0) => only,
        (_, more) => count(more + 1, "review comment"),
    };
    one_line(&format!("{}: {asked}", task.title), 300)
}

fn said(comment: &Comment) -> String {
    let place = match (&comment.path, comment.line) {
        (Some(path), Some(line)) => format!("{path}, line {line}: "),
        (Some(path), None) => format!("{path}: "),
        (None, _) => String::new(),
    };
    format!("{place}{}", comment.text.trim())
}

/// The request text of the follow-up run.
fn wanted(view: &RunView, comments: &[Comment]) -> String {
    let mut text = format!("{}\n\nThis was done by run {}. ", view.goal.trim(), view.run);
    text.push_str("Change its result as a review asks for:\n");
    for comment in comments {
        let _ = writeln!(text, "- {}: {}", comment.task, said(comment));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(task: &str, place: Option<(&str, u64)>, text: &str) -> Comment {
        Comment {
            task: task.parse().expect("a task"),
            path: place.map(|(path, _)| path.parse().expect("a path")),
            line: place.map(|(_, line)| line),
            text: text.to_owned(),
            by: "ann".to_owned(),
            at: Timestamp::default(),
        }
    }

    #[test]
    fn comments_become_the_tasks_that_they_are_about_in_their_own_scopes() {
        let artifacts = |path: &str| vec![path.parse().expect("an artifact")];
        let task = |id: &str, path: &str, after: &[&str]| {
            let depends_on = after.iter().map(|id| id.parse().expect("a task")).collect();
            let id = id.parse().expect("a task");
            Task { depends_on, ..Task::new(id, "Write it", artifacts(path)) }
        };
        let tasks =
            vec![task("T1", "a", &[]), task("T2", "b", &["T1"]), task("T3", "c", &["T2", "T1"])];
        let plan = Plan { tasks, ..Plan::default() };
        let comments =
            [comment("T1", Some(("a", 3)), "no tabs"), comment("T3", None, "too long\n")];
        let again = again(&plan, &comments);
        let ids: Vec<&str> = again.tasks.iter().map(|task| task.id.as_str()).collect();
        assert_eq!(ids, ["T1", "T3"]);
        assert_eq!(again.tasks[0].artifacts, artifacts("a"));
        assert!(again.tasks[0].description.contains("- a, line 3: no tabs\n"));
        let after: Vec<&str> = again.tasks[1].depends_on.iter().map(TaskId::as_str).collect();
        assert_eq!(after, ["T1"], "what is not done again is not waited for");
        assert_eq!(comments[0].place(), "T1:a:3");
        assert_eq!(again.tasks[0].title, "Write it: no tabs");
        let more = [comment("T1", None, "no tabs"), comment("T1", None, "shorter")];
        assert_eq!(title(&plan.tasks[0], &more), "Write it: 2 review comments");
    }
}
