//! Prepared states below the product's home: made once per key, atomically, by one process at a time, and locked by
//! every user. Virtual environments contain their own path, so a state never moves; it is valid once its record exists.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sandbox::{Environment as _, Placing, Repo};
use serde::{Deserialize, Serialize};
use types::{
    CommitId, Digest, Ended, ExecRequest, Fault, FaultClass, Millis, Policy, SandboxPolicy,
    Timestamp, WorkPath,
};

use super::checkout::Checkout;
use super::place::{broken, is_below, most, refused};
use super::ready::Ready;
use crate::effects::stopped;
use crate::sandbox_factory::{SandboxSpec, Whose};

/// The folder of all states below the product's home.
const PREPARED: &str = "prepared";
/// The most states of one repository that are kept besides those in use.
const MOST_STATES: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The last output lines of a command that are kept.
const LAST_LINES: usize = 20;
const LAST_CHARS: usize = 4_000;
/// The most of these lines shown in a question.
const SHOWN_LINES: usize = 5;

/// An existing state, for as long as this is held.
#[derive(Debug)]
pub(super) struct State {
    pub(super) tree: PathBuf,
    pub(super) kept: Vec<WorkPath>,
    pub(super) notes: Vec<String>,
    _held: File,
}

/// How a state was made.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    made: Timestamp,
    commit: CommitId,
    commands: Vec<Ran>,
    kept: Vec<WorkPath>,
    notes: Vec<String>,
}

/// A set-up command, and how it ended.
#[derive(Debug, Serialize, Deserialize)]
struct Ran {
    command: String,
    ended: Ended,
    elapsed_ms: Millis,
    /// The last lines of its output.
    output: String,
}

