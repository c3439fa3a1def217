//! A conversation as design document 003 (docs/differences.md) views it: its configuration, and its history as turns of
//! five kinds, read from the log. The history sent to the model may be shorter.

use std::collections::BTreeMap;

use serde::Serialize;
use types::{
    Block, Brief, CallId, CallOutcome, Effort, Envelope, Event, ModelReply, Policy, SessionId,
    Telling,
};

use rules::truncate::Cut;

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Turn {
    User {
        content: String,
    },
    Assistant {
        content: Vec<Block>,
    },
    ToolResults {
        results: Vec<ToolResultEntry>,
    },
    System {
        content: String,
    },
    /// Said while the agent worked, by a person or by the loop.
    Steering {
        content: String,
    },
}

/// The result of one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultEntry {
    pub tool_call_id: String,
    pub output: String,
    pub is_error: bool,
}

/// The settings of a conversation, in the document's names. Times are in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionConfig {
    pub model: String,
    pub provider: String,
    pub max_tool_rounds_per_input: u32,
    pub max_turns: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window_size: Option<u64>,
    /// Maximum number of characters, and of lines, of each tool's output that are sent to the model.
    pub tool_output_limits: BTreeMap<String, usize>,
    pub tool_line_limits: BTreeMap<String, usize>,
    pub loop_detection_window: usize,
    pub max_subagent_depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_command_timeout: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_instruction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<Effort>,
}

impl SessionConfig {
    /// The configuration of a conversation with this brief under this policy.
    #[must_use]
    pub fn of(brief: &Brief, policy: &Policy) -> Self {
        let cut = |tool: &String| Cut::of(tool, &policy.tools, brief.output_chars);
        let lines = |tool: &String| Some((tool.clone(), cut(tool).lines?));
        let profile = rules::profile::of(policy, &brief.role, &brief.model);
        let timeout = policy.tools.command_timeout_ms.or(profile.command_timeout_ms);
        Self {
            model: brief.model.name().to_owned(),
            provider: brief.model.provider().to_owned(),
            max_tool_rounds_per_input: policy.session.max_rounds,
            max_turns: brief.max_turns,
            context_window_size: brief.window.or(policy.session.window),
            tool_output_limits: brief.tools.iter().map(|t| (t.clone(), cut(t).chars)).collect(),
            tool_line_limits: brief.tools.iter().filter_map(lines).collect(),
            loop_detection_window: policy.session.loop_window,
            max_subagent_depth: policy.session.agent_depth,
            default_command_timeout: timeout.map(|time| time.0),
            user_instruction: brief.instruction.clone(),
            working_directory: brief.folder.clone(),
            reasoning_effort: brief.effort,
        }
    }
}

/// Collects the turns of a conversation from its log, without those of sub-agents.
#[derive(Debug, Default)]
pub struct Turns {
    turns: Vec<Turn>,
    /// The calls of the last reply, in order, with the results so far.
    open: Vec<(CallId, Option<ToolResultEntry>)>,
    /// Steering messages, and queued follow-ups.
    steering: Vec<String>,
    next: Vec<String>,
    busy: bool,
}

impl Turns {
    /// Adds a line of the log.
    pub fn line(&mut self, line: &Envelope) {
        match &line.event {
            Event::SessionStarted { session: SessionId::ROOT, brief, .. } => self.began(brief),
            Event::SessionTold { session: SessionId::ROOT, how, text, .. } => self.told(*how, text),
            Event::SessionWarned { session: SessionId::ROOT, say: Some(say), .. } => {
                self.turns.push(Turn::Steering { content: say.clone() });
            }
            Event::ModelReplied { session: SessionId::ROOT, turn, reply, .. } => {
                self.replied(*turn, reply);
            }
            Event::ToolFinished { call, outcome, output, note, .. } => {
                self.answered(*call, *outcome, &output.noted(note.as_deref()));
            }
            Event::ToolRefused { call, outcome, decision, .. } => {
                self.answered(*call, *outcome, &decision.reason);
            }
            Event::ToolLost { call, workspace, recovered } => {
                self.answered(*call, CallOutcome::of(*recovered), workspace);
            }
            Event::SessionPaused { session: SessionId::ROOT, .. } => self.rested(),
            _ => {}
        }
    }

    /// The turns so far.
    #[must_use]
    pub fn into_turns(self) -> Vec<Turn> {
        self.turns
    }

    fn began(&mut self, brief: &Brief) {
        self.turns.push(Turn::System { content: brief.system.clone() });
        if !brief.task.is_empty() {
            self.user(brief.task.clone());
        }
    }

    fn user(&mut self, content: String) {
        self.busy = true;
        self.turns.push(Turn::User { content });
    }

