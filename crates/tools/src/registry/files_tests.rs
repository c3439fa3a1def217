//! Reading and writing through the registry: encodings, pictures, folders, the guard on unread files, git.

use base64::Engine as _;
use sandbox::{LocalEnvironment, Recorded, Repo};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use types::{Family, Source, Timestamp};

use super::*;
use crate::{FileReadTracker, profile};

pub(super) struct Desk {
    pub(super) dir: tempfile::TempDir,
    env: LocalEnvironment,
    seen: FileReadTracker,
    pub(super) registry: Registry,
}

impl Desk {
    pub(super) fn new(seen: FileReadTracker) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let env = LocalEnvironment::open(dir.path()).expect("a workspace");
        let registry = Registry::standard().rooted(env.root());
        Self { dir, env, seen, registry }
    }

    pub(super) fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.dir.path().join(name), bytes).expect("a file");
    }

    pub(super) fn text(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.path().join(name)).expect("a file")
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> ToolOutput {
        let stop = CancellationToken::new();
        let place = ToolContext::new(&self.env, &self.seen, &stop);
        self.registry.run(tool, &arguments, &place).await
    }
}

/// K31: encodings by name, and an error that lists them.
#[tokio::test]
async fn a_file_is_read_in_the_encoding_that_is_asked_for() {
    let desk = Desk::new(FileReadTracker::unguarded());
    desk.put("f", b"\xe9t\xe9\0");
    for (encoding, shown) in [("hex", "e974e900"), ("base64", "6XTpAA=="), ("base64url", "6XTpAA")]
    {
        let output = desk.call("read_file", json!({"path": "f", "encoding": encoding})).await;
        assert_eq!((output.success, output.text.as_str()), (true, shown));
    }
    let output = desk.call("read_file", json!({"path": "f", "encoding": "latin1"})).await;
    assert!(output.text.contains("été"), "{output:?}");
    let output = desk.call("read_file", json!({"path": "f", "encoding": "ebcdic"})).await;
    assert!(!output.success && output.text.contains("not supported"), "{output:?}");
    desk.put("w", &[b'h', 0, b'i', 0]);
    let output = desk.call("read_file", json!({"path": "w", "encoding": "utf16le"})).await;
    assert_eq!(output.text, "     1\thi\n");
}

#[tokio::test]
async fn a_picture_is_shown_as_one_unless_it_is_too_large() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let png = b"\x89PNG\r\n\x1a\n\0\0";
    desk.put("p.txt", png);
    let output = desk.call("read_file", json!({"path": "p.txt"})).await;
    let base64 = base64::engine::general_purpose::STANDARD.encode(png);
    let expected = Source::Bytes { media_type: "image/png".to_owned(), base64 };
    assert_eq!((output.success, output.images), (true, vec![expected]));
    desk.put("big", &[png.as_slice(), &vec![0; 2_000_000]].concat());
    let output = desk.call("read_file", json!({"path": "big"})).await;
    assert!(!output.success && output.images.is_empty(), "{}", output.text);
}

/// K32: missing folders are created, unless the call disables it.
#[tokio::test]
async fn a_missing_folder_is_made_or_not_as_it_is_said() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let refuse = json!({"path": "a/b", "content": "x", "create_dirs": false});
    let output = desk.call("write_file", refuse.clone()).await;
    assert!(!output.success && !desk.dir.path().join("a").exists(), "{output:?}");
    let output =
        desk.call("write_file", json!({"path": "a/c", "content": "x", "create_dirs": true})).await;
    assert!(output.success, "{output:?}");
    assert!(desk.call("write_file", refuse).await.success);
    assert_eq!(output.metadata.bytes, Some(1));
}

