//! The contract of an adviser: an opinion of a request that the rules accept. Reads the shape only; that an opinion can
//! only add questions is decided in the stage.

use serde::{Deserialize, Serialize};
use types::Contracts;

use super::object::Object;
use super::reply::{Taken, text_fits};

/// Maximum number of questions of an adviser.
const MOST_QUESTIONS: usize = 5;

/// An adviser's opinion of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    pub verdict: Opinion,
    pub reason: String,
    #[serde(default)]
    pub questions: Vec<String>,
}

/// Whether the adviser would start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    Go,
    Ask,
}

pub(super) fn take(object: &Object<'_>, policy: &Contracts) -> Result<Taken, String> {
    let advice: Advice = object.read()?;
    text_fits("reason", &advice.reason, policy)?;
    for question in &advice.questions {
        text_fits("question", question, policy)?;
    }
    match advice.verdict {
        Opinion::Ask if advice.questions.is_empty() => {
            Err("the verdict is ask, but there is no question".to_owned())
        }
        _ if advice.questions.len() > MOST_QUESTIONS => Err(format!(
            "{} questions; at most {MOST_QUESTIONS} are allowed",
            advice.questions.len()
        )),
        // Plain data always serializes.
        _ => Ok(Taken::of(serde_json::to_value(&advice).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests;
