//! One call of the git program, hardened: an environment from scratch, the user's and the system's configuration
//! left out, and every setting that could run a command overridden. Bounded in time and in output.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use types::Timestamp;

use super::GitError;
use crate::programs::{Program, programs};

/// Timeout of one call; checking out a large tree takes the longest.
const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;
const MAX_ERRORS: u64 = 16 * 1024;

/// The oldest version with `merge-tree --write-tree`.
const OLDEST: (u32, u32) = (2, 38);

/// Setting for calls that write many files: as many at a time as there are processors.
pub(super) const WORKERS: &str = "checkout.workers=0";

/// Settings that apply to every call, overriding the repository's own configuration.
const SETTINGS: [&str; 30] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=",
    "core.sshCommand=/bin/false",
    "core.gitProxy=",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    // Without these a changed file could be passed off as unchanged.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.sparseCheckout=false",
    "credential.helper=",
    "commit.gpgsign=false",
    "gpg.program=/bin/false",
    "gpg.ssh.program=/bin/false",
    "diff.external=",
    "diff.ignoreSubmodules=all",
    "submodule.recurse=false",
    "protocol.allow=never",
    // A worktree is found by the absolute path recorded in the repository.
    "worktree.useRelativePaths=false",
    // Git syncs a file before it gives it its name; `durable.rs` does the rest.
    "core.fsync=loose-object,pack,pack-metadata,reference,index",
    "core.fsyncMethod=fsync",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    "safe.bareRepository=explicit",
    // Ownership checks protect against configured commands of other users' repositories; none run here.
    "safe.directory=*",
];

/// Where a call runs.
#[derive(Debug, Clone, Copy)]
pub(super) enum GitDir<'a> {
    /// In a folder; git finds the repository by itself.
    Folder(&'a Path),
    /// In a folder that is the top of its repository, or in none.
    Inside(&'a Path),
    /// In a worktree with explicit git files and index, so that nothing in the worktree is trusted.
    Worktree { dir: &'a Path, git_dir: &'a Path, index: &'a Path },
}

/// The author of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}

/// The git program.
#[derive(Debug, Clone)]
pub(super) struct Git {
    program: Program,
}

/// Result of a call.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    stderr: String,
    command: String,
}

/// Optional inputs of a call.
#[derive(Debug, Default)]
pub(super) struct With<'a> {
    pub(super) stdin: &'a [u8],
    /// Date of a commit made by the call.
    pub(super) date: Option<Timestamp>,
    /// Author of a commit made by the call, if not Bosun.
    pub(super) author: Option<&'a Author>,
    pub(super) settings: &'a [OsString],
    /// Whether `settings` already contain the overrides of `Git::muzzles`.
    pub(super) muzzled: bool,
    /// Author and committer of a commit made by the call, if not Bosun.
    pub(super) person: Option<&'a Author>,
    /// Whether paths in the arguments are globs, from the top of the repository.
    pub(super) globs: bool,
}

impl Git {
    /// Finds git on the PATH, never in a workspace. Does not check the version: for calls that every git supports.
    pub(super) fn locate(workspace: &Path) -> Result<Self, GitError> {
        let program = programs().find("git", Some(workspace)).ok_or(GitError::GitMissing)?;
        Ok(Self { program })
    }

    /// Finds git and checks its version.
    pub(super) async fn find(workspace: &Path) -> Result<Self, GitError> {
        let git = Self::locate(workspace)?;
        git.new_enough().await?;
        Ok(git)
    }

    /// Checks that this git supports everything that is used here.
    pub(super) async fn new_enough(&self) -> Result<(), GitError> {
        let mut command = self.plain();
        command.current_dir("/").arg("--version");
        let text = complete(command, "--version".to_owned(), &[]).await?.or_failed()?.word()?;
        let found = text.strip_prefix("git version ").unwrap_or(&text).to_owned();
        let mut numbers = found.split('.').map(str::parse::<u32>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= OLDEST => Ok(()),
            _ => Err(GitError::TooOld { found }),
        }
    }

    /// A call that must succeed.
    pub(super) async fn run<A: AsRef<OsStr>>(
        &self,
        at: GitDir<'_>,
        args: &[A],
    ) -> Result<Answer, GitError> {
        self.run_with(at, args, With::default()).await
    }

