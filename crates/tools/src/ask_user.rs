//! `ask_user`: a question to the user. The tool only marks the call as a question; the driver of the conversation
//! waits for the answer and returns it as the result.

use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed, facts};

const MAX_CHARS: usize = 4000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AskUser {
    /// What you need to know, in a sentence or two.
    #[schemars(length(min = 1))]
    question: String,
    /// Answers to choose from, if there are only a few.
    #[serde(default)]
    options: Vec<String>,
}

impl Typed for AskUser {
    const NAME: &'static str = "ask_user";
    const DESCRIPTION: &'static str = "Asks the person a question and waits for the answer. \
        Use it only for what you cannot find out or decide yourself.";

    fn facts(&self) -> Result<CallFacts, String> {
        let all = self.options.iter().chain([&self.question]);
        if all.map(|text| text.chars().count()).sum::<usize>() > MAX_CHARS {
            return Err(format!("the question is too long; {MAX_CHARS} characters at most"));
        }
        let mut asked = self.question.clone();
        if !self.options.is_empty() {
            let numbered = self.options.iter().zip(1..);
            let numbered: Vec<String> = numbered.map(|(one, at)| format!("{at} {one}")).collect();
            asked.push_str(&format!(" ({})", numbered.join(" / ")));
        }
        Ok(CallFacts { command: Some(asked), ..facts(Access::Ask, Vec::new(), Repeat::Safe) })
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        Err("there is nobody here who could be asked; decide yourself".to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_shown_with_their_numbers() {
        let options = vec!["anywhere".to_owned(), "at a dash".to_owned()];
        let call = AskUser { question: "Cut?".to_owned(), options };
        let asked = call.facts().expect("it is short").command;
        assert_eq!(asked.as_deref(), Some("Cut? (1 anywhere / 2 at a dash)"));
    }
}
