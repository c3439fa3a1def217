//! Paths inside a workspace, and the write scope of a task. Text only: nothing here accesses a disk, so a valid path
//! may still be a link that leads elsewhere; the sandbox handles that.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A relative path in normal form (`src/a.rs`); the workspace itself is `.`. Parsing resolves `..` as text, so that
/// `a/../b` is `b`, and refuses what leads out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkPath(String);

/// Error parsing a path inside the workspace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    #[error("the path is empty")]
    Empty,
    #[error("{0:?} is absolute; give a path relative to the workspace")]
    Absolute(String),
    #[error("{0:?} leads out of the workspace")]
    Escapes(String),
    #[error("{0:?} has a control character in it")]
    Control(String),
    #[error("the path is longer than {max} bytes", max = WorkPath::MAX_BYTES)]
    TooLong,
}

impl WorkPath {
    pub const MAX_BYTES: usize = 4096;

    #[must_use]
    pub fn root() -> Self {
        Self(".".to_owned())
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The components of the path; none for the workspace itself.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| *name != ".")
    }
}

impl FromStr for WorkPath {
    type Err = BadPath;
    fn from_str(text: &str) -> Result<Self, BadPath> {
        let shown = || text.chars().take(120).collect::<String>();
        if text.is_empty() {
            return Err(BadPath::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return Err(BadPath::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(BadPath::Control(shown()));
        }
        if text.starts_with('/') || text.starts_with('~') {
            return Err(BadPath::Absolute(shown()));
        }
        let mut names: Vec<&str> = vec![];
        for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name != ".." {
                names.push(name);
            } else if names.pop().is_none() {
                return Err(BadPath::Escapes(shown()));
            }
        }
        Ok(if names.is_empty() { Self::root() } else { Self(names.join("/")) })
    }
}

impl fmt::Display for WorkPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A path that a task may write to: a file (`src/a.rs`), or a folder with everything below it (`src/`, or `./` for the
/// whole workspace). Patterns are not allowed, so that collisions between tasks are always decidable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Artifact {
    pub path: WorkPath,
    pub whole_folder: bool,
}

impl Artifact {
    /// The whole workspace.
    #[must_use]
    pub fn everything() -> Self {
        Self { path: WorkPath::root(), whole_folder: true }
    }

    #[must_use]
    pub fn covers(&self, path: &WorkPath) -> bool {
        if self.whole_folder { below(&self.path, path) } else { self.path == *path }
    }

    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.covers(&other.path) || other.covers(&self.path)
    }
}

fn below(folder: &WorkPath, path: &WorkPath) -> bool {
    folder.is_root()
        || path == folder
        || path.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

impl FromStr for Artifact {
    type Err = BadPath;
    fn from_str(text: &str) -> Result<Self, BadPath> {
        let path: WorkPath = text.parse()?;
        let whole_folder = text.ends_with('/') || path.is_root();
        Ok(Self { path, whole_folder })
    }
}
impl fmt::Display for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path, if self.whole_folder { "/" } else { "" })
    }
}

/// The write scope of a task: its artifacts. An empty scope allows no writes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scope(pub Vec<Artifact>);

impl Scope {
    #[must_use]
    pub fn allows(&self, path: &WorkPath) -> bool {
        self.0.iter().any(|artifact| artifact.covers(path))
    }

    /// Whether an artifact lies entirely inside.
    #[must_use]
    pub fn covers(&self, artifact: &Artifact) -> bool {
        let whole = |mine: &Artifact| mine.whole_folder || !artifact.whole_folder;
        self.0.iter().any(|mine| whole(mine) && mine.covers(&artifact.path))
    }

    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().any(|mine| other.0.iter().any(|theirs| mine.overlaps(theirs)))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> WorkPath {
        text.parse().expect("a path")
    }
    fn artifact(text: &str) -> Artifact {
        text.parse().expect("an artifact")
    }

    #[test]
    fn a_path_is_kept_in_plain_form() {
        for (text, plain) in [("a", "a"), ("./a//b/", "a/b"), (".", "."), ("./", ".")] {
            assert_eq!(path(text).as_str(), plain);
        }
    }

    #[test]
    fn a_path_that_could_leave_the_workspace_is_refused() {
        for bad in ["", "/etc/passwd", "../x", "a/../../x", "a/../..", "~/x", "a\0b", "a\u{1b}[2J"]
        {
            assert!(bad.parse::<WorkPath>().is_err(), "{bad:?} was taken as a path");
        }
    }

    #[test]
    fn an_artifact_covers_itself_and_a_folder_covers_what_is_below() {
        assert!(artifact("src/a.rs").covers(&path("src/a.rs")));
        assert!(!artifact("src/a.rs").covers(&path("src/a.rs.bak")));
        assert!(artifact("src/").covers(&path("src/x/y.rs")));
        assert!(!artifact("src/").covers(&path("srcx/y.rs")));
        assert!(artifact("./").covers(&path("anything")));
    }

    #[test]
    fn scopes_overlap_when_any_path_could_be_in_both() {
        assert!(artifact("src/").overlaps(&artifact("src/a.rs")));
        assert!(artifact("src/a.rs").overlaps(&artifact("src/")));
        assert!(!artifact("src/a.rs").overlaps(&artifact("src/b.rs")));
        assert!(artifact("./").overlaps(&artifact("docs/")));
        assert!(!Scope::default().overlaps(&Scope(vec![artifact("./")])));
    }
}
