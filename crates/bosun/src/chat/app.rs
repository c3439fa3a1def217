//! The state of the chat screen: finished rows scroll away, work in progress is drawn below them. Plain state: events,
//! keys and time go in, rows and commands come out; no terminal, no session.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use ratatui::text::Span;
use types::{Call, CallId, Effort, Grants, Millis, SessionState, Timestamp, visible};

use super::custom::Custom;
use super::editor::Editor;
use super::look::{BAD, BOLD, DIM, WAITING};
use super::markdown::Markdown;
use super::past::Past;
use super::ui_command::UiCommand;
use super::wrap::Row;

/// Lines of output shown for a running command.
pub(crate) const TAIL: usize = 4;
/// Maximum rows of a question below the conversation; a longer question is also written above in full.
pub(crate) const MOST_OF_A_QUESTION: usize = 4;
/// Limit on the thinking text kept for the key that unfolds it, in bytes.
const MOST_THOUGHT: usize = 64 * 1024;

/// Status of the session, supplied by the loop.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Standing {
    pub(crate) state: SessionState,
    pub(crate) model: String,
    pub(crate) effort: Option<Effort>,
    /// Tokens in the conversation; `window` is the model's maximum.
    pub(crate) used: u64,
    pub(crate) window: Option<u64>,
    pub(crate) cost: Option<String>,
    pub(crate) tokens: u64,
    pub(crate) turns: u32,
    /// Texts queued for the session.
    pub(crate) queued: Vec<String>,
    /// The number of the question that can be answered now.
    pub(crate) question: Option<u32>,
    /// Number of working sub-agents.
    pub(crate) agents: usize,
}

/// A question that awaits an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) question: u32,
    pub(crate) text: String,
    pub(crate) rule: String,
    /// Whether it asks to approve a call; any other question takes any text as an answer.
    pub(crate) approval: bool,
    pub(crate) call: Option<CallId>,
    /// Grants that would avoid the question in future.
    pub(crate) grants: Option<Grants>,
}

/// Facts passed to the screen once, at the start.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) commands: Vec<Custom>,
    /// Available models.
    pub(crate) models: Vec<String>,
    /// The policy as lines of text.
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

    /// Whether the question may not fit below the conversation on the narrowest screen.
    pub(crate) fn is_long(&self) -> bool {
        self.text.lines().count() + self.text.chars().count() / 40 > MOST_OF_A_QUESTION
    }
}

/// A running call.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) call: CallId,
    pub(crate) title: String,
    pub(crate) since: Timestamp,
    pub(crate) tail: VecDeque<String>,
    /// Output since the last line break.
    pub(crate) partial: String,
    pub(crate) elapsed: Millis,
}

/// A text that waits for its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Queued {
    pub(crate) text: String,
    pub(crate) later: bool,
}

/// A grant being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Granting {
    pub(crate) question: u32,
    /// For every session.
    pub(crate) always: bool,
}

/// Files to be replaced, if the user says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacing {
    pub(crate) to: u64,
    pub(crate) paths: Vec<PathBuf>,
    /// A yes removes all of them: they did not exist before.
    pub(crate) removes: bool,
}

/// An ongoing search.
#[derive(Debug, Default)]
pub(crate) struct HistorySearch {
    pub(crate) query: String,
    /// Number of matches passed over.
    pub(crate) skipped: usize,
    /// Input at the start of the search.
    pub(crate) before: String,
}

/// The known files of the folder.
#[derive(Debug, Default)]
pub(crate) enum Files {
    #[default]
    Unknown,
    /// The listing is in progress.
    Wanted,
    /// Paths, each with its lower-case form.
    Found(Vec<(String, String)>),
}

