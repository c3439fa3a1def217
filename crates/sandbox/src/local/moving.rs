//! Deletes and moves entries of a workspace. No link is followed along a path, and a link itself is deleted or moved
//! like a file. Git's own files stay, and hidden files are not moved to where they could be read.

use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;
use types::WorkPath;

use super::listing::list;
use crate::jail::{self, Jail, kind_in, refused};
use crate::search::Hidden;
use crate::{EnvError, MAX_ENTRIES};

/// How deep a folder is searched before it is moved; no valid path is deeper.
const DEEP: u32 = 4096;

/// Removes a file, a link or an empty folder.
pub(super) fn delete(jail: &Jail, path: &WorkPath) -> Result<(), EnvError> {
    refuse_protected(path)?;
    let failed = |errno| refused(errno, "deleting", path);
    let (folder, name) = jail.parent(path)?;
    let flags = match kind_in(&folder, name).map_err(failed)? {
        FileType::Directory => AtFlags::REMOVEDIR,
        _ => AtFlags::empty(),
    };
    rustix::fs::unlinkat(&folder, name, flags).map_err(|errno| match errno {
        Errno::NOTEMPTY | Errno::EXIST => EnvError::NotEmpty { path: path.clone() },
        errno => failed(errno),
    })
}

/// Moves a file, a link, or a folder with its contents.
pub(super) fn rename(
    jail: &Jail,
    from: &WorkPath,
    to: &WorkPath,
    hidden: &Hidden,
) -> Result<(), EnvError> {
    refuse_protected(from)?;
    refuse_protected(to)?;
    let (old, name) = jail.parent(from)?;
    let kind = kind_in(&old, name).map_err(|errno| refused(errno, "moving", from))?;
    refuse_hidden(jail, from, kind, hidden)?;
    let (new, new_name) = jail.make_parent(to)?;
    let failed = |errno| refused(errno, "moving to", to);
    match kind_in(&new, new_name) {
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(failed(errno)),
        Ok(FileType::RegularFile) if kind == FileType::RegularFile => {}
        Ok(FileType::Directory) => return Err(EnvError::IsFolder { path: to.clone() }),
        Ok(FileType::Symlink) => return Err(EnvError::ThroughLink { path: to.clone() }),
        Ok(_) => return Err(EnvError::Exists { path: to.clone() }),
    }
    rustix::fs::renameat(&old, name, &new, new_name).map_err(failed)
}

fn refuse_protected(path: &WorkPath) -> Result<(), EnvError> {
    if jail::is_protected(path) {
        return Err(EnvError::Protected { path: path.clone() });
    }
    Ok(())
}

/// Refuses hidden files: they are hidden by path, so they must stay there.
fn refuse_hidden(
    jail: &Jail,
    path: &WorkPath,
    kind: FileType,
    hidden: &Hidden,
) -> Result<(), EnvError> {
    if hidden.is_empty() {
        return Ok(());
    }
    let mut paths = vec![path.clone()];
    if kind == FileType::Directory {
        let below = list(jail, path, DEEP)?;
        if below.len() >= MAX_ENTRIES {
            return Err(EnvError::TooMany { path: path.clone(), max: MAX_ENTRIES });
        }
        paths.extend(below.into_iter().map(|entry| entry.path));
    }
    match paths.into_iter().find(|path| hidden.covers(path.as_str())) {
        Some(path) => Err(EnvError::Hidden { path }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use types::WorkPath;

    use crate::{Change, EnvError, Environment as _, LocalEnvironment};

    fn path(text: &str) -> WorkPath {
        text.parse().expect("a path")
    }

    fn workspace(files: &[&str]) -> (tempfile::TempDir, LocalEnvironment) {
        let dir = tempfile::tempdir().expect("a folder");
        for name in files {
            let place = dir.path().join(name);
            std::fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
            std::fs::write(place, *name).expect("a file");
        }
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        (dir, env)
    }

    #[tokio::test]
    async fn a_folder_is_deleted_only_when_it_is_empty() {
        let (dir, env) = workspace(&["d/a"]);
        let full = env.delete(&path("d")).await.expect_err("it is not empty");
        assert!(full.to_string().contains("delete what is in it first"), "{full}");
        env.delete(&path("d/a")).await.expect("a file");
        env.delete(&path("d")).await.expect("it is empty now");
        assert!(!dir.path().join("d").exists());
    }

    #[tokio::test]
    async fn a_link_is_deleted_or_moved_itself_and_never_followed() {
        let (dir, env) = workspace(&["a", "sub/b"]);
        symlink("a", dir.path().join("link")).expect("a link");
        symlink("sub", dir.path().join("way")).expect("a link");
        env.rename(&path("link"), &path("moved")).await.expect("the link is moved");
        assert!(dir.path().join("moved").is_symlink() && dir.path().join("a").is_file());
        env.delete(&path("moved")).await.expect("the link is deleted");
        assert!(dir.path().join("a").is_file());
        for (from, to) in [("way/b", "c"), ("a", "way/c")] {
            let error = env.rename(&path(from), &path(to)).await.expect_err("through a link");
            assert!(matches!(error, EnvError::ThroughLink { .. }), "{error}");
        }
        assert!(matches!(env.delete(&path("way/b")).await, Err(EnvError::ThroughLink { .. })));
    }

    #[tokio::test]
    async fn a_move_keeps_the_mode_and_replaces_nothing_but_a_file() {
        let (dir, env) = workspace(&["run.sh", "old", "d/x", "e/y"]);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path().join("run.sh"), mode).expect("a mode");
        env.rename(&path("run.sh"), &path("bin/new/run")).await.expect("moved");
        let moved = std::fs::metadata(dir.path().join("bin/new/run")).expect("it is there");
        assert_eq!(moved.permissions().mode() & 0o777, 0o755);
        env.rename(&path("bin/new/run"), &path("old")).await.expect("a file takes its place");
        let onto = |from: &'static str, to: &'static str| {
            let env = &env;
            async move { env.rename(&path(from), &path(to)).await.expect_err("refused") }
        };
        assert!(matches!(onto("old", "d").await, EnvError::IsFolder { .. }));
        assert!(matches!(onto("d", "old").await, EnvError::Exists { .. }));
        assert!(matches!(onto("d", "e").await, EnvError::IsFolder { .. }));
        assert!(matches!(onto("old", ".git/hooks/x").await, EnvError::Protected { .. }));
        env.rename(&path("d"), &path("f/d")).await.expect("a whole folder");
        assert!(dir.path().join("f/d/x").is_file() && !dir.path().join("d").exists());
    }

    #[tokio::test]
    async fn what_is_hidden_is_not_moved_to_where_it_could_be_read() {
        let (_dir, env) = workspace(&["context/deep/a.md", "b"]);
        let env = env.hiding(&["context/**"]).expect("patterns");
        for from in ["context", "context/deep", "context/deep/a.md"] {
            let error = env.rename(&path(from), &path("seen")).await.expect_err("hidden");
            assert!(matches!(error, EnvError::Hidden { .. }), "{error}");
        }
        env.rename(&path("b"), &path("c")).await.expect("this one is not");
    }

    #[tokio::test]
    async fn changes_that_fail_take_a_move_back() {
        let (dir, env) = workspace(&["a"]);
        let (path, to) = (path("a"), path("n/b"));
        let missing = Change::Delete { path: "none".parse().expect("a path") };
        let changes = vec![Change::Move { path, to }, missing];
        assert!(env.apply(changes).await.is_err());
        assert!(dir.path().join("a").is_file() && !dir.path().join("n/b").exists());
    }
}
