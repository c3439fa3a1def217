//! Tools that touch nothing: a call only describes what is wanted of the conversation, or of its driver. `spawn_agent`,
//! `send_input`, `wait`, `close_agent`: the conversation itself starts, messages, awaits and ends sub-agents. `ask_user`:
//! the driver waits for the user's answer and returns it as the result. `submit`: the engine takes a role's result from
//! the call itself.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use types::{Access, AgentCall, CallFacts, Inspection, Repeat, Scope, Spawn, ToolOutput, ToolSpec};

use crate::typed::{Reply, Typed};
use crate::{Tool, ToolContext};

const MAX_CHARS: usize = 20_000;
const MAX_QUESTION_CHARS: usize = 4000;

fn wants(agent: AgentCall) -> CallFacts {
    CallFacts { agent: Some(agent), ..CallFacts::new(Access::Agent, Repeat::Safe) }
}

fn short_enough(text: &str) -> Result<String, String> {
    if text.chars().count() > MAX_CHARS {
        return Err(format!("the text is too long; {MAX_CHARS} characters at most"));
    }
    Ok(text.to_owned())
}

/// The conversation handles calls about agents; one that reaches a tool's `act` has no sub-agents to act on.
fn nobody() -> Result<Reply, Reply> {
    Err("there are no sub-agents here".to_owned().into())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpawnAgent {
    /// What it is to do, with everything it needs to know; it sees nothing of this conversation.
    #[schemars(length(min = 1))]
    task: String,
    /// provider/model, if it is to be another one.
    model: Option<String>,
    /// The files and folders (with a final slash) it may write to; yours if not named.
    scope: Option<Vec<String>>,
    /// The most replies it may give.
    #[schemars(range(min = 1))]
    max_turns: Option<u32>,
}

impl Typed for SpawnAgent {
    const NAME: &'static str = "spawn_agent";
    const DESCRIPTION: &'static str = "Starts a sub-agent on a task of its own, in the same workspace, while you go on. \
        Returns its number.";

    fn facts(&self) -> Result<CallFacts, String> {
        let model = self.model.as_deref().map(str::parse).transpose();
        let scope = self.scope.as_ref().map(|places| {
            places.iter().map(|place| place.parse()).collect::<Result<_, _>>().map(Scope)
        });
        Ok(wants(AgentCall::Spawn(Box::new(Spawn {
            task: short_enough(&self.task)?,
            model: model.map_err(|error: types::NotAModel| error.to_string())?,
            scope: scope.transpose().map_err(|error: types::BadPath| error.to_string())?,
            max_turns: self.max_turns,
            change: None,
        }))))
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        nobody()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SendInput {
    /// Its number.
    agent: u32,
    #[schemars(length(min = 1))]
    text: String,
}

impl Typed for SendInput {
    const NAME: &'static str = "send_input";
    const DESCRIPTION: &'static str =
        "Tells a sub-agent something more, whether it works or has finished.";

    fn facts(&self) -> Result<CallFacts, String> {
        let wanted = AgentCall::SendInput { agent: self.agent, text: short_enough(&self.text)? };
        // Sending the same text twice is not the same as sending it once.
        Ok(CallFacts { repeat: Repeat::Unknown, ..wants(wanted) })
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        nobody()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    /// The numbers of the sub-agents; all if none is named.
    #[serde(default)]
    agents: Vec<u32>,
}

impl Typed for Wait {
    const NAME: &'static str = "wait";
    const DESCRIPTION: &'static str =
        "Waits until sub-agents have finished; returns their output, success and turnsUsed.";

    fn facts(&self) -> Result<CallFacts, String> {
        Ok(wants(AgentCall::Wait { agents: self.agents.clone() }))
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        nobody()
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseAgent {
    /// Its number.
    agent: u32,
}

impl Typed for CloseAgent {
    const NAME: &'static str = "close_agent";
    const DESCRIPTION: &'static str = "Ends a sub-agent, whatever it is doing.";

    fn facts(&self) -> Result<CallFacts, String> {
        Ok(wants(AgentCall::Close { agent: self.agent }))
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        nobody()
    }
}

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
        if all.map(|text| text.chars().count()).sum::<usize>() > MAX_QUESTION_CHARS {
            return Err(format!(
                "the question is too long; {MAX_QUESTION_CHARS} characters at most"
            ));
        }
        let mut asked = self.question.clone();
        if !self.options.is_empty() {
            let numbered = self.options.iter().zip(1..);
            let numbered: Vec<String> = numbered.map(|(one, at)| format!("{at} {one}")).collect();
            asked.push_str(&format!(" ({})", numbered.join(" / ")));
        }
        Ok(CallFacts { command: Some(asked), ..CallFacts::new(Access::Ask, Repeat::Safe) })
    }

    async fn act(self, _place: &ToolContext<'_>) -> Result<Reply, Reply> {
        Err("there is nobody here who could be asked; decide yourself".to_owned().into())
    }
}

#[derive(Debug)]
pub(crate) struct Submit {
    spec: ToolSpec,
}

impl Submit {
    pub(crate) fn new() -> Self {
        let description = "Hands in your result and ends your work. Call it once, at the end.";
        Self {
            spec: ToolSpec {
                name: "submit".to_owned(),
                description: description.to_owned(),
                schema: json!({"type": "object"}),
            },
        }
    }
}

#[async_trait]
impl Tool for Submit {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, _arguments: &Value) -> Inspection {
        Inspection::Would(CallFacts::new(Access::Submit, Repeat::Safe))
    }

    async fn run(&self, _arguments: &Value, _place: &ToolContext<'_>) -> ToolOutput {
        ToolOutput::ok("the result is handed in")
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
