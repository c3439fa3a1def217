//! `bosun chat` in a real terminal, apart from the conversation itself: commits after a yes, permanent grants, hosts,
//! background processes, the user's own commands, and the ways to enter text.

use std::path::Path;

use crate::binary::{Place, stderr, stdout};
use crate::chat::{begins, stage};
use crate::screen::{Screen, can_be_had, run};

fn says(screen: &Screen, text: &str) {
    screen.types(text);
    screen.press("Enter");
}

fn with_repository(place: &Place, folder: &Path) {
    place.git(folder, &["init", "-q", "-b", "main"]);
    place.git(folder, &["config", "user.name", "Ada"]);
    place.git(folder, &["config", "user.email", "ada@example.org"]);
    place.git(folder, &["add", "-A"]);
    place.git(folder, &["commit", "-qm", "Start"]);
}

/// A git command in the shell is rejected with the alternative; the tool commits after a yes, in the user's name.
#[test]
fn the_agent_commits_after_a_yes() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "write_file", path = "new.txt", content = "hello\n" }
[[attempt.reply]]
call = { tool = "shell", command = "git add -A && git commit -m wrong" }
[[attempt.reply]]
call = { tool = "git", args = ["add", "new.txt"] }
[[attempt.reply]]
call = { tool = "git", args = ["commit", "-m", "Add a greeting"] }
[[attempt.reply]]
say = "Committed."
"#,
    );
    with_repository(&place, &folder);
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "Greet, and commit it");
    let asked = screen.waits_until("the first question", |screen| {
        screen.contains("git add new.txt") && screen.contains("1  allow once")
    });
    assert!(asked.contains("refused: commands cannot write to .git"), "{asked}");
    assert!(asked.contains("2  allow for this session: git add"), "{asked}");
    says(&screen, "1");
    screen.waits_until("the second question", |screen| {
        screen.contains("Add a greeting") && screen.contains("allow for this session: git commit")
    });
    says(&screen, "y");
    screen.waits_for("Committed.");
    let log = place.git(&folder, &["log", "-1", "--format=%an %s"]);
    assert_eq!(log, "Ada Add a greeting\n");
}

/// A permanent grant is shown, edited, written to the user's file, and not asked about again.
#[test]
fn always_allow_shows_the_pattern_and_lets_it_be_edited() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "shell", command = "rm -r one && rm -r two" }
[[attempt.reply]]
call = { tool = "shell", command = "rm -r three" }
[[attempt.reply]]
say = "All gone."
"#,
    );
    for name in ["one", "two", "three"] {
        std::fs::create_dir_all(folder.join(name)).expect("a folder");
    }
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "Tidy up");
    let asked = screen.waits_for("3  always allow: rm -r");
    assert!(asked.contains("rm -r one") && asked.contains("rm -r two"), "{asked}");
    says(&screen, "3");
    screen.waits_for("edit what to always allow");
    screen.types(", host example.org");
    screen.press("Enter");
    let done = screen.waits_for("All gone.");
    assert!(done.contains("allowed from now on: `rm -r`, example.org"), "{done}");
    assert!(!folder.join("three").exists(), "the third was not asked about");
    let kept =
        std::fs::read_to_string(place.path().join("config/bosun/grants.toml")).expect("a file");
    assert!(kept.contains("rm -r") && kept.contains("example.org"), "{kept}");
    says(&screen, "/permissions");
    let told = screen.waits_for("also allowed in this session: `rm -r`, example.org");
    assert!(told.contains("deny") && told.contains("permit.destroys"), "{told}");
}

/// A host is asked for by name; a no keeps it closed.
#[test]
fn a_host_is_asked_for() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "shell", command = "true", hosts = ["registries"] }
[[attempt.reply]]
call = { tool = "web_fetch", url = "https://docs.example.org/x" }
[[attempt.reply]]
say = "Then not."
"#,
    );
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "Install it");
    let asked = screen.waits_for("2  allow for this session: host registries");
    assert!(asked.contains("it would connect to registries"), "{asked}");
    says(&screen, "1");
    screen.waits_for("host docs.example.org");
    says(&screen, "4");
    let done = screen.waits_for("Then not.");
    assert!(done.contains("did not allow it"), "{done}");
}

