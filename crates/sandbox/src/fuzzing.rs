//! Properties that must hold for any text that a model sends as a path. For fuzz targets and tests; not for programs.

use std::os::fd::AsRawFd as _;
use std::path::PathBuf;

use tempfile::TempDir;
use types::WorkPath;

use crate::jail::{Jail, Links};

/// A folder with every kind of link that leads out of it, to try paths in.
#[derive(Debug)]
pub struct Ways {
    _dir: TempDir,
    root: PathBuf,
    jail: Jail,
}

impl Ways {
    pub fn new() -> std::io::Result<Self> {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir()?;
        let base = dir.path().canonicalize()?;
        std::fs::write(base.join("secret"), "secret")?;
        let root = base.join("ws");
        std::fs::create_dir_all(root.join("a/b"))?;
        std::fs::write(root.join("a/b/f"), "inside")?;
        for (target, link) in [
            ("/", "r"),
            ("..", "u"),
            ("../secret", "s"),
            ("a", "i"),
            ("l", "l"),
            ("/proc/self/root", "p"),
        ] {
            symlink(target, root.join(link))?;
        }
        symlink("../../..", root.join("a/b/u"))?;
        let jail = Jail::open(&root)?;
        Ok(Self { _dir: dir, root, jail })
    }

    /// Asserts that a path leads only to files and folders inside.
    pub fn path(&self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let Ok(path) = text.parse::<WorkPath>() else { return };
        assert!(path.components().all(|name| name != ".."), "{path} goes up");
        for links in [Links::Follow, Links::Refuse] {
            if let Ok(file) = self.jail.file(&path, links) {
                self.is_inside(file.as_raw_fd(), &path);
            }
            if let Ok(folder) = self.jail.folder(&path, links) {
                self.is_inside(folder.as_raw_fd(), &path);
            }
        }
        if let Ok((folder, name)) = self.jail.parent(&path) {
            self.is_inside(folder.as_raw_fd(), &path);
            assert!(!name.contains('/') && name != "..", "{name} is not a name");
        }
    }

    fn is_inside(&self, fd: i32, path: &WorkPath) {
        let place = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
        assert!(place.starts_with(&self.root), "{path} leads to {}", place.display());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_path_leads_outside() {
        let ways = Ways::new().expect("a folder");
        let name = prop_oneof![
            Just("a"),
            Just("b"),
            Just("f"),
            Just("r"),
            Just("u"),
            Just("s"),
            Just("i"),
            Just("l"),
            Just("p"),
            Just(".."),
            Just("."),
            Just(""),
            Just("secret"),
            Just("etc"),
            Just("passwd"),
            Just("~")
        ];
        let mut runner = proptest::test_runner::TestRunner::default();
        let paths = prop::collection::vec(name, 0..6);
        let tried = runner.run(&paths, |names| {
            ways.path(names.join("/").as_bytes());
            Ok(())
        });
        tried.expect("every path stays inside");
    }
}
