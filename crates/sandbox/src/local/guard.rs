//! Settings by which other programs run something, kept as they were while commands run. Where there are namespaces, those
//! that exist are closed to commands by the kernel; what could not be closed, and what is new, is put back or removed when
//! the last command has ended. What the file tools write meanwhile stays: that was permitted by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, FileType, Mode};
use tokio_util::sync::CancellationToken;
use types::{Scope, Sensitive, WorkPath};

use super::LocalEnvironment;
use super::writing::write;
use crate::EnvError;
use crate::confine::Spec;
use crate::git::workspace;
use crate::jail::{self, Jail, Links};
use crate::search::{Survey, walk::Ground};

/// The largest file that is remembered whole, and how much all of them may be.
const MAX_FILE: u64 = 256 * 1024;
const MAX_ALL: u64 = 16 * 1024 * 1024;

/// The settings of a workspace, while commands run in it.
#[derive(Debug)]
pub(super) struct Guarding {
    /// Files that commands may change, because the plan names them.
    named: Vec<WorkPath>,
    now: Mutex<Now>,
}

#[derive(Debug, Default)]
struct Now {
    commands: usize,
    before: BTreeMap<WorkPath, Kept>,
    /// What was covered for commands, and so is as it was.
    hidden: Vec<WorkPath>,
    /// Whether all that was there is known.
    complete: bool,
    /// What the file tools wrote since.
    written: BTreeSet<WorkPath>,
}

/// A file as it was.
#[derive(Debug)]
struct Kept {
    /// The folder that it is in.
    folder: Option<(u64, u64)>,
    /// Nothing for what is too large, or is no regular file.
    content: Option<(Vec<u8>, u32)>,
}

impl Guarding {
    fn is_named(&self, path: &WorkPath) -> bool {
        self.named.contains(path)
    }

    /// Has what is there closed for a command, as far as it could write to it at all.
    pub(super) fn close(&self, settings: &[WorkPath], scope: Option<&Scope>, spec: &mut Spec) {
        let reachable = |path: &&WorkPath| scope.is_none_or(|scope| scope.allows(path));
        for path in settings.iter().filter(reachable).filter(|path| !self.is_named(path)) {
            let top = top(path);
            // A file that is named lies in a folder that is closed: its neighbours are closed one by one.
            let shared = self.named.iter().any(|named| below(&top, named));
            let place = if shared { path.clone() } else { top };
            if !spec.closed.contains(&place) {
                spec.closed.push(place);
            }
        }
    }
}

impl LocalEnvironment {
    /// Keeps commands from changing settings by which other programs run something, except for these files.
    #[must_use]
    pub fn guarding_settings(mut self, named: Vec<WorkPath>) -> Self {
        self.guarding = Some(Guarding { named, now: Mutex::default() }.into());
        self
    }

    /// Refuses to change what is out of reach, and remembers what the file tools change in settings.
    pub(super) fn may_change(&self, path: &WorkPath) -> Result<(), EnvError> {
        if let Some(why) = self.hidden.closes(path) {
            return Err(EnvError::OutOfReach { path: path.clone(), why });
        }
        if let (Some(guarding), Some(_)) = (&self.guarding, Sensitive::of(path)) {
            let mut now = guarding.now.lock().unwrap_or_else(PoisonError::into_inner);
            if now.commands > 0 {
                now.written.insert(path.clone());
            }
        }
        Ok(())
    }

    /// What a command finds that nothing holds. Where that is something which no command may see, it is not run.
    pub(super) async fn survey_unheld(&self, stop: &CancellationToken) -> Result<Survey, EnvError> {
        if self.guarding.is_none() && !self.hidden.has_globs() {
            return Ok(Survey::default());
        }
        let survey = self.survey(stop).await?;
        match survey.never {
            Some(path) => Err(EnvError::Unheld { path }),
            None => Ok(survey),
        }
    }

    fn ground<'a>(&'a self, stop: &'a CancellationToken) -> Ground<'a> {
        Ground { jail: &self.jail, root: self.root(), hidden: &self.hidden, stop }
    }
}

/// One command, while it runs.
pub(super) struct Watch<'a> {
    env: &'a LocalEnvironment,
    /// Whether the kernel keeps commands from what is closed, and from git's own files.
    held: bool,
    ended: bool,
}

impl<'a> Watch<'a> {
    /// One more command is running, and this is there.
    pub(super) fn begin(env: &'a LocalEnvironment, survey: Survey, held: bool) -> Self {
        if let Some(guarding) = &env.guarding {
            let mut now = guarding.now.lock().unwrap_or_else(PoisonError::into_inner);
            now.commands += 1;
            if now.commands == 1 {
                now.written.clear();
                now.before = remembered(&env.jail, survey.settings);
                now.hidden = survey.hidden;
                now.complete = survey.complete;
            }
        }
        Self { env, held, ended: false }
    }

