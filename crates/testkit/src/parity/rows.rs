//! The request and the expected result of each row. The error of a failed row names the missing part.

use serde_json::json;
use types::{
    Arguments, BlockBody, CallOutcome, CallResult, Effort, Fault, Message, ModelReply,
    OutputSchema, Part, Source, StopReason, StreamItem, ToolChoice,
};

use super::endpoint::Endpoint;
use llm::structured;

/// A picture of eight by eight red pixels.
const RED_PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mP4z8CAFTEMLQkAKP8/wc53yE8AAAAASUVORK5CYII=";

type Held = Result<(), String>;

pub(super) async fn check(row: usize, endpoint: &Endpoint) -> Held {
    match row {
        0 => text(endpoint).await,
        1 => streamed(endpoint).await,
        2 => image(endpoint, bytes()).await,
        3 => image(endpoint, Source::Url("http://127.0.0.1:9/red.png".to_owned())).await,
        4 => call_and_result(endpoint).await,
        5 => several_calls(endpoint).await,
        6 => three_rounds(endpoint).await,
        7 => streamed_calls(endpoint).await,
        8 => schema(endpoint).await,
        9 => thinking(endpoint).await,
        10 => fault(endpoint.ask_with_key("wrong", hello(endpoint)).await, "model.authentication"),
        11 => too_many(endpoint).await,
        12 => usage(endpoint).await,
        13 => cached(endpoint).await,
        _ => own_options(endpoint).await,
    }
}

fn bytes() -> Source {
    Source::Bytes { media_type: "image/png".to_owned(), base64: RED_PNG.to_owned() }
}

fn told(fault: Fault) -> String {
    let Fault { code, what, .. } = fault;
    let what: String = what.chars().take(120).collect();
    format!("{code}: {}", what.replace('\n', " "))
}

fn must(holds: bool, missing: &str) -> Held {
    if holds { Ok(()) } else { Err(missing.to_owned()) }
}

fn hello(endpoint: &Endpoint) -> types::ModelRequest {
    endpoint.request(vec![Message::user("Say hello.")])
}

async fn text(endpoint: &Endpoint) -> Held {
    let reply = endpoint.ask_in_one_piece(hello(endpoint)).await.map_err(told)?;
    must(!reply.text().is_empty(), "no text came")
}

/// The pieces of a stream add up to the reply.
async fn streamed(endpoint: &Endpoint) -> Held {
    let mut pieces = vec![];
    let collect = |item: &StreamItem| {
        if let StreamItem::Text(piece) = item {
            pieces.push(piece.clone());
        }
    };
    let reply = endpoint.watch(hello(endpoint), collect).await.map_err(told)?;
    must(!pieces.is_empty() && pieces.concat() == reply.text(), "the pieces are not the reply")
}

async fn image(endpoint: &Endpoint, source: Source) -> Held {
    let text = "Which colour is this picture?".to_owned();
    let parts = vec![Part::Image { source }, Part::Text { text }];
    let reply =
        endpoint.ask(endpoint.request(vec![Message::User { parts }])).await.map_err(told)?;
    must(!reply.text().is_empty(), "no text came")
}

async fn call_and_result(endpoint: &Endpoint) -> Held {
    let mut request = endpoint.with_tool("What is the weather in Rome?", ToolChoice::Required);
    let reply = endpoint.ask(request.clone()).await.map_err(told)?;
    must(reply.calls().any(|call| call.tool == "weather"), "no call came")?;
    answer(&mut request, reply);
    request.options.tool_choice = ToolChoice::Auto;
    let reply = endpoint.ask(request).await.map_err(told)?;
    must(!reply.blocks.is_empty(), "nothing came after the result")
}

async fn several_calls(endpoint: &Endpoint) -> Held {
    let text = "What is the weather in Rome and in Oslo? Ask for both at once.";
    let mut request = endpoint.with_tool(text, ToolChoice::Required);
    request.max_output = 128;
    request.options.parallel_calls = Some(true);
    let reply = endpoint.ask(request.clone()).await.map_err(told)?;
    must(reply.calls().count() >= 2, "one call came where two were asked for")?;
    answer(&mut request, reply);
    request.options.tool_choice = ToolChoice::Auto;
    endpoint.ask(request).await.map(|_| ()).map_err(told)
}

async fn three_rounds(endpoint: &Endpoint) -> Held {
    let text = "Find the warmest of three cities, one call at a time.";
    let mut request = endpoint.with_tool(text, ToolChoice::Required);
    for _ in 0..3 {
        let reply = endpoint.ask(request.clone()).await.map_err(told)?;
        must(reply.calls().next().is_some(), "no call came")?;
        answer(&mut request, reply);
    }
    request.options.tool_choice = ToolChoice::None;
    let reply = endpoint.ask(request).await.map_err(told)?;
    must(reply.calls().next().is_none(), "a call came where none was allowed")
}

