//! `bosun chat` in a real terminal, driven by keys: type, see it stream, approve, interrupt, steer, undo, resume.

use std::path::{Path, PathBuf};

use crate::binary::{Place, send, stderr, stdout};
use crate::screen::{Screen, can_be_had};

/// A folder to work in, and a script for the model.
pub(crate) fn stage(place: &Place, replies: &str) -> (PathBuf, PathBuf) {
    let folder = place.path().join("work");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("a.txt"), "one\ntwo\n").expect("a file");
    let script = place.path().join("script.toml");
    let replies = replies.replace("PLACE", &place.path().display().to_string());
    let text = format!(
        "price = {{ input = \"3.00\", output = \"15.00\" }}\n[[attempt]]\nrole = \"solo\"\n{replies}"
    );
    std::fs::write(&script, text).expect("a script");
    (folder, script)
}

fn let_go(place: &Place, name: &str) {
    std::fs::write(place.path().join(name), "").expect("a file");
}

pub(crate) fn begins(screen: &Screen, script: &Path) {
    screen.run(&format!("chat --script {}", script.display()));
    screen.waits_for("ready");
}

/// Starts a chat, and returns its process id.
fn begins_as(screen: &Screen, place: &Place, script: &Path) -> String {
    let (binary, pid) = (env!("CARGO_BIN_EXE_bosun"), place.path().join("pid"));
    let (number, script) = (pid.display(), script.display());
    screen.types(&format!("sh -c 'echo $$ > {number}; exec {binary} chat --script {script}'"));
    screen.press("Enter");
    screen.waits_for("ready");
    std::fs::read_to_string(pid).expect("its number").trim().to_owned()
}

/// A reply is shown before it is complete, a call is folded to one line, and an edit shows its change in colour.
#[test]
fn a_person_types_and_sees_the_reply_stream_in() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r##"
[[attempt.reply]]
think = "A greeting is wanted."
say = "I will **look** at it.\n"
hold = "PLACE/go"
call = { tool = "read_file", path = "a.txt" }
[[attempt.reply]]
call = { tool = "edit_file", path = "a.txt", old_string = "two", new_string = "2" }
[[attempt.reply]]
say = "# Done\n\n- changed `a.txt`\n\n```rust\nfn main() {}\n```\n"
"##,
    );
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    screen.types("Change two to 2");
    screen.press("Enter");
    let streaming = screen.waits_until("the reply, while it works", |screen| {
        screen.contains("I will look at it.") && screen.contains("working")
    });
    assert!(streaming.contains("> Change two to 2"), "{streaming}");
    assert!(streaming.contains("thought: A greeting is wanted."), "{streaming}");
    let_go(&place, "go");
    let done = screen
        .waits_until("the end", |screen| screen.contains("fn main") && screen.contains("ready"));
    for line in [
        "read_file a.txt  2 lines",
        "edit_file a.txt  +1 -1",
        "- two",
        "+ 2",
        "• changed a.txt",
        "rust",
    ] {
        assert!(done.contains(line), "{line} is missing:\n{done}");
    }
    assert!(!done.contains("**"), "{done}");
    let styled = screen.styled();
    assert!(
        styled.contains("\x1b[32m    + 2") || styled.contains("\x1b[38;5;2m    + 2"),
        "{styled:?}"
    );
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).expect("the file"), "one\n2\n");
    screen.press("C-d");
    let left = screen.waits_for("resume with:");
    assert!(left.contains("chat --resume r_") && left.contains("3 turns"), "{left}");
}

/// The agent gets the prompts of the project.
#[test]
fn a_conversation_has_the_prompts_of_its_project() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(&place, "[[attempt.reply]]\nsay = \"hi\"\n");
    std::fs::create_dir_all(folder.join(".bosun/prompts")).expect("a folder");
    std::fs::write(folder.join(".bosun/prompts/base.md"), "You are our own.\n").expect("a file");
    place.trust(&folder);
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    let log = stdout(&place.run(&["log", "--json"]));
    assert!(log.contains("You are our own."), "{log}");
}

