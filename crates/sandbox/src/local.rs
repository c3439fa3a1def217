//! This machine: files through the jail, commands through a process group of their own.

mod beside;
mod intent;
mod moving;
mod places;
mod reasons;
mod state;
mod writing;

use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rustix::fs::{AtFlags, FileType};
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

pub use self::intent::IntentLog;
use self::places::{Places, Running};
pub(crate) use self::writing::stage;
use crate::confine::{self, Confine};
use crate::git::workspace;
use crate::jail::{self, Jail, Links, refused};
use crate::process::{self, Shell};
use crate::search::{Hidden, walk::Ground};
use crate::{
    Change, EnvError, Environment, Found, GitRequest, GlobRequest, GrepRequest, Hits, Listener,
    MAX_ENTRIES, MAX_FILE_BYTES, Variables, change,
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

    /// Keeps the content of files that fit these globs from being read, by whatever name or link; commands see
    /// them empty where they are confined.
    pub fn hiding(mut self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.hidden = Arc::new(Hidden::new(patterns)?);
        Ok(self)
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
        let (root, hidden) = (self.root.clone(), Arc::clone(&self.hidden));
        let work = move |jail: &Jail, _: &WorkPath| {
            log.make(&name, changes, &state::Files { jail, root: &root, hidden: &hidden })
        };
        self.blocking(&WorkPath::root(), work).await
    }

    /// Where the workspace is on this machine.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files that commands shall see empty.
    async fn hidden_files(&self, stop: &CancellationToken) -> Result<Vec<WorkPath>, EnvError> {
        if self.hidden.is_empty() {
            return Ok(vec![]);
        }
        let (root, hidden, stop) = (self.root.clone(), Arc::clone(&self.hidden), stop.clone());
        let find = move |jail: &Jail, _: &WorkPath| {
            Ok(Ground { jail, root: &root, hidden: &hidden, stop: &stop }.hidden_files())
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
            "windows" => "win32",
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
        let work = move |jail: &Jail, _: &WorkPath| {
            // The folder that we hold may have been removed; its name tells.
            let failed = |source| EnvError::Root { root: root.display().to_string(), source };
            std::fs::read_dir(&root).map_err(failed)?;
            // What a command left whose end nobody saw.
            scope.iter().for_each(|scope| places::clear(jail, scope));
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
        if self.intents.is_some() {
            return self.part(Change::Write { path: path.clone(), bytes }).await;
        }
        self.blocking(path, move |jail, path| writing::write(jail, path, &bytes, None)).await
    }

    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        if self.intents.is_some() {
            return self.part(Change::Delete { path: path.clone() }).await;
        }
        self.blocking(path, moving::delete).await
    }

    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
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
            entries.retain(|entry| !hidden.covers(entry.path.as_str()));
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
            Ground { jail, root: &root, hidden: &hidden, stop: &stop }.grep(&request)
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
            Ground { jail, root: &root, hidden: &hidden, stop: &stop }.glob(&request)
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
        let variables = self.variables.for_command(std::env::vars_os(), &self.root);
        let Some(confine) = &self.confine else {
            // The child resolves this name itself, so it starts in the very folder that was checked, where the system
            // has such names.
            let place = if cfg!(target_os = "linux") {
                PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
            } else {
                self.root.join(request.folder.as_str())
            };
            let command = self.shell.command(&request.command, &place, variables);
            return process::run(command, self.listener.clone(), request.timeout, stop).await;
        };
        let action = self.shell.action(request.command);
        let hidden = self.hidden_files(stop).await?;
        let mut spec = confine.spec(&self.root, request.folder, action, variables);
        spec.hidden = hidden;
        let replaces = self.replaces && confine.closes_beside();
        let places =
            confine.scope().map(|scope| Places::make(&self.jail, &self.running, scope, replaces));
        spec.beside = places.as_ref().map(Places::folders).unwrap_or_default();
        let beside = spec.beside.clone();
        let ran = confine.run(spec, self.listener.clone(), request.timeout, stop).await;
        let removed = places.map(Places::end).unwrap_or_default();
        ran.map(|mut result| {
            if let Some(scope) = confine.scope() {
                reasons::explain(scope, &beside, &mut result);
            }
            reasons::removed(&removed, &mut result);
            result
        })
    }
}

fn read(jail: &Jail, path: &WorkPath, root: &Path, hidden: &Hidden) -> Result<Vec<u8>, EnvError> {
    let file = jail.file(path, Links::Follow)?;
    if !hidden.is_empty() && hidden.covers(Jail::place(&file, path, root)?.as_str()) {
        return Err(EnvError::Hidden { path: path.clone() });
    }
    jail::whole(file, path, MAX_FILE_BYTES)
}

fn list(jail: &Jail, path: &WorkPath, depth: u32) -> Result<Vec<DirEntry>, EnvError> {
    let mut entries = Vec::new();
    let mut open = vec![(path.clone(), depth)];
    while let Some((folder, depth)) = open.pop() {
        // Only the first folder may be reached through a link; below it, links are entries, not ways.
        let links = if folder == *path { Links::Follow } else { Links::Refuse };
        let fd = match jail.folder(&folder, links) {
            Ok(fd) => fd,
            Err(error) if folder == *path => return Err(error),
            // It vanished, or may not be read: its own entry is all there is to say.
            Err(_) => continue,
        };
        for entry in entries_of(&fd, &folder)? {
            if entries.len() == MAX_ENTRIES {
                open.clear();
                break;
            }
            if entry.folder && depth > 1 && !jail::is_protected(&entry.path) {
                open.push((entry.path.clone(), depth - 1));
            }
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// The entries of one folder. A name that is not text without control characters cannot be asked for, and is
/// left out.
fn entries_of(fd: &std::os::fd::OwnedFd, folder: &WorkPath) -> Result<Vec<DirEntry>, EnvError> {
    let failed = |errno| refused(errno, "listing", folder);
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::read_from(fd).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") || name.starts_with(STAGING) {
            continue;
        }
        let text = if folder.is_root() { name.to_owned() } else { format!("{folder}/{name}") };
        let Ok(path) = text.parse::<WorkPath>() else { continue };
        let Ok(stat) = rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let bytes = (!is_folder).then(|| u64::try_from(stat.st_size).unwrap_or(0));
        entries.push(DirEntry { path, folder: is_folder, bytes });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests;
