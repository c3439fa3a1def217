//! This machine as an environment: files through the jail, commands in a process group of their own, and in a sandbox
//! if there is one. Which files and settings are out of reach is decided elsewhere.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use types::{DirEntry, ExecRequest, ExecResult, Facts, WorkPath};

use super::listing::list;
use super::places::Places;
use super::watch::Watch;
use super::{LocalEnvironment, places, reasons};
use crate::change::Change;
use crate::environment::{Environment, MAX_FILE_BYTES, one_by_one};
use crate::error::EnvError;
use crate::git::{GitRequest, workspace};
use crate::jail::{self, Jail, Links};
use crate::process;
use crate::repository::{holds_credentials, is_in_git, may_hold_credentials};
use crate::search::{
    Found, GlobRequest, GrepRequest, Hidden, Hits, NotableNames, walk::SearchRoot,
};

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
        let scope = self.confine.as_ref().and_then(|confine| confine.scope().cloned());
        let names = Arc::clone(&self.names);
        let work = move |search: &SearchRoot<'_>| {
            let root = search.root;
            // The open folder may have been removed; opening it by name tells.
            let failed = |source| EnvError::Root { root: root.display().to_string(), source };
            std::fs::read_dir(root).map_err(failed)?;
            // Remove leftovers of commands whose end was not observed.
            scope.iter().for_each(|scope| places::clear(search.jail, scope));
            search.hidden.note_keys(|| search.keys());
            // Which names are notable depends on the keys.
            *names.lock().unwrap_or_else(PoisonError::into_inner) = NotableNames::default();
            Ok(())
        };
        self.search(&CancellationToken::new(), work).await
    }

    async fn read(&self, path: &WorkPath) -> Result<Vec<u8>, EnvError> {
        let (root, hidden) = (self.root.clone(), Arc::clone(&self.hidden));
        self.blocking(path, move |jail, path| read(jail, path, &root, &hidden)).await
    }

    async fn write(&self, path: &WorkPath, bytes: &[u8]) -> Result<(), EnvError> {
        self.change(Change::Write { path: path.clone(), bytes: bytes.to_vec() }).await
    }

    async fn delete(&self, path: &WorkPath) -> Result<(), EnvError> {
        self.change(Change::Delete { path: path.clone() }).await
    }

    async fn rename(&self, from: &WorkPath, to: &WorkPath) -> Result<(), EnvError> {
        self.change(Change::Move { path: from.clone(), to: to.clone() }).await
    }

    async fn apply(&self, changes: Vec<Change>) -> Result<(), EnvError> {
        let Some((log, name)) = self.intents.clone() else {
            return one_by_one(self, changes).await;
        };
        changes.iter().flat_map(Change::paths).try_for_each(|path| self.may_change(path))?;
        self.with_files(move |files| log.make(&name, &changes, files)).await
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
        self.search(stop, move |search| search.grep(&request)).await
    }

    async fn glob(
        &self,
        request: GlobRequest,
        stop: &CancellationToken,
    ) -> Result<Found<WorkPath>, EnvError> {
        self.search(stop, move |search| search.glob(&request)).await
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
        self.note_repository(&request);
        Ok(workspace::ask(&self.root, &request, &self.hidden).await?)
    }

    async fn exec(
        &self,
        request: ExecRequest,
        stop: &CancellationToken,
    ) -> Result<ExecResult, EnvError> {
        // Opening one folder does not block long enough to be worth a thread.
        let folder = self.jail.folder(&request.folder, Links::Follow)?;
        let own = request.variables.iter();
        let variables =
            own.fold(self.variables.clone(), |all, (name, value)| all.setting(name, value));
        let variables = if request.hosts.is_empty() { variables } else { variables.online() };
        let variables = variables.for_command(std::env::vars_os(), self.seen_at());
        let Some(confine) = &self.confine else {
            let place = name_of(&folder, &self.root, &request.folder);
            let survey = self.survey_unheld(stop).await?;
            let watch = Watch::begin(self, survey, false);
            let command = self.shell.command(&request.command, &place, variables);
            let ran = process::run(command, self.listener.clone(), request.timeout, stop).await;
            let restored = watch.end().await;
            return ran.map(|result| reasons::with_restored(&restored, result));
        };
        let confine = confine.also_reaching(&request.hosts)?;
        let action = self.shell.action(request.command);
        let mut survey = self.survey(stop).await?;
        let mut spec = confine.spec(&self.root, request.folder, action, variables);
        let held = confine.closes_beside();
        // Without a network of their own, commands share the machine's anyway.
        spec.shares = request.background && held && !spec.joins;
        if let (Some(path), false) = (&survey.never, held) {
            return Err(EnvError::Unheld { path: path.clone() });
        }
        spec.hidden.clone_from(&survey.hidden);
        if self.hides_history && self.jail.kind(&git_files())?.is_some() {
            spec.hidden.push(git_files());
        }
        spec.pinned = std::mem::take(&mut survey.pinned);
        if let Some(guarding) = &self.guarding {
            guarding.close(&survey.settings, confine.scope(), &mut spec);
        }
        let replaces = self.replaces && held;
        let places = confine.scope().map(|scope| {
            let scope = (scope, confine.builds());
            Places::make(&self.jail, &self.running, scope, replaces)
        });
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

/// The workspace's own git files.
fn git_files() -> WorkPath {
    ".git".parse().unwrap_or_else(|_| WorkPath::root())
}

/// The name by which a child enters an open folder, which must stay open until then. The child resolves it itself, so it
/// starts in exactly the folder that was checked, on systems that have such names.
fn name_of(folder: &OwnedFd, root: &Path, path: &WorkPath) -> PathBuf {
    if cfg!(target_os = "linux") {
        PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
    } else {
        root.join(path.as_str())
    }
}

fn read(jail: &Jail, path: &WorkPath, root: &Path, hidden: &Hidden) -> Result<Vec<u8>, EnvError> {
    let file = jail.file(path, Links::Follow)?;
    if !hidden.is_empty() {
        let place = Jail::place(&file, path, root)?;
        // The same error as for a missing file: the existence of a withheld document is confidential, too.
        if hidden.withholds(place.as_str()) {
            return Err(EnvError::NotFound { path: path.clone() });
        }
        if hidden.covers(place.as_str()) {
            return Err(EnvError::Hidden { path: path.clone() });
        }
    }
    let bytes = jail::whole(file, path, MAX_FILE_BYTES)?;
    let place = path.as_str().rsplit('/').next().unwrap_or_default();
    let settings = hidden.finds_secrets() && may_hold_credentials(place);
    if settings && is_in_git(path) && holds_credentials(&String::from_utf8_lossy(&bytes)) {
        return Err(EnvError::Hidden { path: path.clone() });
    }
    Ok(bytes)
}
