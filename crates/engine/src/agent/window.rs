//! The fill level of the model's window, as counts and texts. `context_window` decides about compaction.

use std::collections::VecDeque;

use types::{BlockBody, Message, Part, Usage};

/// The instructions for a summary.
pub(super) const SUMMARISE: &str = include_str!("../../../../prompts/compact.md");
/// The estimated bytes of text per token.
pub(super) const BYTES_A_TOKEN: u64 = 4;
/// How many of the person's messages are kept, and the longest.
const MOST_WORDS: usize = 20;
const LONGEST_WORDS: usize = 4_000;
/// Sent to the model after a reply cut off at its maximum length.
pub(super) const AFTER_CUT: &str = "[Your reply was cut off here, because it had reached the most tokens for one reply. Continue \
                         exactly where it ends and repeat nothing.]";

/// The fill level of the window.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ContextWindow {
    /// The model's window in tokens, if known.
    pub(super) window: Option<u64>,
    /// The provider's count for the last turn, and the bytes sent by then; `None` if it does not describe the next
    /// request.
    pub(super) counted: Option<(u64, u64)>,
    /// A warning was given.
    pub(super) warned: bool,
    /// Outputs up to this message are already dropped.
    pub(super) trimmed: usize,
    /// The model rejected a request as too long, and compaction followed.
    pub(super) recovered: bool,
    /// The person's messages, in order: the first is the goal.
    pub(super) words: VecDeque<String>,
}

impl ContextWindow {
    pub(super) fn remember(&mut self, text: &str) {
        if self.words.len() == MOST_WORDS {
            // Keeps the goal.
            self.words.remove(1);
        }
        self.words.push_back(text.chars().take(LONGEST_WORDS).collect());
    }

    /// Stores the provider's count.
    pub(super) fn count(&mut self, usage: Usage, bytes: u64) {
        if usage.total() > 0 {
            self.counted = Some((usage.total(), bytes));
        }
        self.recovered = false;
    }
}

/// Whether a message asks the model to continue its previous reply.
pub(super) fn asks_to_continue(message: &Message) -> bool {
    let Message::User { parts } = message else { return false };
    matches!(parts.as_slice(), [Part::Text { text }] if text == AFTER_CUT)
}

/// The text of a message, if it is a reply.
pub(super) fn reply_text(message: &Message) -> Option<String> {
    let Message::Assistant { blocks, .. } = message else { return None };
    let texts = blocks.iter().filter_map(|block| match &block.body {
        BlockBody::Text { text } => Some(text.as_str()),
        _ => None,
    });
    Some(texts.collect())
}
