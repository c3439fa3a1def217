//! A simulated model and simulated tools: replies, the effects of calls, and their outcomes.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use types::{
    Arguments, Block, Brief, Call, CommitId, Digest, Effect, EffectId, Fault, FaultClass,
    FileState, Input, Inspection, Millis, ModelReply, ModelRequest, Outcome, Replied, Retry,
    Sealed, StopReason, ToolOutput, Usage, Used,
};

use samples::call;

use super::Bench;
use super::drive::{Drive, Outside};
use super::script::changes;
use crate::Attempt;

/// The turn being requested.
pub(crate) fn the_turn(asked: &[Effect]) -> EffectId {
    let turn = asked.iter().find(|effect| matches!(effect, Effect::AskModel { .. }));
    turn.expect("the model is being asked").id()
}

/// The turn being requested by an agent.
pub(crate) fn the_turn_of(session: types::SessionId, asked: &[Effect]) -> EffectId {
    let mut turns = asked.iter().map(Effect::id);
    turns.find(|id| matches!(id, EffectId::Model(of, _) if *of == session)).expect("it is asked")
}

/// `says hello`, `fails`, `calls read_file a.rs + shell make`
pub(crate) fn said(text: &str) -> Outcome {
    let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
    match verb {
        "says" => reply(vec![Block::text(rest)], vec![]),
        "calls" => {
            let calls: Vec<(Call, Inspection)> =
                rest.split(" + ").zip(0..).map(|(text, index)| call(text, index)).collect();
            let blocks = calls.iter().map(|(call, _)| Block::call(call.clone())).collect();
            reply(blocks, calls.into_iter().map(|(_, inspection)| inspection).collect())
        }
        "is_away" => {
            let fault = Fault::new(FaultClass::Transient, "model.overloaded", "it is overloaded");
            let retry = rest.parse().map_or(Retry::Now, |millis| Retry::After(Millis(millis)));
            Outcome::Model(Err(fault.retry(retry)))
        }
        "breaks_off" => {
            let usage = Usage { input: 100, output: 20, ..Usage::default() };
            let used = Used { usage, cost: None, estimated: true };
            let mut fault = Fault::structural("model.broken_stream", "it ended in the middle");
            fault.used = Some(Box::new(used));
            let fault = fault.saying(rest.to_owned());
            Outcome::Model(Err(fault.retry(Retry::Now)))
        }
        "is_cut" => ending(vec![Block::text(rest)], StopReason::Length),
        "refuses" => ending(vec![Block::text(rest)], StopReason::Filtered),
        "is_told" => Outcome::Model(Err(Fault::structural(rest, "the provider said no"))),
        _ => Outcome::Model(Err(Fault::structural("model.malformed", "the reply made no sense"))),
    }
}

fn ending(blocks: Vec<Block>, stop: StopReason) -> Outcome {
    let reply = ModelReply::new(blocks, stop, Usage::default(), None);
    Outcome::Model(Ok(Box::new(Replied { reply, inspections: vec![], exact: vec![] })))
}

/// A reply that took 120 tokens.
pub(crate) fn reply(blocks: Vec<Block>, inspections: Vec<Inspection>) -> Outcome {
    let usage = Usage { input: 100, output: 20, ..Usage::default() };
    let stop = if inspections.is_empty() { StopReason::End } else { StopReason::Calls };
    let reply = ModelReply::new(blocks, stop, usage, None);
    Outcome::Model(Ok(Box::new(Replied { reply, inspections, exact: vec![] })))
}

/// A simulated outside world for an attempt: the model's reply in each turn, and the outcomes of its calls.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    /// Turns that are not listed submit a result.
    turns: Vec<Turn>,
    /// The outcome of a call, by its turn and index.
    calls: Vec<u8>,
    /// A number that the model puts into its result.
    number: f64,
    seals: bool,
    pub(crate) brief: Brief,
    /// The share of its reservation that a reply uses; `None`: a constant.
    pub(crate) percent_spent: Option<u64>,
}

