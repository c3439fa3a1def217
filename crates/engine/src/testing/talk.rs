//! A made-up model and made-up tools: what is said in each turn, what each call would do, what comes of it.

use serde_json::{Value, json};
use types::{
    Access, Arguments, Block, Call, CallFacts, Effect, EffectId, Fault, Inspection, ModelReply,
    Outcome, Repeat, Replied, StopReason, Usage,
};

/// The turn that the model is being asked for.
pub(crate) fn the_turn(asked: &[Effect]) -> EffectId {
    let turn = asked.iter().find(|effect| matches!(effect, Effect::AskModel { .. }));
    turn.expect("the model is being asked").id()
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
        _ => Outcome::Model(Err(Fault::structural("model.malformed", "the reply made no sense"))),
    }
}

/// A reply that took 120 tokens.
pub(crate) fn reply(blocks: Vec<Block>, inspections: Vec<Inspection>) -> Outcome {
    let usage = Usage { input: 100, output: 20, ..Usage::default() };
    let stop = if inspections.is_empty() { StopReason::End } else { StopReason::Calls };
    let reply = ModelReply { blocks, stop, usage, cost: None };
    Outcome::Model(Ok(Box::new(Replied { reply, inspections })))
}

/// `read_file a.rs`, `write_file src/a.rs`, `shell make`, `submit`, `broken`, or any other name with a path to read.
pub(crate) fn call(text: &str, index: u32) -> (Call, Inspection) {
    let (tool, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    let path = || rest.parse().expect("a path");
    let facts = |access, repeat| CallFacts { access, paths: vec![], command: None, repeat };
    let inspection = match tool {
        "broken" => Inspection::Invalid("the arguments are not JSON".to_owned()),
        "submit" => Inspection::Would(facts(Access::Submit, Repeat::Safe)),
        "shell" => Inspection::Would(CallFacts {
            command: Some(rest.to_owned()),
            ..facts(Access::Execute, Repeat::Unknown)
        }),
        "write_file" => Inspection::Would(CallFacts {
            paths: vec![path()],
            ..facts(Access::Write, Repeat::Safe)
        }),
        _ => Inspection::Would(CallFacts {
            paths: vec![path()],
            ..facts(Access::Read, Repeat::Safe)
        }),
    };
    let (tool, arguments) = match tool {
        "broken" => ("read_file", Arguments::Broken("{\"path\": ".to_owned())),
        "submit" => ("submit", Arguments::Json(json!({"summary": rest}))),
        _ => (tool, Arguments::Json(Value::from(rest))),
    };
    (Call { wire_id: format!("w{index}"), tool: tool.to_owned(), arguments }, inspection)
}
