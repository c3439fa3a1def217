//! A script: the answers of the scripted model, as a TOML file that people can write.
//!
//! ```toml
//! price = { input = "3.00", output = "15.00" }   # dollars per million tokens; without it, free; also cache_read, cache_write
//!
//! [[attempt]]             # what the model answers in one attempt
//! role = "coder"
//! task = "T1"             # optional: only for this task; the planner's task is "plan"
//! n = 1                   # optional: only for this try; without it, for any
//! session = 2             # optional: only for this sub-agent; the conversation that starts them is 1
//! [[attempt.reply]]       # the first turn
//! think = "A file is wanted."
//! say = "I will write the file."
//! call = { tool = "write_file", path = "a.txt", content = "hi\n" }   # all keys but `tool` are arguments
//! [[attempt.reply]]       # the second turn
//! calls = [{ tool = "read_file", path = "a.txt" }, { tool = "shell", command = "sh test.sh" }]
//! [[attempt.reply]]
//! call = { tool = "shell", raw = "{broken" }      # arguments that are not JSON
//! [[attempt.reply]]
//! submit = { summary = "done" }                   # a call of the tool `submit`
//!
//! [[attempt]]             # things that go wrong, and how long they take
//! role = "coder"
//! [[attempt.reply]]
//! say = "Then I thou"
//! delay_ms = 50
//! hold = "/tmp/go"        # after the text, before the calls and the end: wait until this file is there
//! usage = { input = 100, output = 20 }            # without it, an estimate
//! stop = "length"         # end, calls, length, filtered, other
//! [[attempt.reply]]
//! fault = { class = "transient", code = "model.overloaded", what = "the model is overloaded" }
//! [[attempt.reply]]
//! cut = true              # the stream ends without a last item; asked again, the model gives its next reply
//! ```
//!
//! The first `[[attempt]]` that matches is used; one that can never be reached is rejected, and so is any key
//! that is not listed here. This file only parses scripts; `scripted.rs` plays them.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use types::{Fault, FaultClass, Millis, Money, PriceCap, Retry, RoleId, StopReason, TaskId, Usage};

use crate::catalogue::Price;

/// A parsed and validated script.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Prices of a million tokens.
    pub(crate) price: ScriptedPrice,
    pub(crate) attempts: Vec<Attempt>,
}

/// Why a text is not a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("reading the script, line {line}: {cause}")]
pub struct ScriptError {
    /// Counted from 1.
    pub line: usize,
    pub cause: String,
}

impl Script {
    /// The highest price of its tokens.
    #[must_use]
    pub fn price_cap(&self) -> PriceCap {
        self.price.price().cap()
    }

    /// Whether it has an attempt for a role.
    #[must_use]
    pub fn plays(&self, role: &RoleId) -> bool {
        self.attempts.iter().any(|attempt| attempt.role == *role)
    }

    /// Whether any reply waits for a file on this machine.
    #[must_use]
    pub fn waits_for_files(&self) -> bool {
        let mut replies = self.attempts.iter().flat_map(|attempt| &attempt.replies);
        replies.any(|reply| reply.hold.is_some())
    }

    /// Parses a script; an invalid one is rejected with line and cause.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let file: File = toml::from_str(text).map_err(|error| ScriptError {
            line: line_of(text, error.span().map_or(0, |span| span.start)),
            cause: error.message().to_owned(),
        })?;
        // Where the attempts begin, by what they fit.
        let mut earlier: HashMap<Fits<'_>, usize> = HashMap::new();
        for attempt in &file.attempt {
            let (start, attempt) = (attempt.span().start, attempt.get_ref());
            let covering = attempt.wider().into_iter().filter_map(|fits| earlier.get(&fits));
            if let Some(first) = covering.min() {
                let cause = format!(
                    "this attempt is never reached: the one on line {} fits whenever it does; \
                     put the narrower one first",
                    line_of(text, *first)
                );
                return Err(ScriptError { line: line_of(text, start), cause });
            }
            earlier.insert(attempt.fits(), start);
        }
        let attempts = file.attempt.into_iter().map(toml::Spanned::into_inner).collect();
        Ok(Self { price: file.price, attempts })
    }
}

fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|b| *b == b'\n').count() + 1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    price: ScriptedPrice,
    #[serde(default)]
    attempt: Vec<toml::Spanned<Attempt>>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Attempt {
    pub(crate) role: RoleId,
    pub(crate) task: Option<TaskId>,
    pub(crate) n: Option<NonZeroU32>,
    pub(crate) session: Option<NonZeroU32>,
    #[serde(default, rename = "reply")]
    pub(crate) replies: Vec<Reply>,
}

/// The role, task, try and sub-agent that an attempt is for; `None` fits all.
type Fits<'a> = (&'a RoleId, Option<&'a TaskId>, Option<NonZeroU32>, Option<NonZeroU32>);

impl Attempt {
    fn fits(&self) -> Fits<'_> {
        (&self.role, self.task.as_ref(), self.n, self.session)
    }

    /// Everything that fits whenever this attempt does.
    fn wider(&self) -> [Fits<'_>; 8] {
        let (role, task, n, session) = self.fits();
        let any = |field: usize, choice: usize| choice & (1 << field) != 0;
        std::array::from_fn(|choice| {
            let task = task.filter(|_| !any(0, choice));
            let n = n.filter(|_| !any(1, choice));
            let session = session.filter(|_| !any(2, choice));
            (role, task, n, session)
        })
    }
}

