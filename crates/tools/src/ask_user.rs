//! `ask_user`: a question to the user. The tool only marks the call as a question; the driver of the conversation
//! waits for the answer and returns it as the result.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{Access, CallFacts, Repeat};

use crate::ToolContext;
use crate::typed::{Reply, Typed, facts};

const MAX_CHARS: usize = 4000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// What you need to know, in a sentence or two.
    #[schemars(length(min = 1))]
    question: String,
    /// Answers to choose from, if there are only a few.
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct AskUser;

#[async_trait]
impl Typed for AskUser {
    type Arguments = Arguments;
    const NAME: &'static str = "ask_user";
    const DESCRIPTION: &'static str = "Asks the person a question and waits for the answer. \
        Use it only for what you cannot find out or decide yourself.";

    fn facts(&self, args: &Arguments) -> Result<CallFacts, String> {
        let all = args.options.iter().chain([&args.question]);
        if all.map(|text| text.chars().count()).sum::<usize>() > MAX_CHARS {
            return Err(format!("the question is too long; {MAX_CHARS} characters at most"));
        }
        let mut asked = args.question.clone();
        if !args.options.is_empty() {
            let numbered = args.options.iter().zip(1..);
            let numbered: Vec<String> = numbered.map(|(one, at)| format!("{at} {one}")).collect();
            asked.push_str(&format!(" ({})", numbered.join(" / ")));
        }
        Ok(CallFacts { command: Some(asked), ..facts(Access::Ask, Vec::new(), Repeat::Safe) })
    }

    async fn act(&self, _args: Arguments, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        Err("there is nobody here who could be asked; decide yourself".to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_shown_with_their_numbers() {
        let options = vec!["anywhere".to_owned(), "at a dash".to_owned()];
        let args = Arguments { question: "Cut?".to_owned(), options };
        let asked = AskUser.facts(&args).expect("it is short").command;
        assert_eq!(asked.as_deref(), Some("Cut? (1 anywhere / 2 at a dash)"));
    }
}
