//! A transcript as Markdown. Messages are in fenced blocks that they cannot close, and titles are escaped, so that no
//! link, image or markup of a model is rendered.

use std::fmt::Write as _;

use types::{one_line, visible};

use super::TranscriptEntry;

/// The transcript as a Markdown document.
#[must_use]
pub fn transcript_markdown(title: &str, entries: &[TranscriptEntry]) -> String {
    let mut out = format!("# {}\n", escaped(title));
    let mut attempt = None;
    for entry in entries {
        if entry.attempt != attempt {
            attempt.clone_from(&entry.attempt);
            if let Some(attempt) = &attempt {
                let _ = write!(out, "\n## {}\n", escaped(&attempt.to_string()));
            }
        }
        let failed = if entry.failed { ", failed" } else { "" };
        let (name, title) = (entry.kind.as_str(), escaped(&entry.title));
        let session =
            if entry.session.0 > 1 { format!(" {}", entry.session) } else { String::new() };
        let _ = write!(out, "\n**{name}{session}** {title}{failed} ({})\n", entry.at);
        if !entry.text.is_empty() {
            let _ = write!(out, "\n{}", fenced(&entry.text));
        }
        if entry.left_out > 0 {
            let _ = write!(out, "\n{} characters omitted.\n", entry.left_out);
        }
    }
    out
}

/// A text in a block whose fence is longer than any in the text.
pub(in crate::export) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = visible(text);
    format!("{fence}text\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

/// Escapes a text for Markdown, on one line.
pub(in crate::export) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text, 300).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}
