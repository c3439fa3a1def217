//! Contracts for JSON replies: each is parsed from the text of a reply, and a violation is a fault. Checks format,
//! sizes and paths only; an agent's claims about itself are never trusted.

mod advice;
mod dev;
mod edits;
mod object;
mod plan;
mod reply;
mod report;
mod spec;
mod verdict;

use serde_json::{Value, json};
use types::{
    Brief, Contract, Contracts, Document, Fault, ReplyRule, VerifyPolicy, one_line, visible,
};

pub use advice::{Advice, Opinion};
pub use reply::{Taken, Write, outside};
pub use verdict::{Passing, Verdict};

use object::Object;
use reply::{Invalid, semantic};

/// Parses a reply by the contract of its role; `None` if the role has no contract. `tests` defines which files are
/// tests.
#[must_use]
pub fn take(
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
            "the {}'s reply violates the contract {}: {cause}{}{begins}",
            brief.role,
            contract.as_str(),
            Fault::EXCERPT
        );
        Fault::structural("contract.malformed", what)
    };
    let object = Object::find(text, policy, reading).map_err(malformed)?;
    // A reported failure satisfies every contract.
    if let Some(reason) = object.error() {
        let reason: String = reason.chars().take(policy.text_chars).collect();
        return Err(semantic("agent.error", reason));
    }
    let input: Value = serde_json::from_str(&brief.task).unwrap_or_default();
    let taken = match contract {
        Contract::Plan => plan::take(&object, policy).map_err(Invalid::Shape),
        Contract::Edits => edits::take(&object, policy, tests, &brief.scope),
        Contract::Report => report::take(&object, &input, policy).map_err(Invalid::Shape),
        Contract::IntentSpec => spec::take(&object, &input, policy),
        Contract::DevOutput => dev::take(&object, &input, policy, &brief.scope),
        Contract::Verdict => verdict::take(&object, &input, policy).map_err(Invalid::Shape),
        Contract::Advice => advice::take(&object, policy).map_err(Invalid::Shape),
    };
    match taken {
        Ok(taken) => Ok(Taken { overlooked: object.overlooked, ..taken }),
        Err(Invalid::Shape(cause)) => Err(malformed(cause)),
        Err(Invalid::Fault(fault)) => Err(fault),
    }
}

/// The first message as it is sent, with the files that were found.
#[must_use]
pub fn opening(brief: &Brief, policy: &Contracts) -> String {
    let Some(rule) = brief.reply else { return format!("{}{}", brief.task, quoted(&brief.files)) };
    let Ok(mut input) = serde_json::from_str::<Value>(&brief.task) else {
        return brief.task.clone();
    };
    let files = brief.files.iter().filter_map(|file| {
        Some(json!({ "path": outside(policy, &file.path)?, "content": file.text }))
    });
    let files: Vec<Value> = files.collect();
    match rule.contract {
        Contract::Edits => input["context_files"] = files.into(),
        Contract::DevOutput => input["workspace"]["files"] = files.into(),
        _ => {}
    }
    input.to_string()
}

/// The end of a quoted file.
const QUOTE_ENDS: &str = "</file>";

/// Whether a file can be quoted in a message as it is: no character is hidden, and nothing in it looks like the end of
/// the quotation.
#[must_use]
pub fn is_quotable(file: &Document) -> bool {
    let text = file.text.replace('\t', " ");
    visible(&text) == text
        && !file.text.to_ascii_lowercase().contains(QUOTE_ENDS)
        && one_line(file.path.as_str(), usize::MAX) == file.path.as_str()
        && !file.path.as_str().contains('"')
}

/// The files of a task, for its agent.
fn quoted(files: &[Document]) -> String {
    let mut text = String::new();
    for Document { path, text: content } in files {
        let title = if text.is_empty() { "\n# Files as they are now\n" } else { "" };
        let line = if content.is_empty() || content.ends_with('\n') { "" } else { "\n" };
        text.push_str(&format!("{title}\n<file path=\"{path}\">\n{content}{line}{QUOTE_ENDS}\n"));
    }
    text
}

#[cfg(test)]
mod opening_tests;
#[cfg(test)]
mod tests;
