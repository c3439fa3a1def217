//! Keeps secrets off the disk: only [`Clean`] events can be written, and only a [`Redactor`] makes those. It removes
//! the values it was given and text shaped like a key of a well-known provider; it cannot know other secrets.

mod encodings;
mod shapes;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value;
use types::{Event, REDACTED};

/// Shorter values are ignored: they would match everywhere.
const SHORTEST: usize = 8;

/// How deeply nested in JSON strings a secret is still found.
const NESTING: usize = 3;

/// An event without secrets; the only thing that can be appended to a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Clean(Event);

impl Clean {
    #[must_use]
    pub fn event(&self) -> &Event {
        &self.0
    }

    #[must_use]
    pub fn into_event(self) -> Event {
        self.0
    }
}

/// Removes secrets from text before it is written.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The known values in every form that JSON can give them, the longest first.
    known: Vec<String>,
}

impl Redactor {
    /// A redactor for these values, besides the shapes of keys. Values below 8 bytes are ignored.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut known: Vec<String> = secrets
            .into_iter()
            .filter(|secret| secret.trim().len() >= SHORTEST && !REDACTED.contains(secret.trim()))
            .flat_map(|secret| forms(secret.trim()))
            .collect();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        known.dedup();
        Self { known }
    }

    /// A redactor for the shapes of keys only.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The event without secrets; unchanged if it has none. Its kind never changes.
    #[must_use]
    pub fn clean(&self, event: Event) -> Clean {
        match serde_json::to_string(&event) {
            Ok(json) if self.suspects(&json) => Clean(self.cleaned(event)),
            // An event that cannot be serialized cannot be appended either.
            _ => Clean(event),
        }
    }

    /// The text without secrets.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut scrubbed = String::with_capacity(text.len());
        let mut written = 0;
        for secret in found {
            scrubbed.push_str(&text[written..secret.start]);
            scrubbed.push_str(REDACTED);
            written = secret.end;
        }
        scrubbed.push_str(&text[written..]);
        Cow::Owned(scrubbed)
    }

    /// The positions of secrets in a text: in order, without overlap.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for secret in &self.known {
            let places = text.match_indices(secret.as_str());
            found.extend(places.map(|(at, secret)| (at, at + secret.len())));
        }
        if shapes::suspects(text) {
            // A known value is not part of an adjacent word or key.
            let masked = (!found.is_empty()).then(|| masked(text, &found));
            shapes::find(masked.as_deref().unwrap_or(text), &mut found);
        }
        found.sort_unstable();
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for (start, end) in found {
            match apart.last_mut() {
                Some(last) if start < last.end => last.end = last.end.max(end),
                _ => apart.push(start..end),
            }
        }
        apart
    }

    /// Whether some text in a value holds a secret.
    #[must_use]
    pub fn finds_in(&self, value: &Value) -> bool {
        self.scrub_value(&mut value.clone(), &mut |_| false) > 0
    }

    /// Whether a text may hold a secret. Cheap, without false negatives.
    fn suspects(&self, json: &str) -> bool {
        self.known.iter().any(|secret| json.contains(secret.as_str())) || shapes::suspects(json)
    }

    fn cleaned(&self, event: Event) -> Event {
        let Ok(dirty) = serde_json::to_value(&event) else { return event };
        let mut value = dirty.clone();
        let hits = self.scrub_value(&mut value, &mut |_| true);
        if hits == 0 {
            return event;
        }
        if let Ok(clean) = Event::parse(&value.to_string())
            && clean.kind() == event.kind()
        {
            return clean;
        }
        self.cleaned_piecemeal(event, &dirty, hits)
    }

    /// A match was in a word that the structure needs (say, a secret `assistant`). Such words stay; others are
    /// redacted.
    fn cleaned_piecemeal(&self, event: Event, dirty: &Value, hits: usize) -> Event {
        let mut wanted = vec![false; hits];
        let mut best = event;
        for hit in 0..hits {
            wanted[hit] = true;
            let mut value = dirty.clone();
            self.scrub_value(&mut value, &mut |n| wanted[n]);
            match Event::parse(&value.to_string()) {
                Ok(clean) if clean.kind() == best.kind() => best = clean,
                _ => wanted[hit] = false,
            }
        }
        best
    }

    /// Redacts the `wanted` strings of a value; returns how many had a match.
    fn scrub_value(&self, value: &mut Value, wanted: &mut dyn FnMut(usize) -> bool) -> usize {
        let mut hits = 0;
        self.walk(value, &mut hits, wanted);
        hits
    }

    fn walk(&self, value: &mut Value, hits: &mut usize, wanted: &mut dyn FnMut(usize) -> bool) {
        match value {
            Value::String(text) => self.replace(text, hits, wanted),
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, hits, wanted)),
            Value::Object(fields) => {
                let old = std::mem::take(fields);
                for (mut key, mut item) in old {
                    self.replace(&mut key, hits, wanted);
                    self.walk(&mut item, hits, wanted);
                    fields.insert(key, item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn replace(&self, text: &mut String, hits: &mut usize, wanted: &mut dyn FnMut(usize) -> bool) {
        if let Cow::Owned(scrubbed) = self.scrub(text) {
            if wanted(*hits) {
                *text = scrubbed;
            }
            *hits += 1;
        }
    }
}

/// Does not show the secrets.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms of secrets)", self.known.len())
    }
}

/// The text with known values masked by as many other bytes.
fn masked(text: &str, known: &[(usize, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (start, end) in known {
        bytes[*start..*end].fill(0);
    }
    // Values start and end at character boundaries.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// A secret in a text, in a JSON string, in a JSON string inside a JSON string, and so on; and in the encodings that
/// programs print it in.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = plain_forms(secret);
    forms.extend(encodings::of(secret.as_bytes()));
    forms
}

fn plain_forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    for depth in 0..NESTING {
        let quoted = Value::from(forms[depth].as_str()).to_string();
        forms.push(quoted[1..quoted.len() - 1].to_owned());
    }
    forms
}

#[cfg(test)]
mod tests;
