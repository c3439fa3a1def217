//! State shared by all handlers: the library, the users, the runs driven here, and whether the server is stopping.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::http::StatusCode;
use bytes::Bytes;
use runtime::llm::Script;
use runtime::sandbox::chain;
use runtime::{Bosun, Clock, Entry, Error, Handle, NewRun, NewSession, Overview, SCRIPT, Session};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use types::{Digest, ModelRef, RunId, Timestamp};

use crate::access::{Access, AccessError, Caller, Project, Role};
use crate::drivers::Drivers;
use crate::factory::RunFactory;
use crate::limit::{RateLimit, StreamLimit};
use crate::problem::Problem;
use crate::turns::{Turns, apart};

/// Cloneable handle to the shared state.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) bosun: Bosun,
    pub(crate) factory: Arc<dyn RunFactory>,
    pub(crate) access: Arc<Access>,
    pub(crate) drivers: Drivers,
    /// All runs and sessions as last read: only changed ones are read again.
    pub(crate) listing: Mutex<Overview>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limit: RateLimit,
    pub(crate) streams: StreamLimit,
    pub(crate) turns: Turns,
    /// The authorities (`host:port`) under which the server is reachable.
    pub(crate) hosts: BTreeSet<String>,
    /// Name of the cookie. Browsers scope cookies by host, not by port, and two servers must not log each other out.
    pub(crate) cookie: String,
    /// Whether browsers use TLS, terminated by this server or by a proxy.
    pub(crate) tls: bool,
    pub(crate) version: &'static str,
    /// The OpenAPI document, generated on first use.
    pub(crate) document: LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>,
    pub(crate) stopping: CancellationToken,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The position of the last recorded line.
    pub(crate) async fn position(&self) -> Result<u64, Problem> {
        Ok(self.bosun.journal().position().await?)
    }

    /// All runs and sessions, newest first.
    pub(crate) async fn entries(&self) -> Result<Arc<Vec<Entry>>, Error> {
        self.bosun.refresh(&mut *self.listing.lock().await).await
    }

    /// Number of visible runs that this process drives.
    pub(crate) fn driven(&self, visible: &Visible) -> u64 {
        let sees = |run: &RunId| self.bosun.place(run).is_some_and(|place| visible.sees(&place));
        let runs = self.drivers.runs();
        runs.iter().filter(|run| visible.all || sees(run)).count() as u64
    }

    /// The projects that a caller may see.
    pub(crate) fn projects(&self, caller: &Caller) -> Result<Vec<Project>, Problem> {
        let mut projects = self.access.projects()?;
        if let Some(own) = &caller.user.projects {
            projects.retain(|project| own.contains(&project.name));
        }
        Ok(projects)
    }

    /// The runs of this server's projects, for work that nobody asked for.
    pub(crate) fn of_projects(&self) -> Result<Visible, AccessError> {
        Ok(Visible { projects: self.access.projects()?, own: None, all: false })
    }

    /// The visibility of runs for a caller.
    pub(crate) fn visible(&self, caller: &Caller) -> Result<Visible, Problem> {
        let own = caller.user.projects.clone();
        let all = own.is_none();
        Ok(Visible { projects: self.access.projects()?, own, all })
    }

    /// Resolves a run that a caller names. A run that the caller may not see is reported as nonexistent.
    pub(crate) fn run(&self, caller: &Caller, name: &str) -> Result<RunId, Problem> {
        let unknown =
            || Problem::not_found(format!("there is no run {:?}", types::one_line(name, 60)));
        let run: RunId = name.parse().map_err(|_| unknown())?;
        let visible = self.visible(caller)?;
        let place = self.bosun.place(&run);
        let there = visible.all || place.as_deref().is_some_and(|place| visible.sees(place));
        if !there {
            return Err(unknown());
        }
        Ok(run)
    }
}

/// What starts something. The only functions of this crate that do, so that no route can forget whom it works for.
impl App {
    /// Starts a run that a caller asked for, and drives it.
    pub(crate) async fn start(&self, caller: &Caller, mut new: NewRun) -> Result<Handle, Problem> {
        self.check_model(caller, &new.request.model).await?;
        new.request.by = Some(caller.user.name.clone());
        Box::pin(self.bosun.start(new)).await.map_err(refused)
    }

