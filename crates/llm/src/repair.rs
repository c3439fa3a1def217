//! Makes a conversation valid for the provider it goes to next: every call has exactly one result, directly after
//! it, under a unique id that every provider accepts. Native items are sent only to the provider that wrote them,
//! and only if the block was not edited. Nothing else is changed.

use std::collections::HashSet;

use serde_json::{Value, json};
use types::{Arguments, Block, BlockBody, Call, CallOutcome, CallResult, Message, Part};

/// One entry of the conversation, ready to be encoded in a dialect.
#[derive(Debug)]
pub(crate) enum Turn<'a> {
    User(&'a [Part]),
    Developer(&'a [Part]),
    Assistant(Vec<ReplyBlock<'a>>),
    Results(Vec<Answer<'a>>),
}

/// A block of a reply, ready to be sent back.
#[derive(Debug)]
pub(crate) struct ReplyBlock<'a> {
    pub(crate) block: &'a Block,
    /// The provider's native item, if it may be sent back as it came.
    pub(crate) native: Option<&'a Value>,
    /// A call's id on the wire; empty for everything else.
    pub(crate) id: String,
}

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) id: String,
    pub(crate) tool: &'a str,
    pub(crate) outcome: CallOutcome,
    pub(crate) parts: &'a [Part],
}

impl Answer<'_> {
    /// Images and documents of the result.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(|part| !matches!(part, Part::Text { .. }))
    }

    /// Text of the result. An empty one gets a placeholder, because no provider accepts empty text.
    pub(crate) fn text(&self) -> String {
        let text = plain_text(self.parts);
        match (text.is_empty(), self.outcome) {
            (false, _) => text,
            (true, CallOutcome::Unknown) => {
                "The call was cut off; whether it took effect is not known.".to_owned()
            }
            (true, _) => "(no output)".to_owned(),
        }
    }
}

pub(crate) fn plain_text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Call arguments as the object that providers require; text that was not JSON is included as written.
pub(crate) fn argument_object(call: &Call) -> Value {
    match &call.arguments {
        Arguments::Json(Value::Object(fields)) => Value::Object(fields.clone()),
        Arguments::Json(other) => json!({ "value": other }),
        Arguments::Broken(text) => json!({ "unreadable_arguments": text }),
    }
}

/// Repairs a conversation message by message. The output depends on the message, its
/// results and the messages before it.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    ids: Ids,
}

impl Repair {
    /// Turns of the next message for this provider; `after` is the message behind it.
    pub(crate) fn turns<'a>(
        &mut self,
        message: &'a Message,
        after: Option<&'a Message>,
        provider: &str,
        dialect: &str,
    ) -> Vec<Turn<'a>> {
        match message {
            Message::User { parts } => vec![Turn::User(parts)],
            Message::Developer { parts } => vec![Turn::Developer(parts)],
            // Results are written with the calls that they answer; without calls they are dropped.
            Message::Results { .. } => vec![],
            Message::Assistant { blocks, model } => {
                let home = model.as_ref().is_some_and(|model| model.provider() == provider);
                let said: Vec<ReplyBlock<'_>> = blocks
                    .iter()
                    .map(|block| said(block, home.then_some(dialect), &mut self.ids))
                    .filter(|said| said.native.is_some() || says_something(said.block))
                    .collect();
                let results = match after {
                    Some(Message::Results { results }) => results.as_slice(),
                    _ => &[],
                };
                let answers = answers(&said, results);
                let said = (!said.is_empty()).then_some(Turn::Assistant(said));
                let answers = (!answers.is_empty()).then_some(Turn::Results(answers));
                said.into_iter().chain(answers).collect()
            }
        }
    }
}

fn said<'a>(block: &'a Block, home: Option<&str>, ids: &mut Ids) -> ReplyBlock<'a> {
    let native = block.native.as_ref().filter(|native| {
        home.is_some_and(|dialect| native.dialect == dialect) && native.fits(&block.body)
    });
    let id = match &block.body {
        BlockBody::Call(call) => ids.unique(&call.wire_id),
        _ => String::new(),
    };
    ReplyBlock { block, native: native.map(|native| &native.item), id }
}

/// Whether a block means anything to a provider that did not write it.
fn says_something(block: &Block) -> bool {
    match &block.body {
        BlockBody::Text { text } => !text.trim().is_empty(),
        BlockBody::Thinking { text, signature } => !text.is_empty() || signature.is_some(),
        BlockBody::Call(_) => true,
        BlockBody::Opaque => false,
    }
}

/// One answer per call, in the order of the calls.
fn answers<'a>(said: &[ReplyBlock<'a>], results: &'a [CallResult]) -> Vec<Answer<'a>> {
    let calls: Vec<(&Call, &str)> = said
        .iter()
        .filter_map(|said| match &said.block.body {
            BlockBody::Call(call) => Some((call, said.id.as_str())),
            _ => None,
        })
        .collect();
    // Results normally come one per call and in order; ids are needed only if one is missing.
    let in_order = results.len() == calls.len();
    let mut used = HashSet::new();
    let answers = calls.into_iter().enumerate().map(|(at, (call, id))| {
        let same = |(at, one): &(usize, &CallResult)| {
            one.wire_id == call.wire_id && one.tool == call.tool && !used.contains(at)
        };
        let found = match in_order {
            true => results.get(at).map(|one| (at, one)),
            false => results.iter().enumerate().find(same),
        };
        let (outcome, parts) = match found {
            Some((at, result)) => {
                used.insert(at);
                (result.outcome, result.parts.as_slice())
            }
            None => (CallOutcome::Unknown, &[] as &[Part]),
        };
        Answer { id: id.to_owned(), tool: &call.tool, outcome, parts }
    });
    answers.collect()
}

/// Ids already assigned. They depend only on the conversation, so request prefixes stay the same.
#[derive(Debug, Default)]
struct Ids {
    used: HashSet<String>,
}

impl Ids {
    fn unique(&mut self, wire_id: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fit = !wire_id.is_empty() && wire_id.len() <= 64 && wire_id.chars().all(plain);
        if fit && self.used.insert(wire_id.to_owned()) {
            return wire_id.to_owned();
        }
        let mut number = self.used.len() + 1;
        loop {
            let id = format!("call_{number}");
            if self.used.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
