//! Undo through the binary: what the person, or a switch of the branch, has changed since is left alone, listed and
//! asked about, and whatever is replaced is kept.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::chat::{begins, stage};
use crate::screen::{Screen, can_be_had};

/// One round that changes two files and makes a third.
const ROUND: &str = r#"
[[attempt.reply]]
call = { tool = "shell", command = "echo two > a.txt; echo two > b.txt; mkdir new; echo two > new/c.txt" }
[[attempt.reply]]
say = "Done."
"#;

fn read(folder: &Path, file: &str) -> Option<String> {
    std::fs::read_to_string(folder.join(file)).ok()
}

fn write(folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).expect("a file");
}

/// A session that has made the round.
fn session(place: &Place) -> PathBuf {
    let (folder, script) = stage(place, ROUND);
    write(&folder, "a.txt", "one\n");
    write(&folder, "b.txt", "one\n");
    works(place, &folder, &script);
    folder
}

fn works(place: &Place, folder: &Path, script: &Path) {
    let (repo, script) = (folder.display().to_string(), script.display().to_string());
    let ran =
        place.run(&["run", "--preset", "solo", "--repo", &repo, "--script", &script, "Do it"]);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    assert_eq!(read(folder, "new/c.txt").as_deref(), Some("two\n"));
}

/// The number of the last line of the log.
fn last_line(place: &Place) -> u64 {
    let log = stdout(&place.run(&["log", "newest", "--json"]));
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    last["seq"].as_u64().expect("a number")
}

#[test]
fn what_the_person_changed_since_is_left_alone_listed_and_replaced_only_on_request() {
    let place = Place::new();
    let folder = session(&place);
    write(&folder, "a.txt", "mine\n");
    write(&folder, "new/mine.txt", "mine\n");
    let back = place.run(&["rewind", "newest", "--to", "1"]);
    let said = stdout(&back);
    assert_eq!(back.status.code(), Some(3), "{said}{}", stderr(&back));
    for part in ["b.txt, new/c.txt removed", "left alone: a.txt (changed since)", "-mine", "+one"] {
        assert!(said.contains(part), "{part} is missing: {said}");
    }
    assert!(said.contains("--to 1 --replace a.txt"), "{said}");
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("mine\n"));
    assert_eq!(read(&folder, "b.txt").as_deref(), Some("one\n"));
    assert_eq!(read(&folder, "new/mine.txt").as_deref(), Some("mine\n"));
    assert!(!folder.join("new/c.txt").exists());
    let before = last_line(&place).to_string();
    for foreign in ["nosuch", "../slow"] {
        let back = place.run(&["rewind", "newest", "--to", "1", "--replace", foreign]);
        assert_eq!(back.status.code(), Some(2), "{}{}", stdout(&back), stderr(&back));
        assert!(stderr(&back).contains(&format!("{foreign} is not among")), "{}", stderr(&back));
        assert_eq!(last_line(&place).to_string(), before, "nothing is undone");
    }
    let back = place.run(&["rewind", "newest", "--to", "1", "--replace", "a.txt", "--json"]);
    assert_eq!(back.status.code(), Some(0), "{}", stderr(&back));
    let told: Value = serde_json::from_str(&stdout(&back)).expect("JSON");
    assert_eq!(told["written"], serde_json::json!(["a.txt"]), "{told}");
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("one\n"));
    let kept = Path::new(told["kept_in"].as_str().expect("a folder"));
    assert_eq!(read(kept, "a.txt").as_deref(), Some("mine\n"), "the replaced version is kept");
    // The undo is undone like any other change.
    let forth = place.run(&["rewind", "newest", "--to", &before]);
    assert_eq!(forth.status.code(), Some(0), "{}", stderr(&forth));
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("mine\n"));
}

