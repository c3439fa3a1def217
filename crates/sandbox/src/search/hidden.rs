//! Decides which files of a workspace are out of reach, by their real paths: files hidden by policy, locations of keys
//! and passwords, and Bosun's own state if it is inside. A file that the user has committed is no secret from readers
//! of the history, so it stays readable; this module does not ask git which files those are.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use globset::GlobMatcher;
use types::{Sensitive, WorkPath};

use super::pattern::glob_of;
use crate::error::EnvError;

/// Rules for what is out of reach in a workspace.
#[derive(Debug, Clone)]
pub(crate) struct Hidden {
    globs: Vec<GlobMatcher>,
    /// Files with passwords that are readable nevertheless.
    readable: Vec<GlobMatcher>,
    /// Bosun's own state, if it is in the workspace.
    own: Vec<String>,
    /// Files that agents may read and not change, beside those that are known by their names.
    closed: Vec<String>,
    /// Whether keys and passwords are looked for.
    secrets: bool,
    /// Committed files.
    tracked: BTreeSet<String>,
    /// Files that contained a key when the workspace was opened; files that agents create later are their own.
    keys: OnceLock<BTreeSet<String>>,
}

/// Access of commands to a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Commands see the file empty, or nothing in the folder.
    pub(crate) masked: bool,
    /// A location of keys, or Bosun's own state: no command may see it, however it is confined.
    pub(crate) never: bool,
    /// A file that makes other programs run something.
    pub(crate) settings: bool,
}

impl Default for Hidden {
    fn default() -> Self {
        let (globs, readable, own, closed) = (vec![], vec![], vec![], vec![]);
        let (tracked, keys) = (BTreeSet::new(), OnceLock::new());
        Self { globs, readable, own, closed, secrets: true, tracked, keys }
    }
}

impl Hidden {
    pub(crate) fn hiding(mut self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.globs = patterns.iter().map(|pattern| glob_of(pattern)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    pub(crate) fn revealing(mut self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.readable =
            patterns.iter().map(|pattern| glob_of(pattern)).collect::<Result<_, _>>()?;
        Ok(self)
    }

    pub(crate) fn keeping_out(mut self, own: Vec<String>) -> Self {
        self.own = own;
        self
    }

    pub(crate) fn closing(mut self, closed: Vec<String>) -> Self {
        self.closed = closed;
        self
    }

    pub(crate) fn tracking(mut self, tracked: impl IntoIterator<Item = WorkPath>) -> Self {
        let text = |path: WorkPath| path.as_str().to_owned();
        self.tracked = tracked.into_iter().map(text).collect();
        self
    }

    pub(crate) fn without_secrets(mut self) -> Self {
        self.secrets = false;
        self
    }

    /// Decides the access of commands to a path.
    pub(crate) fn judge(&self, path: &str, folder: bool) -> Judged {
        let kind = Sensitive::of_text(path);
        let own = self.is_own(path);
        let open = !self.secrets || self.tracked.contains(path);
        let is_key = || self.keys.get().is_some_and(|keys| keys.contains(path));
        let never = own || (!open && (kind == Some(Sensitive::Credentials) || is_key()));
        let passwords = !open && kind == Some(Sensitive::EnvFile) && !self.is_readable(path);
        let masked = never || (!folder && (self.withholds(path) || passwords));
        let settings = matches!(kind, Some(Sensitive::Settings | Sensitive::OwnSettings))
            || self.closed.iter().any(|closed| closed == path);
        Judged { masked, never, settings: settings && !folder }
    }

    /// Whether no agent may read the content of a file.
    pub(crate) fn covers(&self, path: &str) -> bool {
        self.hides(path) || (self.is_secret(path) && !self.tracked.contains(path))
    }

    /// Whether a policy hides a file, or it is Bosun's own. For git's output: what git shows was committed, so names of
    /// keys do not matter.
    pub(crate) fn hides(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path)) || self.is_own(path)
    }