#[tokio::test]
async fn a_file_that_was_not_read_as_it_is_is_not_changed() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("f", b"one\n");
    let write = json!({"path": "f", "content": "two\n"});
    let edit = json!({"path": "f", "old_string": "one", "new_string": "two"});
    // It quotes no line of the file, so it proves nothing.
    let patch = "*** Begin Patch\n*** Update File: f\n@@\n+two\n*** End Patch";
    for (tool, arguments) in [
        ("write_file", write.clone()),
        ("edit_file", edit.clone()),
        ("apply_patch", json!({"patch": patch})),
    ] {
        let output = desk.call(tool, arguments).await;
        assert!(!output.success && output.text.contains("read it before"), "{tool}: {output:?}");
    }
    assert_eq!(desk.text("f"), b"one\n");
    desk.call("read_file", json!({"path": "f"})).await;
    desk.put("f", b"one more\n");
    let output = desk.call("edit_file", edit.clone()).await;
    assert!(!output.success && output.text.contains("changed since"), "{output:?}");
    let read = desk.call("read_file", json!({"path": "f"})).await;
    assert!(desk.call("edit_file", edit).await.success);
    // A written file counts as known, and a new file needs no read.
    assert!(desk.call("write_file", write.clone()).await.success);
    assert!(desk.call("write_file", json!({"path": "new", "content": ""})).await.success);
    // The recorded read suffices for another process to continue.
    let later = Desk {
        seen: FileReadTracker::guarded(&read.files),
        ..Desk::new(FileReadTracker::unguarded())
    };
    later.put("f", b"one more\n");
    assert!(later.call("write_file", write).await.success);
}

/// A patch that quotes the lines around its change exactly proves that they were read.
#[tokio::test]
async fn a_patch_whose_lines_are_those_of_the_file_proves_that_it_was_read() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("f", b"  one\nmore\n");
    let patch = |old: &str| json!({"patch": format!("*** Begin Patch\n*** Update File: f\n@@\n-{old}\n+two\n*** End Patch")});
    let guessed = desk.call("apply_patch", patch("one")).await;
    assert!(!guessed.success && guessed.text.contains("read it before"), "{guessed:?}");
    let wrong = desk.call("apply_patch", patch("none")).await;
    assert!(!wrong.success && wrong.text.contains("read it before"), "{wrong:?}");
    let exact = desk.call("apply_patch", patch("  one")).await;
    assert!(exact.success, "{exact:?}");
    assert_eq!(desk.text("f"), b"two\nmore\n");
}

/// A file that a command names counts as read if the command printed a line of it.
#[tokio::test]
async fn a_file_that_a_command_printed_counts_as_read() {
    for (command, shows) in [
        ("cat d/f", true),
        ("sed -n 2p d/f", true),
        ("cat -n d/f | tail -1", true),
        ("grep -n more d/f", true),
        ("wc -l d/f", false),
        ("ls d", false),
        ("echo line one", false),
    ] {
        let desk = Desk::new(FileReadTracker::guarded([]));
        std::fs::create_dir(desk.dir.path().join("d")).expect("a folder");
        desk.put("d/f", b"line one\nand more\n");
        desk.call("shell", json!({ "command": command })).await;
        let write = desk.call("write_file", json!({"path": "d/f", "content": "x"})).await;
        assert_eq!(write.success, shows, "{command}: {write:?}");
    }
}

#[tokio::test]
async fn absolute_paths_are_taken_only_below_the_workspace() {
    let desk = Desk::new(FileReadTracker::unguarded());
    desk.put("f", b"x\n");
    let root = desk.env.root().display().to_string();
    assert!(desk.call("read_file", json!({"path": format!("{root}/f")})).await.success);
    // K29
    for outside in [format!("{root}/../f"), format!("{root}x/f"), "/etc/passwd".to_owned()] {
        let output = desk.call("read_file", json!({ "path": outside })).await;
        assert!(!output.success, "{outside} was read");
    }
}

