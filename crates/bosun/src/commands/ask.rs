//! `bosun ask`: one question to one model, streamed to the terminal. Tools can be offered; none is executed.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use runtime::llm::{self, Model as _, Registry, gather};
use serde_json::{Value, json};
use types::{
    Arguments, AttemptId, Fault, FaultClass, Message, ModelOptions, ModelReply, ModelRequest,
    Origin, OutputSchema, RoleId, SessionId, StopReason, StreamItem, TaskId,
};

use crate::args;
use crate::conversation::{self, Conversation};
use crate::exit::{CliError, Exit};
use crate::files::read;
use crate::models::{self, Elsewhere};
use crate::print;

pub(crate) async fn ask(args: args::Ask) -> anyhow::Result<Exit> {
    let settings = models::settings()?;
    let named = args.model.clone();
    let elsewhere = Elsewhere { base_url: args.base_url.clone(), dialect: args.dialect };
    let given = elsewhere.base_url.is_some() || elsewhere.dialect.is_some();
    let at = named.as_ref().filter(|_| given).map(|model| (model, elsewhere));
    let mut registry = models::registry(settings, at)?;
    if args.no_stream {
        registry = registry.in_one_piece();
    }
    let model = named.or_else(|| registry.default_model()).ok_or(CliError::NoModelToAsk)?;
    let request = request(&args, model)?;
    if let Some(problem) = registry.problem(&request.model) {
        return Err(problem.into());
    }
    let wanted = request.options.output.clone();
    let answered = if args.json {
        // Nothing is streamed to the user, so an interrupted reply can be requested again.
        registry.complete(request, waits).await
    } else {
        answer(&registry, request).await
    };
    let answered = match answered {
        Ok(reply) => match no_answer(&reply) {
            Some(fault) => return incomplete(&reply, fault, args.json),
            None => Ok(reply),
        },
        Err(fault) => Err(fault),
    };
    let answered = answered.and_then(|reply| match &wanted {
        Some(wanted) => Ok((Some(llm::structured(&reply, wanted)?), reply)),
        None => Ok((None, reply)),
    });
    match answered {
        Ok((object, reply)) if args.json => print::json(&for_programs(&reply, object))?,
        Ok((_, reply)) => finish(&reply)?,
        Err(fault) if args.json => {
            print::json(&fault_for_programs(&fault))?;
            return Ok(if fault.passes() { Exit::ModelAway } else { Exit::Failed });
        }
        Err(fault) => return Err(fault.into()),
    }
    Ok(Exit::Done)
}

/// The fault of a reply that is no answer: refused, or cut off.
fn no_answer(reply: &ModelReply) -> Option<Fault> {
    let word = reply.provenance.stop.as_ref();
    let said = word.map(|word| format!(" ({})", types::one_line(word, 40))).unwrap_or_default();
    match reply.stop {
        StopReason::Filtered => {
            let what = format!("the model or its provider refused to answer{said}");
            Some(Fault::new(FaultClass::Semantic, "model.content_filter", what))
        }
        StopReason::Length => {
            let what = format!(
                "the reply was cut off at its token limit{said} and is incomplete; see --max-output"
            );
            Some(Fault::structural("model.reply_cut", what))
        }
        StopReason::End | StopReason::Calls | StopReason::Other => None,
    }
}

/// Prints what there is of a reply, and fails.
fn incomplete(reply: &ModelReply, fault: Fault, json: bool) -> anyhow::Result<Exit> {
    if !json {
        finish(reply)?;
        return Err(fault.into());
    }
    let mut told = for_programs(reply, None);
    told["fault"] = fault_for_programs(&fault)["fault"].take();
    print::json(&told)?;
    Ok(Exit::Failed)
}

async fn answer(registry: &Registry, request: ModelRequest) -> Result<ModelReply, Fault> {
    let show = |item: &StreamItem| {
        waits(item);
        if let StreamItem::Text(text) = item {
            let mut out = anstream::stdout().lock();
            // A closed pipe is noticed at the end, when the reply is finished.
            let _shown = out.write_all(visible(text).as_bytes()).and_then(|()| out.flush());
        }
    };
    gather(registry.stream(Arc::new(request)), show).await
}

/// Prints the decision to wait for the model.
fn waits(item: &StreamItem) {
    if let StreamItem::Decided(decision) = item {
        let seen = decision.seen.first().map(|seen| print::one_line(seen, 200)).unwrap_or_default();
        print::note(&format!("{} ({}); {seen}", decision.reason, decision.rule));
    }
}