/// A84: a call that a rule asks about waits for a yes, and a no with a reason reaches the model.
#[test]
fn a_dangerous_command_waits_for_a_yes() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "shell", command = "rm -r old" }
[[attempt.reply]]
call = { tool = "shell", command = "rm -r src" }
[[attempt.reply]]
call = { tool = "ask_user", question = "Which colour?" }
[[attempt.reply]]
say = "All settled."
"#,
    );
    std::fs::create_dir_all(folder.join("old")).expect("a folder");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    screen.types("Tidy up");
    screen.press("Enter");
    let asked = screen.waits_for("y allows, n denies");
    assert!(asked.contains("rm -r old") && asked.contains("permit.deletes"), "{asked}");
    assert!(folder.join("old").exists(), "nothing is deleted before the answer");
    screen.types("y");
    screen.press("Enter");
    screen.waits_for("shell rm -r old  exit 0");
    assert!(!folder.join("old").exists());
    screen.waits_until("the second question", |screen| {
        screen.contains("rm -r src") && screen.contains("y allows")
    });
    screen.types("no, I need it");
    screen.press("Enter");
    screen.waits_for("type an answer");
    assert!(folder.join("src").exists(), "a no is a no");
    screen.types("green");
    screen.press("Enter");
    let done = screen.waits_for("All settled.");
    assert!(done.contains("> no, I need it") && done.contains("> green"), "{done}");
}

/// K19, A32: Esc stops the turn and keeps the session; input typed while the agent works steers it.
#[test]
fn esc_stops_the_turn_and_typing_while_it_works_steers() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
say = "Running it."
call = { tool = "shell", command = "echo begun; while [ ! -e never ]; do sleep 0.05; done" }
[[attempt.reply]]
say = "Once more."
call = { tool = "shell", command = "echo again; while [ ! -e go ]; do sleep 0.05; done" }
[[attempt.reply]]
say = "Heard you."
"#,
    );
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    screen.types("Run it");
    screen.press("Enter");
    screen.waits_for("    begun");
    screen.press("Escape");
    screen.waits_until("a stop", |screen| screen.contains("stopped") && screen.contains("ready"));
    screen.types("Go on");
    screen.press("Enter");
    screen.waits_for("    again");
    screen.types("and be quick");
    screen.press("Enter");
    screen.waits_for("queued: and be quick");
    std::fs::write(folder.join("go"), "").expect("a file");
    let done = screen.waits_for("Heard you.");
    assert!(done.contains("> and be quick"), "{done}");
    let heard = place.run(&["log", "--json"]);
    assert!(stdout(&heard).contains("\"how\":\"steer\""), "{}", stderr(&heard));
}

/// /undo reverts changes, and the conversation is shown again after leaving and resuming.
#[test]
fn changes_are_undone_and_the_conversation_is_resumed() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "read_file", path = "a.txt" }
[[attempt.reply]]
call = { tool = "write_file", path = "a.txt", content = "three\n" }
[[attempt.reply]]
say = "Written."
[[attempt.reply]]
say = "I remember you."
"#,
    );
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    screen.types("Write three");
    screen.press("Enter");
    screen.waits_until("the end", |screen| screen.contains("Written.") && screen.contains("ready"));
    screen.types("/undo");
    screen.press("Enter");
    screen.waits_for("file changes after line");
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).expect("the file"), "one\ntwo\n");
    screen.press("C-c");
    screen.waits_for("Ctrl-C again to quit");
    screen.press("C-c");
    screen.waits_for("resume with:");
    screen.types("clear");
    screen.press("Enter");
    screen.run("chat --resume");
    let again = screen.waits_until("the conversation", |screen| {
        screen.contains("> Write three") && screen.contains("ready")
    });
    assert!(again.contains("Written."), "{again}");
    screen.types("Who am I?");
    screen.press("Enter");
    screen.waits_for("I remember you.");
    screen.press("Up");
    screen.waits_for("> Who am I?");
}

