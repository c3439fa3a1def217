//! A workspace on this machine, and how it is opened. Its `Environment` implementation is in `local/environment.rs`.

mod beside;
mod environment;
mod guard;
mod intent;
mod listing;
mod moving;
mod places;
mod reasons;
mod state;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use types::{Sensitive, WorkPath};

use self::guard::Guarding;
pub use self::intent::IntentLog;
use self::places::Running;
use self::state::Files;
use crate::change::Change;
use crate::confine::Confine;
use crate::error::EnvError;
use crate::git::GitRequest;
use crate::jail::Jail;
use crate::process::Shell;
use crate::repository;
use crate::search::{Hidden, NotableNames, Survey, walk::SearchRoot};
use crate::stream::Listener;
use crate::variables::Variables;

/// A workspace in a folder of this machine.
#[derive(Debug, Clone)]
pub struct LocalEnvironment {
    jail: Arc<Jail>,
    root: PathBuf,
    shell: Shell,
    confine: Option<Arc<Confine>>,
    variables: Variables,
    hidden: Arc<Hidden>,
    /// Names in the workspace that `hidden` applies to, as of the last command.
    names: Arc<Mutex<NotableNames>>,
    listener: Option<Listener>,
    /// Whether commands may replace files of their scope with new ones.
    replaces: bool,
    /// Commands currently running in a sandbox.
    running: Arc<Mutex<Running>>,
    /// Log in which changes are recorded before they are made, and the name to record them under.
    intents: Option<(IntentLog, String)>,
    /// Whether confined commands see nothing of the workspace's own git files.
    hides_history: bool,
    /// Settings that commands must not change; `None` if they are not guarded.
    guarding: Option<Arc<Guarding>>,
}

impl LocalEnvironment {
    /// Opens an existing folder as a workspace.
    pub fn open(root: &Path) -> Result<Self, EnvError> {
        let failed = |source| EnvError::Root { root: root.display().to_string(), source };
        let jail = Arc::new(Jail::open(root).map_err(failed)?);
        let root = root.canonicalize().map_err(failed)?;
        let (shell, variables) = (Shell::find(), Variables::default());
        Ok(Self {
            jail,
            root,
            shell,
            confine: None,
            variables,
            hidden: Arc::default(),
            names: Arc::default(),
            listener: None,
            replaces: false,
            running: Arc::default(),
            guarding: None,
            hides_history: false,
            intents: None,
        })
    }

    /// Runs commands in a sandbox from now on; they are refused if it cannot be set up.
    #[must_use]
    pub fn confined(mut self, confine: Confine) -> Self {
        self.confine = Some(Arc::new(confine));
        self
    }

    /// Lets confined commands replace a file of their scope with a new one, as `sed -i` does. Other entries that they
    /// create beside it are removed when they have ended, so nothing with a wider scope may work in the same folders
    /// meanwhile.
    #[must_use]
    pub fn replacing_files(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Subscribes to the live output of commands.
    #[must_use]
    pub fn heard_by(mut self, listener: Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Sets the environment variables of commands.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Sets one more variable for commands, without checking its effects: it comes from the caller itself.
    #[must_use]
    pub fn telling(mut self, name: &str, value: &str) -> Self {
        self.variables = self.variables.telling(name, value);
        self
    }

    /// Records every change to files under this name before it is made, so that an interrupted change can be completed.
    #[must_use]
    pub fn noting(mut self, intents: &IntentLog, name: &str) -> Self {
        self.intents = Some((intents.clone(), name.to_owned()));
        self
    }

    /// Keeps commands from changing settings that make other programs run something, except for these files. Removed or
    /// replaced files are kept in a new folder below `aside`, which must be out of the agent's reach.
    #[must_use]
    pub fn guarding_settings(mut self, named: Vec<WorkPath>, aside: Option<PathBuf>) -> Self {
        self.guarding = Some(Arc::new(Guarding::new(named, aside)));
        self
    }

    /// Keeps the content of files that match these globs from being read, under any name or through any link; confined
    /// commands see them empty.
    pub fn hiding(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.hiding(patterns))
    }

    /// Keeps the workspace's own git files from confined commands: its history has files that are hidden.
    #[must_use]
    pub fn hiding_history(mut self) -> Self {
        self.hides_history = true;
        self
    }

    /// Lets commands and searches see files with passwords, such as `.env`, that match these globs.
    pub fn revealing(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.revealing(patterns))
    }

    /// Keeps these paths of the machine out of reach, as far as they are in the workspace.
    pub fn keeping_out(self, places: &[PathBuf]) -> Result<Self, EnvError> {
        let inside = self.inside(places);
        self.with_hidden(|hidden| Ok(hidden.keeping_out(inside)))
    }

    /// Keeps these files of the machine from being changed, as far as they are in the workspace. For commands, this
    /// needs [`Self::guarding_settings`].
    pub fn closing(self, files: &[PathBuf]) -> Result<Self, EnvError> {
        let inside = self.inside(files);
        self.with_hidden(|hidden| Ok(hidden.closing(inside)))
    }

    fn inside(&self, places: &[PathBuf]) -> Vec<String> {
        let inside =
            places.iter().filter_map(|place| place.strip_prefix(&self.root).ok()?.to_str());
        inside.filter(|place| !place.is_empty()).map(str::to_owned).collect()
    }