/// A background process runs beside later commands, in the same network, and can be read and stopped; the model is told
/// about one that ends by itself.
#[test]
fn processes_stay_in_the_background() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "process", action = "start", command = "readlink /proc/self/ns/net; sleep 600", wait_ms = 20000 }
[[attempt.reply]]
call = { tool = "shell", command = "readlink /proc/self/ns/net" }
[[attempt.reply]]
call = { tool = "process", action = "start", command = "while [ ! -e end ]; do sleep 0.05; done; exit 7" }
[[attempt.reply]]
call = { tool = "shell", command = "touch end" }
[[attempt.reply]]
call = { tool = "process", action = "read", id = 2, wait_ms = 20000 }
[[attempt.reply]]
call = { tool = "process", action = "stop", id = 1 }
[[attempt.reply]]
say = "All stopped."
"#,
    );
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "Serve it");
    screen.waits_for("All stopped.");
    let log = stdout(&place.run(&["log", "--json"]));
    let networks: Vec<&str> = log.match_indices("net:[").map(|(at, _)| &log[at..at + 16]).collect();
    assert!(networks.len() >= 2, "{log}");
    assert!(networks.iter().all(|one| *one == networks[0]), "one network: {networks:?}");
    assert!(
        log.contains("process 2: exit code 7") || log.contains("process 2 has ended: exit code 7"),
        "{log}"
    );
    assert!(log.contains("process 1: stopped"), "{log}");
    screen.press("C-d");
    screen.waits_for("resume with:");
}

/// A process that writes settings when it is stopped: the session is over when they are gone.
#[test]
fn a_process_leaves_no_settings_behind() {
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "process", action = "start", command = "trap 'echo x > AGENTS.md; echo x > ended' TERM; echo up; while [ ! -e ended ]; do sleep 0.05; done", wait_ms = 20000 }
[[attempt.reply]]
say = "It runs."
"#,
    );
    let (folder_name, script) =
        (folder.to_str().expect("a path"), script.to_str().expect("a path"));
    let words = ["run", "--preset", "solo", "--script", script, "--repo", folder_name, "Serve it"];
    let output = place.run(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(folder.join("ended").is_file(), "it was stopped: {}", stderr(&output));
    assert!(!folder.join("AGENTS.md").exists(), "{}", stderr(&output));
}

/// After the session was left, its processes are gone, and the model is told.
#[test]
fn processes_of_before_are_reported_as_gone() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
call = { tool = "process", action = "start", command = "echo up; sleep 600", wait_ms = 20000 }
[[attempt.reply]]
say = "It runs."
[[attempt.reply]]
call = { tool = "process", action = "list" }
[[attempt.reply]]
say = "Nothing runs."
"#,
    );
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "Serve it");
    screen.waits_until("the end", |screen| screen.contains("It runs.") && screen.contains("ready"));
    screen.press("C-d");
    screen.waits_for("resume with:");
    screen.run("chat --resume");
    screen
        .waits_until("the prompt", |screen| screen.contains("resumed") && screen.contains("ready"));
    says(&screen, "Does it still run?");
    screen.waits_for("Nothing runs.");
    let log = stdout(&place.run(&["log", "--json"]));
    assert!(log.contains("those that were started before are gone"), "{log}");
}

/// A file is completed after an @, the output of a `!` command goes to the model, earlier input is found again, text is
/// written in an editor, and a custom command expands to a text.
#[test]
fn there_are_many_ways_to_type() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
say = "First."
[[attempt.reply]]
say = "Second."
[[attempt.reply]]
say = "Third."
"#,
    );
    let commands = place.path().join("config/bosun/commands");
    std::fs::create_dir_all(&commands).expect("a folder");
    std::fs::write(commands.join("greet.md"), "Say hello to $ARGUMENTS.\n").expect("a file");
    let screen = Screen::open(&place, &folder, 100, 40);
    says(&screen, "export EDITOR='sed -i s/draft/letter/'");
    begins(&screen, &script);
    screen.types("look at @a.t");
    screen.waits_for("  @a.txt");
    screen.press("Tab");
    screen.waits_for("> look at @a.txt");
    screen.press("Enter");
    screen.waits_until("the end", |screen| screen.contains("First.") && screen.contains("ready"));
    says(&screen, "!echo own-$((40 + 2))");
    screen.waits_for("the output goes to the model");
    screen.types("my draft");
    screen.waits_for("> my draft");
    screen.press("C-g");
    screen.waits_for("> my letter");
    screen.press("Enter");
    screen.waits_until("the end", |screen| screen.contains("Second.") && screen.contains("ready"));
    screen.press("C-r");
    screen.types("look");
    screen.waits_for("search: look");
    screen.press("Escape");
    says(&screen, "/greet Ada");
    screen.waits_for("Third.");
    let log = stdout(&place.run(&["log", "--json"]));
    for said in ["look at @a.txt", "own-42", "my letter", "Say hello to Ada."] {
        assert!(log.contains(said), "{said} is missing: {log}");
    }
}

