//! What must hold for any bytes, for the fuzzer. Not part of the library.

use types::{Access, CallFacts, Permission, Policy, Repeat, Scope};

use crate::command::{MOST_PARTS, Part, read};
use crate::permit::judge;

/// Any text is read, in bounds, and what stands beside or around it changes nothing of what is found in it.
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
            agent: None,
        };
        judge(policy, &Scope::default(), "shell", &facts).verdict
    };
    let alone: Permission = judged(text.to_owned());
    let more = judged(format!("true\n{text}"));
    assert!(more >= alone, "{text:?} is {alone:?} alone and {more:?} after another command");
}
