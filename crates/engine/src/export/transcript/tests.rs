//! Transcripts of logs decided by the engine itself, and of hostile texts.

use std::sync::Arc;

use types::{By, Digest, Input, RunId};

use super::*;
use crate::agent::testing::{open_brief, policy};
use crate::testing::Bench;

const HOSTILE: &str = "</pre><script>alert(1)</script>\x1b[2J\n````\n![x](http://example.com/x)";

fn entries(told: &str) -> Vec<TranscriptEntry> {
    let mut bench = Bench::of(crate::Attempt::new(Arc::new(policy())));
    bench.send(&Input::Brief(Box::new(open_brief())));
    bench.tell(told);
    let mut reader = TranscriptReader::default();
    let line = |(event, at): &(types::Event, Timestamp)| Envelope {
        v: Envelope::VERSION,
        seq: 1,
        at: *at,
        run: RunId::fixed("r_told"),
        attempt: None,
        by: By::engine(),
        prev: Digest::ZERO,
        event: event.clone(),
    };
    bench.log.iter().map(line).flat_map(|line| reader.line(&line)).collect()
}

#[test]
fn a_conversation_is_told_in_the_order_in_which_it_happened() {
    let told = entries(
        "submit Look\nmodel calls read_file a\ntool c0 error\nsteer Only a\nmodel says Seen.",
    );
    let kinds: Vec<&str> = told.iter().map(|entry| entry.kind.as_str()).collect();
    let wanted = ["start", "system prompt", "person", "call", "result", "person", "model"];
    assert_eq!(kinds, wanted);
    assert_eq!(told[3].title, "s1.t1.c0 read_file");
    assert_eq!(told[3].text, "\"a\"");
    assert!(told[4].failed && told[4].title.contains("read_file"), "{:?}", told[4]);
    assert_eq!(told[6].text, "Seen.");
}

fn hostile() -> Vec<TranscriptEntry> {
    let mut told = entries("submit Look\nmodel says Seen.");
    for entry in &mut told {
        entry.text = HOSTILE.to_owned();
        entry.title = format!("<b>{HOSTILE}");
    }
    told
}

#[test]
fn a_page_has_no_markup_of_a_models() {
    let page = transcript_html("r_1 </title><script>", &hostile());
    assert!(!page.contains("<script>") && !page.contains("<b><"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("default-src 'none'"));
    assert!(!page.contains('\x1b'));
}

#[test]
fn a_fence_cannot_be_closed_from_inside() {
    let text = transcript_markdown("r_1", &hostile());
    assert!(!text.contains('\x1b'));
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = line.strip_suffix("text"),
            None => assert!(!line.contains("<script>") && !line.contains("![x]("), "{line}"),
        }
    }
    assert_eq!(fence, None, "every fence is closed");
}
