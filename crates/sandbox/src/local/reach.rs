//! What of a workspace is out of reach, said when it is opened: what a policy hides, places for keys, our own state.

use std::path::PathBuf;
use std::sync::Arc;

use types::WorkPath;

use super::LocalEnvironment;
use crate::EnvError;
use crate::search::Hidden;

impl LocalEnvironment {
    /// Keeps the content of files that fit these globs from being read, by whatever name or link; commands see
    /// them empty where they are confined.
    pub fn hiding(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.hiding(patterns))
    }

    /// Lets files with passwords that fit these globs, such as `.env`, be seen by commands and searches.
    pub fn revealing(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.revealing(patterns))
    }

    /// Keeps these places of the machine out of reach, as far as they lie in the workspace.
    pub fn keeping_out(self, places: &[PathBuf]) -> Result<Self, EnvError> {
        let inside =
            places.iter().filter_map(|place| place.strip_prefix(&self.root).ok()?.to_str());
        let inside = inside.filter(|place| !place.is_empty()).map(str::to_owned).collect();
        self.with_hidden(|hidden| Ok(hidden.keeping_out(inside)))
    }

    /// Lets these files be read although they are named like keys: a person has committed them.
    pub fn trusting(self, tracked: Vec<WorkPath>) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| Ok(hidden.tracking(tracked)))
    }

    /// Looks for no keys and passwords: for a folder in which only what was committed is.
    pub fn without_secrets(self) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| Ok(hidden.without_secrets()))
    }

    fn with_hidden(
        mut self,
        change: impl FnOnce(Hidden) -> Result<Hidden, EnvError>,
    ) -> Result<Self, EnvError> {
        self.hidden = Arc::new(change((*self.hidden).clone())?);
        self.names = Arc::default();
        Ok(self)
    }
}