#[derive(Debug, Default)]
pub(crate) struct App {
    pub(crate) editor: Editor,
    pub(crate) standing: Standing,
    /// Open questions, in the order in which they were asked.
    pub(crate) asked: Vec<Asked>,
    pub(crate) queue: Vec<Queued>,
    pub(crate) running: Vec<Running>,
    /// Calls of the turn that have no result yet.
    pub(crate) calls: BTreeMap<CallId, Call>,
    pub(crate) text: Markdown,
    /// Text of this turn as streamed so far.
    pub(crate) streamed: String,
    pub(crate) thought: String,
    pub(crate) thinking: bool,
    /// The turn compacts the context and does no work.
    pub(crate) summarising: bool,
    /// Call whose change was already shown with its question.
    pub(crate) looked_at: Option<CallId>,
    /// The whole output of the last call, for the key that unfolds it.
    pub(crate) last_output: String,
    /// How long the session has been working on the current input.
    pub(crate) working: Millis,
    /// Ctrl-C was pressed once with nothing to stop.
    pub(crate) leaving: bool,
    pub(crate) known: Known,
    /// Grants in addition to the policy.
    pub(crate) granted: Grants,
    /// The grant being edited.
    pub(crate) granting: Option<Granting>,
    /// Files that an undo left alone, and that the user is asked about.
    pub(crate) replacing: Option<Replacing>,
    pub(crate) search: Option<HistorySearch>,
    pub(crate) files: Files,
    /// Temporary files of pasted pictures, removed with the screen.
    pub(crate) pasted: Vec<tempfile::TempPath>,
    /// Commands run by the user, with their output, for the next input.
    pub(crate) carried: Vec<String>,
    /// A command started by the user is running.
    pub(crate) person_runs: bool,
    /// Plan mode is on.
    pub(crate) planning: bool,
    /// The next conversation begins on an empty screen.
    pub(crate) clearing: bool,
    rows: Vec<Row>,
}

impl App {
    pub(crate) fn new(past: Past) -> Self {
        Self { editor: Editor::new(past), ..Self::default() }
    }

    /// Takes the finished rows, which scroll away.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    pub(crate) fn say(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub(crate) fn say_all(&mut self, rows: impl IntoIterator<Item = Row>) {
        self.rows.extend(rows);
    }

    /// Adds a message to the user that is not part of the conversation.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.say(Row::text(text, DIM).hang(2));
    }

    /// Adds an error message.
    pub(crate) fn problem(&mut self, text: impl Into<String>) {
        self.say(Row::text(text, BAD).hang(2));
    }

    /// Updates the status. Queued texts that the session has read become part of the conversation.
    pub(crate) fn stand(&mut self, standing: Standing) {
        if standing.state != SessionState::Processing {
            self.working = Millis(0);
        }
        let mut left = standing.queued.clone();
        let (waiting, heard) = std::mem::take(&mut self.queue).into_iter().partition(|queued| {
            let place = left.iter().position(|text| *text == queued.text);
            place.map(|place| left.remove(place)).is_some()
        });
        self.queue = waiting;
        self.say_heard(heard);
        self.standing = standing;
    }

    fn say_heard(&mut self, heard: Vec<Queued>) {
        for queued in heard {
            self.say(Row::blank());
            self.say_person(&queued.text);
        }
    }

    /// Advances the timers.
    pub(crate) fn pass(&mut self, span: Millis) {
        if self.standing.state == SessionState::Processing {
            self.working = Millis(self.working.0 + span.0);
        }
        for running in &mut self.running {
            running.elapsed = Millis(running.elapsed.0 + span.0);
        }
    }

    /// Replays a recorded event. Texts that were queued then have been read long since.
    pub(crate) fn recall(&mut self, line: &types::Envelope) {
        self.on_event(line);
        let heard = std::mem::take(&mut self.queue);
        self.say_heard(heard);
    }

    pub(crate) fn think(&mut self, piece: &str) {
        self.thinking = true;
        if self.thought.len() < MOST_THOUGHT {
            self.thought.push_str(piece);
        }
    }

    /// Reports a failed command and returns its text to the editor, if the editor is empty.
    pub(crate) fn give_back(&mut self, ui_command: &UiCommand, why: &str) {
        self.problem(types::one_line(why, 300));
        if let UiCommand::Submit(text) | UiCommand::Steer(text) | UiCommand::FollowUp(text) =
            ui_command
            && self.editor.is_empty()
        {
            self.editor.set(text);
        }
    }

    /// The question that can be answered now, or else the first one.
    pub(crate) fn question(&self) -> Option<&Asked> {
        let open = |asked: &&Asked| Some(asked.question) == self.standing.question;
        self.asked.iter().find(open).or(self.asked.first())
    }

    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.standing.state, SessionState::Processing | SessionState::AwaitingInput)
    }
}
