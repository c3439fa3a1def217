//! Deleting and moving through the registry: inspected paths, refusals, and files that count as read afterwards.

use serde_json::json;
use types::{Access, FileState, Repeat};

use super::files_tests::Desk;
use super::*;
use crate::FileReadTracker;

fn judged(desk: &Desk, tool: &str, arguments: Value) -> Result<Vec<String>, String> {
    let arguments = Arguments::Json(arguments);
    let call = Call { wire_id: "1".to_owned(), tool: tool.to_owned(), arguments };
    match desk.registry.inspect(&call) {
        Inspection::Would(facts) => {
            assert_eq!((facts.access, facts.repeat), (Access::Write, Repeat::Unknown));
            Ok(facts.paths.iter().map(ToString::to_string).collect())
        }
        Inspection::Invalid(why) | Inspection::Outside(why) => Err(why),
    }
}

#[test]
fn both_ends_of_a_move_are_judged_and_a_folder_stands_for_what_is_in_it() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let moves = |source: &str, destination: &str| {
        judged(&desk, "move_file", json!({"source": source, "destination": destination}))
    };
    assert_eq!(moves("a", "b/c"), Ok(vec!["a".to_owned(), "b/c".to_owned()]));
    assert_eq!(moves("d/a", "b/"), Ok(vec!["d/a".to_owned(), "b/a".to_owned()]));
    assert_eq!(moves("d/a", "."), Ok(vec!["d/a".to_owned(), "a".to_owned()]));
    assert_eq!(moves("d/", "e/"), Ok(vec!["d/*".to_owned(), "e/*".to_owned()]));
    for (from, to) in [("a", "a"), ("d/", "d/x/"), (".", "a"), ("d/", "."), ("../a", "b")] {
        assert!(moves(from, to).is_err(), "{from} to {to}");
    }
    assert_eq!(judged(&desk, "delete_file", json!({"path": "d/a"})), Ok(vec!["d/a".to_owned()]));
    assert!(judged(&desk, "delete_file", json!({"path": "./"})).is_err());
}

#[tokio::test]
async fn a_file_is_deleted_unread_and_a_folder_only_when_it_is_empty() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    std::fs::create_dir(desk.dir.path().join("d")).expect("a folder");
    desk.put("d/a", b"1");
    let full = desk.call("delete_file", json!({"path": "d"})).await;
    assert!(!full.success && full.text.contains("delete what is in it first"), "{full:?}");
    let done = desk.call("delete_file", json!({"path": "d/a"})).await;
    assert_eq!((done.success, done.text.as_str()), (true, "deleted d/a"));
    let gone = FileState { path: "d/a".parse().expect("a path"), digest: None };
    assert_eq!(done.files, [gone]);
    assert!(desk.call("delete_file", json!({"path": "d/"})).await.success);
    let again = desk.call("delete_file", json!({"path": "d/a"})).await;
    assert!(!again.success && again.text.contains("does not exist"), "{again:?}");
}

#[tokio::test]
async fn a_move_replaces_only_what_was_read_and_takes_what_is_known_along() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("a", b"1");
    desk.put("b", b"2");
    let to_b = json!({"source": "a", "destination": "b"});
    let unread = desk.call("move_file", to_b.clone()).await;
    assert!(!unread.success && unread.text.contains("was not read yet"), "{unread:?}");
    assert!(desk.call("read_file", json!({"path": "b"})).await.success);
    assert_eq!(desk.call("move_file", to_b).await.text, "moved a to b");
    assert_eq!(desk.text("b"), b"1");
    // The current content of `b` has not been read.
    let write = json!({"path": "b", "content": "3"});
    assert!(!desk.call("write_file", write.clone()).await.success);
    assert!(desk.call("read_file", json!({"path": "b"})).await.success);
    assert!(desk.call("move_file", json!({"source": "b", "destination": "n/"})).await.success);
    let known = json!({"path": "n/b", "content": "3"});
    assert!(desk.call("write_file", known).await.success, "it was read under its old name");
}

#[tokio::test]
async fn a_folder_is_moved_whole_when_it_is_named_as_one() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    std::fs::create_dir(desk.dir.path().join("d")).expect("a folder");
    desk.put("d/a", b"1");
    desk.put("f", b"1");
    for (from, to, why) in [
        ("d", "e", "write d/ to move all that is in it"),
        ("f/", "e", "f is a file"),
        ("f", "d", "d is a folder; name the new path itself"),
    ] {
        let output = desk.call("move_file", json!({"source": from, "destination": to})).await;
        assert!(!output.success && output.text.contains(why), "{output:?}");
    }
    let root = desk.dir.path().canonicalize().expect("a path");
    let source = format!("{}/d/", root.display());
    let done = desk.call("move_file", json!({"source": source, "destination": "e/f"})).await;
    assert!(done.success, "{done:?}");
    assert_eq!(desk.text("e/f/a"), b"1");
}

#[tokio::test]
async fn a_patch_moves_an_unread_file_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("run", b"#!/bin/sh\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(desk.dir.path().join("run"), mode).expect("a mode");
    let patch = "*** Begin Patch\n*** Update File: run\n*** Move to: bin/run\n*** End Patch";
    let done = desk.call("apply_patch", json!({"patch": patch})).await;
    assert!(done.success, "{done:?}");
    let moved = std::fs::metadata(desk.dir.path().join("bin/run")).expect("it is there");
    assert_eq!(moved.permissions().mode() & 0o777, 0o755);
    assert!(!desk.call("write_file", json!({"path": "bin/run", "content": ""})).await.success);
}
