//! What a restoration does to the files, and what it leaves alone.

use super::*;

#[test]
fn bytes_modes_links_and_odd_names_come_back_and_new_files_go() {
    let ground = Fixture::new();
    ground.put("crlf.txt", "a\r\nb\r\n\u{feff}no newline");
    std::fs::write(ground.at("bytes"), [0, 159, 146, 150, 255]).expect("a file");
    ground.put("deep/er/file", "deep");
    ground.put("script.sh", "#!/bin/sh\n");
    ground.mode("script.sh", 0o750);
    ground.put("secret", "s");
    ground.mode("secret", 0o600);
    ground.put(odd_name(), "odd");
    ground.link("/nowhere/at all", "dangling");
    ground.link("deep", "to-folder");
    let (picture, before) = (ground.picture(), ground.take());
    ground.put("crlf.txt", "other");
    ground.mode("script.sh", 0o644);
    for path in ["bytes", "secret", "dangling", "to-folder"] {
        std::fs::remove_file(ground.at(path)).expect("gone");
    }
    std::fs::remove_file(ground.at(odd_name())).expect("gone");
    std::fs::remove_dir_all(ground.at("deep")).expect("gone");
    ground.link("secret", "to-folder");
    ground.put("new/folder/file", "new");
    let (changed, after) = (ground.picture(), ground.take());
    let restored = ground.restore(&before);
    assert_eq!(ground.picture(), picture);
    assert_eq!(paths(&restored.removed), ["new/folder/file"]);
    assert!(!ground.at("new").exists(), "folders that became empty go too");
    assert_eq!((restored.written.len(), restored.left_alone.len()), (8, 0));
    assert_eq!(restored.before.digest, after);
    assert_eq!(ground.take(), before);
    let again = ground.restore(&before);
    assert_eq!((again.written.len(), again.removed.len()), (0, 0));
    ground.restore(&after);
    assert_eq!(ground.picture(), changed, "taking back can be taken back");
}

#[test]
fn a_file_that_became_a_folder_and_a_folder_that_became_a_file_turn_back() {
    let ground = Fixture::new();
    ground.put("file", "a file");
    ground.put("folder/one", "1");
    ground.put("folder/sub/two", "2");
    let (picture, before) = (ground.picture(), ground.take());
    std::fs::remove_file(ground.at("file")).expect("gone");
    ground.put("file/below/it", "x");
    std::fs::remove_dir_all(ground.at("folder")).expect("gone");
    ground.put("folder", "a file now");
    let (changed, after) = (ground.picture(), ground.take());
    ground.restore(&before);
    assert_eq!(ground.picture(), picture);
    ground.restore(&after);
    assert_eq!(ground.picture(), changed);
}

#[test]
fn ignored_files_are_kept_as_they_are() {
    let ground = Fixture::new();
    ground.put(".gitignore", "*.log\nbuild/\n");
    ground.put("src/a", "1");
    ground.put("cache/.gitignore", "*\n");
    let before = ground.take();
    ground.put("src/a.log", "made later");
    ground.put("build/out", "made later");
    ground.put("cache/x", "made later");
    ground.put("venv/.gitignore", "*\n");
    ground.put("venv/lib/x", "made later, and ignores itself");
    std::fs::remove_file(ground.at("src/a")).expect("gone");
    let restored = ground.restore(&before);
    assert_eq!((paths(&restored.written), restored.removed.len()), (vec!["src/a"], 0));
    for path in ["src/a.log", "build/out", "cache/x", "venv/lib/x"] {
        assert!(ground.at(path).exists(), "{path} is gone");
    }
}

#[test]
fn rules_that_were_changed_meanwhile_neither_hide_nor_expose_anything() {
    let ground = Fixture::new();
    ground.put(".gitignore", "precious/\n");
    ground.put("src/a", "1");
    ground.put("precious/x", "ignored, not in any snapshot");
    let (picture, before) = (ground.picture(), ground.take());
    // Now the rules hide everything that an agent did, and no longer what they hid before.
    ground.put(".gitignore", "*\n!precious/\n!precious/x\n");
    ground.put("src/a", "2");
    ground.put("src/planted", "new");
    let changed = ground.picture();
    let restored = ground.restore(&before);
    assert_eq!(ground.picture(), picture);
    assert_eq!(paths(&restored.removed), ["src/planted"]);
    ground.restore(&restored.before.digest);
    assert_eq!(ground.picture(), changed, "also what was hidden can be had again");
}

#[test]
fn large_files_are_left_alone_and_named() {
    let ground = Fixture::with_limits(10, 1000);
    ground.put("large", "always too large for it");
    ground.put("grown", "small");
    ground.put("shrunk", "too large at first");
    let before = ground.take();
    ground.put("large", "always too large for it, and different");
    ground.put("grown", "too large by now");
    ground.put("shrunk", "small");
    ground.put("new", "new, and too large");
    let picture = ground.picture();
    let restored = ground.restore(&before);
    assert_eq!(ground.picture(), picture);
    assert_eq!(alone(&restored), ["new", "grown", "large", "shrunk"]);
}

#[test]
fn an_ignored_file_in_the_way_is_not_lost() {
    let ground = Fixture::new();
    ground.put(".gitignore", "*.o\nkeep\n");
    ground.put("out", "a file");
    ground.put("deep/file", "x");
    let before = ground.take();
    std::fs::remove_file(ground.at("out")).expect("gone");
    ground.put("out/a.o", "ignored, in a folder where a file shall be");
    std::fs::remove_dir_all(ground.at("deep")).expect("gone");
    let restored = ground.restore(&before);
    assert_eq!(paths(&restored.written), ["deep/file"]);
    assert_eq!(alone(&restored), ["out"]);
    assert!(ground.at("out/a.o").exists());
}

#[test]
fn a_restoration_that_was_cut_off_is_finished_by_the_next_one() {
    let mut ground = Fixture::new();
    for n in 0..6 {
        ground.put(format!("a/{n}"), "old");
    }
    ground.put("file", "a file");
    let (picture, before) = (ground.picture(), ground.take());
    std::fs::remove_file(ground.at("file")).expect("gone");
    for n in 3..9 {
        ground.put(format!("a/{n}"), "new");
        ground.put(format!("file/{n}"), "new");
    }
    std::fs::remove_file(ground.at("a/0")).expect("gone");
    let changed = ground.take();
    for steps in 0..13 {
        let mut plan = {
            let mut index = ground.snapshots.index();
            ground.snapshots.plan(&mut index, &before).expect("a plan")
        };
        let removals = plan.remove.len();
        plan.remove.truncate(steps);
        plan.write.truncate(steps.saturating_sub(removals));
        carry::carry_out(&ground.snapshots.jail, &ground.snapshots.objects, plan)
            .expect("half of it");
        ground.put(".bosun-staging-1-0", "half");
        ground.reopen();
        ground.restore(&before);
        std::fs::remove_file(ground.at(".bosun-staging-1-0")).expect("still there");
        assert_eq!(ground.picture(), picture, "after {steps} steps");
        ground.restore(&changed);
    }
}
