//! State shared by all handlers: the library, the users, the runs driven here, and whether the server is stopping.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use runtime::llm::Script;
use runtime::{Bosun, Clock, Entry, Error, Overview};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use types::{RunId, Timestamp};

use crate::access::{Access, AccessError, Caller, Project, Role};
use crate::drivers::Drivers;
use crate::factory::RunFactory;
use crate::limit::{RateLimit, StreamLimit};
use crate::problem::Problem;

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
        Ok(Visible { projects: self.access.projects()?, all: false })
    }

    /// The visibility of runs for a caller.
    pub(crate) fn visible(&self, caller: &Caller) -> Result<Visible, Problem> {
        let all = caller.user.projects.is_none();
        Ok(Visible { projects: self.projects(caller)?, all })
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

/// Rejects a script that waits for a file unless the caller is an admin: such a script reveals which files exist on
/// this machine.
pub(crate) fn check_script(caller: &Caller, script: Option<&str>) -> Result<(), Problem> {
    let waits = |text| Script::parse(text).is_ok_and(|script| script.waits_for_files());
    if script.is_some_and(waits) && caller.user.role < Role::Admin {
        return Err(Problem::forbidden("a script with `hold` takes the role admin"));
    }
    Ok(())
}

/// The runs that a user may see: those in their projects, or all.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    projects: Vec<Project>,
    pub(crate) all: bool,
}

impl Visible {
    /// The name of the innermost project that contains a folder.
    pub(crate) fn project_of(&self, place: &Path) -> Option<&str> {
        let around = self.projects.iter().filter(|project| place.starts_with(&project.path));
        let project = around.max_by_key(|project| project.path.components().count())?;
        Some(&project.name)
    }

    pub(crate) fn sees(&self, place: &Path) -> bool {
        self.all || self.project_of(place).is_some()
    }

    /// Whether an entry of a list is visible.
    pub(crate) fn shows(&self, entry: &Entry) -> bool {
        self.all || entry.place().is_some_and(|place| self.sees(Path::new(place)))
    }

    pub(crate) fn named(&self, name: &str) -> Result<&Project, Problem> {
        let project = self.projects.iter().find(|project| project.name == name);
        project.ok_or_else(|| Problem::unfit(format!("there is no project {name:?}")))
    }
}