#[test]
fn after_a_switch_of_the_branch_the_files_of_that_branch_are_left_alone() {
    let place = Place::new();
    let (folder, script) = stage(&place, ROUND);
    write(&folder, "a.txt", "one\n");
    write(&folder, "b.txt", "one\n");
    let git = |args: &[&str]| place.git(&folder, args);
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    git(&["switch", "-qc", "other"]);
    write(&folder, "a.txt", "other\n");
    write(&folder, "extra.txt", "other\n");
    git(&["add", "."]);
    git(&["commit", "-qm", "other"]);
    git(&["switch", "-q", "main"]);
    works(&place, &folder, &script);
    git(&["add", "."]);
    git(&["commit", "-qm", "by the agent"]);
    git(&["switch", "-q", "other"]);
    let back = place.run(&["rewind", "newest", "--to", "1"]);
    assert_eq!(back.status.code(), Some(3), "{}{}", stdout(&back), stderr(&back));
    assert_eq!(git(&["status", "--porcelain"]), "", "{}", stdout(&back));
    assert_eq!(read(&folder, "extra.txt").as_deref(), Some("other\n"));
    git(&["switch", "-q", "main"]);
    let back = place.run(&["rewind", "newest", "--to", "1"]);
    assert_eq!(back.status.code(), Some(0), "{}{}", stdout(&back), stderr(&back));
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("one\n"));
    assert!(!folder.join("new").exists(), "a folder that the session made and nobody uses");
}

#[test]
fn an_ignored_file_that_a_call_names_comes_back() {
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
calls = [
  { tool = "write_file", path = "new/c.txt", content = "two\n" },
  { tool = "read_file", path = "notes.log" },
]
[[attempt.reply]]
call = { tool = "write_file", path = "notes.log", content = "two\n" }
[[attempt.reply]]
say = "Done."
"#,
    );
    write(&folder, ".gitignore", "*.log\n");
    write(&folder, "notes.log", "one\n");
    works(&place, &folder, &script);
    assert_eq!(read(&folder, "notes.log").as_deref(), Some("two\n"));
    let back = place.run(&["rewind", "newest", "--to", "1"]);
    assert_eq!(back.status.code(), Some(0), "{}{}", stdout(&back), stderr(&back));
    assert_eq!(read(&folder, "notes.log").as_deref(), Some("one\n"));
    assert!(!folder.join("new").exists());
}

/// `/undo` shows the difference and asks; a no changes nothing, a yes keeps the replaced version.
#[test]
fn a_conflict_is_asked_about_in_the_chat() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(&place, ROUND);
    write(&folder, "a.txt", "one\n");
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    screen.types("Do it");
    screen.press("Enter");
    screen.waits_until("the end", |screen| screen.contains("Done.") && screen.contains("ready"));
    write(&folder, "a.txt", "mine\n");
    screen.types("/undo");
    screen.press("Enter");
    let asked = screen.waits_for("Restore it anyway?");
    for part in ["left alone: a.txt (changed since)", "-mine", "+one", "y replaces"] {
        assert!(asked.contains(part), "{part} is missing:\n{asked}");
    }
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("mine\n"));
    assert!(!folder.join("new/c.txt").exists(), "the rest is undone");
    screen.types("n");
    screen.press("Enter");
    screen.waits_until("an answer", |screen| !screen.contains("Restore it anyway?"));
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("mine\n"));
    screen.types("/rewind 1");
    screen.press("Enter");
    screen.waits_for("Restore it anyway?");
    screen.types("y");
    screen.press("Enter");
    screen.waits_until("a restoration", |screen| screen.contains("restored: a.txt"));
    assert_eq!(read(&folder, "a.txt").as_deref(), Some("one\n"));
    let mut aside = std::fs::read_dir(place.home().join("removed")).expect("a folder").flatten();
    let kept = |folder: PathBuf| read(&folder, "a.txt").as_deref() == Some("mine\n");
    assert!(aside.any(|entry| kept(entry.path())), "the replaced version is kept");
}