/// K30: a link that leads out is not read, and nothing is written through a link.
#[tokio::test]
async fn links_that_lead_out_are_not_followed() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let outside = tempfile::tempdir().expect("a folder");
    let secret = outside.path().join("secret");
    std::fs::write(&secret, "secret").expect("a file");
    std::os::unix::fs::symlink(&secret, desk.dir.path().join("l")).expect("a link");
    assert!(!desk.call("read_file", json!({"path": "l"})).await.success);
    assert!(!desk.call("write_file", json!({"path": "l", "content": "x"})).await.success);
    assert_eq!(std::fs::read_to_string(secret).expect("a file"), "secret");
}

/// K33, K34, K35: a shallow clone inside the workspace, a commit with its hash, a diff that takes no options.
#[tokio::test]
async fn git_clones_commits_and_shows_changes() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let source = desk.dir.path().join("src");
    std::fs::create_dir(&source).expect("a folder");
    std::fs::write(source.join("f"), "one\n").expect("a file");
    let at = Timestamp::from_millis(0);
    Repo::create(&source, "One\n", at).await.expect("a repository");
    let output = desk.call("git_clone", json!({"url": "./src"})).await;
    assert!(output.success && desk.dir.path().join("repo/f").exists(), "{output:?}");
    for bad in ["../elsewhere", "/tmp/r", ".git"] {
        assert!(!desk.call("git_clone", json!({"url": "./src", "dest": bad})).await.success);
    }
    let inner = Desk { env: LocalEnvironment::open(&source).expect("a workspace"), ..desk };
    std::fs::write(source.join("f"), "two\n").expect("a file");
    let output = inner.call("git_diff", json!({"path": "f"})).await;
    assert!(output.text.contains("+two"), "{output:?}");
    assert!(!inner.call("git_diff", json!({"ref": "--output=x"})).await.success);
    let output = inner.call("git_commit", json!({"message": "m \"q\"\n$(id)", "all": true})).await;
    assert_eq!(output.metadata.sha.as_deref(), Some(output.text.as_str()));
    assert_eq!(output.text.len(), 40, "{output:?}");
    assert_eq!(inner.call("git_diff", json!({})).await.text, "(no changes)");
    std::fs::write(source.join("new"), "three\n").expect("a file");
    let new = "new files, not added yet:\n  new\n";
    assert_eq!(inner.call("git_diff", json!({})).await.text, new);
    assert_eq!(inner.call("git_diff", json!({"path": "f"})).await.text, "(no changes)");
    assert_eq!(inner.call("git_diff", json!({"staged": true})).await.text, "(no changes)");
    assert!(!inner.call("git_commit", json!({"message": "m", "amend": true})).await.success);
}

