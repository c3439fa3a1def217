//! Registry of tools, by name. Looks up tools, checks calls and runs them, so that an invalid call, and a
//! tool that panics, look to the loop like any other result.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use jsonschema::Validator;
use serde_json::Value;
use types::{Arguments, Call, Inspection, ToolOutput, ToolSpec};

use crate::apply_patch::ApplyPatch;
use crate::conversation::{AskUser, CloseAgent, SendInput, SpawnAgent, Submit, Wait};
use crate::delete_file::DeleteFile;
use crate::edit_file::EditFile;
use crate::git::{GitCommand, GitCommit, GitDiff};
use crate::git_clone::GitClone;
use crate::move_file::MoveFile;
use crate::process::Process;
use crate::read_file::ReadFile;
use crate::search::{Glob, Grep, ListDir};
use crate::shell::Shell;
use crate::web::{WebFetch, WebSearch};
use crate::write_file::WriteFile;
use crate::{Tool, ToolContext, schema, tame, typed::TypedTool};

/// Tools by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    entries: BTreeMap<String, Entry>,
    /// Paths of the workspace.
    roots: Vec<String>,
}

#[derive(Debug, Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    /// Added by the program, not shipped with the product.
    own: bool,
    /// Built when the first call is checked; most tools are never called.
    validator: Arc<OnceLock<Option<Validator>>>,
}

/// Error registering a tool.
#[derive(Debug, thiserror::Error)]
pub enum Duplicate {
    #[error("there is a tool named {name} already; replace it or choose another name")]
    Name { name: String },
    #[error("the schema of the tool {name} is not a schema: {cause}")]
    Schema { name: String, cause: String },
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool named {name:?}; there are {}", known.join(", "))]
pub struct UnknownTool {
    pub name: String,
    pub known: Vec<String>,
}

impl Registry {
    /// The tools that ship with the product, under their plain names.
    #[must_use]
    pub fn standard() -> Self {
        let tools: [Arc<dyn Tool>; 23] = [
            TypedTool::<ReadFile>::shared(),
            TypedTool::<WriteFile>::shared(),
            TypedTool::<EditFile>::shared(),
            TypedTool::<ApplyPatch>::shared(),
            TypedTool::<DeleteFile>::shared(),
            TypedTool::<MoveFile>::shared(),
            TypedTool::<ListDir>::shared(),
            TypedTool::<Glob>::shared(),
            TypedTool::<Grep>::shared(),
            TypedTool::<Shell>::shared(),
            TypedTool::<GitDiff>::shared(),
            TypedTool::<GitCommit>::shared(),
            TypedTool::<GitClone>::shared(),
            TypedTool::<GitCommand>::shared(),
            TypedTool::<Process>::shared(),
            TypedTool::<WebFetch>::shared(),
            TypedTool::<WebSearch>::shared(),
            TypedTool::<AskUser>::shared(),
            TypedTool::<SpawnAgent>::shared(),
            TypedTool::<SendInput>::shared(),
            TypedTool::<Wait>::shared(),
            TypedTool::<CloseAgent>::shared(),
            Arc::new(Submit::new()),
        ];
        let mut registry = Self::default();
        for tool in tools {
            registry.put(tool);
        }
        registry
    }

    /// Adds a path of the workspace: absolute paths below it are taken for paths inside.
    #[must_use]
    pub fn rooted(mut self, root: &Path) -> Self {
        self.roots.extend(root.to_str().filter(|root| root.len() > 1).map(str::to_owned));
        self
    }

    /// Adds a tool under a name that is not in use.
    pub fn register(&mut self, tool: Arc<dyn Tool>) -> Result<(), Duplicate> {
        let name = tool.spec().name.clone();
        if self.entries.contains_key(&name) {
            return Err(Duplicate::Name { name });
        }
        self.replace(tool)
    }

    /// Adds a built-in tool, whose schema is derived from a type; a test ensures that each of these schemas is valid.
    pub(crate) fn put(&mut self, tool: Arc<dyn Tool>) {
        let name = tool.spec().name.clone();
        self.entries.insert(name, Entry { tool, own: false, validator: Arc::default() });
    }