    /// Opens a session that a caller asked for.
    pub(crate) async fn converse(
        &self,
        caller: &Caller,
        mut new: NewSession,
    ) -> Result<Session, Problem> {
        self.check_model(caller, &new.model).await?;
        new.by.clone_from(&caller.user.name);
        Ok(Box::pin(self.bosun.open(new)).await?)
    }

    /// Rejects a script that waits for a file unless the caller is an admin: such a script reveals which files exist on
    /// this machine. Whichever way a script came in, it is stored before it is used, and its model names it.
    pub(crate) async fn check_model(
        &self,
        caller: &Caller,
        model: &ModelRef,
    ) -> Result<(), Problem> {
        if model.provider() != SCRIPT || caller.user.role >= Role::Admin {
            return Ok(());
        }
        let unknown = || Problem::unfit(format!("there is no script {model}"));
        let stored: Digest = model.name().parse().map_err(|_| unknown())?;
        let text = self.bosun.journal().blob(&stored).await.map_err(|_| unknown())?;
        let script = Script::parse(&String::from_utf8_lossy(&text));
        if script.is_ok_and(|script| script.waits_for_files()) {
            return Err(Problem::forbidden("a script with `hold` takes the role admin"));
        }
        Ok(())
    }
}

/// Work that may keep a processor busy.
impl App {
    /// Performs work for a caller when it is their turn, if they are still who they were.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.turns.take(&caller.user.name).await;
        if !self.access.knows(caller) {
            let detail = "this user was removed or changed while the request waited";
            return Err(Problem::new(StatusCode::UNAUTHORIZED, detail));
        }
        apart(turn, work).await
    }
}

/// Maps an error of starting a run; most are about the state of the repository.
pub(crate) fn refused(error: Error) -> Problem {
    match error {
        Error::Git(error) => Problem::conflict(chain(&error)),
        error => error.into(),
    }
}

/// The runs that a user may see: those in their projects, or all.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    /// All projects: a folder belongs to the innermost one, whether or not the user may see it.
    projects: Vec<Project>,
    /// The names of the user's projects, if they are limited.
    own: Option<Vec<String>>,
    pub(crate) all: bool,
}

impl Visible {
    /// The name of the innermost project that contains a folder, if the user may see it.
    pub(crate) fn project_of(&self, place: &Path) -> Option<&str> {
        let around = self.projects.iter().filter(|project| place.starts_with(&project.path));
        let project = around.max_by_key(|project| project.path.components().count())?;
        self.may_see(project).then_some(&*project.name)
    }

    fn may_see(&self, project: &Project) -> bool {
        self.own.as_ref().is_none_or(|own| own.contains(&project.name))
    }

    pub(crate) fn sees(&self, place: &Path) -> bool {
        self.all || self.project_of(place).is_some()
    }

    /// Whether an entry of a list is visible.
    pub(crate) fn shows(&self, entry: &Entry) -> bool {
        self.all || entry.place().is_some_and(|place| self.sees(Path::new(place)))
    }

    pub(crate) fn named(&self, name: &str) -> Result<&Project, Problem> {
        let own = |project: &&Project| project.name == name && self.may_see(project);
        let project = self.projects.iter().find(own);
        project.ok_or_else(|| Problem::unfit(format!("there is no project {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str, path: &str) -> Project {
        Project { name: name.into(), path: path.into() }
    }

    /// A folder belongs to the innermost project, whoever asks.
    #[test]
    fn a_project_does_not_show_another_one_inside_it() {
        let projects = vec![project("outer", "/w/outer"), project("inner", "/w/outer/inner")];
        let of = |own: &str| Visible {
            projects: projects.clone(),
            own: Some(vec![own.to_owned()]),
            all: false,
        };
        let (outer, inner) = (of("outer"), of("inner"));
        let (around, within) = (Path::new("/w/outer/src"), Path::new("/w/outer/inner/src"));
        assert!(outer.sees(around) && !outer.sees(within));
        assert!(!inner.sees(around) && inner.sees(within));
        assert!(outer.named("outer").is_ok() && outer.named("inner").is_err());
    }
}
