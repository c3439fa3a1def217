//! Shared by the contracts: the result of reading a reply, the reasons for rejecting one, and the checks of paths, ids
//! and texts.

use serde_json::Value;
use types::{Contracts, Fault, FaultClass, WorkPath};

/// An accepted reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The submission of the role.
    pub submission: Value,
    /// Files to write before submitting; if one fails, nothing is submitted.
    pub writes: Vec<Write>,
    /// The deviations that a lenient reading ignored.
    pub overlooked: Option<String>,
}

/// One file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    pub path: WorkPath,
    pub content: String,
}

impl Taken {
    pub(super) fn of(submission: Value) -> Self {
        Self { submission, writes: vec![], overlooked: None }
    }
}

/// Why a reply is rejected.
pub(super) enum Invalid {
    /// It does not have the contract's shape.
    Shape(String),
    /// It exceeds the scope of the task, or the agent reports a fault.
    Fault(Fault),
}

impl From<String> for Invalid {
    fn from(cause: String) -> Self {
        Self::Shape(cause)
    }
}

pub(super) fn semantic(code: &str, what: String) -> Fault {
    Fault::new(FaultClass::Semantic, code, what)
}

/// A path of a reply as a path of the workspace.
pub(super) fn within(policy: &Contracts, path: &str) -> Result<WorkPath, String> {
    let inner: WorkPath = path.parse().map_err(|error: types::BadPath| error.to_string())?;
    let path: WorkPath = match &policy.root {
        Some(root) if !root.is_root() => {
            format!("{root}/{inner}").parse().map_err(|error: types::BadPath| error.to_string())?
        }
        _ => inner,
    };
    let lies_in = |folder: &&WorkPath| {
        // Some file systems ignore case.
        let mut names = path.components();
        folder.components().all(|one| names.next().is_some_and(|n| n.eq_ignore_ascii_case(one)))
    };
    match policy.closed.iter().find(lies_in) {
        Some(folder) => Err(format!("{path} is in {folder}/, where agents may not write")),
        None => Ok(path),
    }
}

/// A path of the workspace as replies name it; none if they cannot.
#[must_use]
pub fn outside<'a>(policy: &Contracts, path: &'a WorkPath) -> Option<&'a str> {
    match &policy.root {
        Some(root) if !root.is_root() => {
            path.as_str().strip_prefix(root.as_str())?.strip_prefix('/')
        }
        _ => Some(path.as_str()),
    }
}

/// Checks that a reply repeats the id that it was given.
pub(super) fn echo(name: &str, said: &str, input: &Value) -> Result<(), String> {
    let asked = input[name].as_str().unwrap_or_default();
    if said == asked {
        return Ok(());
    }
    let said = short(said);
    Err(format!("{name} is {said:?}, expected {asked:?}"))
}

/// Checks that a text is neither empty nor too long.
pub(super) fn text_fits(name: &str, text: &str, policy: &Contracts) -> Result<(), String> {
    let most = policy.text_chars;
    if text.trim().is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.len() > most && text.chars().count() > most {
        return Err(format!("{name} is longer than {most} characters"));
    }
    Ok(())
}

/// The beginning of a text, for use in a sentence.
pub(super) fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
