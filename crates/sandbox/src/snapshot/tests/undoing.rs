//! An undo takes back the given changes and no others.

use super::*;

impl Fixture {
    /// Undoes one change; the workspace was changed by others since.
    fn undone(&self, before: Digest, after: Digest) -> Restored {
        self.undo(&[(before, after)], &[]).expect("an undo")
    }

    /// The copy of a replaced file.
    fn kept(&self, restored: &Restored, path: &str) -> Option<String> {
        std::fs::read_to_string(restored.kept_in.as_ref()?.join(path)).ok()
    }
}

fn own(paths: &[&str]) -> Option<Vec<PathBuf>> {
    Some(paths.iter().map(PathBuf::from).collect())
}

#[test]
fn what_something_else_changed_since_is_left_alone_and_named() {
    let fixture = Fixture::new();
    fixture.put("same", "1");
    fixture.put("edited", "1");
    fixture.put("deleted", "1");
    fixture.put("other", "1");
    let before = fixture.take();
    for path in ["same", "edited", "deleted", "new", "made/new", "made/edited"] {
        fixture.put(path, "2");
    }
    let after = fixture.take();
    fixture.put("edited", "mine");
    fixture.put("other", "mine");
    fixture.put("made/edited", "mine");
    fixture.put("made/mine", "mine");
    std::fs::remove_file(fixture.at("deleted")).expect("gone");
    let restored = fixture.undone(before, after);
    assert_eq!(
        (paths(&restored.written), paths(&restored.removed)),
        (vec!["same"], vec!["made/new", "new"])
    );
    assert_eq!(alone(&restored), ["deleted", "edited", "made/edited"]);
    assert!(restored.left_alone.iter().all(LeftAlone::is_conflict));
    for (path, text) in [
        ("same", "1"),
        ("edited", "mine"),
        ("other", "mine"),
        ("made/edited", "mine"),
        ("made/mine", "mine"),
    ] {
        assert_eq!(fixture.text(path).as_deref(), Some(text), "{path}");
    }
    assert!(!fixture.at("deleted").exists());
    assert_eq!(fixture.kept(&restored, "same").as_deref(), Some("2"), "the replaced version");
    let forth = fixture.undone(restored.trees.before, restored.trees.after);
    assert_eq!(forth.left_alone, []);
    assert_eq!(fixture.text("same").as_deref(), Some("2"));
    assert_eq!(fixture.text("edited").as_deref(), Some("mine"));
}

#[test]
fn a_conflict_is_replaced_only_if_that_is_asked_for_and_its_version_is_kept() {
    let fixture = Fixture::new();
    fixture.put("a", "1");
    fixture.put("b", "1");
    let before = fixture.take();
    fixture.put("a", "2");
    fixture.put("b", "2");
    let after = fixture.take();
    fixture.put("a", "mine");
    fixture.put("b", "mine");
    let restored = fixture.undo(&[(before, after)], &["a"]).expect("an undo");
    assert_eq!((paths(&restored.written), alone(&restored)), (vec!["a"], vec!["b"]));
    assert_eq!(
        (fixture.text("a").as_deref(), fixture.text("b").as_deref()),
        (Some("1"), Some("mine"))
    );
    assert_eq!(fixture.kept(&restored, "a").as_deref(), Some("mine"));
    let (now, wanted) = fixture.snapshots.versions(&restored.left_alone[0]).expect("both");
    assert_eq!((bytes(now), bytes(wanted)), (b"mine".to_vec(), b"1".to_vec()));
    fixture.undone(restored.trees.before, restored.trees.after);
    assert_eq!(fixture.text("a").as_deref(), Some("mine"), "an undo of an undo");
}

/// The person's edit between two calls is what the undo of both comes back to.
#[test]
fn an_edit_between_two_calls_is_not_undone() {
    let fixture = Fixture::new();
    fixture.put("a", "1");
    let first = (fixture.take(), {
        fixture.put("a", "2");
        fixture.take()
    });
    fixture.put("a", "mine");
    let second = (fixture.take(), {
        fixture.put("a", "mine and 3");
        fixture.take()
    });
    let restored = fixture.undo(&[second, first], &[]).expect("an undo");
    assert_eq!(fixture.text("a").as_deref(), Some("mine"));
    assert_eq!((paths(&restored.written), alone(&restored)), (vec!["a"], vec!["a"]));
    fixture.undo(&[second, first], &[""]).expect("an undo");
    assert_eq!(fixture.text("a").as_deref(), Some("1"));
}

#[test]
fn folders_go_only_if_they_are_new_and_empty() {
    let fixture = Fixture::new();
    std::fs::create_dir(fixture.at("mine")).expect("a folder");
    std::fs::create_dir(fixture.at("gone")).expect("a folder");
    let before = fixture.take();
    fixture.put("mine/a", "1");
    fixture.put("new/deep/a", "1");
    std::fs::remove_dir(fixture.at("gone")).expect("gone");
    let after = fixture.take();
    fixture.undone(before, after);
    assert!(
        fixture.at("mine").is_dir() && fixture.at("gone").is_dir() && !fixture.at("new").exists()
    );
}