/// Adds a reply and a result for each of its calls.
fn answer(request: &mut types::ModelRequest, reply: ModelReply) {
    let results = reply.calls().map(|call| CallResult {
        wire_id: call.wire_id.clone(),
        tool: call.tool.clone(),
        outcome: CallOutcome::Ok,
        parts: vec![Part::Text { text: "21 degrees, sunny".to_owned() }],
    });
    let results = results.collect();
    let said = Message::Assistant { blocks: reply.blocks, model: Some(request.model.clone()) };
    request.messages.push(said.into());
    request.messages.push(Message::Results { results }.into());
}

async fn streamed_calls(endpoint: &Endpoint) -> Held {
    let (mut started, mut ended, mut json) = (0, 0, String::new());
    let collect = |item: &StreamItem| match item {
        StreamItem::CallStarted { .. } => started += 1,
        StreamItem::CallArguments { json: piece, index: 0 } => json.push_str(piece),
        StreamItem::CallEnded { .. } => ended += 1,
        _ => {}
    };
    let request = endpoint.with_tool("What is the weather in Oslo?", ToolChoice::Required);
    let reply = endpoint.watch(request, collect).await.map_err(told)?;
    must(started > 0 && started == ended, "no call started and ended")?;
    let stops = [StopReason::Calls, StopReason::Length];
    must(stops.contains(&reply.stop), "it did not stop for its calls")?;
    let first = reply.calls().next().map(|call| call.arguments.clone());
    let pieces = serde_json::from_str(&json).ok().map(Arguments::Json);
    must(first.is_some() && first == pieces, "the pieces are not the call's arguments")
}

async fn schema(endpoint: &Endpoint) -> Held {
    let schema = json!({
        "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"],
        "additionalProperties": false,
    });
    let wanted = OutputSchema { name: "person".to_owned(), schema };
    let mut request =
        endpoint.request(vec![Message::user("A person is 30 years old. Answer in JSON.")]);
    request.options.output = Some(wanted.clone());
    let reply = endpoint.ask(request).await.map_err(told)?;
    structured(&reply, &wanted).map(|_| ()).map_err(told)
}

async fn thinking(endpoint: &Endpoint) -> Held {
    let mut request =
        endpoint.request(vec![Message::user("Think, then say which of 3 and 5 is larger.")]);
    request.options.effort = Some(Effort::Low);
    request.options.temperature = None;
    request.max_output = 2_048;
    let reply = endpoint.ask(request).await.map_err(told)?;
    let thought = |body: &BlockBody| matches!(body, BlockBody::Thinking { .. });
    let came = reply.blocks.iter().any(|block| thought(&block.body));
    must(came || reply.usage.reasoning > 0, "it does not think")
}

async fn too_many(endpoint: &Endpoint) -> Held {
    let request = endpoint.request(vec![Message::user("Answer as if too many had asked.")]);
    fault(endpoint.ask(request).await, "model.rate_limit")
}

fn fault(reply: Result<ModelReply, Fault>, wanted: &str) -> Held {
    match reply {
        Ok(_) => Err("it answered as if nothing were wrong".to_owned()),
        Err(fault) if fault.code == wanted => Ok(()),
        Err(fault) => Err(told(fault)),
    }
}

async fn usage(endpoint: &Endpoint) -> Held {
    let reply = endpoint.ask(hello(endpoint)).await.map_err(told)?;
    must(reply.provenance.usage.is_some(), "it does not count")?;
    must(reply.usage.input > 0 && reply.usage.output > 0, "it counts nothing")
}

async fn cached(endpoint: &Endpoint) -> Held {
    let mut request = hello(endpoint);
    request.system = "The tide table of the harbour is kept by the pilot. ".repeat(120).into();
    let first = endpoint.ask(request.clone()).await.map_err(told)?;
    let model = Some(request.model.clone());
    request.messages.push(Message::Assistant { blocks: first.blocks, model }.into());
    request.messages.push(Message::user("Say it again.").into());
    let second = endpoint.ask(request).await.map_err(told)?;
    must(second.usage.cache_read > 0, "the second turn reports nothing read from a cache")
}

async fn own_options(endpoint: &Endpoint) -> Held {
    let mut request = hello(endpoint);
    let (key, value) = endpoint.own_option();
    request.options.native.insert(key.to_owned(), value.clone());
    let (reply, body) = endpoint.overhear(request).await;
    must(body.get(key) == Some(&value), "the option was not sent")?;
    must(!reply.map_err(told)?.blocks.is_empty(), "nothing came")
}