    pub(super) async fn run_with<A: AsRef<OsStr>>(
        &self,
        at: GitDir<'_>,
        args: &[A],
        with: With<'_>,
    ) -> Result<Answer, GitError> {
        self.try_run_with(at, args, with).await?.or_failed()
    }

    /// A call whose exit code carries information.
    pub(super) async fn try_run<A: AsRef<OsStr>>(
        &self,
        at: GitDir<'_>,
        args: &[A],
    ) -> Result<Answer, GitError> {
        self.try_run_with(at, args, With::default()).await
    }

    pub(super) async fn try_run_with<A: AsRef<OsStr>>(
        &self,
        at: GitDir<'_>,
        args: &[A],
        with: With<'_>,
    ) -> Result<Answer, GitError> {
        let mut command = self.command(at);
        if !with.muzzled && !runs_no_command(args) {
            for setting in self.muzzles(at).await? {
                command.arg("-c").arg(setting);
            }
        }
        for setting in with.settings {
            command.arg("-c").arg(setting);
        }
        if let Some(date) = with.date {
            let seconds = format!("@{} +0000", date.millis().div_euclid(1000));
            command.env("GIT_AUTHOR_DATE", &seconds).env("GIT_COMMITTER_DATE", &seconds);
        }
        if let Some(by) = with.person.or(with.author) {
            command.env("GIT_AUTHOR_NAME", &by.name).env("GIT_AUTHOR_EMAIL", &by.email);
        }
        if let Some(by) = with.person {
            command.env("GIT_COMMITTER_NAME", &by.name).env("GIT_COMMITTER_EMAIL", &by.email);
        }
        // It takes every path literally, and refuses to be asked to.
        if args.first().is_some_and(|first| first.as_ref() == "check-ignore") {
            command.env_remove("GIT_LITERAL_PATHSPECS");
        }
        if with.globs {
            command.env_remove("GIT_LITERAL_PATHSPECS").env("GIT_GLOB_PATHSPECS", "1");
        }
        command.args(args);
        complete(command, described(args), with.stdin).await
    }

    /// Overrides for the repository's settings that name a command. A merge driver is made to fail, which gives a
    /// conflict; anything else is disabled.
    pub(super) async fn muzzles(&self, at: GitDir<'_>) -> Result<Vec<OsString>, GitError> {
        let mut command = self.command(at);
        let list = ["config", "--list", "--includes", "--name-only", "-z"];
        command.args(list);
        let answer = complete(command, described(&list), &[]).await?;
        // Outside a repository there is nothing to override, and the call itself will report the error.
        let names = answer.names().filter_map(|name| {
            let text = String::from_utf8_lossy(name).to_ascii_lowercase();
            let (section, rest) = text.split_once('.')?;
            let (_, key) = rest.rsplit_once('.')?;
            let value = match (section, key) {
                ("filter", "clean" | "smudge" | "process")
                | ("diff", "textconv" | "command")
                | ("trailer", "command" | "cmd") => "",
                ("filter", "required") => "false",
                ("merge", "driver") => "false",
                _ => return None,
            };
            let mut setting = OsString::from_vec(name.to_vec());
            setting.push("=");
            setting.push(value);
            Some(setting)
        });
        Ok(names.collect())
    }

    fn command(&self, at: GitDir<'_>) -> Command {
        let mut command = self.plain();
        match at {
            GitDir::Folder(folder) => {
                command.current_dir(folder);
            }
            GitDir::Inside(folder) => {
                let above = folder.parent().unwrap_or(folder);
                command.current_dir(folder).env("GIT_CEILING_DIRECTORIES", above);
            }
            GitDir::Worktree { dir, git_dir, index } => {
                command.current_dir(dir).env("GIT_INDEX_FILE", index);
                command.arg("--git-dir").arg(git_dir).arg("--work-tree").arg(dir);
            }
        }
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command
    }

    pub(super) fn plain(&self) -> Command {
        let mut command = Command::from(self.program.command());
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_AUTHOR_NAME", "Bosun")
            .env("GIT_AUTHOR_EMAIL", "bosun@localhost")
            .env("GIT_COMMITTER_NAME", "Bosun")
            .env("GIT_COMMITTER_EMAIL", "bosun@localhost")
            .arg("--no-pager");
        command
    }
}

