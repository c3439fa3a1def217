//! A quick summary of a folder at the start of work in it: branch, short status, last commits. Speed comes before
//! completeness: without a repository no process is started, related calls run concurrently, and a slow status is left
//! out. The texts come from the repository and are not to be trusted.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::GitError;
use super::call::{Git, GitDir, With};

/// Timeout of the status; the work begins without it then.
const PATIENCE: Duration = Duration::from_millis(500);

/// Maximum size of a `.git` that is a file.
const MAX_LINK: u64 = 8 * 1024;

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
        let git = Git::locate()?;
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
    let Ok(file) = std::fs::File::open(&git) else { return false };
    let mut text = String::new();
    if file.take(MAX_LINK).read_to_string(&mut text).is_err() {
        return false;
    }
    let named = text.strip_prefix("gitdir:").map(|path| folder.join(path.trim()));
    named.is_some_and(|git| is_git_dir(&git))
}

fn is_git_dir(git: &Path) -> bool {
    let shared = std::fs::read_to_string(git.join("commondir")).ok();
    let shared = shared.map_or_else(|| git.to_owned(), |path| git.join(path.trim()));
    // An unborn branch may be a link to nothing.
    let has_head = git.join("HEAD").symlink_metadata().is_ok_and(|head| !head.is_dir());
    has_head && ["objects", "refs"].iter().all(|name| shared.join(name).is_dir())
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
}
