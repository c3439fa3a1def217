//! A transcript as one HTML page: no scripts, no images, no external resources. All untrusted text is escaped, and the
//! page's own policy forbids scripts.

use std::fmt::Write as _;

use types::{one_line, visible};

use super::{EntryKind, TranscriptEntry};

/// Number of lines from which a text is folded.
const FOLDED: usize = 30;

const HEAD: &str = "<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
    <meta name=\"viewport\" content=\"width=device-width\">\n\
    <style>\n\
    :root { color-scheme: light dark; }\n\
    body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n\
    pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; font-size: 13px; }\n\
    section { border-left: 3px solid #8888; padding: .1rem .8rem; margin: .8rem 0; }\n\
    section.model { border-color: #48c; } section.person, section.answer { border-color: #4a4; }\n\
    section.question { border-color: #c90; } section.failed { border-color: #d33; }\n\
    header { opacity: .75; font-size: 13px; } header b { text-transform: uppercase; }\n\
    </style>\n";

/// The transcript as an HTML document.
#[must_use]
pub fn transcript_html(title: &str, entries: &[TranscriptEntry]) -> String {
    let title = escaped_html(&one_line(title, 300));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n{HEAD}<title>{title}</title>\n<h1>{title}</h1>\n"
    );
    let mut attempt = None;
    for entry in entries {
        if entry.attempt != attempt {
            attempt.clone_from(&entry.attempt);
            if let Some(attempt) = &attempt {
                let _ = writeln!(out, "<h2>{}</h2>", escaped_html(&attempt.to_string()));
            }
        }
        section(&mut out, entry);
    }
    out.push_str("</html>\n");
    out
}

fn section(out: &mut String, entry: &TranscriptEntry) {
    let class = match (entry.failed, entry.kind) {
        (true, _) => "failed",
        (false, EntryKind::Model) => "model",
        (false, EntryKind::Person) => "person",
        (false, EntryKind::Answer) => "answer",
        (false, EntryKind::Question) => "question",
        (false, _) => "other",
    };
    let (kind, title) = (entry.kind.as_str(), escaped_html(&one_line(&entry.title, 300)));
    let session = if entry.session.0 > 1 { format!(" {}", entry.session) } else { String::new() };
    let _ = writeln!(
        out,
        "<section class=\"{class}\"><header><b>{kind}</b>{session} {title} <time>{}</time></header>",
        entry.at
    );
    if !entry.text.is_empty() {
        let lines = entry.text.lines().count();
        let text = format!("<pre>{}</pre>", escaped_html(&visible(&entry.text)));
        let _ = match lines > FOLDED || entry.kind.is_detail() {
            true => {
                writeln!(out, "<details><summary>{lines} lines</summary>{text}</details>")
            }
            false => writeln!(out, "{text}"),
        };
    }
    if entry.left_out > 0 {
        let _ = writeln!(out, "<p>{} characters omitted.</p>", entry.left_out);
    }
    out.push_str("</section>\n");
}

/// Escapes a text for HTML.
#[must_use]
pub fn escaped_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
