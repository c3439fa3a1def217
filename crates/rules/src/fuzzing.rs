//! Invariants for any input, for the fuzzer. Not part of the library.

use types::{
    Access, CallFacts, Document, Envelope, ModelRef, Permission, Policy, Repeat, Request, Scope,
};

use crate::command::{MOST_PARTS, Part, read};
use crate::explain::explain;
use crate::permit::judge;
use crate::{plan, policy, spec};

/// Any text is parsed within bounds, and commands beside or around it do not change its parts.
pub fn command_line(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parts = read(text);
    assert!(!parts.is_empty() && parts.len() <= MOST_PARTS + 64, "{} parts", parts.len());
    let clear = |parts: &[Part]| parts.iter().all(|part| part.unclear.is_none());
    if !clear(&parts) || text.ends_with('\\') || text.contains('\0') {
        return;
    }
    let beside = read(&format!("{text}\nsentinel x"));
    let found = |part: &Part| part.shown() == "sentinel x";
    assert!(!clear(&beside) || beside.iter().any(found), "lost beside {text:?}");
    let shown = |parts: &[Part]| parts.iter().map(Part::shown).collect::<Vec<_>>();
    let around = read(&format!("( {text}\n)"));
    let empty = parts.iter().all(|part| *part == Part::default());
    assert!(empty || !clear(&around) || shown(&around) == shown(&parts), "changed in {text:?}");
}

/// Adding a command never makes a verdict milder.
pub fn verdict(policy: &Policy, bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let judged = |line: String| {
        let facts = CallFacts {
            access: Access::Execute,
            paths: vec![],
            command: Some(line),
            folder: None,
            repeat: Repeat::Unknown,
            tool: None,
            agent: None,
            hosts: vec![],
        };
        judge(policy, &Scope::default(), "shell", &facts).verdict
    };
    let alone: Permission = judged(text.to_owned());
    let more = judged(format!("true\n{text}"));
    assert!(more >= alone, "{text:?} is {alone:?} alone and {more:?} after another command");
}

fn asking(text: &str) -> Option<Request> {
    let model: ModelRef = "fuzz/none".parse().ok()?;
    Some(Request::new(text, model))
}

/// Any request gets a decision, by named rules.
pub fn request(policy: &Policy, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(request) = asking(&text) else { return };
    let explained = explain(policy, &request, &[]);
    assert!(!explained.admission.decision.reason.is_empty());
}

/// Any document of a registry is included or excluded, regardless of its front matter.
pub fn front_matter(policy: &Policy, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (Some(request), Ok(path)) = (asking("Add a flag"), "context/adr/one.md".parse()) else {
        return;
    };
    let explained = explain(policy, &request, &[Document { path, text }]);
    let decided = explained.context.included.len() + explained.context.excluded.len();
    assert_eq!(decided, 1);
}

/// A line of a journal is read or refused; a line that was read survives a round trip.
pub fn journal_line(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(line) = Envelope::parse(text) else { return };
    let written = serde_json::to_string(&line).unwrap_or_default();
    let again = Envelope::parse(&written).ok();
    assert_eq!(again.as_ref(), Some(&line), "{written}");
}

/// A valid policy can be evaluated and survives a round trip.
pub fn policy_file(read: &Policy) {
    drop(policy::problems(read));
    let kept = serde_json::to_string(read).unwrap_or_default();
    assert_eq!(serde_json::from_str::<Policy>(&kept).ok().as_ref(), Some(read), "{kept}");
}

/// A spec is read or refused; a spec that was read survives a round trip.
pub fn spec_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(read) = spec::read(text) else { return };
    let written = read.text();
    assert_eq!(spec::read(&written).ok().as_ref(), Some(&read), "{written}");
}

/// A plan is read or refused, with every problem.
pub fn plan_file(policy: &Policy, bytes: &[u8]) {
    let (Ok(text), Some(request)) = (std::str::from_utf8(bytes), asking("Add a flag")) else {
        return;
    };
    if let Err(plan::BadPlan::Invalid(problems)) = plan::read(policy, &request, text) {
        assert!(!problems.is_empty());
    }
}

/// YAML is read or refused, and every value has a line within the text.
pub fn yaml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(read) = types::yaml::read(text) else { return };
    // A lone carriage return ends a line of YAML, too.
    let last = text.replace("\r\n", "\n").split(['\n', '\r']).count();
    assert!(read.line("").is_none_or(|line| line <= last));
}