/// K33: a clone copies only what a folder of the workspace itself contains, never link targets or hidden files.
#[cfg(unix)]
#[tokio::test]
async fn a_clone_brings_in_nothing_from_elsewhere_and_nothing_hidden() {
    let outside = tempfile::tempdir().expect("a folder");
    let at = Timestamp::from_millis(0);
    std::fs::write(outside.path().join("secret"), "s\n").expect("a file");
    Repo::create(outside.path(), "One\n", at).await.expect("a repository");
    let git_dir = outside.path().join(".git");
    let desk = Desk::new(FileReadTracker::unguarded());
    let place = |name: &str| desk.dir.path().join(name);
    let folder = |name: &str| std::fs::create_dir(place(name)).expect("a folder");
    folder("pointer");
    std::fs::write(place("pointer/.git"), format!("gitdir: {}\n", git_dir.display()))
        .expect("a file");
    folder("link");
    std::os::unix::fs::symlink(&git_dir, place("link/.git")).expect("a link");
    for made in ["borrower", "inner", "own", "own/context"] {
        folder(made);
    }
    for made in ["borrower", "inner"] {
        std::fs::write(place(made).join("f"), "f\n").expect("a file");
        Repo::create(&place(made), "One\n", at).await.expect("a repository");
    }
    let objects = format!("{}\n", git_dir.join("objects").display());
    std::fs::create_dir_all(place("borrower/.git/objects/info")).expect("a folder");
    std::fs::write(place("borrower/.git/objects/info/alternates"), objects).expect("a file");
    std::fs::remove_dir_all(place("inner/.git/refs")).expect("removed");
    std::os::unix::fs::symlink(git_dir.join("refs"), place("inner/.git/refs")).expect("a link");
    for url in ["pointer", "link", "borrower", "inner"] {
        let output = desk.call("git_clone", json!({"url": url})).await;
        assert!(output.text.contains("not all in its own folder"), "{url}: {output:?}");
        assert!(!place("repo").exists(), "{url}");
    }

    // The context registry is hidden; a repository without any of its files can be cloned.
    std::fs::write(place("own/f"), "f\n").expect("a file");
    std::fs::write(place("own/context/secret.md"), "s\n").expect("a file");
    Repo::create(&place("own"), "One\n", at).await.expect("a repository");
    let hiding = |pattern: &str| {
        let env = LocalEnvironment::open(desk.dir.path()).expect("a workspace");
        env.hiding(&[pattern]).expect("a pattern")
    };
    for pattern in ["context/**", "own/context/**"] {
        let desk = Desk { env: hiding(pattern), ..Desk::new(FileReadTracker::unguarded()) };
        let output = desk.call("git_clone", json!({"url": "own"})).await;
        assert!(output.text.contains("hidden from agents"), "{pattern}: {output:?}");
    }
    let desk = Desk { env: hiding("other/**"), ..Desk::new(FileReadTracker::unguarded()) };
    assert!(desk.call("git_clone", json!({"url": "own"})).await.success);
}

/// A23, K26, A82: a timeout of two minutes for one family, ten seconds for the others, unless the model gives one;
/// never more than ten minutes.
#[tokio::test]
async fn a_command_has_the_time_of_its_family() {
    let desk = Desk::new(FileReadTracker::unguarded());
    let stop = CancellationToken::new();
    let recorded = Recorded::new(Arc::new(desk.env.clone()));
    let place = ToolContext::new(&recorded, &desk.seen, &stop);
    let shell = |timeout_ms: Option<u64>| match timeout_ms {
        Some(most) => json!({"command": "true", "timeout_ms": most}),
        None => json!({"command": "true"}),
    };
    for family in Family::ALL {
        let usual = if family == Family::Anthropic { 120_000 } else { 10_000 };
        let registry = profile::adapted(&crate::ToolProfile::of(family), &desk.registry);
        for (asked, given) in [(None, usual), (Some(50), 50), (Some(3_600_000), 600_000)] {
            // Whether the command finished in time does not matter here.
            registry.run("shell", &shell(asked), &place).await;
            let last = recorded.asked().pop().unwrap_or_default();
            assert_eq!(last, format!("exec \"true\" in . within {given} ms"), "{family:?}");
        }
    }
    let slow = json!({"command": "sleep 30", "timeout_ms": 50});
    let output = desk.call("shell", slow).await;
    assert!(output.metadata.timed_out && output.text.contains("50 ms"), "{output:?}");
    assert!(!output.success && output.text.contains("timeout_ms"), "{output:?}");
}

#[tokio::test]
async fn what_hides_in_a_file_is_shown_and_noted() {
    let desk = Desk::new(FileReadTracker::unguarded());
    desk.put("f", "a\u{202e}b\n".as_bytes());
    let output = desk.call("read_file", json!({"path": "f"})).await;
    assert!(output.metadata.hidden_characters && output.text.contains("\\u{202e}"), "{output:?}");
}

