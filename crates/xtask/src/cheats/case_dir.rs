//! The folder of one case: its files, its git repositories and its processes, which are ended with the case.
//! Independent of the purpose of a case.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::case::{Case, Files};

/// The exit code of a process that took too long.
const TOO_LONG: i32 = 124;
const SHELL_LIMIT: Duration = Duration::from_secs(180);
const EVERY: Duration = Duration::from_millis(5);

/// All variables of a process.
pub(crate) type Variables = BTreeMap<String, String>;

pub(crate) struct CaseDir {
    pub(crate) folder: PathBuf,
    pub(crate) variables: Variables,
    groups: RefCell<Vec<u32>>,
    commands: Cell<usize>,
}

impl CaseDir {
    pub(crate) fn new(folder: PathBuf, variables: Variables) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        Ok(Self { folder, variables, groups: RefCell::default(), commands: Cell::new(0) })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    /// The files of a case in one commit on `main`.
    pub(crate) fn repository(&self, case: &Case) -> anyhow::Result<PathBuf> {
        let repo = self.path("repo");
        std::fs::create_dir_all(&repo).context("making the repository")?;
        put(&repo, &case.files, &case.executable)?;
        self.git(&repo, &["init", "-q", "-b", "main", "."])?;
        self.commit(&repo, "base")?;
        Ok(repo)
    }

    /// Another checkout of a commit.
    pub(crate) fn checkout(
        &self,
        repo: &Path,
        name: &str,
        commit: &str,
    ) -> anyhow::Result<PathBuf> {
        let tree = self.path(name);
        let shown = tree.display().to_string();
        self.git(repo, &["worktree", "add", "-q", "--detach", &shown, commit])?;
        Ok(tree)
    }

    /// Everything in a checkout as one commit.
    pub(crate) fn commit(&self, tree: &Path, message: &str) -> anyhow::Result<()> {
        self.git(tree, &["add", "-A", "."])?;
        self.git(tree, &["commit", "-q", "--allow-empty", "-m", message])
    }

    pub(crate) fn git(&self, tree: &Path, words: &[&str]) -> anyhow::Result<()> {
        let mut git = Command::new("git");
        git.arg("-C").arg(tree).args(words).env_clear().envs(&self.variables);
        let done = git.stdin(Stdio::null()).output().context("running git")?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("git {}: {}", words.join(" "), said.trim());
        }
        Ok(())
    }

    /// Runs a shell command: its exit code and its output.
    pub(crate) fn shell(
        &self,
        line: &str,
        tree: &Path,
        variables: &Variables,
    ) -> anyhow::Result<(i32, String)> {
        let number = self.commands.get();
        self.commands.set(number + 1);
        let said = self.path(&format!("said-{number}.txt"));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).current_dir(tree).env_clear().envs(variables);
        let code = self.run(shell, &said, None, SHELL_LIMIT)?;
        let text = std::fs::read(&said).context("reading what a command said")?;
        Ok((code, String::from_utf8_lossy(&text).into_owned()))
    }

    /// Runs a program in its own process group. Output goes to files, so that a leftover process with the output open
    /// blocks nothing.
    pub(crate) fn run(
        &self,
        mut command: Command,
        out: &Path,
        err: Option<&Path>,
        limit: Duration,
    ) -> anyhow::Result<i32> {
        let stdout = File::create(out).with_context(|| format!("writing {}", out.display()))?;
        let stderr = match err {
            Some(path) => {
                File::create(path).with_context(|| format!("writing {}", path.display()))?
            }
            None => stdout.try_clone().context("sharing the output")?,
        };
        command.stdin(Stdio::null()).stdout(stdout).stderr(stderr).process_group(0);
        let mut child = command.spawn().with_context(|| format!("starting {command:?}"))?;
        self.groups.borrow_mut().push(child.id());
        wait(&mut child, limit)
    }
}

fn wait(child: &mut Child, limit: Duration) -> anyhow::Result<i32> {
    use std::os::unix::process::ExitStatusExt as _;

    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().context("waiting for a process")? {
            return Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
        }
        std::thread::park_timeout(EVERY);
    }
    kill_group(child.id());
    child.wait().context("waiting for a process")?;
    Ok(TOO_LONG)
}

fn kill_group(group: u32) {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--"]).arg(format!("-{group}")).stderr(Stdio::null());
    // Mostly the group is already empty.
    kill.status().ok();
}

impl Drop for CaseDir {
    fn drop(&mut self) {
        for group in self.groups.borrow_mut().drain(..) {
            kill_group(group);
        }
    }
}

/// Writes files below a folder; a link in the way is replaced, not followed.
pub(crate) fn put(folder: &Path, files: &Files, executable: &[String]) -> anyhow::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        let writing = || format!("writing {}", path.display());
        if let Some(above) = path.parent() {
            std::fs::create_dir_all(above).with_context(writing)?;
        }
        if path.is_symlink() {
            std::fs::remove_file(&path).with_context(writing)?;
        }
        std::fs::write(&path, text).with_context(writing)?;
        if executable.contains(name) {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&path, mode).with_context(writing)?;
        }
    }
    Ok(())
}