#[derive(Debug, Clone)]
enum Turn {
    Fails,
    /// Unavailable, possibly for a while.
    Away,
    Silent,
    Calls(Vec<&'static str>),
}

const CALLS: [&str; 8] = [
    "read_file a",
    "read_file b",
    "write_file src/a.rs",
    "write_file out.rs",
    "shell make",
    "shell git push",
    "broken",
    "teleport a",
];

pub(crate) fn talks() -> impl Strategy<Value = Talk> {
    let turn = prop_oneof![
        1 => Just(Turn::Fails),
        1 => Just(Turn::Away),
        1 => Just(Turn::Silent),
        12 => vec(prop::sample::select(&CALLS[..]), 1..6).prop_map(Turn::Calls),
        1 => vec(prop::sample::select(&CALLS[..]), 0..3).prop_map(|mut calls| {
            calls.push("submit early");
            Turn::Calls(calls)
        }),
    ];
    let number =
        prop_oneof![any::<f64>().prop_filter("JSON has no such number", |n| n.is_finite())];
    (vec(turn, 0..6), vec(0..6_u8, 1..9), number, prop::bool::weighted(0.8)).prop_map(
        |(turns, calls, number, seals)| {
            let brief = super::brief("T1.1");
            Talk { turns, calls, number, seals, brief, percent_spent: None }
        },
    )
}

impl Talk {
    pub(crate) fn fresh() -> Attempt {
        Attempt::new(Arc::new(super::crew()))
    }

    /// An attempt that has just received its brief.
    pub(crate) fn begun(&self, seed: u64) -> Drive<'_, Attempt, Self> {
        let mut bench = Bench::of(Self::fresh());
        bench.send(&Input::Brief(Box::new(self.brief.clone())));
        Drive::new(Self::fresh(), bench, self, seed)
    }

    pub(crate) fn ended(&self, seed: u64) -> Drive<'_, Attempt, Self> {
        let mut drive = self.begun(seed);
        drive.finish(|attempt| attempt.short().is_some());
        drive
    }

    fn turn(&self, request: &ModelRequest) -> Outcome {
        let turn = self.turns.get(request.origin.turn as usize - 1).cloned();
        let calls = match turn.unwrap_or(Turn::Calls(vec!["submit late"])) {
            Turn::Fails => return said("fails"),
            Turn::Away => return said("is_away"),
            Turn::Silent => return said("says nothing more"),
            Turn::Calls(calls) => calls,
        };
        let made = calls.into_iter().zip(0..).map(|(text, index)| call(text, index));
        let (mut calls, inspections): (Vec<Call>, Vec<Inspection>) = made.unzip();
        for call in calls.iter_mut().filter(|call| call.tool == "submit") {
            call.arguments = Arguments::Json(json!({"number": self.number}));
        }
        let outcome = reply(calls.into_iter().map(Block::call).collect(), inspections);
        let (Some(percent), Outcome::Model(Ok(mut replied))) =
            (self.percent_spent, outcome.clone())
        else {
            return outcome;
        };
        let sent = request.messages.iter().map(|message| json!(message).to_string().len() as u64);
        let usage = &mut replied.reply.usage;
        usage.input = sent.sum::<u64>() / 2 * percent / 100;
        usage.output = request.max_output * percent / 100;
        Outcome::Model(Ok(replied))
    }
}

/// Inspected files: every word with a dot is a file with this text.
pub(crate) fn looked(words: &[String], text: &str) -> Vec<FileState> {
    let digest = |word: &str| word.contains('.').then(|| Digest::of(text.as_bytes()));
    let state = |word: &String| Some(FileState { path: word.parse().ok()?, digest: digest(word) });
    words.iter().filter_map(state).collect()
}

impl Outside for Talk {
    fn perform(&self, effect: &Effect) -> Outcome {
        match effect {
            Effect::AskModel { request } => self.turn(request),
            Effect::Wait { .. } => Outcome::Fired,
            Effect::RunTool { call, .. } => {
                let place = (call.turn * 7 + call.index) as usize % self.calls.len();
                match self.calls[place] {
                    0 => Outcome::Tool(ToolOutput::error("it did not work")),
                    1 => Outcome::Broke(Fault::structural("tool.broke", "the tool broke down")),
                    n => Outcome::Tool(ToolOutput::ok("done ".repeat(usize::from(n)))),
                }
            }
            Effect::Look { words, .. } => Outcome::Looked(looked(words, "as ever")),
            Effect::Seal { .. } => Outcome::Sealed(if self.seals {
                Ok(Sealed {
                    commit: CommitId("sealed".to_owned()),
                    changes: changes("src/a.rs"),
                    findings: types::Findings::default(),
                })
            } else {
                Err(Fault::structural("seal.broke", "the disk is full"))
            }),
            _ => panic!("an attempt does not ask for {effect:?}"),
        }
    }
}
