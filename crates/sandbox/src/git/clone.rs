//! Copies of repositories that are themselves inside the workspace. An agent may have made the source, so it is checked
//! first: its git files must all be its own, since a symlink, a `gitdir:` line or a list of alternates would bring in
//! their targets; and its history must not contain hidden files.

use std::path::Path;
use std::{fs, io};

use types::WorkPath;

use super::call::{Git, GitDir, With};
use super::{GitError, named};
use crate::search::Hidden;

/// A requested copy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copy<'a> {
    pub(super) from: &'a WorkPath,
    pub(super) to: &'a WorkPath,
    pub(super) branch: Option<&'a str>,
    /// Number of commits of history; 0 means all.
    pub(super) depth: u32,
}

/// Maximum number of git files of a source that are checked.
const MAX_FILES: usize = 100_000;
/// Git files that redirect git to another location.
const POINTERS: [&str; 3] = ["alternates", "http-alternates", "commondir"];

pub(super) async fn clone(
    git: &Git,
    root: &Path,
    copy: Copy<'_>,
    hidden: &Hidden,
) -> Result<String, GitError> {
    let Copy { from, to, branch, depth } = copy;
    let source = root.join(from.as_str());
    let looked = source.clone();
    let alone = tokio::task::spawn_blocking(move || stands_alone(&looked)).await;
    if !matches!(alone, Ok(Ok(true))) {
        return Err(GitError::NotAlone { path: from.to_string() });
    }
    if hidden.has_globs() && shows_hidden(git, &source, from, hidden).await? {
        return Err(GitError::HoldsHidden { path: from.to_string() });
    }
    // As a URL rather than a path, so that the depth applies and no file is shared with the source.
    let address = format!("file://{}", source.display());
    let depth_text = format!("--depth={depth}");
    let mut args =
        vec!["clone", "--quiet", "--template=", "--no-recurse-submodules", "--no-hardlinks"];
    if depth > 0 {
        args.push(&depth_text);
    }
    if let Some(branch) = branch {
        args.extend(["--branch", named(branch)?]);
    }
    args.extend(["--", &address, to.as_str()]);
    let settings = ["protocol.file.allow=always".into()];
    let with = With { settings: &settings, ..With::default() };
    git.run_with(GitDir::Inside(root), &args, with).await?;
    Ok(format!("cloned {from} to {to}"))
}

/// Whether everything that git would read of this repository is in regular files of its own folder.
fn stands_alone(source: &Path) -> io::Result<bool> {
    let inner = source.join(".git");
    let git_dir = if fs::symlink_metadata(&inner).is_ok() { inner } else { source.to_owned() };
    let mut folders = vec![git_dir];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        if !fs::symlink_metadata(&folder)?.is_dir() {
            return Ok(false);
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            seen += 1;
            let points = POINTERS.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() {
                folders.push(entry.path());
            } else if points || !kind.is_file() || seen > MAX_FILES {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether any commit of the source contains a file that is hidden at the source's location.
async fn shows_hidden(
    git: &Git,
    source: &Path,
    from: &WorkPath,
    hidden: &Hidden,
) -> Result<bool, GitError> {
    // Merges are compared with each parent, since a file introduced by a merge alone would be missed otherwise.
    let args = ["log", "--all", "-m", "--format=", "--name-only", "--no-renames", "-z"];
    let names = git.run(GitDir::Inside(source), &args).await?;
    Ok(names.names().any(|name| {
        let name = String::from_utf8_lossy(name);
        hidden.hides(&name) || hidden.hides(&format!("{from}/{name}"))
    }))
}
