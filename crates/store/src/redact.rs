//! Secrets never reach the disk: what is written must be [`Clean`], and only a [`Redactor`] makes that. It takes out
//! the values it was told and whatever is shaped like a key of a well-known provider; it cannot know other secrets.

mod shapes;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde_json::Value;
use types::{Event, REDACTED};

/// Shorter values are not looked for: they would be found everywhere.
const SHORTEST: usize = 8;

/// How many times a secret may have been put into a JSON string inside another one and still be found.
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

/// Takes secrets out of what is going to be written.
#[derive(Clone, Default)]
pub struct Redactor {
    /// The known values in every form in which they can stand in JSON, the longest first.
    known: Vec<String>,
}

impl Redactor {
    /// A redactor that knows these values, next to the shapes of keys. Values below 8 bytes are ignored.
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

    /// A redactor that knows only the shapes of keys.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The event without secrets; the same event when there are none in it. Its kind never changes.
    #[must_use]
    pub fn clean(&self, event: Event) -> Clean {
        match serde_json::to_string(&event) {
            Ok(json) if self.suspects(&json) => Clean(self.cleaned(event)),
            // An event that cannot be written as JSON cannot be appended either.
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

    /// Where secrets stand in a text: in order, none inside another.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        for secret in &self.known {
            let places = text.match_indices(secret.as_str());
            found.extend(places.map(|(at, secret)| (at, at + secret.len())));
        }
        if shapes::suspects(text) {
            // A known value is no part of a word or of a key that begins or ends next to it.
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
        match value {
            Value::String(text) => matches!(self.scrub(text), Cow::Owned(_)),
            Value::Array(items) => items.iter().any(|item| self.finds_in(item)),
            Value::Object(fields) => fields
                .iter()
                .any(|(key, item)| matches!(self.scrub(key), Cow::Owned(_)) || self.finds_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Whether a text may hold a secret. Cheap, and wrong only in one direction.
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
        if let Ok(clean) = serde_json::from_value::<Event>(value)
            && clean.kind() == event.kind()
        {
            return clean;
        }
        self.cleaned_piecemeal(event, &dirty, hits)
    }

    /// Some hit was in a word that the structure needs (say, a secret `assistant`). Such words stay; all else goes.
    fn cleaned_piecemeal(&self, event: Event, dirty: &Value, hits: usize) -> Event {
        let mut wanted = vec![false; hits];
        let mut best = event;
        for hit in 0..hits {
            wanted[hit] = true;
            let mut value = dirty.clone();
            self.scrub_value(&mut value, &mut |n| wanted[n]);
            match serde_json::from_value::<Event>(value) {
                Ok(clean) if clean.kind() == best.kind() => best = clean,
                _ => wanted[hit] = false,
            }
        }
        best
    }

    /// Scrub all strings of a value that are `wanted`; returns how many had something in them.
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

/// A redactor holds secrets, so it does not show them.
impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} forms of secrets)", self.known.len())
    }
}

/// The text with other bytes, as many, where known values stand.
fn masked(text: &str, known: &[(usize, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (start, end) in known {
        bytes[*start..*end].fill(0);
    }
    // Values begin and end where characters do.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// A secret as it stands in a text, in a JSON string, in a JSON string inside a JSON string, and so on.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    for depth in 0..NESTING {
        let quoted = Value::from(forms[depth].as_str()).to_string();
        forms.push(quoted[1..quoted.len() - 1].to_owned());
    }
    forms
}

#[cfg(test)]
mod tests;