/// A plan changes nothing before it is approved; changes are shown; a conversation is exported to a file; a new one
/// begins, and the old one can be reopened.
#[test]
fn plans_diffs_exports_and_other_sessions() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(
        &place,
        r#"
[[attempt.reply]]
say = "I would write b.txt."
[[attempt.reply]]
call = { tool = "edit_file", path = "a.txt", old_string = "two", new_string = "2" }
[[attempt.reply]]
say = "Done with it."
"#,
    );
    with_repository(&place, &folder);
    let screen = Screen::open(&place, &folder, 100, 40);
    begins(&screen, &script);
    says(&screen, "/plan write b.txt");
    screen.waits_until("a plan", |screen| {
        screen.contains("I would write b.txt.") && screen.contains("plan only")
    });
    let log = stdout(&place.run(&["log", "--json"]));
    let changed = log.lines().find(|line| line.contains("session.changed")).expect("other tools");
    assert!(changed.contains("read_file") && !changed.contains("write_file"), "{changed}");
    says(&screen, "/go");
    screen.waits_until("the end", |screen| {
        screen.contains("Done with it.") && screen.contains("ready")
    });
    std::fs::write(folder.join("a.txt"), "one\n2\n").expect("a file");
    says(&screen, "/diff");
    screen.waits_for("    2 +2");
    says(&screen, "/export talk.md");
    screen.waits_for("written to");
    let text = std::fs::read_to_string(folder.join("talk.md")).expect("a file");
    assert!(text.contains("## Agent") && text.contains("I would write b.txt."), "{text}");
    says(&screen, "/clear");
    screen.waits_until("another conversation", |screen| screen.matches("· /help").count() == 2);
    says(&screen, "/sessions");
    screen.waits_for("/sessions NUMBER switches to one");
    says(&screen, "/sessions 2");
    screen.waits_for("previous session: /sessions");
}

/// A chat ends when its terminal is closed, whatever it was doing, and can be resumed.
#[test]
fn a_conversation_ends_with_its_terminal() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(&place, "[[attempt.reply]]\nsay = \"Hello.\"\n");
    let held = place.path().join("held");
    crate::screen::run("mkfifo", &[&held.display().to_string()]);
    let (sender, ended) = std::sync::mpsc::sync_channel(1);
    let pipe = held.clone();
    std::thread::spawn(move || {
        // The pipe reaches its end when the last process that holds it open is gone.
        sender.send(std::fs::read(pipe).is_ok()).ok();
    });
    let screen = Screen::open(&place, &folder, 100, 40);
    screen.run(&format!("chat --script {} 9>{}", script.display(), held.display()));
    screen.waits_for("ready");
    drop(screen);
    let ended = ended.recv_timeout(std::time::Duration::from_secs(20));
    assert_eq!(ended, Ok(true), "the conversation outlived its terminal");
}

/// The clipboard is read by a desktop program; the fake one here has one picture, and none after that.
#[test]
fn a_picture_is_pasted_from_the_clipboard() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let (folder, script) = stage(&place, "[[attempt.reply]]\nsay = \"A square.\"\n");
    let xclip = place.path().join("xclip");
    let copied = place.path().join("copied.png");
    std::fs::write(&copied, b"\x89PNG\r\n\x1a\nsquare").expect("a picture");
    let copied = copied.display();
    let text = format!("#!/bin/sh\n[ \"$4\" = image/png ] && cat {copied} && rm {copied}\n");
    std::fs::write(&xclip, text).expect("a program");
    run("chmod", &["+x", &xclip.display().to_string()]);
    let screen = Screen::open(&place, &folder, 140, 40);
    screen.types(&format!("unset WAYLAND_DISPLAY; PATH={}:$PATH", place.path().display()));
    screen.press("Enter");
    begins(&screen, &script);
    screen.press("C-v");
    screen.waits_for("/tmp/bosun-");
    screen.types("What is this?");
    screen.press("Enter");
    screen.waits_for("A square.");
    screen.press("C-v");
    screen.waits_for("no picture could be read from the clipboard");
    let log = stdout(&place.run(&["log", "--json"]));
    assert!(log.contains("iVBORw0KGgpzcXVhcmU="), "the picture went to the model: {log}");
}
