//! Rough token estimate: a quarter of the characters. Used only where the provider did not count.

use types::{Arguments, Block, BlockBody, Message, ModelRequest, Part};

const CHARACTERS_PER_TOKEN: u64 = 4;

/// Estimated tokens of the system prompt and the messages of a request.
#[must_use]
pub fn estimate_input(request: &ModelRequest) -> u64 {
    let said: u64 = request.messages.iter().map(|message| message_characters(message)).sum();
    tokens(characters(&request.system).saturating_add(said))
}

pub(crate) fn estimate_blocks(blocks: &[Block]) -> u64 {
    tokens(blocks.iter().map(block_characters).sum())
}

pub(crate) const fn tokens(characters: u64) -> u64 {
    characters.div_ceil(CHARACTERS_PER_TOKEN)
}

fn characters(text: &str) -> u64 {
    text.chars().count() as u64
}

fn message_characters(message: &Message) -> u64 {
    match message {
        Message::User { parts } | Message::Developer { parts } => {
            parts.iter().map(part_characters).sum()
        }
        Message::Assistant { blocks, .. } => blocks.iter().map(block_characters).sum(),
        Message::Results { results } => {
            results.iter().flat_map(|result| &result.parts).map(part_characters).sum()
        }
    }
}

fn part_characters(part: &Part) -> u64 {
    match part {
        Part::Text { text } => characters(text),
        // An image or a page costs about this much with every provider, regardless of its size in bytes.
        Part::Image { .. } | Part::Document { .. } => 1_500 * CHARACTERS_PER_TOKEN,
    }
}

fn block_characters(block: &Block) -> u64 {
    match &block.body {
        BlockBody::Text { text } | BlockBody::Thinking { text, .. } => characters(text),
        BlockBody::Call(call) => {
            let arguments = match &call.arguments {
                Arguments::Json(value) => characters(&value.to_string()),
                Arguments::Broken(text) => characters(text),
            };
            characters(&call.tool).saturating_add(arguments)
        }
        BlockBody::Opaque => 0,
    }
}
