//! This machine: files through the jail, commands through a process group of their own.

mod beside;
mod guard;
mod intent;
mod listing;
mod moving;
mod places;
mod reach;
mod reasons;
mod state;
mod writing;

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

use self::guard::{Guarding, Watch};
pub use self::intent::IntentLog;
use self::listing::list;
use self::places::{Places, Running};
pub(crate) use self::writing::stage;
use crate::confine::{self, Confine};
use crate::git::workspace;
use crate::jail::{self, Jail, Links};
use crate::process::{self, Shell};
use crate::search::{Hidden, Survey, walk::SearchRoot};
use crate::{
    Change, EnvError, Environment, Found, GitRequest, GlobRequest, GrepRequest, Hits, Listener,
    MAX_FILE_BYTES, Variables, change,
};

/// A workspace that is a folder of this machine.
#[derive(Debug, Clone)]
pub struct LocalEnvironment {
    jail: Arc<Jail>,
    root: PathBuf,
    shell: Shell,
    confine: Option<confine::Shared>,
    variables: Variables,
    hidden: Arc<Hidden>,
    listener: Option<Listener>,
    /// Whether commands may put new files in place of those of their scope.
    replaces: bool,
    /// The commands that are running behind walls right now.
    running: Arc<Mutex<Running>>,
    /// Where changes are noted before they are made, and under which name.
    intents: Option<(IntentLog, String)>,
    /// Settings that commands must leave as they are; nothing where they need not be held.
    guarding: Option<Arc<Guarding>>,
}

/// Files under this name are ours while a write is under way; they are never part of anybody's work.
pub(crate) const STAGING: &str = ".bosun-staging-";

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
            listener: None,
            replaces: false,
            running: Arc::default(),
            guarding: None,
            intents: None,
        })
    }

    /// Runs commands behind walls from now on; they are refused where the walls cannot be built.
    #[must_use]
    pub fn confined(mut self, confine: Confine) -> Self {
        self.confine = Some(Arc::new(confine));
        self
    }

    /// Lets confined commands put a new file in place of one of their scope, as `sed -i` does. What they make beside it
    /// is removed when they have ended, so nobody with a wider scope may work in the same folders meanwhile.
    #[must_use]
    pub fn replacing_files(mut self) -> Self {
        self.replaces = true;
        self
    }

    /// Lets somebody hear what commands say while they say it.
    #[must_use]
    pub fn heard_by(mut self, listener: Listener) -> Self {
        self.listener = Some(listener);
        self
    }

    /// Gives commands these environment variables.
    #[must_use]
    pub fn with_variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Gives commands one more variable, whatever it makes them do: it comes from whoever runs them.
    #[must_use]
    pub fn telling(mut self, name: &str, value: &str) -> Self {
        self.variables = self.variables.telling(name, value);
        self
    }

    /// Notes every change to files under this name before it is made, so that one that is cut off can be completed.
    #[must_use]
    pub fn noting(mut self, intents: &IntentLog, name: &str) -> Self {
        self.intents = Some((intents.clone(), name.to_owned()));
        self
    }

    /// Makes a change that is noted before. Its call may do more than this.
    async fn part(&self, change: Change) -> Result<(), EnvError> {
        let named = self.intents.clone();
        let named = named.map(|(log, name)| (log, format!("{name}{}", intent::PART_OF_CALL)));
        self.noted(named, vec![change]).await
    }

    /// Makes changes that are noted before.
    async fn noted(
        &self,
        named: Option<(IntentLog, String)>,
        changes: Vec<Change>,
    ) -> Result<(), EnvError> {
        let Some((log, name)) = named else { return change::one_by_one(self, changes).await };
        for path in changes.iter().flat_map(Change::paths) {
            self.may_change(path)?;
        }
        let (root, hidden) = (self.root.clone(), Arc::clone(&self.hidden));
        let work = move |jail: &Jail, _: &WorkPath| {
            log.make(&name, &changes, &state::Files { jail, root: &root, hidden: &hidden })
        };
        self.blocking(&WorkPath::root(), work).await
    }

    /// Where the workspace is on this machine.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What commands must not see or change.
    async fn survey(&self, stop: &CancellationToken) -> Result<Survey, EnvError> {
        let (root, hidden, stop) = (self.root.clone(), Arc::clone(&self.hidden), stop.clone());
        let find = move |jail: &Jail, _: &WorkPath| {
            Ok(SearchRoot { jail, root: &root, hidden: &hidden, stop: &stop }.survey())
        };
        self.blocking(&WorkPath::root(), find).await
    }

    /// File work blocks, so it is done on a thread where blocking is allowed.
    async fn blocking<T: Send + 'static>(
        &self,
        path: &WorkPath,
        work: impl FnOnce(&Jail, &WorkPath) -> Result<T, EnvError> + Send + 'static,
    ) -> Result<T, EnvError> {
        let (jail, path) = (Arc::clone(&self.jail), path.clone());
        tokio::task::spawn_blocking(move || work(&jail, &path)).await.map_err(EnvError::CutOff)?
    }
}

