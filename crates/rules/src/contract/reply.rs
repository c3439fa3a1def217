//! What the contracts share: the result of reading a reply, why one is invalid, and how paths, ids and texts in it are
//! checked.

use serde_json::Value;
use types::{Contracts, Fault, WorkPath};

/// What a reply comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// What the role hands in.
    pub submission: Value,
    /// Files that are written before it is handed in: all of them, or it is not handed in.
    pub writes: Vec<Write>,
    /// What was overlooked, where a reply need not be JSON alone.
    pub overlooked: Option<String>,
}

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

/// Why a reply is not taken.
pub(super) enum Invalid {
    /// It is not what the contract says.
    Shape(String),
    /// It would reach beyond what the task may.
    Scope(String),
    /// The agent says that it was not given enough.
    Insufficient(String),
    /// The agent says that it cannot be done, for another reason.
    Gave(String),
    /// The agent says what went wrong.
    Fault(Fault),
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
        // Some file systems do not tell capital letters from small ones.
        let mut names = path.components();
        folder.components().all(|one| names.next().is_some_and(|n| n.eq_ignore_ascii_case(one)))
    };
    match policy.closed.iter().find(lies_in) {
        Some(folder) => Err(format!("{path} is in {folder}/, which no agent writes to")),
        None => Ok(path),
    }
}

/// A path of the workspace as replies name it; nothing if they cannot.
pub fn outside<'a>(policy: &Contracts, path: &'a WorkPath) -> Option<&'a str> {
    match &policy.root {
        Some(root) if !root.is_root() => {
            path.as_str().strip_prefix(root.as_str())?.strip_prefix('/')
        }
        _ => Some(path.as_str()),
    }
}

/// A reply repeats the ids that it was given.
pub(super) fn echo(name: &str, said: &str, input: &Value) -> Result<(), String> {
    let asked = input[name].as_str().unwrap_or_default();
    if said == asked {
        return Ok(());
    }
    let said = short(said);
    Err(format!("{name} is {said:?}, and it was asked about {asked:?}"))
}

/// A text that is there and not too long.
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

/// So much of a text as belongs into a sentence.
pub(super) fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
