//! Lenient parsing of provider JSON: texts that may be null, and lone surrogate escapes. Texts are
//! borrowed from the input where possible; deltas are the hot path.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A text that may be missing or null, which counts as empty.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    /// The text, unless it is empty.
    pub(crate) fn some(&self) -> Option<&str> {
        (!self.0.is_empty()).then_some(&*self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Loose::deserialize(deserializer)? {
            Loose::Nothing => Ok(Self::default()),
            Loose::Text(text) => Ok(Self(text)),
            Loose::Other(_) => Err(D::Error::custom("expected a text or null")),
        }
    }
}

/// A text, or another value that some servers send in its place.
#[derive(Debug, Default)]
pub(crate) enum Loose<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Other(Value),
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LooseVisitor;
        impl<'de> Visitor<'de> for LooseVisitor {
            type Value = Loose<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a list or an object")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Loose<'de>, E> {
                Ok(Loose::Text(Cow::Owned(text)))
            }
            fn visit_unit<E: Error>(self) -> Result<Loose<'de>, E> {
                Ok(Loose::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Loose<'de>, A::Error> {
                Value::deserialize(SeqAccessDeserializer::new(items)).map(Loose::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Loose<'de>, A::Error> {
                Value::deserialize(MapAccessDeserializer::new(fields)).map(Loose::Other)
            }
        }
        deserializer.deserialize_any(LooseVisitor)
    }
}

/// Parses JSON. A `\u` escape that is half of a surrogate pair, which no Rust string can hold, is read as U+FFFD.
pub(crate) fn read<T>(
    text: &str,
    mut then: impl FnMut(&str) -> serde_json::Result<T>,
) -> serde_json::Result<T> {
    match then(text) {
        Err(error) if text.contains("\\ud") || text.contains("\\uD") => {
            whole_characters(text).map_or(Err(error), |mended| then(&mended))
        }
        other => other,
    }
}

/// Replaces each lone surrogate escape; `None` if there is none.
fn whole_characters(text: &str) -> Option<String> {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        let here = &rest[at..];
        let length = match (unit(here), here.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                changed = true;
                mended.push_str("\\ufffd");
                rest = &here[6..];
                continue;
            }
            // The character after the backslash may be another backslash, so both are consumed together.
            _ => 1 + here[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&here[..length]);
        rest = &here[length..];
    }
    mended.push_str(rest);
    changed.then_some(mended)
}

fn unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

/// Reads a number by JSON pointer; zero if it is missing or not a count.
pub(crate) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// Reads a text by key.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> serde_json::Result<Value> {
        read(text, |text| serde_json::from_str(text))
    }

    #[test]
    fn half_a_character_becomes_a_replacement_and_whole_ones_stay() {
        assert_eq!(value(r#""a\ud83cb""#).expect("mended"), "a\u{fffd}b");
        assert_eq!(value(r#""\udf0d\ud83c""#).expect("mended"), "\u{fffd}\u{fffd}");
        assert_eq!(value(r#""\ud83c\udf0d \ud83c""#).expect("mended"), "🌍 \u{fffd}");
        assert_eq!(value(r#""\\ud83c \ud83c""#).expect("mended"), "\\ud83c \u{fffd}");
        assert!(value("\"\\ud83c").is_err(), "no quote at the end");
    }

    #[test]
    fn a_text_may_be_null() {
        let texts: Vec<Text<'_>> = serde_json::from_str(r#"["a", null, "\n"]"#).expect("texts");
        assert_eq!(texts[0].some(), Some("a"));
        assert_eq!(texts[1].some(), None);
        assert_eq!(texts[2].some(), Some("\n"));
    }
}