/// Whether a git command never reads file contents through a configured filter, driver or converter, so that no
/// overrides are needed. Commands not listed get the overrides.
fn runs_no_command<A: AsRef<OsStr>>(args: &[A]) -> bool {
    const ALONE: [&str; 10] = [
        "cat-file",
        "check-ref-format",
        "commit-tree",
        "init",
        "ls-tree",
        "rev-list",
        "rev-parse",
        "symbolic-ref",
        "update-ref",
        "for-each-ref",
    ];
    let mut words = args.iter().map(|arg| arg.as_ref().to_str().unwrap_or_default());
    match (words.next(), words.next()) {
        (Some("worktree"), Some("list" | "prune")) => true,
        (Some(first), _) => ALONE.contains(&first),
        (None, _) => false,
    }
}

impl Answer {
    pub(super) fn succeeded(&self) -> bool {
        self.code == Some(0)
    }

    /// Turns any result but exit code 0 into an error.
    pub(super) fn or_failed(self) -> Result<Self, GitError> {
        if self.succeeded() { Ok(self) } else { Err(self.failure()) }
    }

    pub(super) fn failure(self) -> GitError {
        GitError::of(self.command, self.stderr.trim().to_owned())
    }

    /// Output and errors, as text.
    pub(super) fn said(&self) -> String {
        let out = String::from_utf8_lossy(&self.stdout);
        format!("{out}{}", self.stderr)
    }

    /// The only line of the output.
    pub(super) fn line(self) -> Result<OsString, GitError> {
        match self.stdout.strip_suffix(b"\n") {
            Some(line) if !line.is_empty() => Ok(OsStr::from_bytes(line).to_owned()),
            _ => Err(GitError::Failed { command: self.command, stderr: "no answer".to_owned() }),
        }
    }

    /// The only line of the output as text, such as a hash.
    pub(super) fn word(self) -> Result<String, GitError> {
        Ok(self.line()?.to_string_lossy().into_owned())
    }

    /// The entries of an output in `-z` form.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty())
    }
}

pub(super) fn described<A: AsRef<OsStr>>(args: &[A]) -> String {
    let words = args.iter().take(3).map(|word| word.as_ref().to_string_lossy().into_owned());
    words.collect::<Vec<_>>().join(" ")
}

pub(super) async fn complete(
    mut command: Command,
    described: String,
    stdin: &[u8],
) -> Result<Answer, GitError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.kill_on_drop(true).process_group(0);
    let failed = |doing: &'static str| {
        let path = format!("git {described}");
        move |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound if doing == "starting" => GitError::GitMissing,
            _ => GitError::Io { doing, path, source },
        }
    };
    let mut child = command.spawn().map_err(failed("starting"))?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feed = async {
        if let Some(mut input) = input {
            // A program that exits without reading all of its input closes the pipe; its exit code counts.
            input.write_all(stdin).await.ok();
        }
    };
    let work = async {
        let (stdout, stderr, ()) =
            tokio::join!(gather(output, MAX_OUTPUT), gather(errors, MAX_ERRORS), feed);
        let (stdout, stderr) = (stdout?, stderr?);
        if stdout.len() as u64 > MAX_OUTPUT {
            return Ok(None);
        }
        let status = child.wait().await?;
        Ok(Some((status.code(), stdout, String::from_utf8_lossy(&stderr).into_owned())))
    };
    match tokio::time::timeout(TIMEOUT, work).await {
        Err(_) => Err(GitError::TimedOut { command: described, seconds: TIMEOUT.as_secs() }),
        Ok(Err(source)) => Err(failed("running")(source)),
        Ok(Ok(None)) => Err(GitError::TooMuch { command: described, bytes: MAX_OUTPUT }),
        Ok(Ok(Some((code, stdout, stderr)))) => {
            Ok(Answer { code, stdout, stderr, command: described })
        }
    }
}

/// Reads up to a limit plus one byte, which shows that the limit was exceeded; the rest is discarded.
async fn gather(from: Option<impl AsyncRead + Unpin>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(limit + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