/// The text without characters that a terminal would act on. Tabs stay: the reply may be a Makefile in a pipe.
fn visible(text: &str) -> String {
    text.split('\t').map(types::visible).collect::<Vec<_>>().join("\t")
}

fn request(args: &args::Ask, model: types::ModelRef) -> anyhow::Result<ModelRequest> {
    let mut talk = match &args.messages {
        Some(path) => conversation::read(&path.display().to_string(), &read(path)?)?,
        None => Conversation::default(),
    };
    if let Some(text) = question(args)?.filter(|text| !text.trim().is_empty()) {
        talk.messages.push(Message::user(text));
    }
    if talk.messages.is_empty() {
        return Err(CliError::NothingAsked.into());
    }
    let tools = match &args.tools {
        Some(path) => conversation::tools(&path.display().to_string(), &read(path)?)?,
        None => vec![],
    };
    let system = args.system.clone().or(talk.system).unwrap_or_default();
    Ok(ModelRequest {
        model,
        system: Arc::from(system),
        messages: talk.messages.into_iter().map(Arc::new).collect(),
        tools: tools.into(),
        max_output: args.max_output,
        origin: Origin {
            role: RoleId::fixed("ask"),
            attempt: AttemptId::new(TaskId::fixed("ask"), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions {
            effort: args.effort,
            output: args.schema.as_deref().map(schema).transpose()?,
            ..ModelOptions::default()
        },
    })
}

/// Reads the schema of the answer from a file.
fn schema(path: &Path) -> anyhow::Result<OutputSchema> {
    let text = read(path)?;
    let schema = serde_json::from_str(&text)
        .with_context(|| format!("reading the JSON Schema in {}", path.display()))?;
    Ok(OutputSchema { name: "answer".to_owned(), schema })
}

/// The question: the text on the command line, or standard input if that is `-`.
fn question(args: &args::Ask) -> anyhow::Result<Option<String>> {
    match args.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("reading the question")?;
            if text.trim().is_empty() {
                return Err(CliError::EmptyInput.into());
            }
            Ok(Some(text))
        }
        text => Ok(text.map(ToOwned::to_owned)),
    }
}

fn finish(reply: &ModelReply) -> anyhow::Result<()> {
    print::line("")?;
    for call in reply.calls() {
        let arguments = match &call.arguments {
            Arguments::Json(value) => value.to_string(),
            Arguments::Broken(text) => text.clone(),
        };
        print::line(&format!(
            "calls {} {}",
            print::one_line(&call.tool, 80),
            print::one_line(&arguments, 2_000)
        ))?;
    }
    let usage = reply.usage;
    let cost = reply.cost.map_or_else(|| "cost unknown".to_owned(), |cost| format!("${cost}"));
    print::note(&format!(
        "{} tokens in ({} from cache), {} out ({} thinking), {cost}",
        usage.input, usage.cache_read, usage.output, usage.reasoning
    ));
    Ok(())
}

fn for_programs(reply: &ModelReply, object: Option<Value>) -> Value {
    let calls: Vec<Value> = reply
        .calls()
        .map(|call| match &call.arguments {
            Arguments::Json(value) => json!({ "id": call.wire_id, "name": call.tool, "arguments": value }),
            Arguments::Broken(text) => {
                json!({ "id": call.wire_id, "name": call.tool, "arguments": null, "broken_arguments": text })
            }
        })
        .collect();
    let mut told = json!({
        "text": reply.text(),
        "thinking": reply.thinking(),
        "tool_calls": calls,
        "usage": reply.usage,
        "stop_reason": reply.stop,
        "cost": reply.cost,
        "provenance": reply.provenance,
    });
    if let Some(object) = object {
        told["object"] = object;
    }
    told
}

fn fault_for_programs(fault: &Fault) -> Value {
    let class = fault.code.strip_prefix("model.").unwrap_or(&fault.code);
    json!({ "fault": { "class": class, "code": fault.code, "kind": fault.class, "message": fault.what, "retry": fault.retry } })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_reply_cannot_control_the_terminal_and_keeps_its_tabs() {
        assert_eq!(super::visible("a:\n\tb\u{1b}[2J\u{202e}c"), "a:\n\tb\u{241b}[2J\u{fffd}c");
    }
}
