//! Effects of a restoration on files, and files that it leaves alone.

use super::*;

#[test]
fn bytes_modes_links_and_odd_names_come_back_and_new_files_go() {
    let fixture = Fixture::new();
    fixture.put("crlf.txt", "a\r\nb\r\n\u{feff}no newline");
    std::fs::write(fixture.at("bytes"), [0, 159, 146, 150, 255]).expect("a file");
    fixture.put("deep/er/file", "deep");
    fixture.put("script.sh", "#!/bin/sh\n");
    fixture.mode("script.sh", 0o750);
    fixture.put("secret", "s");
    fixture.mode("secret", 0o600);
    fixture.put(odd_name(), "odd");
    fixture.link("/nowhere/at all", "dangling");
    fixture.link("deep", "to-folder");
    let (picture, before) = (fixture.picture(), fixture.take());
    fixture.put("crlf.txt", "other");
    fixture.mode("script.sh", 0o644);
    for path in ["bytes", "secret", "dangling", "to-folder"] {
        std::fs::remove_file(fixture.at(path)).expect("gone");
    }
    std::fs::remove_file(fixture.at(odd_name())).expect("gone");
    std::fs::remove_dir_all(fixture.at("deep")).expect("gone");
    fixture.link("secret", "to-folder");
    fixture.put("new/folder/file", "new");
    let (changed, after) = (fixture.picture(), fixture.take());
    let restored = fixture.restore(&before);
    assert_eq!(fixture.picture(), picture);
    assert_eq!(paths(&restored.removed), ["new/folder/file"]);
    assert!(!fixture.at("new").exists(), "folders that became empty go too");
    assert_eq!((restored.written.len(), restored.left_alone.len()), (8, 0));
    assert_eq!(restored.trees.before, after);
    assert_eq!(fixture.take(), before);
    let again = fixture.restore(&before);
    assert_eq!((again.written.len(), again.removed.len()), (0, 0));
    fixture.restore(&after);
    assert_eq!(fixture.picture(), changed, "taking back can be taken back");
}

#[test]
fn a_file_that_became_a_folder_and_a_folder_that_became_a_file_turn_back() {
    let fixture = Fixture::new();
    fixture.put("file", "a file");
    fixture.put("folder/one", "1");
    fixture.put("folder/sub/two", "2");
    let (picture, before) = (fixture.picture(), fixture.take());
    std::fs::remove_file(fixture.at("file")).expect("gone");
    fixture.put("file/below/it", "x");
    std::fs::remove_dir_all(fixture.at("folder")).expect("gone");
    fixture.put("folder", "a file now");
    let (changed, after) = (fixture.picture(), fixture.take());
    fixture.restore(&before);
    assert_eq!(fixture.picture(), picture);
    fixture.restore(&after);
    assert_eq!(fixture.picture(), changed);
}

#[test]
fn ignored_files_are_kept_as_they_are() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "*.log\nbuild/\n");
    fixture.put("src/a", "1");
    fixture.put("cache/.gitignore", "*\n");
    let before = fixture.take();
    fixture.put("src/a.log", "made later");
    fixture.put("build/out", "made later");
    fixture.put("cache/x", "made later");
    fixture.put("venv/.gitignore", "*\n");
    fixture.put("venv/lib/x", "made later, and ignores itself");
    std::fs::remove_file(fixture.at("src/a")).expect("gone");
    let restored = fixture.restore(&before);
    assert_eq!((paths(&restored.written), restored.removed.len()), (vec!["src/a"], 0));
    for path in ["src/a.log", "build/out", "cache/x", "venv/lib/x"] {
        assert!(fixture.at(path).exists(), "{path} is gone");
    }
}

#[test]
fn rules_that_were_changed_meanwhile_neither_hide_nor_expose_anything() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "precious/\n");
    fixture.put("src/a", "1");
    fixture.put("precious/x", "ignored, not in any snapshot");
    let mut picture = fixture.picture();
    let before = fixture.snapshots.before(None, None).expect("a snapshot");
    // The new rules hide everything that the agent did, and no longer what they hid before.
    fixture.put(".gitignore", "*\n!precious/\n!precious/x\n");
    fixture.put("src/a", "2");
    fixture.put("src/planted", "new");
    let changed = fixture.picture();
    let trees = fixture.snapshots.after(&before, None).expect("a snapshot").expect("changes");
    let restored = fixture.undo(&[(trees.before, trees.after)], &[]).expect("an undo");
    // A new file that is ignored is not known.
    picture.insert(fixture.at("src/planted"), changed[&fixture.at("src/planted")].clone());
    assert_eq!(fixture.picture(), picture);
    fixture.undo(&[(restored.trees.before, restored.trees.after)], &[]).expect("an undo");
    assert_eq!(fixture.picture(), changed, "also what was hidden can be had again");
}

#[test]
fn large_files_are_left_alone_and_named() {
    let fixture = Fixture::with_limits(10, 1000);
    fixture.put("large", "always too large for it");
    fixture.put("grown", "small");
    fixture.put("shrunk", "too large at first");
    let before = fixture.take();
    fixture.put("large", "always too large for it, and different");
    fixture.put("grown", "too large by now");
    fixture.put("shrunk", "small");
    fixture.put("new", "new, and too large");
    let picture = fixture.picture();
    let restored = fixture.restore(&before);
    assert_eq!(fixture.picture(), picture);
    assert_eq!(alone(&restored), ["grown", "large", "new", "shrunk"]);
}

#[test]
fn an_ignored_file_in_the_way_is_not_lost() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "*.o\nkeep\n");
    fixture.put("out", "a file");
    fixture.put("deep/file", "x");
    let before = fixture.take();
    std::fs::remove_file(fixture.at("out")).expect("gone");
    fixture.put("out/a.o", "ignored, in a folder where a file shall be");
    std::fs::remove_dir_all(fixture.at("deep")).expect("gone");
    let restored = fixture.restore(&before);
    assert_eq!(paths(&restored.written), ["deep/file"]);
    assert_eq!(alone(&restored), ["out"]);
    assert!(fixture.at("out/a.o").exists());
}

#[test]
fn a_restoration_that_was_cut_off_is_finished_by_the_next_one() {
    let mut fixture = Fixture::new();
    for n in 0..6 {
        fixture.put(format!("a/{n}"), "old");
    }
    fixture.put("file", "a file");
    let (picture, before) = (fixture.picture(), fixture.take());
    std::fs::remove_file(fixture.at("file")).expect("gone");
    for n in 3..9 {
        fixture.put(format!("a/{n}"), "new");
        fixture.put(format!("file/{n}"), "new");
    }
    std::fs::remove_file(fixture.at("a/0")).expect("gone");
    let changed = fixture.take();
    for steps in 0..13 {
        let trees = types::Trees { before, after: changed, switched: false };
        let undo = Undo { changes: &[trees], replace: &[], aside: fixture.place.path() };
        let (mut plan, _) = fixture.snapshots.plan(undo).expect("a plan");
        plan.truncate(steps);
        let place = fixture.snapshots.place();
        carry::carry_out(plan, |part, step| place.make(part, step));
        fixture.put(".bosun-staging-1-0", "half");
        fixture.reopen();
        fixture.restore(&before);
        std::fs::remove_file(fixture.at(".bosun-staging-1-0")).expect("still there");
        assert_eq!(fixture.picture(), picture, "after {steps} steps");
        fixture.restore(&changed);
    }
}