    /// Adds a tool, replacing the one of the same name.
    pub fn replace(&mut self, tool: Arc<dyn Tool>) -> Result<(), Duplicate> {
        let ToolSpec { name, schema, .. } = tool.spec();
        let name = name.clone();
        match jsonschema::validator_for(schema) {
            Err(error) => Err(Duplicate::Schema { name, cause: error.to_string() }),
            Ok(validator) => {
                let validator = Arc::new(OnceLock::from(Some(validator)));
                self.entries.insert(name, Entry { tool, own: true, validator });
                Ok(())
            }
        }
    }

    /// Removes a tool, if it exists.
    pub fn unregister(&mut self, name: &str) -> Option<Arc<dyn Tool>> {
        self.entries.remove(name).map(|entry| entry.tool)
    }

    /// Whether a tool is the program's own: it keeps its name and its arguments in every family.
    #[must_use]
    pub fn is_own(&self, name: &str) -> bool {
        self.entries.get(name).is_some_and(|entry| entry.own)
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.entries.get(name).map(|entry| &entry.tool)
    }

    /// Name of a tool if no profile renames it.
    #[must_use]
    pub fn plain_name<'a>(&'a self, name: &'a str) -> &'a str {
        self.get(name).map_or(name, |tool| tool.plain_name())
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Definitions of the named tools, in the given order.
    pub fn specs(&self, names: &[String]) -> Result<Vec<ToolSpec>, UnknownTool> {
        names.iter().map(|name| Ok(self.entry(name)?.tool.spec().clone())).collect()
    }

    /// What a model's call would do, or why it is invalid.
    #[must_use]
    pub fn inspect(&self, call: &Call) -> Inspection {
        let arguments = match &call.arguments {
            Arguments::Json(arguments) => arguments,
            Arguments::Broken(text) => {
                let head: String = text.chars().take(80).collect();
                return Inspection::Invalid(format!(
                    "the arguments of {} are not valid JSON (they begin with {head:?}); send them again as one JSON object",
                    call.tool
                ));
            }
        };
        match self.checked(&call.tool, arguments) {
            Ok((tool, arguments)) => tool.inspect(&arguments),
            Err(complaint) => Inspection::Invalid(complaint),
        }
    }

    /// Runs a tool. Returns an output whatever happens in the tool.
    pub async fn run(&self, name: &str, arguments: &Value, place: &ToolContext<'_>) -> ToolOutput {
        let (tool, arguments) = match self.checked(name, arguments) {
            Ok(checked) => checked,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        if let Inspection::Invalid(complaint) | Inspection::Outside(complaint) =
            tool.inspect(&arguments)
        {
            return ToolOutput::error(complaint);
        }
        let work = AssertUnwindSafe(tool.run(&arguments, place)).catch_unwind();
        let mut output = work.await.unwrap_or_else(|_| {
            ToolOutput::error(format!(
                "the tool {name} broke down; this is a mistake in the tool, not in the call, and whether it took effect is not known"
            ))
        });
        if let Cow::Owned(shown) = tame::visible(&output.text) {
            output.text = shown;
            output.metadata.hidden_characters = true;
        }
        // A failed call may still have read files, and a panicked one may have written some.
        output.files = place.take_noted();
        output
    }

    fn entry(&self, name: &str) -> Result<&Entry, UnknownTool> {
        self.entries.get(name).ok_or_else(|| UnknownTool {
            name: name.chars().take(80).collect(),
            known: self.names().map(str::to_owned).collect(),
        })
    }

    fn checked<'a>(
        &self,
        name: &str,
        arguments: &'a Value,
    ) -> Result<(&Arc<dyn Tool>, Cow<'a, Value>), String> {
        let entry = self.entry(name).map_err(|unknown| unknown.to_string())?;
        let known = (!entry.own).then(|| &entry.tool.spec().schema);
        let arguments = schema::relative(schema::without_blanks(arguments, known), &self.roots);
        let complaints =
            entry.validator().map(|schema| schema::complaints(schema, name, &arguments));
        match complaints.flatten() {
            None => Ok((&entry.tool, arguments)),
            Some(complaint) => Err(complaint),
        }
    }
}

impl Entry {
    fn validator(&self) -> Option<&Validator> {
        let make = || jsonschema::validator_for(&self.tool.spec().schema).ok();
        self.validator.get_or_init(make).as_ref()
    }
}

#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod moving_tests;
#[cfg(test)]
mod secrets_tests;
#[cfg(test)]
mod tests;