/// A call that changes the ignore rules shows files that were there before.
#[test]
fn files_that_were_ignored_are_neither_removed_nor_replaced() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "*.env\nbuild/\n");
    fixture.put("a.env", "secret");
    fixture.put("build/out", "built");
    fixture.put("cache/.gitignore", "*\n");
    fixture.put("cache/x", "cached");
    let before = fixture.take();
    std::fs::remove_file(fixture.at(".gitignore")).expect("gone");
    std::fs::remove_file(fixture.at("cache/.gitignore")).expect("gone");
    let restored = fixture.undone(before, fixture.take());
    assert_eq!((paths(&restored.written), restored.removed.len()), (vec![".gitignore"], 0));
    for (path, text) in [("a.env", "secret"), ("build/out", "built"), ("cache/x", "cached")] {
        assert_eq!(fixture.text(path).as_deref(), Some(text), "{path}");
    }
}

#[test]
fn a_call_that_names_its_files_changed_no_others_and_may_name_ignored_ones() {
    let fixture = Fixture::new();
    fixture.put(".gitignore", "*.env\nbuild/\n");
    fixture.put("a.env", "1");
    fixture.put("build/out", "built");
    fixture.put("src/a", "1");
    let named = own(&["src/a", "a.env", "build/new", "moved"]);
    let before = fixture.snapshots.before(None, named).expect("a snapshot");
    for path in ["src/a", "a.env", "build/new", "moved/b"] {
        fixture.put(path, "2");
    }
    fixture.put("src/mine", "mine");
    let trees = fixture.snapshots.after(&before, None).expect("a snapshot").expect("changes");
    let restored = fixture.undone(trees.before, trees.after);
    assert_eq!(paths(&restored.written), ["a.env", "src/a"]);
    assert_eq!(paths(&restored.removed), ["build/new", "moved/b"]);
    assert_eq!(
        (fixture.text("a.env").as_deref(), fixture.text("src/mine").as_deref()),
        (Some("1"), Some("mine"))
    );
    assert!(fixture.at("build/out").exists());
    let nothing = fixture.snapshots.before(None, own(&["src/a"])).expect("a snapshot");
    fixture.put("src/mine", "mine again");
    assert_eq!(fixture.snapshots.after(&nothing, None).expect("a snapshot"), None);
}

#[test]
fn a_large_file_that_a_call_changed_is_named_and_others_are_not() {
    let fixture = Fixture::with_limits(10, 1000);
    fixture.put("large", "too large for it");
    fixture.put("larger", "much too large for it");
    let before = fixture.take();
    fixture.put("large", "too large for it, and changed");
    let restored = fixture.undone(before, fixture.take());
    assert_eq!(alone(&restored), ["large"]);
    assert!(!restored.left_alone[0].is_conflict());
}

/// During a command, another branch was checked out: nobody can say whose changes these are.
#[test]
fn changes_during_a_switch_are_left_alone_unless_they_are_asked_for() {
    let fixture = Fixture::new();
    fixture.put(".git/HEAD", "ref: refs/heads/main\n");
    fixture.put("a", "1");
    let before = fixture.snapshots.before(None, None).expect("a snapshot");
    fixture.put("a", "2");
    fixture.put(".git/HEAD", "ref: refs/heads/other\n");
    let trees = fixture.snapshots.after(&before, None).expect("a snapshot").expect("changes");
    assert!(trees.switched);
    let aside = fixture.place.path().join("aside");
    let undo = |replace: &[PathBuf]| {
        fixture.snapshots.undo(Undo { changes: &[trees], replace, aside: &aside }).expect("an undo")
    };
    assert_eq!(alone(&undo(&[])), ["a"]);
    assert_eq!(fixture.text("a").as_deref(), Some("2"));
    undo(&["a".into()]);
    assert_eq!(fixture.text("a").as_deref(), Some("1"));
}

/// Between the plan and the step.
#[test]
fn a_file_that_changes_at_the_last_moment_is_left_alone() {
    let fixture = Fixture::new();
    fixture.put("changed", "1");
    fixture.put("deleted", "1");
    let before = fixture.take();
    for path in ["changed", "deleted", "new"] {
        fixture.put(path, "2");
    }
    std::fs::remove_file(fixture.at("deleted")).expect("gone");
    let trees = types::Trees { before, after: fixture.take(), switched: false };
    let undo = Undo { changes: &[trees], replace: &[], aside: fixture.place.path() };
    let (steps, _) = fixture.snapshots.plan(undo).expect("a plan");
    for path in ["changed", "deleted", "new"] {
        fixture.put(path, "mine");
    }
    let picture = fixture.picture();
    let place = fixture.snapshots.place();
    let carried = carry::carry_out(steps, |part, step| place.make(part, step));
    assert_eq!((carried.done, carried.left_alone.len()), (vec![], 3));
    assert_eq!(fixture.picture(), picture);
}

/// Without a copy, nothing is replaced.
#[test]
fn nothing_is_touched_if_no_copy_can_be_kept() {
    let fixture = Fixture::new();
    fixture.put("a", "1");
    let before = fixture.take();
    fixture.put("a", "2");
    let trees = types::Trees { before, after: fixture.take(), switched: false };
    let aside = fixture.place.path().join("file");
    std::fs::write(&aside, "no folder").expect("a file");
    let undone = fixture.snapshots.undo(Undo { changes: &[trees], replace: &[], aside: &aside });
    assert!(matches!(undone, Err(SnapshotError::Aside { .. })), "{undone:?}");
    assert_eq!(fixture.text("a").as_deref(), Some("2"));
}
