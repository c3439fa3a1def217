//! Git in a workspace, for agents: view changes, commit them, clone a repository inside it. Uses the same hardened
//! calls as everywhere; a reference or a file name is never read as an option, and a repository above the workspace is
//! never used. There is no network here.

use std::path::Path;

use types::{Timestamp, WorkPath};

use super::call::{Git, GitDir, With};
use super::clone::{Copy, clone};
use super::{GitError, named, writes};
use crate::search::Hidden;

/// A git operation requested by an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitRequest {
    /// Changes as text: of the working tree or of the index, against a reference if one is given.
    Diff { path: Option<WorkPath>, staged: bool, reference: Option<String> },
    /// Commits some files, or everything if none are named.
    Commit { message: String, files: Vec<WorkPath>, at: Timestamp },
    /// Changes the repository or its working tree, by the words of a command that `unsupported_git` accepts. Commits
    /// are made in the user's own name.
    Change { words: Vec<String> },
    /// Clones a repository that is itself inside the workspace. A depth of 0 means the whole history.
    Clone { from: WorkPath, to: WorkPath, branch: Option<String>, depth: u32 },
}

/// Maximum number of files in a diff if some are hidden.
const MAX_DIFF_FILES: usize = 1000;
/// Maximum size of a diff.
const MAX_DIFF_BYTES: usize = 1024 * 1024;

/// Maximum number of new files listed with a diff, and maximum length of a name.
const MAX_NEW_FILES: usize = 50;
const MAX_NAME: usize = 300;

pub(crate) async fn ask(
    root: &Path,
    request: &GitRequest,
    hidden: &Hidden,
) -> Result<String, GitError> {
    let git = Git::find(root).await?;
    let at = GitDir::Inside(root);
    let belongs = git.try_run(at, &["rev-parse", "--git-dir"]).await?;
    let anywhere = match request {
        GitRequest::Clone { .. } => true,
        GitRequest::Change { words } => writes::begins(words),
        GitRequest::Diff { .. } | GitRequest::Commit { .. } => false,
    };
    if !belongs.succeeded() && !anywhere {
        // Without a repository, `git diff` would compare any two files of the machine.
        return Err(GitError::NotARepository { path: "the workspace".to_owned() });
    }
    match request {
        GitRequest::Diff { path, staged, reference } => {
            let asked =
                Diff { path: path.as_ref(), staged: *staged, reference: reference.as_deref() };
            // A reference invented by an agent is not damage of the repository.
            diff(&git, at, &asked, hidden).await.map_err(GitError::made_up)
        }
        GitRequest::Commit { message, files, at: time } => {
            commit(&git, at, message, files, *time).await
        }
        GitRequest::Change { words } => writes::change(&git, root, words).await,
        GitRequest::Clone { from, to, branch, depth } => {
            let copy = Copy { from, to, branch: branch.as_deref(), depth: *depth };
            clone(&git, root, copy, hidden).await
        }
    }
}

/// The requested changes.
struct Diff<'a> {
    path: Option<&'a WorkPath>,
    staged: bool,
    reference: Option<&'a str>,
}

impl<'a> Diff<'a> {
    fn args(&self, form: &'a [&'a str]) -> Result<Vec<&'a str>, GitError> {
        let mut args = vec!["diff", "--no-ext-diff", "--no-textconv", "--no-color"];
        args.extend(form);
        if self.staged {
            args.push("--cached");
        }
        args.push("--end-of-options");
        if let Some(reference) = self.reference {
            args.push(named(reference)?);
        }
        args.push("--");
        Ok(args)
    }
}

