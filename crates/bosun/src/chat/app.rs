//! The state of the chat screen: finished rows scroll away, work in progress is drawn below them. Plain state: events,
//! keys and time go in, rows and commands come out; no terminal, no session.

use std::collections::{BTreeMap, VecDeque};

use ratatui::text::Span;
use types::{Call, CallId, Effort, Grants, Millis, Timestamp};

use super::custom::Custom;
use super::editor::Editor;
use super::input_state::{Files, Granting, HistorySearch};
use super::look::{BAD, BOLD, DIM, WAITING};
use super::markdown::Markdown;
use super::past::Past;
use super::ui_command::UiCommand;
use super::visible::visible;
use super::wrap::Row;

/// How many lines of a running command are shown.
pub(crate) const TAIL: usize = 4;
/// How many rows of a question are shown; a longer one is also written above, as a whole.
pub(crate) const MOST_OF_A_QUESTION: usize = 4;
/// The most of a model's thinking that is held for the key that unfolds it.
const MOST_THOUGHT: usize = 64 * 1024;

/// Where the session stands; told by the loop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) model: String,
    pub(crate) effort: Option<Effort>,
    /// Tokens in the conversation, and how many the model can take.
    pub(crate) used: u64,
    pub(crate) window: Option<u64>,
    pub(crate) cost: Option<String>,
    pub(crate) tokens: u64,
    pub(crate) turns: u32,
    /// What was said and is not heard yet.
    pub(crate) queued: Vec<String>,
    /// The number of the question that can be answered now.
    pub(crate) question: Option<u32>,
    /// How many sub-agents are at work.
    pub(crate) agents: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    #[default]
    Idle,
    Processing,
    AwaitingInput,
    Closed,
}

/// A question that waits for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) question: u32,
    pub(crate) text: String,
    pub(crate) rule: String,
    /// It is about whether a call may be made; otherwise any text is an answer.
    pub(crate) approval: bool,
    pub(crate) call: Option<CallId>,
    /// What would have to be allowed so that it is not asked again.
    pub(crate) grants: Option<Grants>,
}

/// What the screen is told once.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) commands: Vec<Custom>,
    /// Models that can be asked.
    pub(crate) models: Vec<String>,
    /// The policy, in lines.
    pub(crate) policy: Vec<String>,
}

impl Asked {
    pub(crate) fn rows(&self) -> Vec<Row> {
        let line = |(place, line): (usize, &str)| {
            let sign = if place == 0 { "? " } else { "  " };
            let head = Span::styled(sign, WAITING.patch(BOLD));
            Row::new(vec![head, Span::styled(line.to_owned(), WAITING)]).hang(2)
        };
        visible(&self.text).lines().enumerate().map(line).collect()
    }

    /// Whether it may not fit below the conversation, on the narrowest screen.
    pub(crate) fn is_long(&self) -> bool {
        self.text.lines().count() + self.text.chars().count() / 40 > MOST_OF_A_QUESTION
    }
}

/// A call that is being made.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) call: CallId,
    pub(crate) title: String,
    pub(crate) since: Timestamp,
    pub(crate) tail: VecDeque<String>,
    /// What a command has written since its last line break.
    pub(crate) partial: String,
    pub(crate) elapsed: Millis,
}

/// Something that was said and waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) text: String,
    pub(crate) later: bool,
}

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) editor: Editor,
    pub(crate) standing: Standing,
    /// What waits for the person, in the order in which it was asked.
    pub(crate) asked: Vec<Asked>,
    pub(crate) queue: Vec<Queued>,
    pub(crate) running: Vec<Running>,
    /// The calls of the turn, until they are answered.
    pub(crate) calls: BTreeMap<CallId, Call>,
    pub(crate) text: Markdown,
    /// The text of this turn as it streamed in.
    pub(crate) streamed: String,
    pub(crate) thought: String,
    pub(crate) thinking: bool,
    /// The turn is about making room, not about the work.
    pub(crate) summarising: bool,
    /// The call whose change was shown when it was asked about.
    pub(crate) looked_at: Option<CallId>,
    /// The whole output of the last call, for the key that unfolds it.
    pub(crate) last_output: String,
    /// How long the session has been working on the current input.
    pub(crate) working: Millis,
    /// Ctrl-C was pressed once with nothing to stop.
    pub(crate) leaving: bool,
    pub(crate) known: Known,
    /// What was allowed beside the policy.
    pub(crate) granted: Grants,
    /// What is being edited before it is allowed.
    pub(crate) granting: Option<Granting>,
    pub(crate) search: Option<HistorySearch>,
    pub(crate) files: Files,
    /// Pictures out of the clipboard; their files go with the screen.
    pub(crate) pasted: Vec<tempfile::TempPath>,
    /// What the person ran, for the next input.
    pub(crate) carried: Vec<String>,
    /// A command of the person's own is running.
    pub(crate) person_runs: bool,
    /// Only a plan is made.
    pub(crate) planning: bool,
    /// The next conversation begins on an empty screen.
    pub(crate) clearing: bool,
    rows: Vec<Row>,
}

