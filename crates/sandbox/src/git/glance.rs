//! A quick summary of a folder at the start of work in it: branch, short status, last commits. Speed comes before
//! completeness: without a repository no process is started, related calls run concurrently, and a slow status is left
//! out. The texts come from the repository and are not to be trusted.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use super::GitError;
use super::call::{Git, GitDir, With};
use crate::content::{self, MAX_LINE};

/// Timeout of the status; the work begins without it then.
const PATIENCE: Duration = Duration::from_millis(500);

/// Summary of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The working tree that the folder belongs to.
    pub root: PathBuf,
    /// `None` if no branch is checked out or the status timed out.
    pub branch: Option<String>,
    /// In the short format, one line per file; `None` if the status timed out.
    pub status: Option<Vec<String>>,
    /// Short hash and subject, newest first.
    pub commits: Vec<String>,
}

impl Glance {
    /// Reads the repository of a folder; `None` if it belongs to none. At most `commits` commits are listed.
    pub async fn at(folder: &Path, commits: usize) -> Result<Option<Self>, GitError> {
        let Some(root) = root_of(folder) else { return Ok(None) };
        let git = Git::locate(&root)?;
        let muzzles = git.muzzles(GitDir::Folder(&root)).await?;
        let with = || With { settings: &muzzles, muzzled: true, ..With::default() };
        let status = ["status", "--porcelain=v1", "-z", "--branch", "--no-ahead-behind"];
        let status = git.try_run_with(GitDir::Folder(&root), &status, with());
        let count = format!("--max-count={commits}");
        let log = ["log", "--no-show-signature", "--no-color", "-z", "--format=%h %s", &count];
        let log = git.try_run_with(GitDir::Folder(&root), &log, with());
        let (status, log) = tokio::join!(tokio::time::timeout(PATIENCE, status), log);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // A repository without a commit has no log; that is not an error.
        let log = log?;
        let commits = if log.succeeded() { log.names().map(text).collect() } else { vec![] };
        let Ok(status) = status else {
            return Ok(Some(Self { root, branch: None, status: None, commits }));
        };
        let status = status?.or_failed()?;
        let mut lines = status.names();
        let branch = lines.next().and_then(|line| branch(&text(line)));
        let status = lines.map(|line| {
            let folder = if line.ends_with(b"/") { "/" } else { "" };
            super::worktree::shown(line) + folder
        });
        let status = Some(status.collect());
        Ok(Some(Self { root, branch, status, commits }))
    }
}

/// The working tree that a folder belongs to: the nearest folder with a repository in its `.git`. No process is started.
#[must_use]
pub fn root_of(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find(|above| is_root(above)).map(Path::to_owned)
}

/// Whether a folder has a repository in its `.git`, as far as git requires: an empty or broken one is none.
#[must_use]
pub fn is_root(folder: &Path) -> bool {
    let git = folder.join(".git");
    if git.is_dir() {
        return is_git_dir(&git);
    }
    // In a worktree or submodule it is a file that names the folder.
    let Ok(text) = content::followed(&git, MAX_LINE) else { return false };
    text.strip_prefix(b"gitdir:").is_some_and(|named| is_git_dir(&folder.join(path_in(named))))
}

fn is_git_dir(git: &Path) -> bool {
    let shared = match content::followed(&git.join("commondir"), MAX_LINE) {
        Ok(named) => git.join(path_in(&named)),
        Err(Errno::NOENT) => git.to_owned(),
        Err(_) => return false,
    };
    has_head(git) && ["objects", "refs"].iter().all(|name| shared.join(name).is_dir())
}

fn has_head(git: &Path) -> bool {
    let head = git.join("HEAD");
    // An unborn branch may be a link to nothing.
    head.is_file() || head.read_link().is_ok_and(|branch| branch.starts_with("refs"))
}

fn path_in(line: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(line.trim_ascii()))
}