    /// One command less. The answer names what is removed or put back.
    pub(super) async fn end(mut self) -> Vec<WorkPath> {
        let Some(before) = self.leave() else { return vec![] };
        let (jail, stop) = (&*self.env.jail, CancellationToken::new());
        let new: Vec<WorkPath> = match before.complete {
            true => self
                .env
                .ground(&stop)
                .guarded()
                .into_iter()
                .filter(|path| before.is_new(path))
                .collect(),
            // What was not seen before cannot be told from what is new.
            false => vec![],
        };
        // Commands cannot write to git's own files, so what git knows was put there by the person.
        let known = match self.held && !new.is_empty() {
            true => workspace::tracked(self.env.root(), &new).await,
            false => vec![],
        };
        let mut done = Vec::new();
        for path in new.into_iter().filter(|path| !known.contains(path)) {
            remove(jail, &path);
            done.push(path);
        }
        for (path, kept) in before.before.iter().filter(|(path, _)| !before.written.contains(path))
        {
            // What is closed and still where it was can only have been changed by somebody else, such as the person.
            let same_folder = kept.folder.is_some() && folder(jail, path) == kept.folder;
            if !(self.held && same_folder) && put_back(jail, path, kept) {
                done.push(path.clone());
            }
        }
        done
    }

    /// What was there before, if this was the last command.
    fn leave(&mut self) -> Option<Now> {
        let guarding = self.env.guarding.as_ref()?;
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let mut now = guarding.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.commands = now.commands.saturating_sub(1);
        if now.commands > 0 {
            return None;
        }
        let mut before = std::mem::take(&mut *now);
        before.written.extend(guarding.named.iter().cloned());
        Some(before)
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // Nobody is left to say it to, so nothing is taken away.
        self.leave();
    }
}

impl Now {
    /// Whether a path was not there before, and nobody permitted it by its name.
    fn is_new(&self, path: &WorkPath) -> bool {
        let in_hidden = self.hidden.iter().any(|hidden| hidden == path || below(hidden, path));
        !self.before.contains_key(path) && !self.written.contains(path) && !in_hidden
    }
}

/// The folder of settings that a file lies in, or the file itself.
fn top(path: &WorkPath) -> WorkPath {
    let text = path.as_str();
    let kind = Sensitive::of(path);
    let ends = text.match_indices('/').map(|(end, _)| &text[..end]);
    let mut above = ends.filter_map(|above| above.parse::<WorkPath>().ok());
    above.find(|above| Sensitive::of(above) == kind).unwrap_or_else(|| path.clone())
}

fn below(folder: &WorkPath, path: &WorkPath) -> bool {
    path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

fn remembered(jail: &Jail, settings: Vec<WorkPath>) -> BTreeMap<WorkPath, Kept> {
    let mut room = MAX_ALL;
    let keep = |path: WorkPath| {
        let content = content(jail, &path).filter(|(bytes, _)| bytes.len() as u64 <= room);
        room -= content.as_ref().map_or(0, |(bytes, _)| bytes.len() as u64);
        let folder = folder(jail, &path);
        (path, Kept { folder, content })
    };
    settings.into_iter().map(keep).collect()
}

fn content(jail: &Jail, path: &WorkPath) -> Option<(Vec<u8>, u32)> {
    let file = jail.file(path, Links::Refuse).ok()?;
    let mode = file.metadata().ok()?.mode();
    Some((jail::whole(file, path, MAX_FILE).ok()?, mode))
}

/// Which folder a file lies in, by number.
fn folder(jail: &Jail, path: &WorkPath) -> Option<(u64, u64)> {
    let (folder, _) = jail.parent(path).ok()?;
    let stat = rustix::fs::fstat(&folder).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

/// Puts a file back, if it is not what it was. What could not be remembered is left as it is.
fn put_back(jail: &Jail, path: &WorkPath, kept: &Kept) -> bool {
    let Some((bytes, mode)) = &kept.content else { return false };
    if content(jail, path).as_ref().is_some_and(|(now, _)| now == bytes) {
        return false;
    }
    remove(jail, path);
    if write(jail, path, bytes, None).is_err() {
        return false;
    }
    if let Ok((folder, name)) = jail.parent(path) {
        // With another mode it is still the right content.
        rustix::fs::chmodat(&folder, name, Mode::from_raw_mode(*mode & 0o777), AtFlags::empty())
            .ok();
    }
    true
}

/// Takes a file or link away, and the folders of settings that are empty then.
fn remove(jail: &Jail, path: &WorkPath) {
    let Ok((folder, name)) = jail.parent(path) else { return };
    let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).ok();
    }
    let mut text = path.as_str();
    while let Some((above, _)) = text.rsplit_once('/') {
        let Ok(above_path) = above.parse::<WorkPath>() else { return };
        if Sensitive::of(&above_path).is_none() {
            return;
        }
        let Ok((folder, name)) = jail.parent(&above_path) else { return };
        if rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR).is_err() {
            return;
        }
        text = above;
    }
}