    /// Lets these files be read although they are named like keys: the user has committed them.
    pub fn trusting(self, tracked: Vec<WorkPath>) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| Ok(hidden.tracking(tracked)))
    }

    /// Disables the search for keys and passwords: for a folder that contains only committed files.
    pub fn without_secrets(self) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| Ok(hidden.without_secrets()))
    }

    fn with_hidden(
        mut self,
        change: impl FnOnce(Hidden) -> Result<Hidden, EnvError>,
    ) -> Result<Self, EnvError> {
        self.hidden = Arc::new(change((*self.hidden).clone())?);
        self.names = Arc::default();
        Ok(self)
    }

    /// Refuses changes to paths that are out of reach, and records writes of the file tools to settings.
    fn may_change(&self, path: &WorkPath) -> Result<(), EnvError> {
        if let Some(why) = self.hidden.closes(path) {
            return Err(EnvError::OutOfReach { path: path.clone(), why });
        }
        let Some(guarding) = &self.guarding else { return Ok(()) };
        if repository::would_be_in_one(&self.jail, path) {
            let why =
                "belongs to a git repository of its own, whose settings make git run programs";
            return Err(EnvError::OutOfReach { path: path.clone(), why });
        }
        if Sensitive::of(path).is_some() {
            guarding.note_write(path);
        }
        Ok(())
    }

    /// Records that git itself makes a repository, which commands that run meanwhile did not.
    fn note_repository(&self, request: &GitRequest) {
        let at = match request {
            GitRequest::Clone { to, .. } => format!("{to}/.git/config"),
            GitRequest::Change { .. } => ".git/config".to_owned(),
            GitRequest::Diff { .. } | GitRequest::Commit { .. } => return,
        };
        if let (Some(guarding), Ok(path)) = (&self.guarding, at.parse()) {
            guarding.note_write(&path);
        }
    }

    /// Makes one change, which is recorded first if there is a log. Its call may make other changes.
    async fn change(&self, change: Change) -> Result<(), EnvError> {
        change.paths().try_for_each(|path| self.may_change(path))?;
        let intents = self.intents.clone();
        let work = move |files: &Files<'_>| match intents {
            Some((log, name)) => {
                log.make(&format!("{name}{}", intent::PART_OF_CALL), &[change], files)
            }
            None => files.make(&change),
        };
        self.with_files(work).await
    }

    /// Changes files on a thread where blocking is allowed.
    async fn with_files(
        &self,
        work: impl FnOnce(&Files<'_>) -> Result<(), EnvError> + Send + 'static,
    ) -> Result<(), EnvError> {
        let (root, hidden) = (self.root.clone(), Arc::clone(&self.hidden));
        let work =
            move |jail: &Jail, _: &WorkPath| work(&Files { jail, root: &root, hidden: &hidden });
        self.blocking(&WorkPath::root(), work).await
    }

    /// Location of the workspace on this machine.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where commands see the workspace.
    fn seen_at(&self) -> &Path {
        let bounds = self.confine.as_ref().map(|confine| confine.bounds());
        bounds.map_or(&*self.root, |bounds| bounds.seen_at(&self.root))
    }

    /// Surveys what commands must not see or change.
    async fn survey(&self, stop: &CancellationToken) -> Result<Survey, EnvError> {
        let mut found = self.look_through(stop, |search, names| search.survey(names)).await?;
        let lower = self.confine.iter().flat_map(|confine| confine.bounds().lower());
        let lower: Vec<PathBuf> = lower.cloned().collect();
        if lower.is_empty() {
            return Ok(found);
        }
        let add = move |search: &SearchRoot<'_>| {
            for root in &lower {
                let failed = |source| EnvError::Root { root: root.display().to_string(), source };
                let jail = Jail::open(root).map_err(failed)?;
                let layer = SearchRoot { jail: &jail, root, ..*search };
                found.add(layer.survey(&mut NotableNames::default()));
            }
            Ok(found)
        };
        self.search(stop, add).await
    }

    /// Walks all names of the workspace, except those that are cached.
    async fn look_through<T: Send + 'static>(
        &self,
        stop: &CancellationToken,
        find: impl FnOnce(&SearchRoot<'_>, &mut NotableNames) -> T + Send + 'static,
    ) -> Result<T, EnvError> {
        let names = Arc::clone(&self.names);
        let find = move |search: &SearchRoot<'_>| {
            Ok(find(search, &mut names.lock().unwrap_or_else(PoisonError::into_inner)))
        };
        self.search(stop, find).await
    }

    /// Searches on a thread where blocking is allowed.
    async fn search<T: Send + 'static>(
        &self,
        stop: &CancellationToken,
        find: impl FnOnce(&SearchRoot<'_>) -> Result<T, EnvError> + Send + 'static,
    ) -> Result<T, EnvError> {
        let (root, hidden, stop) = (self.root.clone(), Arc::clone(&self.hidden), stop.clone());
        let find = move |jail: &Jail, _: &WorkPath| {
            find(&SearchRoot { jail, root: &root, hidden: &hidden, stop: &stop })
        };
        self.blocking(&WorkPath::root(), find).await
    }

    /// Runs blocking file work on a thread where blocking is allowed.
    async fn blocking<T: Send + 'static>(
        &self,
        path: &WorkPath,
        work: impl FnOnce(&Jail, &WorkPath) -> Result<T, EnvError> + Send + 'static,
    ) -> Result<T, EnvError> {
        let (jail, path) = (Arc::clone(&self.jail), path.clone());
        tokio::task::spawn_blocking(move || work(&jail, &path)).await.map_err(EnvError::CutOff)?
    }
}

#[cfg(test)]
mod tests;
