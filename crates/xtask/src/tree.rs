//! The repository's text files, read once, so that a check is a function from text to findings. Build results,
//! dependencies and binary files are excluded. Nothing is checked here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Hidden folders that belong to the repository; every other one belongs to a tool.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".config", ".github"];
const BUILT: &[&str] = &["target", "node_modules"];
/// Longer files are recordings, not sources.
const LONGEST: u64 = 2 * 1024 * 1024;

/// Where cargo builds.
pub(crate) fn target_folder(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Text files by path. Paths are relative to the repository's root and use `/`.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    pub(crate) fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// Every file whose path begins with `prefix`, in order of path.
    pub(crate) fn under<'a>(
        &'a self,
        prefix: &str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let prefix = prefix.to_owned();
        self.files
            .range(prefix.clone()..)
            .take_while(move |(path, _)| path.starts_with(&prefix))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every Rust file of the workspace's crates.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.under("crates/").filter(|(path, _)| path.ends_with(".rs"))
    }

    /// The names of the folders in `crates/`.
    pub(crate) fn crates(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .under("crates/")
            .filter_map(|(path, _)| Some(path.strip_prefix("crates/")?.split_once('/')?.0))
            .collect();
        names.dedup();
        names
    }

    fn read_folder(&mut self, folder: &Path, prefix: &str) -> anyhow::Result<()> {
        let reading = || format!("reading folder {}", folder.display());
        for entry in fs::read_dir(folder).with_context(reading)? {
            let entry = entry.with_context(reading)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            // In a worktree `.git` is a file.
            if name == ".git" {
                continue;
            }
            let kind = entry.file_type().with_context(reading)?;
            if kind.is_dir() {
                let foreign = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
                if !foreign && !BUILT.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() && entry.metadata().with_context(reading)?.len() <= LONGEST {
                let bytes = fs::read(entry.path()).with_context(|| format!("reading {path}"))?;
                if let Ok(text) = String::from_utf8(bytes) {
                    self.files.insert(path, text);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl Tree {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        Self { files: files.iter().map(owned).collect() }
    }
}
