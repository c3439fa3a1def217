//! The journal as users see it: damage is reported, readers do not block, backups can be restored.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::SystemTime;

use crate::binary::{Place, send, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

/// The demo after it has printed `lines` lines, with the id of its run.
fn under_way(place: &Place, lines: usize) -> (Child, String) {
    let mut child = place.spawn(&["demo", "--keep", "--json"]);
    let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
    let mut line = String::new();
    for _ in 0..lines {
        line.clear();
        out.read_line(&mut line).expect("a line");
    }
    let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    let run = line["run"].as_str().expect("an id").to_owned();
    // The output from here on is not read, and need not be.
    child.stdout = Some(out.into_inner());
    (child, run)
}

fn journal(place: &Place, ending: &str) -> PathBuf {
    place.home().join(format!("journal.db{ending}"))
}

fn code(place: &Place, args: &[&str]) -> (i32, String, String) {
    let output = place.run(args);
    (output.status.code().expect("an exit code"), stdout(&output), stderr(&output))
}

#[test]
fn a_damaged_write_ahead_log_is_named_and_not_driven_on_silently() {
    let place = Place::new();
    let (mut child, run) = under_way(&place, 60);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let wal = journal(&place, "-wal");
    let mut bytes = std::fs::read(&wal).expect("a write-ahead log");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&wal, bytes).expect("it can be changed");

    let (_, _, said) = code(&place, &["list"]);
    assert!(said.contains("which had been acknowledged"), "{said}");
    let (exit, out, said) = code(&place, &["log", "--verify"]);
    assert_eq!(exit, 76, "{said}");
    assert!(out.contains(&run) && out.contains(" lost "), "{out}");
    let (exit, _, said) = code(&place, &["resume", &run]);
    assert!(exit == 76 && said.contains("--accept-loss"), "{exit}: {said}");
    let (exit, _, said) = code(&place, &["log", "r_0000", "--accept-loss"]);
    assert!(exit == 2 && said.contains("no losses to accept"), "{exit}: {said}");
    let (exit, out, said) = code(&place, &["log", &run, "--accept-loss"]);
    assert!(exit == 0 && out.contains("accepted: log r_"), "{said}");
    let (exit, _, said) = code(&place, &["log", "--verify"]);
    assert!(exit == 0, "{said}");
    let (exit, _, said) = code(&place, &["resume", &run, "--json"]);
    assert!(matches!(exit, 0 | 3), "{exit}: {said}");
}

#[test]
fn readers_do_not_wait_for_a_writer_that_was_stopped() {
    let place = Place::new();
    let (mut child, run) = under_way(&place, 20);
    let process = child.id().to_string();
    send("-STOP", &process);
    for args in [
        &["list"][..],
        &["show", &run],
        &["log", &run],
        &["why", &run],
        &["questions"],
        &["log", "--verify"],
    ] {
        let (exit, _, said) = code(&place, args);
        assert_eq!(exit, 0, "{args:?}: {said}");
    }
    send("-KILL", &process);
    child.wait().expect("it ends");
    let leased = code(&place, &["resume", &run, "--json"]);
    assert!(matches!(leased.0, 0 | 3), "the lease is free at once: {}", leased.2);
}