#[async_trait]
impl Environment for LocalEnvironment {
    fn facts(&self) -> Facts {
        let platform = match std::env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let system = rustix::system::uname();
        let os_version = format!(
            "{} {}",
            system.sysname().to_string_lossy(),
            system.release().to_string_lossy()
        );
        let working_dir = self.root.display().to_string();
        Facts { platform: platform.to_owned(), os_version, working_dir }
    }

    async fn initialize(&self) -> Result<(), EnvError> {
        let root = self.root.clone();
        let scope = self.confine.as_ref().and_then(|confine| confine.scope().cloned());
        let hidden = Arc::clone(&self.hidden);
        let work = move |jail: &Jail, _: &WorkPath| {
            // The folder that we hold may have been removed; its name tells.
            let failed = |source| EnvError::Root { root: root.display().to_string(), source };
            std::fs::read_dir(&root).map_err(failed)?;
            // What a command left whose end nobody saw.
            scope.iter().for_each(|scope| places::clear(jail, scope));
            let stop = CancellationToken::new();
            let ground = SearchRoot { jail, root: &root, hidden: &hidden, stop: &stop };
            hidden.note_keys(|| ground.keys());
            Ok(())
        };
        self.blocking(&WorkPath::root(), work).await
    }

    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let (root, hidden) = (self.root.clone(), Arc::clone(&self.hidden));
        self.blocking(path, move |jail, path| read(jail, path, &root, &hidden)).await
    }

    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        let bytes = bytes.to_vec();
        self.may_change(path)?;
        if self.intents.is_some() {
            return self.part(Change::Write { path: path.clone(), bytes }).await;
        }
        self.blocking(path, move |jail, path| writing::write(jail, path, &bytes, None)).await
    }

    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        self.may_change(path)?;
        if self.intents.is_some() {
            return self.part(Change::Delete { path: path.clone() }).await;
        }
        self.blocking(path, moving::delete).await
    }

    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
        self.may_change(from)?;
        self.may_change(to)?;
        if self.intents.is_some() {
            return self.part(Change::Move { path: from.clone(), to: to.clone() }).await;
        }
        let (to, hidden) = (to.clone(), Arc::clone(&self.hidden));
        self.blocking(from, move |jail, from| moving::rename(jail, from, &to, &hidden)).await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), EnvError> {
        self.noted(self.intents.clone(), changes).await
    }

    async fn exists(&self, path: &WorkPath) -> Result<bool, EnvError> {
        self.blocking(path, |jail, path| Ok(jail.kind(path)?.is_some())).await
    }

    async fn list(&self, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
        let hidden = Arc::clone(&self.hidden);
        let work = move |jail: &Jail, path: &WorkPath| {
            let mut entries = list(jail, path, depth)?;
            if hidden.withholds_all_of(path.as_str()) {
                return Err(EnvError::NotFound { path: path.clone() });
            }
            entries.retain(|entry| {
                let path = entry.path.as_str();
                !(hidden.covers(path) || entry.folder && hidden.withholds_all_of(path))
            });
            Ok(entries)
        };
        self.blocking(path, work).await
    }

    async fn grep(
        &self,
        request: GrepRequest,
        stop: &CancellationToken,
    ) -> Result<Found<Hits>, EnvError> {
        let (root, hidden, stop) = (self.root.clone(), Arc::clone(&self.hidden), stop.clone());
        let work = move |jail: &Jail, _: &WorkPath| {
            SearchRoot { jail, root: &root, hidden: &hidden, stop: &stop }.grep(&request)
        };
        self.blocking(&WorkPath::root(), work).await
    }

    async fn glob(
        &self,
        request: GlobRequest,
        stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        let (root, hidden, stop) = (self.root.clone(), Arc::clone(&self.hidden), stop.clone());
        let work = move |jail: &Jail, _: &WorkPath| {
            SearchRoot { jail, root: &root, hidden: &hidden, stop: &stop }.glob(&request)
        };
        self.blocking(&WorkPath::root(), work).await
    }

    async fn git(&self, request: GitRequest) -> Result<String, EnvError> {
        if let GitRequest::Clone { from, to, .. } = &request {
            // The source is reached without a link, so it is inside; the target is new, so nothing is overwritten.
            self.blocking(from, |jail, path| jail.folder(path, Links::Refuse)).await?;
            if jail::is_protected(to) {
                return Err(EnvError::Protected { path: to.clone() });
            }
            self.may_change(to)?;
            if self.exists(to).await? {
                return Err(EnvError::Exists { path: to.clone() });
            }
            self.blocking(to, |jail, path| jail.make_parent(path).map(|_| ())).await?;
        }
        Ok(workspace::ask(&self.root, &request, &self.hidden).await?)
    }

    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        // One look at one folder does not block for long enough to be worth a thread.
        let folder = self.jail.folder(&request.folder, Links::Follow)?;
        let own = request.variables.iter();
        let variables =
            own.fold(self.variables.clone(), |all, (name, value)| all.setting(name, value));
        let variables = variables.for_command(std::env::vars_os(), &self.root);
        let Some(confine) = &self.confine else {
            // The child resolves this name itself, so it starts in the very folder that was checked, where the system
            // has such names.
            let place = if cfg!(target_os = "linux") {
                PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
            } else {
                self.root.join(request.folder.as_str())
            };
            let survey = self.survey_unheld(stop).await?;
            let watch = Watch::begin(self, survey, false);
            let command = self.shell.command(&request.command, &place, variables);
            let ran = process::run(command, self.listener.clone(), request.timeout, stop).await;
            let restored = watch.end().await;
            return ran.map(|result| reasons::with_restored(&restored, result));
        };
        let action = self.shell.action(request.command);
        let mut survey = self.survey(stop).await?;
        let mut spec = confine.spec(&self.root, request.folder, action, variables);
        let held = confine.closes_beside();
        if let (Some(path), false) = (&survey.never, held) {
            return Err(EnvError::Unheld { path: path.clone() });
        }
        spec.hidden.clone_from(&survey.hidden);
        spec.pinned = std::mem::take(&mut survey.pinned);
        if let Some(guarding) = &self.guarding {
            guarding.close(&survey.settings, confine.scope(), &mut spec);
        }
        let replaces = self.replaces && held;
        let places =
            confine.scope().map(|scope| Places::make(&self.jail, &self.running, scope, replaces));
        spec.beside = places.as_ref().map(Places::folders).unwrap_or_default();
        let beside = spec.beside.clone();
        let watch = Watch::begin(self, survey, held);
        let ran = confine.run(spec, self.listener.clone(), request.timeout, stop).await;
        let removed = places.map(Places::end).unwrap_or_default();
        let restored = watch.end().await;
        ran.map(|mut result| {
            if let Some(scope) = confine.scope() {
                reasons::explain(scope, &beside, &mut result);
            }
            reasons::removed(&removed, &mut result);
            reasons::with_restored(&restored, result)
        })
    }
}

fn read(jail: &Jail, path: &WorkPath, root: &Path, hidden: &Hidden) -> Result<Vec<u8>, EnvError> {
    let file = jail.file(path, Links::Follow)?;
    if !hidden.is_empty() {
        let place = Jail::place(&file, path, root)?;
        // The same answer as for a file that is not there: which documents exist is nobody's business either.
        if hidden.withholds(place.as_str()) {
            return Err(EnvError::NotFound { path: path.clone() });
        }
        if hidden.covers(place.as_str()) {
            return Err(EnvError::Hidden { path: path.clone() });
        }
    }
    jail::whole(file, path, MAX_FILE_BYTES)
}

#[cfg(test)]
mod tests;