impl App {
    pub(crate) fn new(past: Past) -> Self {
        Self {
            editor: Editor::new(past),
            standing: Standing::default(),
            asked: vec![],
            queue: vec![],
            running: vec![],
            calls: BTreeMap::new(),
            text: Markdown::default(),
            streamed: String::new(),
            thought: String::new(),
            thinking: false,
            summarising: false,
            looked_at: None,
            last_output: String::new(),
            working: Millis(0),
            leaving: false,
            known: Known::default(),
            granted: Grants::default(),
            granting: None,
            search: None,
            files: Files::default(),
            pasted: vec![],
            carried: vec![],
            person_runs: false,
            planning: false,
            clearing: false,
            rows: vec![],
        }
    }

    /// With what is known from the start.
    pub(crate) fn knowing(mut self, known: Known) -> Self {
        self.known = known;
        self
    }

    /// The rows that are done and scroll away.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    pub(crate) fn say(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn say_all(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
    }

    /// Something for the person that is not part of the conversation.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.say(Row::text(text, DIM).hang(2));
    }

    /// Something that went wrong.
    pub(crate) fn problem(&mut self, text: impl Into<String>) {
        self.say(Row::text(text, BAD).hang(2));
    }

    /// What was queued and is heard by now becomes part of the conversation.
    pub(crate) fn stand(&mut self, standing: Standing) {
        if standing.state != State::Processing {
            self.working = Millis(0);
        }
        let mut left = standing.queued.clone();
        let (waiting, heard) = std::mem::take(&mut self.queue).into_iter().partition(|queued| {
            let place = left.iter().position(|text| *text == queued.text);
            place.map(|place| left.remove(place)).is_some()
        });
        self.queue = waiting;
        let heard: Vec<Queued> = heard;
        for queued in heard {
            self.say(Row::blank());
            self.say_person(&queued.text);
        }
        self.standing = standing;
    }

    /// Time has gone by.
    pub(crate) fn pass(&mut self, span: Millis) {
        if self.standing.state == State::Processing {
            self.working = Millis(self.working.0 + span.0);
        }
        for running in &mut self.running {
            running.elapsed = Millis(running.elapsed.0 + span.0);
        }
    }

    /// Something that was recorded before we came: what was queued then was heard long ago.
    pub(crate) fn recall(&mut self, line: &types::Envelope) {
        self.on_event(line);
        for queued in std::mem::take(&mut self.queue) {
            self.say(Row::blank());
            self.say_person(&queued.text);
        }
    }

    pub(crate) fn think(&mut self, piece: &str) {
        self.thinking = true;
        if self.thought.len() < MOST_THOUGHT {
            self.thought.push_str(piece);
        }
    }

    /// The wish came to nothing: what was typed comes back, if there is room.
    pub(crate) fn give_back(&mut self, ui_command: &UiCommand, why: &str) {
        self.problem(types::one_line(why, 300));
        if let UiCommand::Submit(text) | UiCommand::Steer(text) | UiCommand::FollowUp(text) =
            ui_command
            && self.editor.is_empty()
        {
            self.editor.set(text);
        }
    }

    /// The question that can be answered now.
    pub(crate) fn question(&self) -> Option<&Asked> {
        let open = |asked: &&Asked| Some(asked.question) == self.standing.question;
        self.asked.iter().find(open).or(self.asked.first())
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.standing.state, State::Processing | State::AwaitingInput)
    }
}