    fn told(&mut self, how: Telling, text: &str) {
        match how {
            _ if !self.busy => self.user(text.to_owned()),
            Telling::Steer if self.open.is_empty() => {
                self.turns.push(Turn::Steering { content: text.to_owned() });
            }
            Telling::Steer => self.steering.push(text.to_owned()),
            Telling::Submit | Telling::FollowUp => self.next.push(text.to_owned()),
        }
    }

    fn replied(&mut self, turn: u32, reply: &ModelReply) {
        self.turns.push(Turn::Assistant { content: reply.blocks.clone() });
        let id = |index| CallId { session: SessionId::ROOT, turn, index };
        self.open = reply.calls().zip(0..).map(|(_, index)| (id(index), None)).collect();
        if self.open.is_empty() {
            self.rested();
        }
    }

    fn rested(&mut self) {
        self.flush();
        self.busy = false;
        if !self.next.is_empty() {
            let content = self.next.remove(0);
            self.user(content);
        }
    }

    fn answered(&mut self, call: CallId, outcome: CallOutcome, output: &str) {
        let open = self.open.iter_mut().find(|(id, result)| *id == call && result.is_none());
        let Some((_, result)) = open else { return };
        let (tool_call_id, output) = (call.to_string(), output.to_owned());
        let is_error = outcome != CallOutcome::Ok;
        *result = Some(ToolResultEntry { tool_call_id, output, is_error });
        if self.open.iter().all(|(_, result)| result.is_some()) {
            self.flush();
        }
    }

    /// Moves the results into the history, followed by steering messages.
    fn flush(&mut self) {
        let results: Vec<_> =
            std::mem::take(&mut self.open).into_iter().filter_map(|(_, result)| result).collect();
        if !results.is_empty() {
            self.turns.push(Turn::ToolResults { results });
        }
        let said = std::mem::take(&mut self.steering);
        self.turns.extend(said.into_iter().map(|content| Turn::Steering { content }));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use types::{By, Digest, RunId};

    use super::*;
    use crate::agent::testing::{open_brief, policy};
    use crate::testing::Bench;

    fn turns(lines: &str) -> Vec<Value> {
        let mut bench = Bench::of(crate::Attempt::new(std::sync::Arc::new(policy())));
        bench.send(&types::Input::Brief(Box::new(open_brief())));
        bench.tell(lines);
        let mut turns = Turns::default();
        for (event, at) in &bench.log {
            turns.line(&Envelope {
                v: Envelope::VERSION,
                seq: 1,
                at: *at,
                run: RunId::fixed("r_turns"),
                attempt: None,
                by: By::engine(),
                prev: Digest::ZERO,
                event: event.clone(),
            });
        }
        let turns = turns.into_turns();
        turns.iter().map(|turn| serde_json::to_value(turn).expect("JSON")).collect()
    }

    /// A64: the five kinds of turns, in the order the model sees them.
    #[test]
    fn a_conversation_has_turns_of_five_kinds() {
        let turns = turns(
            "submit Look\nmodel calls read_file a + read_file b\nsteer Only a\nfollow_up And c?\ntool c1 error\n\
             tool c0 ok\nmodel says Seen.\nmodel says Also c.",
        );
        let kinds: Vec<&str> = turns.iter().filter_map(|turn| turn["kind"].as_str()).collect();
        let wanted = [
            "system",
            "user",
            "assistant",
            "tool_results",
            "steering",
            "assistant",
            "user",
            "assistant",
        ];
        assert_eq!(kinds, wanted);
        let results = &turns[3]["results"];
        assert_eq!(results[0]["toolCallId"], "s1.t1.c0");
        assert_eq!((&results[0]["isError"], &results[1]["isError"]), (&false.into(), &true.into()));
        assert_eq!(turns[4]["content"], "Only a");
        assert_eq!(turns[6]["content"], "And c?");
        assert!(turns[2]["content"].is_array());
    }

    /// A64: the document's names, with their defaults.
    #[test]
    fn the_configuration_has_the_documents_names() {
        let mut policy = policy();
        policy.tools.command_timeout_ms = Some(types::Millis::seconds(20));
        let brief = Brief { folder: Some("/w".to_owned()), ..open_brief() };
        let config = serde_json::to_value(SessionConfig::of(&brief, &policy)).expect("JSON");
        assert_eq!(config["defaultCommandTimeout"], 20_000);
        assert_eq!(config["maxToolRoundsPerInput"], policy.session.max_rounds);
        assert_eq!(config["toolOutputLimits"]["shell"], 30_000);
        assert_eq!(config["toolLineLimits"]["shell"], 256);
        assert_eq!(config["workingDirectory"], "/w");
        for name in ["model", "provider", "maxTurns", "loopDetectionWindow", "maxSubagentDepth"] {
            assert!(config.get(name).is_some(), "{name} in {config}");
        }
    }
}