/// The states of a repository.
struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    fn of(home: &Path, repo: &Repo) -> Self {
        let root = repo.root();
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).take(40).collect();
        let digest = Digest::of(root.as_os_str().as_encoded_bytes()).short();
        Self { folder: home.join(PREPARED).join(format!("{plain}-{digest}")) }
    }

    fn place(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    fn lock(&self, key: &str) -> Result<File, Fault> {
        fs::create_dir_all(&self.folder).map_err(|e| broken("making", &self.folder, &e))?;
        let path = self.folder.join(format!("{key}.lock"));
        let mut options = File::options();
        let file = options.create(true).truncate(false).write(true).open(&path);
        file.map_err(|error| broken("opening", &path, &error))
    }

    /// The record of a complete state.
    fn record(&self, key: &str) -> Option<Record> {
        let text = fs::read(self.place(key).join("record.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Removes the oldest states that are not in use.
    fn prune(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut states: Vec<_> = entries
            .filter_map(|entry| {
                let record = fs::metadata(entry.path().join("record.json")).ok()?;
                Some((record.modified().ok()?, entry.file_name().to_string_lossy().into_owned()))
            })
            .collect();
        states.sort();
        let surplus = states.len().saturating_sub(MOST_STATES);
        for (_, key) in states.into_iter().take(surplus) {
            let free = self.lock(&key).is_ok_and(|lock| {
                lock.try_lock().is_ok()
                    && fs::remove_file(self.place(&key).join("record.json")).is_ok()
                    && sandbox::remove(&self.place(&key)).is_ok()
            });
            tracing::debug!(%key, free, "a prepared state that is not needed any more");
        }
    }
}

/// Removes incomplete states; returns their number. The maker of a state holds its lock.
pub(crate) fn sweep(home: &Path) -> u64 {
    let shelves = fs::read_dir(home.join(PREPARED)).into_iter().flatten().flatten();
    let mut swept = 0;
    for shelf in shelves.map(|entry| Shelf { folder: entry.path() }) {
        for entry in fs::read_dir(&shelf.folder).into_iter().flatten().flatten() {
            let key = entry.file_name().to_string_lossy().into_owned();
            if !entry.path().is_dir() || shelf.record(&key).is_some() {
                continue;
            }
            let free = shelf.lock(&key).is_ok_and(|lock| {
                let alone = lock.try_lock().is_ok() && shelf.record(&key).is_none();
                alone && sandbox::remove(&shelf.place(&key)).is_ok()
            });
            swept += u64::from(free);
        }
    }
    swept
}

/// The state of a key: the existing one, or a new one.
pub(super) async fn state(checkout: &Checkout, key: &str) -> Result<State, Fault> {
    let deps = &checkout.deps;
    let shelf = Shelf::of(&deps.services.home, deps.worktrees.repo());
    loop {
        let lock = shelf.lock(key)?;
        // A maker holds it exclusively; users share it.
        let used = lock.try_lock_shared().is_ok();
        if let Some(record) = shelf.record(key).filter(|_| used) {
            let (kept, notes) = (record.kept, record.notes);
            return Ok(State { tree: shelf.place(key).join("tree"), kept, notes, _held: lock });
        }
        drop(lock);
        let lock = shelf.lock(key)?;
        match lock.try_lock() {
            Ok(()) if shelf.record(key).is_some() => {}
            Ok(()) => {
                let made = make(checkout, &shelf, key).await;
                if made.is_err() {
                    sandbox::remove(&shelf.place(key)).ok();
                }
                made?;
                shelf.prune();
            }
            Err(TryLockError::WouldBlock) => {
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                    () = deps.suspend.cancelled() => return Err(stopped()),
                }
            }
            Err(TryLockError::Error(error)) => {
                return Err(broken("locking", &shelf.place(key), &error));
            }
        }
    }
}

async fn make(checkout: &Checkout, shelf: &Shelf, key: &str) -> Result<(), Fault> {
    let (deps, plan, place) = (&checkout.deps, &checkout.plan, shelf.place(key));
    let (repo, tree) = (deps.worktrees.repo(), place.join("tree"));
    sandbox::remove(&place).map_err(|error| broken("clearing", &place, &error))?;
    fs::create_dir_all(&place).map_err(|error| broken("making", &place, &error))?;
    let mut record = Record {
        made: deps.services.clock.now(),
        commit: checkout.commit.clone(),
        ..Record::default()
    };
    if plan.setup.is_empty() {
        fs::create_dir(&tree).map_err(|error| broken("making", &tree, &error))?;
        bring(checkout, &tree, &mut record).await?;
        record.kept = plan.bring.clone();
    } else {
        repo.add_worktree(&tree, &checkout.commit).await?;
        let set_up = set_up(checkout, &tree, &mut record).await;
        let kept = place.join("kept");
        let left = match set_up {
            Ok(()) => keep(repo, &tree, &kept).await,
            Err(fault) => Err(fault),
        };
        // The files of the commit are no longer needed, on success or failure.
        repo.remove_worktree(&tree).await?;
        record.kept = left?;
        fs::rename(&kept, &tree).map_err(|error| broken("placing", &tree, &error))?;
    }
    let text = serde_json::to_vec_pretty(&record).map_err(|error| Fault::bug(error.to_string()))?;
    let (part, whole) = (place.join("record.part"), place.join("record.json"));
    fs::write(&part, text).map_err(|error| broken("writing", &part, &error))?;
    fs::rename(&part, &whole).map_err(|error| broken("writing", &whole, &error))
}

/// Copies paths from the person's checkout.
async fn bring(checkout: &Checkout, tree: &Path, record: &mut Record) -> Result<(), Fault> {
    let root = checkout.deps.worktrees.repo().root().to_owned();
    let most = most(&checkout.deps.policy.workspace);
    let failed = |error: std::io::Error| broken("copying to", tree, &error);
    let placing = Placing::into(tree).map_err(failed)?;
    for path in checkout.plan.bring.clone() {
        if !placing.is_free(&path).map_err(failed)? {
            continue;
        }
        let made = placing.fresh().map_err(failed)?;
        let (root, at, to) = (root.clone(), path.clone(), made.clone());
        let brought = tokio::task::spawn_blocking(move || {
            let at = Path::new(at.as_str());
            let keys = |path: &Path| evidence::workspace::is_credential(&path.to_string_lossy());
            sandbox::bring(&root, at, &to, most, &keys)
        });
        let brought = brought.await.map_err(|error| Fault::bug(error.to_string()))?;
        let left = brought.map_err(|error| refused(&error))?.left;
        if made.symlink_metadata().is_ok() {
            placing.place(&made, &path).map_err(failed)?;
        }
        if !left.is_empty() {
            let left: Vec<String> = left.iter().map(|one| one.display().to_string()).collect();
            record.notes.push(format!("of {path} these were not brought: {}", left.join(", ")));
        }
    }
    Ok(())
}

/// Sets up a fresh checkout as the policy requires.
async fn set_up(checkout: &Checkout, tree: &Path, record: &mut Record) -> Result<(), Fault> {
    let (deps, plan) = (&checkout.deps, &checkout.plan);
    checkout.fill(tree).await?;
    bring(checkout, tree, record).await?;
    let Policy { workspace, sandbox, .. } = &*deps.policy;
    let policy = SandboxPolicy { network: workspace.network.clone(), ..sandbox.clone() };
    let ready = Ready::seeing(plan.visible.clone());
    let spec = SandboxSpec {
        folder: tree,
        whose: Whose::Ours,
        repo: Some(deps.worktrees.repo()),
        start: Some(&checkout.commit),
        scope: None,
        isolation: policy.require,
        policy: &policy,
        checks: &deps.policy.checks,
        own_check: None,
        ready: Some(&ready),
        layers: None,
    };
    let env = deps.services.sandboxes.open(spec).await?;
    for command in &plan.setup {
        let (command, folder) = (command.clone(), WorkPath::root());
        let request = ExecRequest::new(command.clone(), folder, workspace.timeout_ms);
        let began = deps.services.clock.now();
        let result = env.exec(request, &deps.suspend).await?;
        if deps.suspend.is_cancelled() {
            return Err(stopped());
        }
        let elapsed_ms = deps.services.clock.now().since(began);
        let output = last_lines(&deps.services.redactor.scrub(&result.output));
        let ran = Ran { command, ended: result.ended, elapsed_ms, output };
        if result.ended != Ended::Exited(0) {
            return Err(failed(&ran, workspace.network.is_empty()));
        }
        record.commands.push(ran);
    }
    Ok(())
}

/// The fault of a failed command: its last output, and possible remedies.
fn failed(ran: &Ran, offline: bool) -> Fault {
    let network = if offline {
        " It has no network; a policy that is named with --policy grants hosts in [workspace] network."
    } else {
        ""
    };
    let lines: Vec<&str> = ran.output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
    let what = format!(
        "the set-up command `{}` failed ({}), so no checkout can be made ready:\n{last}\nMend what it needs and try \
         again, or change [workspace] setup and start anew.{network}",
        ran.command, ran.ended
    );
    Fault::new(FaultClass::Person, "workspace.setup_failed", what).with_evidence(&ran.output)
}

/// Moves the ignored files of a checkout to another folder.
async fn keep(repo: &Repo, tree: &Path, kept: &Path) -> Result<Vec<WorkPath>, Fault> {
    let paths = outermost(repo.ignored_in(tree).await?);
    fs::create_dir(kept).map_err(|error| broken("making", kept, &error))?;
    let failed = |error: std::io::Error| broken("keeping what was set up in", tree, &error);
    let placing = Placing::into(kept).map_err(failed)?;
    for path in &paths {
        placing.take(tree, path).map_err(failed)?;
    }
    Ok(paths)
}

/// The paths without those inside others. A virtual environment that ignores itself from inside is one path.
fn outermost(paths: Vec<WorkPath>) -> Vec<WorkPath> {
    let environment = |path: WorkPath| {
        let inner = path.as_str().strip_suffix("/pyvenv.cfg").map(str::parse);
        inner.and_then(Result::ok).unwrap_or(path)
    };
    let mut paths: Vec<WorkPath> = paths.into_iter().map(environment).collect();
    paths.sort_by_key(|path| path.components().count());
    let mut kept: Vec<WorkPath> = Vec::new();
    for path in paths {
        if !kept.iter().any(|above| is_below(&path, above)) {
            kept.push(path);
        }
    }
    kept.sort();
    kept
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    let surplus = last.chars().count().saturating_sub(LAST_CHARS);
    last.chars().skip(surplus).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_in_another_path_is_kept_with_it() {
        let paths = ["a/b", ".venv/.gitignore", ".venv/bin", ".venv/pyvenv.cfg", "a", "ab"];
        let kept = outermost(paths.map(|path| path.parse().expect("a path")).to_vec());
        let kept: Vec<&str> = kept.iter().map(WorkPath::as_str).collect();
        assert_eq!(kept, [".venv", "a", "ab"]);
    }

    #[test]
    fn a_command_that_failed_is_told_with_its_last_lines_and_what_to_do() {
        let output = last_lines(&(0..50).map(|line| format!("line {line}\n")).collect::<String>());
        assert!(output.starts_with("line 30") && output.ends_with("line 49"), "{output}");
        let (command, ended) = ("npm ci".to_owned(), Ended::Exited(1));
        let fault = failed(&Ran { command, ended, elapsed_ms: Millis(5), output }, true);
        assert_eq!(
            (fault.class, fault.code.as_str()),
            (FaultClass::Person, "workspace.setup_failed")
        );
        for part in ["`npm ci`", "exit 1", "line 49", "[workspace] network"] {
            assert!(fault.what.contains(part), "{}", fault.what);
        }
    }
}