/// Names, sizes and modification times of everything in a folder.
fn state(folder: &Path) -> Vec<(PathBuf, u64, SystemTime)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries
        .map(|entry| {
            let entry = entry.expect("an entry");
            let found = entry.metadata().expect("a file");
            (entry.path(), found.len(), found.modified().expect("a time"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn readers_change_nothing_and_a_disk_that_is_full_is_said() {
    let place = Place::new();
    let (exit, _, said) = code(&place, &["list"]);
    assert!(exit == 0 && !place.home().exists(), "nothing was made: {said}");
    let (repo, script) = repository(&place, SCRIPT);
    assert!(place.run(&run(&repo, &script, "Write hello to greeting.txt")).status.success());
    let before = state(&place.home());
    for args in [&["list"][..], &["show"], &["log"], &["why"], &["questions"], &["log", "--verify"]]
    {
        let (exit, _, said) = code(&place, args);
        assert_eq!(exit, 0, "{args:?}: {said}");
        assert_eq!(state(&place.home()), before, "{args:?}");
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let output = place.command(&["list"]).stdout(full).output().expect("the binary runs");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(said.contains("free space"), "{said}");
}

#[test]
fn a_journal_is_backed_up_while_it_is_written_to_and_restored() {
    let place = Place::new();
    let (mut child, run) = under_way(&place, 40);
    let (exit, out, said) = code(&place, &["backup", "copy.db"]);
    assert_eq!(exit, 0, "{said}");
    assert!(out.contains("copy.db"), "{out}");
    let (exit, _, said) = code(&place, &["backup", "copy.db"]);
    assert!(exit == 2 && said.contains("already exists"), "{exit}: {said}");
    let (exit, _, said) = code(&place, &["restore", "copy.db"]);
    assert_eq!(exit, 69, "somebody drives a run: {said}");
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");

    let copy = place.path().join("copy.db");
    let good = std::fs::read(&copy).expect("a backup");
    let mut bad = good.clone();
    let wanted = b"\"event\":\"run.accepted\"";
    let places: Vec<usize> =
        (0..bad.len() - wanted.len()).filter(|at| bad[*at..].starts_with(wanted)).collect();
    for at in places {
        bad[at + 13] = b'f';
    }
    std::fs::write(place.path().join("bad.db"), &bad).expect("a file");
    let before = std::fs::read(journal(&place, "")).expect("a journal");
    let (exit, _, said) = code(&place, &["restore", "bad.db"]);
    assert!(exit == 76 && said.contains("nothing was restored"), "{exit}: {said}");
    let (exit, _, said) = code(&place, &["restore", "none.db"]);
    assert_eq!(exit, 65, "{said}");
    std::fs::write(place.path().join("letter.db"), "not a database\n".repeat(100)).expect("a file");
    let (exit, _, said) = code(&place, &["restore", "letter.db"]);
    assert!(exit == 65 && said.contains("letter.db is not a backup made by"), "{exit}: {said}");
    assert_eq!(std::fs::read(journal(&place, "")).expect("a journal"), before);

    let lines = |place: &Place| stdout(&place.run(&["log", &run, "--json"])).lines().count();
    let later = lines(&place);
    let (exit, _, said) = code(&place, &["restore", "copy.db"]);
    assert!(exit == 0 && said.contains("journal.db.before-"), "{exit}: {said}");
    assert!(lines(&place) <= later && lines(&place) > 0);
    let (exit, _, said) = code(&place, &["log", "--verify"]);
    assert!(exit == 0 && !said.contains("missing"), "{exit}: {said}");
    assert_eq!(std::fs::read(&copy).expect("a backup"), good);
    let kept = state(&place.home());
    let aside = kept.iter().filter(|(path, ..)| path.to_string_lossy().contains(".before-"));
    assert!(aside.count() >= 1, "{kept:?}");
    let (exit, _, said) = code(&place, &["resume", &run, "--json"]);
    assert!(matches!(exit, 0 | 3), "{exit}: {said}");
}

#[test]
fn what_a_backup_does_not_have_is_said_and_kept() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let work = || place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(work().status.success());
    assert_eq!(code(&place, &["backup", "copy.db"]).0, 0);
    assert!(work().status.success());
    let (exit, _, said) = code(&place, &["restore", "copy.db"]);
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("not in the backup: 3 logs"), "{said}");
    assert!(said.contains("is kept as "), "{said}");
    assert_eq!(stdout(&place.run(&["list", "-q"])).lines().count(), 1);
    let (exit, _, said) = code(&place, &["restore", "copy.db"]);
    assert!(exit == 0 && !said.contains("not in the backup"), "{said}");
}
