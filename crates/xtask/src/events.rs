//! The catalogue of events, read from the source of `types`: each kind with its meaning and fields. It relies on
//! rustfmt's regular layout. `tidy/event_rules.rs` has the requirements on it.

use crate::code;

pub(crate) const SOURCE: &str = "crates/types/src/event.rs";
const OPENING: &str = "pub enum Event {";

/// One variant in the source. Missing parts are empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) line: usize,
    pub(crate) variant: String,
    /// The serialized name, `noun.past`.
    pub(crate) name: String,
    pub(crate) meaning: String,
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// As a reader of the log sees it: without boxes, `[T]` for a list.
    pub(crate) kind: String,
    pub(crate) optional: bool,
}

impl Kind {
    pub(crate) fn noun(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

/// Empty if the text has no such enum.
pub(crate) fn kinds(text: &str) -> Vec<Kind> {
    let lines: Vec<&str> = text.lines().collect();
    let blank = code::without_prose(text);
    let code: Vec<&str> = blank.lines().collect();
    let Some(start) = lines.iter().position(|line| *line == OPENING) else {
        return Vec::new();
    };
    let end = code::block_end(&code, start).unwrap_or(lines.len());
    let mut kinds = Vec::new();
    let mut next = Kind::default();
    let mut at = start + 1;
    while at < end {
        let line = lines[at].trim();
        if let Some(doc) = line.strip_prefix("///") {
            next.meaning = format!("{} {}", next.meaning, doc.trim()).trim().to_owned();
        } else if let Some(rest) = line.strip_prefix("#[serde(rename = \"") {
            next.name = rest.split('"').next().unwrap_or_default().to_owned();
        } else if line.starts_with(char::is_uppercase) {
            let last = last_line(&code, at, end);
            let kind = std::mem::take(&mut next);
            kinds.push(with_body(kind, at + 1, &lines[at..=last]));
            at = last;
        }
        at += 1;
    }
    kinds
}

fn last_line(code: &[&str], at: usize, end: usize) -> usize {
    let opens = code[at].contains('{');
    if opens { code::block_end(code, at).map_or(at, |last| last.min(end)) } else { at }
}

fn with_body(mut kind: Kind, line: usize, lines: &[&str]) -> Kind {
    kind.line = line;
    let first = lines[0].trim();
    let name_end = first.find(|c: char| !c.is_alphanumeric()).unwrap_or(first.len());
    kind.variant = first[..name_end].to_owned();
    let prose = |line: &&str| line.starts_with("//") || line.starts_with('#');
    let body: Vec<&str> =
        lines.iter().map(|line| line.trim()).filter(|line| !prose(line)).collect();
    let body = body.join(" ");
    let inside = body.split_once('{').and_then(|(_, rest)| rest.rsplit_once('}'));
    kind.fields = inside.map_or_else(Vec::new, |(inside, _)| fields(inside));
    kind
}

fn fields(inside: &str) -> Vec<Field> {
    let mut fields = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    let mut parts = Vec::new();
    for (at, c) in inside.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inside[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[start..]);
    for part in parts {
        if let Some((name, kind)) = part.split_once(": ") {
            let (kind, optional) = readable(kind.trim());
            fields.push(Field { name: name.trim().to_owned(), kind, optional });
        }
    }
    fields
}

fn readable(kind: &str) -> (String, bool) {
    let inner = |wrapper: &str| {
        kind.strip_prefix(wrapper).and_then(|rest| rest.strip_prefix('<')?.strip_suffix('>'))
    };
    if let Some(kind) = inner("Option") {
        (readable(kind).0, true)
    } else if let Some(kind) = inner("Box") {
        readable(kind)
    } else if let Some(kind) = inner("Vec") {
        (format!("[{}]", readable(kind).0), false)
    } else {
        (kind.to_owned(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/// A fact that happened.
pub enum Event {
    /// A request came in,
    /// with a survey.
    #[serde(rename = \"run.requested\")]
    RunRequested { request: Box<Request>, of: Vec<Map<A, B>> },
    /// A try began.
    #[serde(rename = \"attempt.started\")]
    AttemptStarted {
        attempt: AttemptId,
        /// What is handed over, e.g. {this: That}.
        #[serde(default)]
        feedback: Option<Vec<String>>,
    },
    RunEnded,
}

pub enum Other {
    NotAnEvent,
}
";

    #[test]
    fn each_variant_comes_with_name_meaning_and_fields() {
        let kinds = kinds(TEXT);
        let names: Vec<&str> = kinds.iter().map(|kind| kind.variant.as_str()).collect();
        assert_eq!(names, ["RunRequested", "AttemptStarted", "RunEnded"]);
        assert_eq!(kinds[0].name, "run.requested");
        assert_eq!(kinds[0].noun(), "run");
        assert_eq!(kinds[0].meaning, "A request came in, with a survey.");
        assert_eq!(kinds[0].line, 6);
        assert_eq!(kinds[0].fields[1].kind, "[Map<A, B>]");
        assert_eq!(kinds[1].fields.len(), 2);
        assert!(kinds[1].fields[1].optional);
        assert_eq!(kinds[1].fields[1].kind, "[String]");
    }

    #[test]
    fn what_is_missing_is_empty() {
        let kinds = kinds(TEXT);
        assert_eq!(kinds[2].name, "");
        assert_eq!(kinds[2].meaning, "");
        assert!(kinds[2].fields.is_empty());
    }
}
