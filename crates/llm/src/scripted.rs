//! The scripted model: plays a `Script`, without a network and without state. Its answer is a pure
//! function of the request, so that a run that crashed and was resumed gets the same answers. Repeating a
//! request therefore repeats its fault.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use types::{
    Arguments, Block, BlockBody, Call, CallOutcome, Fault, Message, Millis, ModelReply,
    ModelRequest, StopReason, StreamItem, Usage,
};

use crate::Model;
use crate::estimate::{estimate_blocks, estimate_input};
use crate::script::{Attempt, End, Reply, Script, ScriptedPrice};

/// Polling interval for a file that a reply waits for.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A model that answers from its script.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    script: Arc<Script>,
}

impl ScriptedModel {
    #[must_use]
    pub fn new(script: Arc<Script>) -> Self {
        Self { script }
    }
}

impl Model for ScriptedModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, StreamItem> {
        let (mut text, delay, hold) = match find_reply(&self.script, &request) {
            Err(fault) => (vec![StreamItem::Failed(fault)], Millis(0), None),
            Ok(reply) => {
                (items(reply, &request, self.script.price), reply.delay, reply.hold.clone())
            }
        };
        let said = |item: &StreamItem| {
            matches!(item, StreamItem::Started | StreamItem::Text(_) | StreamItem::Thinking(_))
        };
        let middle = text.iter().position(|item| !said(item)).unwrap_or(text.len());
        let rest = text.split_off(middle);
        // A delay before the reply begins, a file before its calls and its end.
        let delayed = stream::once(async move {
            if delay.0 > 0 {
                tokio::time::sleep(delay.duration()).await;
            }
        });
        let held = stream::once(async move {
            if let Some(file) = hold {
                while !tokio::fs::try_exists(&file).await.unwrap_or(false) {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        });
        let text = delayed.flat_map(move |()| stream::iter(text.clone()));
        text.chain(held.flat_map(move |()| stream::iter(rest.clone()))).boxed()
    }
}

fn find_reply<'a>(script: &'a Script, request: &ModelRequest) -> Result<&'a Reply, Fault> {
    let turn = turns_done(request);
    let attempt = script.attempts.iter().find(|attempt| fits(attempt, request));
    attempt.and_then(|attempt| attempt.replies.get(turn)).ok_or_else(|| {
        let origin = &request.origin;
        let why = match attempt {
            None => "no [[attempt]] fits",
            Some(_) => "its [[attempt]] has no further reply",
        };
        let what = format!(
            "the script has no reply for role {}, task {}, attempt {}, turn {}: {why}",
            origin.role,
            origin.attempt.task,
            origin.attempt.n,
            turn + 1
        );
        Fault::structural("script.no_reply", what)
    })
}

fn fits(attempt: &Attempt, request: &ModelRequest) -> bool {
    let origin = &request.origin;
    attempt.role == origin.role
        && attempt.task.as_ref().is_none_or(|task| *task == origin.attempt.task)
        && attempt.n.is_none_or(|n| n.get() == origin.attempt.n)
        && attempt.session.is_none_or(|session| session.get() == origin.session.0)
}

/// Number of script turns already played. A turn whose call was cut off does not count: the model repeats
/// it, as a sensible one would.
fn turns_done(request: &ModelRequest) -> usize {
    let said =
        request.messages.iter().filter(|m| matches!(***m, Message::Assistant { .. })).count();
    // A compacted conversation has had more turns than it contains.
    let said = said.max(request.origin.turn.saturating_sub(1) as usize);
    let cut_off = request.messages.iter().filter(|message| match &***message {
        Message::Results { results } => {
            results.iter().any(|result| result.outcome == CallOutcome::Unknown)
        }
        _ => false,
    });
    said.saturating_sub(cut_off.count())
}

fn items(reply: &Reply, request: &ModelRequest, price: ScriptedPrice) -> Vec<StreamItem> {
    let mut items = vec![StreamItem::Started];
    if let Some(thought) = &reply.think {
        items.extend(pieces(thought).map(StreamItem::Thinking));
    }
    if let Some(text) = &reply.say {
        items.extend(pieces(text).map(StreamItem::Text));
    }
    let blocks = blocks(reply, request);
    let calls = blocks.iter().filter_map(|block| match &block.body {
        BlockBody::Call(call) => Some(call),
        _ => None,
    });
    for (index, call) in calls.enumerate() {
        let (wire_id, tool) = (call.wire_id.clone(), call.tool.clone());
        items.push(StreamItem::CallStarted { index, wire_id, tool });
        let json = match &call.arguments {
            Arguments::Json(value) => value.to_string(),
            Arguments::Broken(text) => text.clone(),
        };
        items.extend(pieces(&json).map(|json| StreamItem::CallArguments { index, json }));
        items.push(StreamItem::CallEnded { index });
    }
    match &reply.end {
        End::Stop(stop) => {
            let reply = finished(blocks, *stop, reply, request, price);
            items.push(StreamItem::Finished(Box::new(reply)));
        }
        End::Fault(fault) => items.push(StreamItem::Failed(fault.clone())),
        End::Cut => {}
    }
    items
}

fn blocks(reply: &Reply, request: &ModelRequest) -> Vec<Block> {
    let thought = reply.think.iter().map(|text| Block {
        body: BlockBody::Thinking { text: text.clone(), signature: None },
        native: None,
    });
    let said = reply.say.iter().map(Block::text);
    let origin = &request.origin;
    let calls = reply.calls.iter().enumerate().map(|(index, call)| {
        Block::call(Call {
            wire_id: format!("call_{}_{}_{}", origin.session.0, origin.turn, index + 1),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        })
    });
    thought.chain(said).chain(calls).collect()
}

fn finished(
    blocks: Vec<Block>,
    stop: StopReason,
    reply: &Reply,
    request: &ModelRequest,
    price: ScriptedPrice,
) -> ModelReply {
    let estimate = || Usage {
        input: estimate_input(request),
        output: estimate_blocks(&blocks),
        ..Usage::default()
    };
    let usage = reply.usage.map_or_else(estimate, |usage| usage.usage());
    ModelReply::new(blocks, stop, usage, Some(price.cost(usage)))
}

/// Splits a text into a few pieces, so that consumers see it stream.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    const PIECES: usize = 4;
    let characters: Vec<char> = text.chars().collect();
    let length = characters.len().div_ceil(PIECES).max(1);
    let pieces: Vec<String> =
        characters.chunks(length).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests;
