//! Replies that are JSON: each contract is read from the text of a reply, and either holds or is a fault. What an
//! agent says of itself is never believed here; only the shape, the sizes and the paths are judged.

mod dev;
mod edits;
mod input;
mod object;
mod plan;
mod report;
mod spec;
mod verdict;

use serde_json::Value;
use types::{Brief, Contract, Contracts, Fault, FaultClass, ReplyRule, VerifyPolicy, WorkPath};

pub(crate) use input::{compose, exit_code, opening};
pub(crate) use verdict::{Passing, Verdict};

use object::Object;

/// What a reply comes to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Taken {
    /// What the role hands in.
    pub(crate) submission: Value,
    /// Files that are written before it is handed in: all of them, or it is not handed in.
    pub(crate) writes: Vec<Write>,
    /// What was overlooked, where a reply need not be JSON alone.
    pub(crate) overlooked: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) path: WorkPath,
    pub(crate) content: String,
}

impl Taken {
    fn of(submission: Value) -> Self {
        Self { submission, writes: vec![], overlooked: None }
    }
}

/// Reads a reply by the contract of its role; nothing if the role has none. `tests` says which files are tests.
pub(crate) fn take(
    brief: &Brief,
    policy: &Contracts,
    tests: &VerifyPolicy,
    text: &str,
) -> Option<Result<Taken, Fault>> {
    Some(taken(brief, policy, tests, text, brief.reply?))
}

fn taken(
    brief: &Brief,
    policy: &Contracts,
    tests: &VerifyPolicy,
    text: &str,
    ReplyRule { contract, reading }: ReplyRule,
) -> Result<Taken, Fault> {
    let malformed = |cause: String| {
        let begins: String = text.chars().take(policy.shown_chars).collect();
        let what = format!(
            "the {}'s reply is no {}: {cause}. It begins: {begins}",
            brief.role,
            contract.as_str()
        );
        Fault::structural("contract.malformed", what)
    };
    let object = Object::find(text, policy, reading).map_err(malformed)?;
    // An agent that says it cannot do it has kept every contract.
    if let Some(reason) = object.error() {
        let reason: String = reason.chars().take(policy.text_chars).collect();
        return Err(semantic("agent.error", reason));
    }
    let input: Value = serde_json::from_str(&brief.task).unwrap_or_default();
    let taken = match contract {
        Contract::Plan => plan::take(&object, policy).map_err(Wrong::Shape),
        Contract::Edits => edits::take(&object, policy, tests, &brief.scope),
        Contract::Report => report::take(&object, &input, policy).map_err(Wrong::Shape),
        Contract::IntentSpec => spec::take(&object, &input, policy),
        Contract::DevOutput => dev::take(&object, &input, policy, &brief.scope),
        Contract::Verdict => verdict::take(&object, &input, policy).map_err(Wrong::Shape),
    };
    match taken {
        Ok(taken) => Ok(Taken { overlooked: object.overlooked, ..taken }),
        Err(Wrong::Shape(cause)) => Err(malformed(cause)),
        Err(Wrong::Fault(fault)) => Err(fault),
        Err(Wrong::Scope(what)) => Err(semantic("contract.outside_artifacts", what)),
        Err(Wrong::Insufficient(what)) => Err(semantic("agent.insufficient_input", what)),
        Err(Wrong::Gave(what)) => Err(semantic("agent.gave_up", what)),
    }
}

fn semantic(code: &str, what: String) -> Fault {
    Fault::new(FaultClass::Semantic, code, what)
}

/// Why a reply is not taken.
enum Wrong {
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
fn within(policy: &Contracts, path: &str) -> Result<WorkPath, String> {
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
fn outside<'a>(policy: &Contracts, path: &'a WorkPath) -> Option<&'a str> {
    match &policy.root {
        Some(root) if !root.is_root() => {
            path.as_str().strip_prefix(root.as_str())?.strip_prefix('/')
        }
        _ => Some(path.as_str()),
    }
}

/// A reply repeats the ids that it was given.
fn echo(name: &str, said: &str, input: &Value) -> Result<(), String> {
    let asked = input[name].as_str().unwrap_or_default();
    if said == asked {
        return Ok(());
    }
    let said = plan::short(said);
    Err(format!("{name} is {said:?}, and it was asked about {asked:?}"))
}

/// A text that is there and not too long.
fn text_fits(name: &str, text: &str, policy: &Contracts) -> Result<(), String> {
    let most = policy.text_chars;
    if text.trim().is_empty() {
        return Err(format!("{name} is empty"));
    }
    if text.len() > most && text.chars().count() > most {
        return Err(format!("{name} is longer than {most} characters"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