/// One turn of the scripted model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "ReplyTable")]
pub(crate) struct Reply {
    pub(crate) think: Option<String>,
    pub(crate) say: Option<String>,
    pub(crate) calls: Vec<ScriptedCall>,
    pub(crate) delay: Millis,
    pub(crate) hold: Option<PathBuf>,
    pub(crate) usage: Option<ScriptedUsage>,
    pub(crate) end: End,
}

/// How a scripted reply ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Stop(StopReason),
    Fault(Fault),
    /// The stream ends without a last item.
    Cut,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "CallTable")]
pub(crate) struct ScriptedCall {
    pub(crate) tool: String,
    pub(crate) arguments: types::Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedUsage {
    input: u64,
    output: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
}

impl ScriptedUsage {
    pub(crate) fn usage(self) -> Usage {
        let Self { input, output, cache_read, cache_write } = self;
        Usage { input, output, cache_read, cache_write, ..Usage::default() }
    }
}

/// Dollars per million tokens; what a cache costs is the price of input, unless named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedPrice {
    input: Money,
    output: Money,
    cache_read: Option<Money>,
    cache_write: Option<Money>,
}

impl ScriptedPrice {
    fn price(self) -> Price {
        let Self { input, output, cache_read, cache_write } = self;
        Price { up_to_input: None, input, output, cache_read, cache_write }
    }

    pub(crate) fn cost(self, usage: Usage) -> Money {
        self.price().cost(usage)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyTable {
    think: Option<String>,
    say: Option<String>,
    call: Option<ScriptedCall>,
    calls: Option<Vec<ScriptedCall>>,
    submit: Option<toml::Table>,
    fault: Option<FaultTable>,
    #[serde(default)]
    delay_ms: Millis,
    hold: Option<PathBuf>,
    usage: Option<ScriptedUsage>,
    stop: Option<StopReason>,
    #[serde(default)]
    cut: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultTable {
    class: FaultClass,
    code: String,
    what: String,
    retry_after_ms: Option<Millis>,
    /// Whether a retry makes sense; by default, if the fault is transient or a broken stream.
    retry: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct CallTable {
    tool: String,
    #[serde(flatten)]
    arguments: toml::Table,
}

impl TryFrom<ReplyTable> for Reply {
    /// An inconsistency in a reply that is valid TOML.
    type Error = String;
    fn try_from(table: ReplyTable) -> Result<Self, String> {
        let mut calls = match (table.call, table.calls) {
            (Some(_), Some(_)) => {
                return Err("a reply has either `call` or `calls`, not both".to_owned());
            }
            (Some(call), None) => vec![call],
            (None, calls) => calls.unwrap_or_default(),
        };
        if let Some(submission) = table.submit {
            let arguments = types::Arguments::Json(json(toml::Value::Table(submission))?);
            calls.push(ScriptedCall { tool: "submit".to_owned(), arguments });
        }
        let end = match (table.fault, table.cut, table.stop) {
            (None, false, Some(stop)) => End::Stop(stop),
            (None, false, None) if calls.is_empty() => End::Stop(StopReason::End),
            (None, false, None) => End::Stop(StopReason::Calls),
            (Some(fault), false, None) => End::Fault(fault.into()),
            (None, true, None) => End::Cut,
            _ => {
                let one = "a reply ends in one way: take one of `fault`, `cut` and `stop`";
                return Err(one.to_owned());
            }
        };
        Ok(Self {
            think: table.think,
            say: table.say,
            calls,
            delay: table.delay_ms,
            hold: table.hold,
            usage: table.usage,
            end,
        })
    }
}

impl From<FaultTable> for Fault {
    fn from(table: FaultTable) -> Self {
        let passes = table.class == FaultClass::Transient || table.code == "model.broken_stream";
        let retry = match table.retry_after_ms {
            Some(span) => Retry::After(span),
            None if table.retry.unwrap_or(passes) => Retry::Now,
            None => Retry::Never,
        };
        Self::new(table.class, &table.code, table.what).retry(retry)
    }
}

impl TryFrom<CallTable> for ScriptedCall {
    type Error = String;
    fn try_from(table: CallTable) -> Result<Self, String> {
        let arguments = match table.arguments.get("raw") {
            None => types::Arguments::Json(json(toml::Value::Table(table.arguments))?),
            Some(toml::Value::String(raw)) if table.arguments.len() == 1 => {
                types::Arguments::Broken(raw.clone())
            }
            Some(_) => {
                return Err(format!(
                    "`raw` stands for all the arguments of the call of {}; it is a text, and alone",
                    table.tool
                ));
            }
        };
        Ok(Self { tool: table.tool, arguments })
    }
}

/// Converts TOML to JSON; dates become texts.
fn json(value: toml::Value) -> Result<Value, String> {
    Ok(match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => {
            let finite = serde_json::Number::from_f64(number).map(Value::Number);
            finite.ok_or("a number that is not finite cannot be an argument")?
        }
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(values) => {
            Value::Array(values.into_iter().map(json).collect::<Result<_, _>>()?)
        }
        toml::Value::Table(table) => {
            let fields = table.into_iter().map(|(key, value)| Ok((key, json(value)?)));
            Value::Object(fields.collect::<Result<_, String>>()?)
        }
    })
}

#[cfg(test)]
mod tests;