/// Files whose names are not valid paths are shown escaped, not left out.
#[tokio::test]
async fn names_that_are_no_paths_are_shown_escaped() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = Desk::new(FileReadTracker::unguarded());
    desk.put("plain.txt", b"needle\n");
    for name in [b"two\nlines".as_slice(), b"\x1b[31mred", b"\xff\xfe", b"~home"] {
        let name = std::ffi::OsStr::from_bytes(name);
        std::fs::write(desk.dir.path().join(name), "needle\n").expect("a file");
    }
    let calls = [
        ("list_dir", json!({})),
        ("glob", json!({"pattern": "**"})),
        ("grep", json!({"pattern": "needle"})),
    ];
    for (tool, arguments) in calls {
        let output = desk.call(tool, arguments).await;
        let names =
            ["plain.txt", "\"two\\nlines\"", "\"\\x1b[31mred\"", "\"\\xff\\xfe\"", "\"~home\""];
        for name in names {
            assert!(output.text.contains(name), "{tool}: {name} in {}", output.text);
        }
        assert!(output.text.contains("file tools cannot open"), "{}", output.text);
        assert!(!output.text.contains('\u{1b}') && !output.text.contains('\u{fffd}'));
    }
}

/// Small models fill in every option; an empty text is none.
#[tokio::test]
async fn an_option_that_is_an_empty_text_is_left_out() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("f", b"one\n");
    let output = desk.call("read_file", json!({"path": "f", "offset": 1, "encoding": ""})).await;
    assert_eq!((output.success, output.text.as_str()), (true, "     1\tone\n"));
    let removal = json!({"path": "f", "old_string": "one\n", "new_string": ""});
    assert!(desk.call("edit_file", removal).await.success, "a required text may be empty");
    assert_eq!(desk.text("f"), b"");
}

#[tokio::test]
async fn a_call_that_changes_nothing_succeeds_and_says_so() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("calc.py", b"def add(a, b):\n    return a - b\n");
    desk.call("read_file", json!({"path": "calc.py"})).await;
    let edit = json!({"path": "calc.py", "old_string": "a - b", "new_string": "a + b"});
    let first = desk.call("edit_file", edit.clone()).await;
    assert_eq!(first.text, "replaced 1 time in calc.py");
    let again = desk.call("edit_file", edit).await;
    assert!(again.success && again.text.contains("already has the new text"), "{again:?}");
    assert_eq!(again.files, first.files, "the file is known as it is");
    let insert = json!({"path": "calc.py", "old_string": "a + b", "new_string": "a + b + 0"});
    desk.call("edit_file", insert.clone()).await;
    let again = desk.call("edit_file", insert).await;
    assert!(again.success && again.text.contains("already has the new text"), "{again:?}");
    assert_eq!(desk.text("calc.py"), b"def add(a, b):\n    return a + b + 0\n");

    let write = json!({"path": "new.py", "content": "x = 1\n"});
    let first = desk.call("write_file", write.clone()).await;
    assert_eq!(first.text, "wrote 6 bytes to new.py");
    let again = desk.call("write_file", write.clone()).await;
    assert_eq!(again.text, "new.py already has this content");
    // A call that was cut off and is made again gives the result that was lost.
    let resumed = Desk { seen: FileReadTracker::guarded([]), ..desk };
    let output = resumed.call("write_file", write).await;
    assert_eq!(output.text, first.text);
}

#[tokio::test]
async fn the_same_patch_again_changes_nothing_and_says_so() {
    let desk = Desk::new(FileReadTracker::guarded([]));
    desk.put("a.py", b"one\ntwo\n");
    let patch = "*** Begin Patch\n*** Update File: a.py\n one\n-two\n+three\n*** Add File: b.py\n+x\n*** End Patch";
    let first = desk.call("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(first.text, "updated a.py\nadded b.py");
    let again = desk.call("apply_patch", json!({ "patch": patch })).await;
    let told = "a.py already has the new lines: nothing to replace\nb.py already has this content";
    assert_eq!((again.success, again.text.as_str()), (true, told));
    assert_eq!(desk.text("a.py"), b"one\nthree\n");
}