    /// Whether a policy withholds a file: for agents, it does not exist.
    pub(crate) fn withholds(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(path))
    }

    /// Whether a policy withholds everything in a folder, whatever the names.
    pub(crate) fn withholds_all_of(&self, folder: &str) -> bool {
        self.withholds(&format!("{folder}/\u{1}"))
    }

    /// Whether commands and searches see a file empty: covered files, and files with passwords, which can be read only
    /// by name.
    pub(crate) fn masks(&self, path: &str) -> bool {
        self.judge(path, false).masked
    }

    /// Why a path must not be written to, deleted or moved; `None` if it may.
    pub(crate) fn closes(&self, path: &WorkPath) -> Option<&'static str> {
        let text = path.as_str();
        if self.is_own(text) {
            return Some("is Bosun's own state");
        }
        if self.closed.iter().any(|closed| closed == text) {
            return Some("has the rules of runs");
        }
        if self.secrets && self.keys.get().is_some_and(|keys| keys.contains(text)) {
            return Some("holds a private key or a token");
        }
        let kind = Sensitive::of(path).filter(|_| self.secrets);
        kind.filter(|kind| matches!(kind, Sensitive::Credentials | Sensitive::OwnSettings))
            .map(Sensitive::says)
    }

    /// Whether only the content of a file can tell if it contains a key.
    pub(crate) fn may_hold_key(&self, path: &str) -> bool {
        self.secrets
            && Sensitive::may_hold_key(path)
            && !self.tracked.contains(path)
            && !self.is_readable(path)
    }

    /// Records which files contain a key; only the first call counts.
    pub(crate) fn note_keys(&self, keys: impl FnOnce() -> BTreeSet<String>) {
        if self.secrets {
            self.keys.get_or_init(keys);
        }
    }

    /// Whether files are hidden by anything but their names and content, so that every folder has to be searched.
    pub(crate) fn has_globs(&self) -> bool {
        !self.globs.is_empty() || !self.own.is_empty()
    }

    /// Whether keys and passwords are looked for.
    pub(crate) fn finds_secrets(&self) -> bool {
        self.secrets
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.has_globs() && !self.secrets
    }

    fn is_own(&self, path: &str) -> bool {
        self.own.iter().any(|own| {
            path.strip_prefix(own.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn is_secret(&self, path: &str) -> bool {
        self.secrets
            && (Sensitive::of_text(path) == Some(Sensitive::Credentials)
                || self.keys.get().is_some_and(|keys| keys.contains(path)))
    }

    fn is_readable(&self, path: &str) -> bool {
        self.readable.iter().any(|glob| glob.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_covered_unless_a_person_committed_them() {
        let hidden = Hidden::default().tracking(["tests/id_rsa".parse().expect("a path")]);
        assert!(hidden.covers(".ssh/config") && hidden.covers("keys/id_rsa"));
        assert!(!hidden.covers("tests/id_rsa") && !hidden.covers("src/a.rs"));
        let why = hidden.closes(&"tests/id_rsa".parse().expect("a path"));
        assert!(why.is_some(), "readable, but for no agent to write");
        hidden.note_keys(|| ["tls/server.key".to_owned()].into());
        assert!(hidden.covers("tls/server.key") && !hidden.covers("tls/new.key"));
    }

    #[test]
    fn passwords_are_masked_for_commands_and_read_by_name() {
        let hidden = Hidden::default();
        assert!(hidden.masks(".env") && !hidden.covers(".env") && !hidden.masks(".env.example"));
        let shown = Hidden::default().revealing(&["**/.env"]).expect("a glob");
        assert!(!shown.masks(".env") && !shown.masks("api/.env") && shown.masks(".env.local"));
        let shown = Hidden::default().revealing(&["**"]).expect("a glob");
        assert!(shown.masks(".ssh/id_rsa"), "places for keys are not opened");
    }

    #[test]
    fn our_own_state_is_closed_wherever_it_is() {
        let hidden = Hidden::default().keeping_out(vec!["state".to_owned()]).without_secrets();
        assert!(hidden.covers("state/journal.db") && hidden.covers("state"));
        assert!(!hidden.covers("states/x"));
        assert!(hidden.closes(&"state/x".parse().expect("a path")).is_some());
    }
}
