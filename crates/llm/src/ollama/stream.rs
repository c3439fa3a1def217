//! Decodes Ollama replies: lines of JSON, the last of which has `done` and the counts.

use serde::Deserialize;
use serde_json::Value;
use types::{Fault, StopReason, Usage};

use crate::assembly::{Assembly, BlockIndex};
use crate::complaint;
use crate::decoder::{Decoder, Ending, Next};
use crate::json::{Text, count, read, text};

#[derive(Default)]
pub(crate) struct OllamaDecoder {
    assembly: Assembly,
    started: bool,
    text: Option<BlockIndex>,
    thinking: Option<BlockIndex>,
    ending: Option<Ending>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    message: Option<LineMessage<'a>>,
    #[serde(default)]
    done: bool,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct LineMessage<'a> {
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    thinking: Text<'a>,
    tool_calls: Option<Vec<Value>>,
}

impl OllamaDecoder {
    fn line(&mut self, line: Line<'_>, data: &str) -> Result<Next, Fault> {
        if line.error.is_some_and(|error| !error.is_null()) {
            let error: Value = serde_json::from_str(data).unwrap_or_default();
            return Err(complaint::ollama(None, &error));
        }
        if !std::mem::replace(&mut self.started, true) {
            self.assembly.started();
        }
        if let Some(said) = line.message {
            self.said(said)?;
        }
        if !line.done {
            return Ok(Next::More);
        }
        let last: Value = serde_json::from_str(data).unwrap_or_default();
        let word = text(&last, "done_reason").map(str::to_owned);
        let stop = match word.as_deref() {
            Some("length") => Some(StopReason::Length),
            Some("stop") | None => None,
            Some(_) => Some(StopReason::Other),
        };
        let counted = last.get("eval_count").is_some().then(|| {
            let kept = ["prompt_eval_count", "eval_count"];
            kept.iter().map(|key| ((*key).to_owned(), last[*key].clone())).collect::<Value>()
        });
        let (input, output) = (count(&last, "/prompt_eval_count"), count(&last, "/eval_count"));
        let usage = Usage { input, output, ..Usage::default() };
        self.ending = Some(Ending {
            stop,
            word,
            usage,
            counted,
            id: None,
            served: text(&last, "model").map(str::to_owned),
        });
        Ok(Next::Done)
    }

    fn said(&mut self, said: LineMessage<'_>) -> Result<(), Fault> {
        if let Some(thought) = said.thinking.some() {
            let place = *self.thinking.get_or_insert_with(|| self.assembly.open_thinking());
            self.assembly.push(place, thought)?;
        }
        if let Some(words) = said.content.some() {
            let place = *self.text.get_or_insert_with(|| self.assembly.open_text());
            self.assembly.push(place, words)?;
        }
        for call in said.tool_calls.into_iter().flatten() {
            let made_up = format!("call_{}", self.assembly.calls() + 1);
            let id = text(&call, "id").filter(|id| !id.is_empty()).unwrap_or(&made_up);
            let function = call.get("function").cloned().unwrap_or_default();
            let place = self.assembly.open_call(id, text(&function, "name").unwrap_or_default());
            let arguments = match function.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            };
            self.assembly.push(place, &arguments)?;
            self.assembly.native(place, call);
            self.assembly.close(place);
        }
        Ok(())
    }
}

impl Decoder for OllamaDecoder {
    fn event(&mut self, data: &str) -> Result<Next, Fault> {
        read(data, |data| Ok(self.line(serde_json::from_str(data)?, data)))
            .unwrap_or(Ok(Next::Unreadable))
    }

    fn whole(&mut self, body: Value) -> Result<(), Fault> {
        match self.event(&body.to_string())? {
            Next::Done => Ok(()),
            _ => Err(crate::faults::Cause::BadReply.fault("the reply is not finished")),
        }
    }

    fn ending(&mut self) -> Option<Ending> {
        self.ending.take()
    }

    fn assembly(&mut self) -> &mut Assembly {
        &mut self.assembly
    }
}