/// Parses `## main...origin/main`, `## No commits yet on main` or `## HEAD (no branch)`, the first line of a status.
fn branch(line: &str) -> Option<String> {
    let line = line.strip_prefix("## ")?;
    let line = line.strip_prefix("No commits yet on ").unwrap_or(line);
    let name = line.split("...").next().unwrap_or(line);
    (!name.is_empty() && name != "HEAD (no branch)").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::mpsc;
    use std::time::Duration;

    use rustix::fs::{CWD, FileType, Mode};

    use super::*;

    #[test]
    fn the_branch_is_read_off_the_status() {
        for (line, wanted) in [
            ("## main", Some("main")),
            ("## feature/x.y...origin/feature/x.y", Some("feature/x.y")),
            ("## No commits yet on trunk", Some("trunk")),
            ("## HEAD (no branch)", None),
            ("?? file", None),
        ] {
            assert_eq!(branch(line).as_deref(), wanted, "{line}");
        }
    }

    /// A folder with the least that git takes for a repository.
    fn repository(dir: &Path) -> PathBuf {
        for name in ["objects", "refs"] {
            fs::create_dir_all(dir.join(".git").join(name)).expect("folders");
        }
        fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        dir.join(".git")
    }

    fn pipe(at: &Path) {
        fs::remove_file(at).ok();
        rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
    }

    /// [`is_root`], in a thread that may wait forever.
    fn answer(dir: &Path) -> Option<bool> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let dir = dir.to_owned();
        std::thread::spawn(move || sender.send(is_root(&dir)));
        receiver.recv_timeout(Duration::from_secs(60)).ok()
    }

    type Case = (&'static str, fn(&Path), bool);

    /// Each case changes a folder with a repository.
    fn check(cases: &[Case]) {
        for (name, change, wanted) in cases {
            let dir = tempfile::tempdir().expect("a folder");
            let own = dir.path().join("own");
            repository(&own);
            change(&own);
            assert_eq!(answer(&own), Some(*wanted), "{name}");
        }
    }

    #[test]
    fn pipes_and_devices_among_the_files_of_git_are_no_repository() {
        check(&[
            (
                "pipe",
                |own| {
                    fs::remove_dir_all(own.join(".git")).expect("gone");
                    pipe(&own.join(".git"));
                },
                false,
            ),
            (
                "link to a pipe",
                |own| {
                    fs::remove_dir_all(own.join(".git")).expect("gone");
                    pipe(&own.join("pipe"));
                    symlink("pipe", own.join(".git")).expect("a link");
                },
                false,
            ),
            ("pipe as HEAD", |own| pipe(&own.join(".git/HEAD")), false),
            ("pipe as commondir", |own| pipe(&own.join(".git/commondir")), false),
            (
                "endless commondir",
                |own| {
                    symlink("/dev/zero", own.join(".git/commondir")).expect("a link");
                },
                false,
            ),
            (
                "large commondir",
                |own| {
                    fs::write(own.join(".git/commondir"), " ".repeat(100_000)).expect("a file");
                },
                false,
            ),
        ]);
    }

    #[test]
    fn links_that_git_follows_are_followed() {
        check(&[
            (
                "link to a folder",
                |own| {
                    fs::rename(own.join(".git"), own.join("git")).expect("a new name");
                    symlink("git", own.join(".git")).expect("a link");
                },
                true,
            ),
            (
                "file that names the folder",
                |own| {
                    fs::rename(own.join(".git"), own.join("git")).expect("a new name");
                    fs::write(own.join(".git"), "gitdir: git\n").expect("a file");
                },
                true,
            ),
            (
                "link to a file that names the folder",
                |own| {
                    fs::rename(own.join(".git"), own.join("git")).expect("a new name");
                    fs::write(own.join("file"), "gitdir: git\n").expect("a file");
                    symlink("file", own.join(".git")).expect("a link");
                },
                true,
            ),
            (
                "shared folder",
                |own| {
                    fs::create_dir(own.join("git")).expect("a folder");
                    for name in ["objects", "refs"] {
                        let at = own.join(".git").join(name);
                        fs::rename(at, own.join("git").join(name)).expect("a new name");
                    }
                    fs::write(own.join(".git/commondir"), "../git\n").expect("a file");
                },
                true,
            ),
            (
                "HEAD that leads to a branch without a commit",
                |own| {
                    fs::remove_file(own.join(".git/HEAD")).expect("gone");
                    symlink("refs/heads/main", own.join(".git/HEAD")).expect("a link");
                },
                true,
            ),
        ]);
    }
}
