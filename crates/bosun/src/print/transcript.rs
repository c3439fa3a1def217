//! A transcript on a terminal. Texts of models, tools and files are untrusted: their control characters are shown as
//! symbols.

use std::fmt::Write as _;

use engine::export::{EntryKind, TranscriptEntry};
use owo_colors::OwoColorize as _;
use types::visible;

/// Maximum lines shown of a text, unless the whole is requested.
const MOST_LINES: usize = 40;
/// Maximum characters shown of a line.
const MOST_CHARS: usize = 2_000;

/// The transcript as text. With `whole`, no text is cut.
pub(crate) fn shown(entries: &[TranscriptEntry], whole: bool) -> String {
    let mut out = String::new();
    let mut attempt = None;
    for entry in entries {
        if entry.attempt != attempt {
            attempt.clone_from(&entry.attempt);
            if let Some(attempt) = &attempt {
                let _ = writeln!(out, "\n{}", format!("── {attempt} ──").bold());
            }
        }
        let _ = writeln!(out, "\n{}", head(entry));
        body(&mut out, entry, whole);
    }
    out
}

fn head(entry: &TranscriptEntry) -> String {
    let kind = entry.kind.as_str();
    let kind = match (entry.failed, entry.kind) {
        (true, _) => format!("✘ {kind}").red().to_string(),
        (false, EntryKind::Model) => kind.blue().bold().to_string(),
        (false, EntryKind::Person | EntryKind::Answer) => kind.green().bold().to_string(),
        (false, EntryKind::Question) => kind.yellow().bold().to_string(),
        (false, _) => kind.dimmed().to_string(),
    };
    let session = if entry.session.0 > 1 { format!("{} ", entry.session) } else { String::new() };
    format!("{kind} {session}{}", entry.title.dimmed())
}

fn body(out: &mut String, entry: &TranscriptEntry, whole: bool) {
    let text = visible(&entry.text);
    let all = text.trim_end_matches('\n').lines().count();
    let most = if whole { usize::MAX } else { MOST_LINES };
    for line in text.trim_end_matches('\n').lines().take(most) {
        let line: String = line.chars().take(if whole { usize::MAX } else { MOST_CHARS }).collect();
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    if all > most {
        let _ = writeln!(out, "    {}", format!("… {} more lines; --whole", all - most).dimmed());
    }
    if entry.left_out > 0 {
        let left = format!("… {} characters omitted; --whole", entry.left_out);
        let _ = writeln!(out, "    {}", left.dimmed());
    }
}

#[cfg(test)]
mod tests {
    use types::{SessionId, Timestamp};

    use super::*;

    #[test]
    fn long_texts_are_cut_and_a_terminal_acts_on_none() {
        let entry = TranscriptEntry {
            seq: 1,
            at: Timestamp::default(),
            attempt: None,
            session: SessionId::ROOT,
            kind: EntryKind::Result,
            title: "s1.t1.c0 shell".to_owned(),
            text: format!("\x1b]0;owned\x07\n{}", "line\n".repeat(100)),
            left_out: 7,
            failed: true,
        };
        let told =
            anstream::adapter::strip_str(&shown(std::slice::from_ref(&entry), false)).to_string();
        assert!(told.contains("    ␛]0;owned␇\n") && !told.contains('\x1b'), "{told}");
        assert!(told.contains("… 61 more lines; --whole"), "{told}");
        assert!(told.contains("✘ result s1.t1.c0 shell"), "{told}");
        assert!(!shown(&[entry], true).contains("more lines"));
    }
}
