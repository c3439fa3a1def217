//! The JSON object of a reply. A strict reply is the object alone; a lenient one may have it in a fence or surrounded
//! by text, and the ignored part is recorded.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use types::{Contracts, Strictness};

/// The object, as it was written.
pub(super) struct Object<'a> {
    json: &'a str,
    fields: Map<String, Value>,
    reading: Strictness,
    pub(super) overlooked: Option<String>,
}

impl<'a> Object<'a> {
    pub(super) fn find(
        text: &'a str,
        policy: &Contracts,
        reading: Strictness,
    ) -> Result<Self, String> {
        let most = policy.reply_chars;
        if text.len() > most && text.chars().count() > most {
            return Err(format!("it is longer than {most} characters"));
        }
        let whole = text.trim();
        match (serde_json::from_str(whole), reading) {
            (Ok(Value::Object(fields)), _) => {
                Ok(Self { json: whole, fields, reading, overlooked: None })
            }
            (Ok(_), _) => Err("it is JSON, but not an object".to_owned()),
            (Err(error), Strictness::Strict) => Err(format!("it is not JSON only: {error}")),
            (Err(error), Strictness::Lenient) => {
                let found = [fenced(whole), balanced(whole)].into_iter().flatten();
                let mut read = found.filter_map(|(json, what)| {
                    let fields = serde_json::from_str(json).ok()?;
                    Some(Self { json, fields, reading, overlooked: Some(what.to_owned()) })
                });
                read.next().ok_or_else(|| format!("it contains no JSON object: {error}"))
            }
        }
    }

    /// The reason, if the object reports a failure.
    pub(super) fn error(&self) -> Option<&str> {
        let failed = self.fields.get("status").and_then(Value::as_str) == Some("error");
        self.fields.get("reason").and_then(Value::as_str).filter(|_| failed)
    }

    pub(super) fn value(&self) -> Value {
        Value::Object(self.fields.clone())
    }

    /// The object as a typed value. Unknown and duplicate keys are errors.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_json::from_str(self.json).map_err(|error| error.to_string())
    }

    /// Checks the order of the keys, if the reading is strict.
    pub(super) fn in_order(&self, keys: &[&str]) -> Result<(), String> {
        if self.reading == Strictness::Lenient || self.fields.keys().eq(keys) {
            return Ok(());
        }
        Err(format!("the keys are not in the order {}", keys.join(", ")))
    }
}

/// The content of the first fence.
fn fenced(text: &str) -> Option<(&str, &'static str)> {
    let (_, after) = text.split_once("```")?;
    let (_, body) = after.split_once('\n')?;
    let (body, _) = body.split_once("```")?;
    Some((body.trim(), "the object was in a code fence"))
}

/// The text from the first brace to its closing one; braces in strings do not count.
fn balanced(text: &str) -> Option<(&str, &'static str)> {
    let start = text.find('{')?;
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some((&text[start..=at], "the object was surrounded by text"));
                }
            }
            _ => {}
        }
    }
    None
}