/// The smallest supported screen, without colours, with a paste of several lines.
#[test]
fn it_works_on_forty_columns_without_colours() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
say = "A line that is much longer than forty columns and therefore has to be wrapped, \u001b[31mred\u001b[0m.\n"
"#,
    );
    let screen = Screen::open(&place, &folder, 40, 12);
    screen.types("export NO_COLOR=1");
    screen.press("Enter");
    begins(&screen, &script);
    screen.pastes("first line\nsecond line");
    screen.waits_for("  second line");
    screen.press("Enter");
    let done = screen
        .waits_until("the reply", |screen| screen.contains("wrapped") && screen.contains("ready"));
    assert!(done.contains("> first line\n  second line"), "{done}");
    assert!(done.contains("␛[31mred"), "escapes are shown: {done}");
    assert!(done.lines().all(|line| line.chars().count() <= 40), "{done}");
    let styled = screen.styled();
    let colour = (30..38).map(|ink| format!("\x1b[{ink}m")).chain(["[38;".to_owned()]);
    for code in colour {
        assert!(!styled.contains(&code), "{code:?} is a colour: {styled:?}");
    }
}

/// Another process answers and ends the session; the chat shows both.
#[test]
fn a_question_can_be_answered_and_the_session_ended_from_elsewhere() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let replies = "[[attempt.reply]]\ncall = { tool = \"ask_user\", question = \"Which colour?\" }\n\
                   [[attempt.reply]]\nsay = \"So be it.\"\n";
    let (folder, script) = stage(&place, replies);
    let screen = Screen::open(&place, &folder, 80, 24);
    begins(&screen, &script);
    screen.types("Paint it");
    screen.press("Enter");
    screen.waits_for("Which colour?");
    let listed = stdout(&place.run(&["list", "-q"]));
    let id = listed.split_whitespace().next().expect("an id");
    let answered = place.run(&["answer", id, "blue"]);
    assert_eq!(answered.status.code(), Some(0), "{}", stderr(&answered));
    let done = screen.waits_for("So be it.");
    assert!(done.contains("> blue"), "{done}");
    let cancelled = place.run(&["cancel", id]);
    assert_eq!(cancelled.status.code(), Some(0), "{}", stderr(&cancelled));
    let over = screen.waits_for("closed ·");
    assert!(over.contains("session closed"), "{over}");
}

/// The terminal is restored when a signal ends the program.
#[test]
fn the_terminal_is_put_back_after_a_signal() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(&place, "[[attempt.reply]]\nsay = \"hi\"\n");
    let screen = Screen::open(&place, &folder, 80, 24);
    let process = begins_as(&screen, &place, &script);
    send("-TERM", &process);
    screen.waits_for("resume with:");
    screen.types("stty -a | grep -q ' icanon' && echo back-$((40 + 2))");
    screen.press("Enter");
    screen.waits_for("back-42");
}

/// Killed during a call: finished calls are shown, the interrupted one is reported as such, and the session continues.
#[test]
fn a_conversation_that_was_killed_goes_on() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "shell", command = "echo once >> count.txt" }
[[attempt.reply]]
call = { tool = "shell", command = "echo begun; while [ ! -e go ]; do sleep 0.05; done" }
[[attempt.reply]]
say = "It went on."
"#,
    );
    let screen = Screen::open(&place, &folder, 80, 24);
    let process = begins_as(&screen, &place, &script);
    screen.types("Go");
    screen.press("Enter");
    screen.waits_for("    begun");
    send("-KILL", &process);
    screen.waits_for("Killed");
    let says = |args: &[&str]| stdout(&place.run(args));
    assert!(says(&["list"]).contains("session interrupted"), "{}", says(&["list"]));
    assert!(says(&["show"]).contains("interrupted  Go"), "{}", says(&["show"]));
    assert_eq!(says(&["list", "--state", "running", "-q"]), "");
    std::fs::write(folder.join("go"), "").expect("a file");
    // The killed process could not restore the terminal.
    screen.types("stty sane; clear");
    screen.press("C-j");
    screen.waits_until("an empty screen", |screen| !screen.contains("Killed"));
    screen.run("chat --resume");
    let done = screen.waits_for("It went on.");
    assert!(done.contains("echo once >> count.txt  exit 0"), "{done}");
    assert!(done.contains("interrupted; whether"), "{done}");
    let count = std::fs::read_to_string(folder.join("count.txt")).expect("the file");
    assert_eq!(count, "once\n", "a finished call is not made again");
}

#[test]
fn without_a_terminal_it_says_what_works_without_one() {
    let place = Place::new();
    let output = place.run(&["chat"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("bosun run --preset solo"), "{}", stderr(&output));
}
