//! Rows about files: creating, reading, editing one and several, searching, and the edit format of each family.

use serde_json::json;
use testkit::wire::Reply;
use types::{Family, SessionState};

use crate::stage::{Props, Stage, calls, edit, read, write};

/// A1, A2, A3, A21, A61, A63: row 1, create a file.
#[tokio::test]
async fn a_file_is_created() {
    for family in Family::ALL {
        let replies = vec![
            calls(&[write(family, "deep/down/hello.txt", "hello\n")]),
            Reply::say("It is there."),
        ];
        let stage = Stage::telling(family, Props::default(), replies).await;
        assert_eq!(stage.submit("Write hello.").await, SessionState::Idle, "{}", stage.name());
        assert_eq!(stage.file("deep/down/hello.txt").as_deref(), Some("hello\n"));
        assert_eq!(stage.asked().len(), 2, "{}", stage.name());
        assert_eq!(stage.session.last_words().await.expect("words"), "It is there.");
    }
}

/// A12, A46, A47, A51: the contents of the first request, for every family; and it is small.
#[tokio::test]
async fn the_first_request_has_the_prompt_in_its_layers_and_is_small() {
    for family in Family::ALL {
        let props =
            Props::files(&[("AGENTS.md", "Sails are blue.\n"), ("CLAUDE.md", "Only one.\n")]);
        let stage = Stage::telling(family, props, vec![Reply::say("Hello.")]).await;
        stage.submit("Hello.").await;
        let asked = stage.asked();
        let (first, system) = (&asked[0], asked[0].system());
        assert!(system.starts_with("You are Bosun, a coding agent."), "{}: {system}", stage.name());
        let places = ["Your tools:", "<environment>", "git branch: main", "Sails are blue."];
        let places =
            places.map(|part| system.find(part).unwrap_or_else(|| panic!("{part}: {system}")));
        assert!(places.is_sorted(), "{}: {places:?}", stage.name());
        assert_eq!(system.contains("Only one."), family == Family::Anthropic, "{}", stage.name());
        println!("{}: {} bytes in the first request", stage.name(), first.bytes);
        assert!(first.bytes < 13_500, "{}: {} bytes", stage.name(), first.bytes);
    }
}

/// A2, A20, A61: row 2, read a file, then edit it.
#[tokio::test]
async fn a_file_is_read_and_then_edited() {
    for family in Family::ALL {
        let replies = vec![
            calls(&[read(family, "tide.txt")]).thinking("Look first."),
            calls(&[edit(family, "tide.txt", "low", "high")]),
            Reply::say("High it is."),
        ];
        let props = Props::files(&[("tide.txt", "Monday\nlow\n")]);
        let stage = Stage::telling(family, props, replies).await;
        stage.submit("Raise the tide.").await;
        assert_eq!(stage.file("tide.txt").as_deref(), Some("Monday\nhigh\n"), "{}", stage.name());
        assert!(stage.results()[0].contains("2\tlow"), "{}: {:?}", stage.name(), stage.results());
    }
}

/// A19: row 3, several files in one reply, each with its own result in order.
#[tokio::test]
async fn several_files_are_edited_in_one_reply() {
    for family in Family::ALL {
        let names = ["a.txt", "b.txt", "c.txt"];
        let replies = vec![
            calls(&names.map(|name| read(family, name))),
            calls(&names.map(|name| edit(family, name, "old", name))),
            Reply::say("All three."),
        ];
        let files = names.map(|name| (name, "old\n"));
        let stage = Stage::telling(family, Props::files(&files), replies).await;
        stage.submit("Edit them all.").await;
        for name in names {
            assert_eq!(stage.file(name), Some(format!("{name}\n")), "{}", stage.name());
        }
        let results = stage.results();
        assert_eq!(results.len(), 6, "{}", stage.name());
        let named = |at: usize| results[3 + at].contains(names[at]);
        assert!((0..3).all(named), "{}: {results:?}", stage.name());
    }
}

/// A68, A69: row 6, search by content and by name.
#[tokio::test]
async fn files_are_found_by_content_and_by_name() {
    for family in Family::ALL {
        let search = Reply::call("grep", json!({ "pattern": "anchor\\(" }))
            .and("glob", json!({ "pattern": "**/*.rs" }));
        let props = Props::files(&[
            ("src/a.rs", "fn anchor() {}\n"),
            ("src/b.rs", "fn buoy() {}\n"),
            ("notes.txt", "no anchor here\n"),
        ]);
        let stage = Stage::telling(family, props, vec![search, Reply::say("Found.")]).await;
        stage.submit("Where is the anchor?").await;
        let results = stage.results();
        assert!(results[0].contains("src/a.rs") && !results[0].contains("notes"), "{results:?}");
        assert!(results[1].contains("src/a.rs") && results[1].contains("src/b.rs"), "{results:?}");
        assert!(!results[1].contains("notes"), "{results:?}");
    }
}

/// A2, A4: row 7, an edit based on a read, and a second input that continues from there.
#[tokio::test]
async fn an_edit_follows_from_what_was_read() {
    for family in Family::ALL {
        let stage = Stage::by(family, Props::files(&[("depth.txt", "17\n")]), move |asked| {
            let results = asked.results();
            let reply = match results.last() {
                None => calls(&[read(family, "depth.txt")]),
                Some(shown) if shown.contains("\t17") => {
                    calls(&[edit(family, "depth.txt", "17", "34")]).thinking("Twice 17.")
                }
                Some(_) if asked.inputs().len() == 1 => Reply::say("Doubled."),
                Some(_) => Reply::say("It was 17."),
            };
            reply.into()
        })
        .await;
        stage.submit("Double the depth.").await;
        assert_eq!(stage.file("depth.txt").as_deref(), Some("34\n"), "{}", stage.name());
        stage.submit("What was it before?").await;
        assert_eq!(stage.session.last_words().await.expect("words"), "It was 17.");
        assert_eq!(stage.asked().last().expect("one").inputs().len(), 2, "{}", stage.name());
    }
}

/// A9, A10, A11, A16: row 15, each family has its own edit format, and lacks the others'.
#[tokio::test]
async fn each_family_edits_in_its_own_format_and_no_other() {
    for family in Family::ALL {
        let foreign = match family {
            Family::OpenAi => edit(Family::Anthropic, "a.txt", "one", "three"),
            _ => edit(Family::OpenAi, "a.txt", "one", "three"),
        };
        let replies = vec![
            calls(&[read(family, "a.txt")]),
            calls(&[foreign]),
            calls(&[edit(family, "a.txt", "one", "two")]),
            Reply::say("Two."),
        ];
        let stage = Stage::telling(family, Props::files(&[("a.txt", "one\n")]), replies).await;
        stage.submit("Count on.").await;
        let tools = stage.asked()[0].tools();
        let has = |name: &str| tools.iter().any(|tool| tool == name);
        let offered = (has("apply_patch"), has("edit_file"), has("list_dir"));
        let wanted = match family {
            Family::OpenAi => (true, false, false),
            Family::Anthropic => (false, true, false),
            Family::Gemini | Family::Portable => (false, true, true),
        };
        assert_eq!(offered, wanted, "{}: {tools:?}", stage.name());
        assert_eq!(stage.file("a.txt").as_deref(), Some("two\n"), "{}", stage.name());
        assert!(stage.results()[1].contains("no tool"), "{:?}", stage.results());
    }
}
