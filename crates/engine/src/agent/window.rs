//! How full the model's window is, as counts and texts. When room is made in it is decided in `context_window`.

use std::collections::VecDeque;

use types::{Message, Part, Usage};

/// What the model is told when it is asked for a summary.
pub(super) const SUMMARISE: &str = include_str!("../../../../prompts/compact.md");
/// About how many bytes of text are a token.
pub(super) const BYTES_A_TOKEN: u64 = 4;
/// How many of the person's words are kept, and how much of each.
const MOST_WORDS: usize = 20;
const LONGEST_WORDS: usize = 4_000;
/// What the model is told of a reply that was cut off at its longest.
pub(super) const AFTER_CUT: &str = "[Your reply was cut off here, because it had reached the most tokens for one reply. Continue \
                         exactly where it ends and repeat nothing.]";

/// How full the window is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ContextWindow {
    /// How many tokens the model takes, where that is known.
    pub(super) window: Option<u64>,
    /// What the provider counted for the last turn, and how many bytes had been said by then.
    pub(super) counted: Option<(u64, u64)>,
    /// A warning was given.
    pub(super) warned: bool,
    /// The outputs of old calls are already left out, up to this message.
    pub(super) trimmed: usize,
    /// The model said that it was too much, and room was made for that.
    pub(super) recovered: bool,
    /// What the person said, in order: the first is the goal.
    pub(super) words: VecDeque<String>,
}

impl ContextWindow {
    pub(super) fn new(window: Option<u64>) -> Self {
        Self {
            window,
            counted: None,
            warned: false,
            trimmed: 0,
            recovered: false,
            words: VecDeque::new(),
        }
    }

    pub(super) fn remember(&mut self, text: &str) {
        if self.words.len() == MOST_WORDS {
            // The goal stays.
            self.words.remove(1);
        }
        self.words.push_back(text.chars().take(LONGEST_WORDS).collect());
    }

    /// Whether the provider has counted what was sent last.
    pub(super) fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// What the provider counted says nothing about what will be sent now.
    pub(super) fn forget_count(&mut self) {
        self.counted = None;
    }

    /// Takes over what the provider counted.
    pub(super) fn count(&mut self, usage: Usage, bytes: u64) {
        if usage.total() > 0 {
            self.counted = Some((usage.total(), bytes));
        }
        self.recovered = false;
    }
}

/// Whether a message asks the model to continue the reply before it.
pub(super) fn asks_to_continue(message: &Message) -> bool {
    let Message::User { parts } = message else { return false };
    matches!(parts.as_slice(), [Part::Text { text }] if text == AFTER_CUT)
}