async fn diff(
    git: &Git,
    at: GitDir<'_>,
    asked: &Diff<'_>,
    hidden: &Hidden,
) -> Result<String, GitError> {
    let nothing = || Ok("(no changes)".to_owned());
    let mut args = asked.args(&[])?;
    let shown = match !hidden.has_globs() {
        true => asked.path.into_iter().cloned().collect(),
        false => match not_hidden(git, at, asked, hidden).await? {
            paths if paths.is_empty() => return nothing(),
            paths => paths,
        },
    };
    args.extend(shown.iter().map(WorkPath::as_str));
    let answer = git.run(at, &args).await?;
    let new = if asked.staged { String::new() } else { new_files(git, at, asked, hidden).await? };
    if answer.stdout.is_empty() {
        return if new.is_empty() { nothing() } else { Ok(new) };
    }
    let shown = &answer.stdout[..answer.stdout.len().min(MAX_DIFF_BYTES)];
    let mut text = String::from_utf8_lossy(shown).into_owned();
    if shown.len() < answer.stdout.len() {
        text.push_str(&format!("\n[{} bytes more]\n", answer.stdout.len() - shown.len()));
    }
    Ok(text + &new)
}

/// Lists untracked files by name: a diff does not contain them.
async fn new_files(
    git: &Git,
    at: GitDir<'_>,
    asked: &Diff<'_>,
    hidden: &Hidden,
) -> Result<String, GitError> {
    let mut args = vec!["ls-files", "--others", "--exclude-standard", "-z", "--"];
    args.extend(asked.path.map(WorkPath::as_str));
    let answer = git.run(at, &args).await?;
    let names = answer.names().map(String::from_utf8_lossy).filter(|name| !hidden.hides(name));
    let names: Vec<String> = names.map(|name| types::one_line(&name, MAX_NAME)).collect();
    if names.is_empty() {
        return Ok(String::new());
    }
    let listed = names.iter().take(MAX_NEW_FILES).map(|name| format!("  {name}\n"));
    let left = match names.len().saturating_sub(MAX_NEW_FILES) {
        0 => String::new(),
        left => format!("  [{left} more]\n"),
    };
    Ok(format!("new files, not added yet:\n{}{left}", listed.collect::<String>()))
}

/// The changed files that may be shown. Older versions of hidden files are hidden as well.
async fn not_hidden(
    git: &Git,
    at: GitDir<'_>,
    asked: &Diff<'_>,
    hidden: &Hidden,
) -> Result<Vec<WorkPath>, GitError> {
    let mut args = asked.args(&["--name-only", "--no-renames", "-z"])?;
    args.extend(asked.path.map(WorkPath::as_str));
    let answer = git.run(at, &args).await?;
    let paths = answer.names().filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok());
    Ok(paths.filter(|path: &WorkPath| !hidden.hides(path.as_str())).take(MAX_DIFF_FILES).collect())
}

async fn commit(
    git: &Git,
    at: GitDir<'_>,
    message: &str,
    files: &[WorkPath],
    time: Timestamp,
) -> Result<String, GitError> {
    let mut add = vec!["add", "--all", "--"];
    if files.is_empty() {
        add.push(".");
    }
    add.extend(files.iter().map(WorkPath::as_str));
    git.run(at, &add).await?;
    let message = message.replace('\0', " ");
    let with = With { stdin: message.as_bytes(), date: Some(time), ..With::default() };
    let args = ["commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--file=-"];
    git.run_with(at, &args, with).await?;
    git.run(at, &["rev-parse", "--verify", "HEAD"]).await?.word()
}

/// The files among `paths` that are in git's index; `None` if git fails. Outside a repository there are none.
pub(crate) async fn tracked(root: &Path, paths: &[WorkPath]) -> Option<Vec<WorkPath>> {
    let git = Git::find(root).await.ok()?;
    let inside = git.try_run(GitDir::Inside(root), &["rev-parse", "--git-dir"]).await.ok()?;
    let mut found = vec![];
    if !inside.succeeded() {
        return Some(found);
    }
    for some in paths.chunks(MAX_DIFF_FILES) {
        let mut args = vec!["ls-files", "-z", "--cached", "--"];
        args.extend(some.iter().map(WorkPath::as_str));
        let answer = git.try_run(GitDir::Inside(root), &args).await.ok()?;
        if !answer.succeeded() {
            return None;
        }
        let names = answer.names().filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok());
        found.extend(names);
    }
    Some(found)
}
