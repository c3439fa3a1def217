//! Declares what is out of reach when a workspace is opened: files hidden by policy, locations of keys, Bosun's own
//! state.

use std::path::PathBuf;
use std::sync::Arc;

use types::WorkPath;

use super::LocalEnvironment;
use crate::EnvError;
use crate::search::Hidden;

impl LocalEnvironment {
    /// Keeps the content of files that match these globs from being read, under any name or through any link; confined
    /// commands see them empty.
    pub fn hiding(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.hiding(patterns))
    }

    /// Lets commands and searches see files with passwords, such as `.env`, that match these globs.
    pub fn revealing(self, patterns: &[&str]) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| hidden.revealing(patterns))
    }

    /// Keeps these paths of the machine out of reach, as far as they are in the workspace.
    pub fn keeping_out(self, places: &[PathBuf]) -> Result<Self, EnvError> {
        let inside =
            places.iter().filter_map(|place| place.strip_prefix(&self.root).ok()?.to_str());
        let inside = inside.filter(|place| !place.is_empty()).map(str::to_owned).collect();
        self.with_hidden(|hidden| Ok(hidden.keeping_out(inside)))
    }

    /// Lets these files be read although they are named like keys: the user has committed them.
    pub fn trusting(self, tracked: Vec<WorkPath>) -> Result<Self, EnvError> {
        self.with_hidden(|hidden| Ok(hidden.tracking(tracked)))
    }

    /// Disables the search for keys and passwords: for a folder that contains only committed files.
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
