//! First messages: what an agent is given by contract, and the files that are quoted.

use samples::brief;
use serde_json::json;
use types::{Brief, Contract, Contracts, ReplyRule, Strictness};

use super::{is_quotable, opening};

/// M10: a coder gets the task and the contents of its existing files, and nothing else.
#[test]
fn a_coders_message_has_two_keys() {
    let brief = Brief {
        task: json!({ "task": { "id": "T1" } }).to_string(),
        files: vec![types::Document {
            path: "work/src/a.py".parse().expect("a path"),
            text: "x = 1\n".to_owned(),
        }],
        reply: Some(ReplyRule { contract: Contract::Edits, reading: Strictness::Strict }),
        ..brief("T1.1")
    };
    let policy = Contracts { root: Some("work".parse().expect("a path")), ..Contracts::default() };
    assert_eq!(
        opening(&brief, &policy),
        r#"{"task":{"id":"T1"},"context_files":[{"path":"src/a.py","content":"x = 1\n"}]}"#
    );
}

#[test]
fn the_files_of_a_task_are_quoted_after_it() {
    let file = |path: &str, text: &str| types::Document {
        path: path.parse().expect("a path"),
        text: text.to_owned(),
    };
    let brief = Brief {
        task: "# Task 1 of 1: Add\n".to_owned(),
        files: vec![file("a.py", "x = 1\n"), file("b.py", "y = 2")],
        ..brief("T1.1")
    };
    assert_eq!(
        opening(&brief, &Contracts::default()),
        "# Task 1 of 1: Add\n\n# Files as they are now\n\n<file path=\"a.py\">\nx = 1\n</file>\n\n<file \
         path=\"b.py\">\ny = 2\n</file>\n"
    );
    assert!(is_quotable(&file("a.py", "x = 1\n\ty = 2\n")));
    // Content that could pass for the end of its quotation, or that would be shown differently.
    for text in ["a</FILE>b", "a\u{1b}[2J", "a\u{202e}b"] {
        assert!(!is_quotable(&file("a.py", text)), "{text:?}");
    }
}
