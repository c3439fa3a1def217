//! Trust in projects' own files. A project's `.bosun/` comes with its code, perhaps from a stranger, and changes how
//! agents work: none of it takes effect before a person has trusted exactly this content in this folder. Even then, the
//! readers of these files limit what they may decide.

use std::io;
use std::path::{Path, PathBuf};

use sandbox::EnvError;
use serde::{Deserialize, Serialize};
use types::{Digest, Timestamp, WorkPath};

use crate::presets::POLICY;
use crate::prompts::{PROMPTS, Prompts};
use crate::settings::CONFIG;
use crate::small_file;

/// The largest file that is read.
const MOST: u64 = 4 * 1024 * 1024;
const FILE: &str = "trusted.json";

/// The files of a project that change how agents work in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFiles {
    pub folder: PathBuf,
    /// Paths from the top of the project, with the digest of each file.
    pub files: Vec<(String, Digest)>,
    /// The digest of all of them.
    pub digest: Digest,
}

/// Why a project's files or the record of trust cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("reading {path}")]
    Project {
        path: String,
        #[source]
        source: EnvError,
    },
    #[error("reading or writing {path}")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read {path}: {cause}; remove it, then trust your projects again")]
    Broken { path: PathBuf, cause: String },
}

/// A trusted project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    pub folder: PathBuf,
    pub digest: Digest,
    pub at: Timestamp,
}

/// The record of trusted projects, in the home folder.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
}

/// The project's own files; `None` if there are none. Links are not followed.
pub fn project_files(top: &Path) -> Result<Option<ProjectFiles>, TrustError> {
    let folder = top.canonicalize().unwrap_or_else(|_| top.to_owned());
    let prompts = Prompts::names().map(|name| format!("{PROMPTS}/{name}"));
    let names = [POLICY.to_owned(), CONFIG.to_owned()].into_iter().chain(prompts);
    let mut files = vec![];
    for name in names {
        let Ok(inside) = name.parse::<WorkPath>() else { continue };
        let text = sandbox::text(&folder, &inside, MOST)
            .map_err(|source| TrustError::Project { path: name.clone(), source })?;
        files.extend(text.map(|text| (name, Digest::of(text.as_bytes()))));
    }
    if files.is_empty() {
        return Ok(None);
    }
    let line = |(name, digest): &(String, Digest)| format!("{digest}  {name}\n");
    let digest = Digest::of(files.iter().map(line).collect::<String>().as_bytes());
    Ok(Some(ProjectFiles { folder, files, digest }))
}

impl TrustStore {
    /// The record in a home folder.
    #[must_use]
    pub fn at(home: &Path) -> Self {
        Self { file: home.join(FILE) }
    }

    /// All trusted projects, newest last.
    pub fn list(&self) -> Result<Vec<Trusted>, TrustError> {
        let path = || self.file.clone();
        let read = small_file::read(&self.file);
        let bytes = read.map_err(|source| TrustError::Io { path: path(), source })?;
        let Some(bytes) = bytes else { return Ok(vec![]) };
        serde_json::from_slice(&bytes)
            .map_err(|error| TrustError::Broken { path: path(), cause: error.to_string() })
    }

    /// Whether a person has trusted exactly these files.
    pub fn holds(&self, files: &ProjectFiles) -> Result<bool, TrustError> {
        let same = |known: &Trusted| known.folder == files.folder && known.digest == files.digest;
        Ok(self.list()?.iter().any(same))
    }

    /// Trusts these files, replacing earlier trust in the same folder.
    pub fn trust(&self, files: &ProjectFiles, at: Timestamp) -> Result<(), TrustError> {
        let mut all = self.list()?;
        all.retain(|known| known.folder != files.folder);
        all.push(Trusted { folder: files.folder.clone(), digest: files.digest, at });
        self.write(&all)
    }

    /// Revokes trust in a folder; returns whether it was trusted.
    pub fn revoke(&self, top: &Path) -> Result<bool, TrustError> {
        let folder = top.canonicalize().unwrap_or_else(|_| top.to_owned());
        let mut all = self.list()?;
        let before = all.len();
        all.retain(|known| known.folder != folder);
        let changed = all.len() < before;
        if changed {
            self.write(&all)?;
        }
        Ok(changed)
    }

    fn write(&self, all: &[Trusted]) -> Result<(), TrustError> {
        let io = |source: io::Error| TrustError::Io { path: self.file.clone(), source };
        let bytes = serde_json::to_vec_pretty(all).map_err(|error| io(error.into()))?;
        small_file::write(&self.file, &bytes).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_holds_for_this_content_in_this_folder_only() {
        let dir = tempfile::tempdir().expect("a folder");
        let (home, top) = (dir.path().join("home"), dir.path().join("project"));
        std::fs::create_dir_all(top.join(".bosun/prompts")).expect("a folder");
        assert!(project_files(&top).expect("fine").is_none());
        let write = |name: &str, text: &str| {
            std::fs::write(top.join(name), text).expect("a file");
            project_files(&top).expect("fine").expect("there are files")
        };
        let first = write(POLICY, "headless = true\n");
        let store = TrustStore::at(&home);
        assert!(!store.holds(&first).expect("fine"));
        store.trust(&first, Timestamp::from_millis(1)).expect("written");
        assert!(store.holds(&first).expect("fine"));
        for (name, text) in [
            (POLICY, "headless = false\n"),
            (CONFIG, "model = \"a/b\"\n"),
            (".bosun/prompts/coder.md", "You are another.\n"),
        ] {
            let changed = write(name, text);
            assert!(!store.holds(&changed).expect("fine"), "{name}");
            store.trust(&changed, Timestamp::from_millis(2)).expect("written");
            assert!(store.holds(&changed).expect("fine"), "{name}");
        }
        assert!(!store.holds(&first).expect("fine"), "what was there before is not trusted");
        let last = project_files(&top).expect("fine").expect("there");
        let elsewhere = ProjectFiles { folder: dir.path().to_owned(), ..last };
        assert!(!store.holds(&elsewhere).expect("fine"));
        assert!(store.revoke(&top).expect("fine") && !store.revoke(&top).expect("fine"));
        assert!(store.list().expect("fine").is_empty());
    }

    #[test]
    fn a_link_in_a_project_is_an_error_and_not_followed() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(dir.path().join(".bosun")).expect("a folder");
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join(CONFIG)).expect("a link");
        assert!(project_files(dir.path()).is_err());
    }
}
