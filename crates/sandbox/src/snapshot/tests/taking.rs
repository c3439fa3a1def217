//! Contents of a snapshot, the cost of taking one, and what a store keeps.

use super::*;

#[test]
fn the_same_files_give_the_same_snapshot_whoever_takes_it() {
    let mut fixture = Fixture::new();
    fixture.put("a/b.txt", "one");
    fixture.put("a.txt", "two");
    fixture.link("a/b.txt", "link");
    let first = fixture.snapshots.take().expect("a snapshot");
    assert_eq!((first.files, first.left_out), (3, 0));
    assert_eq!(fixture.take(), first.digest);
    fixture.reopen();
    assert_eq!(fixture.take(), first.digest);
}

#[test]
fn what_was_not_touched_is_known_without_a_look_inside() {
    let mut fixture = Fixture::new();
    fixture.put("a/b.txt", "one");
    fixture.put(".gitignore", "*.log\n");
    fixture.link("a/b.txt", "link");
    assert_eq!(fixture.snapshots.untouched(10), None, "there is none yet");
    let tree = fixture.settled();
    assert_eq!(fixture.snapshots.untouched(10), Some(tree));
    assert_eq!(fixture.snapshots.untouched(3), None, "there are four names");
    fixture.put("a/c.log", "ignored");
    assert!(
        fixture.snapshots.untouched(10).is_none_or(|same| same == tree),
        "what is ignored is none"
    );
    for touch in ["a/b.txt", "new.txt", "a/new.txt", ".gitignore"] {
        let tree = fixture.settled();
        fixture.put(touch, &format!("{touch} is another now"));
        assert_eq!(fixture.snapshots.untouched(10), None, "{touch}");
        assert_ne!(fixture.take(), tree, "{touch}");
    }
    fixture.settled();
    std::fs::remove_file(fixture.at("link")).expect("gone");
    assert_eq!(fixture.snapshots.untouched(10), None);
    fixture.settled();
    fixture.mode("a/b.txt", 0o755);
    assert_eq!(fixture.snapshots.untouched(10), None);
    fixture.reopen();
    assert_eq!(fixture.snapshots.untouched(10), None);
}

#[test]
fn the_difference_names_what_was_added_changed_and_removed() {
    let fixture = Fixture::new();
    fixture.put("same/deep/a", "a");
    fixture.put("changed", "1");
    fixture.put("removed/a", "a");
    fixture.put("turned", "a file");
    fixture.put("script", "x");
    let before = fixture.take();
    fixture.put("changed", "2");
    fixture.put("added/b", "b");
    fixture.mode("script", 0o755);
    std::fs::remove_dir_all(fixture.at("removed")).expect("gone");
    std::fs::remove_file(fixture.at("turned")).expect("gone");
    fixture.put("turned/inside", "a folder now");
    let after = fixture.take();
    let name = |name: &str, how| (name.to_owned(), how);
    assert_eq!(
        fixture.diff(&before, &after),
        [
            name("added/b", How::Added),
            name("changed", How::Changed),
            name("removed/a", How::Removed),
            name("script", How::Changed),
            name("turned", How::Removed),
            name("turned/inside", How::Added),
        ]
    );
    assert_eq!(fixture.diff(&after, &after), []);
    let read = |tree, path| fixture.snapshots.read(tree, Path::new(path)).expect("to be read");
    assert_eq!(bytes(read(&before, "changed")), b"1");
    assert_eq!(read(&before, "added/b"), None);
    assert_eq!(read(&after, "added"), None);
    assert_eq!(read(&after, "added/b/c"), None);
}

#[test]
fn a_change_that_leaves_size_and_time_as_they_were_is_still_seen() {
    let fixture = Fixture::new();
    // Each content replaces the last at once, in the same inode, mostly within one tick of the file system's clock.
    let mut seen = Vec::new();
    for round in 0..200 {
        std::fs::write(fixture.root().join("file"), format!("{round:03}")).expect("a file");
        seen.push(fixture.take());
    }
    for (round, tree) in seen.iter().enumerate() {
        let content = fixture.snapshots.read(tree, Path::new("file")).expect("to be read");
        assert_eq!(bytes(content), format!("{round:03}").into_bytes());
    }
}

#[test]
fn a_file_whose_time_says_nothing_is_read_again_each_time() {
    let fixture = Fixture::new();
    fixture.put("file", "text");
    let file = std::fs::File::options().write(true).open(fixture.at("file")).expect("a file");
    let to_come = std::time::UNIX_EPOCH + std::time::Duration::from_secs(10_000_000_000);
    file.set_modified(to_come).expect("a time");
    fixture.take();
    let index = fixture.snapshots.index();
    let index::What::Leaf(Some(seen)) = index.root.nodes[0].what else { panic!("{index:?}") };
    assert_eq!(seen.stamp, None, "it would be taken for untouched");
}

#[test]
fn a_time_that_was_set_back_does_not_hide_a_change() {
    let fixture = Fixture::new();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let write = |text: &str| {
        fixture.put("file", text);
        let file = std::fs::File::options().write(true).open(fixture.at("file")).expect("a file");
        file.set_modified(long_ago).expect("a time");
    };
    write("one");
    let before = fixture.take();
    write("two");
    assert_eq!(fixture.diff(&before, &fixture.take()), [("file".to_owned(), How::Changed)]);
}

#[test]
fn what_git_ignores_is_not_in_a_snapshot_and_hidden_files_are() {
    let fixture = Fixture::new();
    for (path, text) in [
        (".gitignore", "*.log\ntarget/\n"),
        (".env", "SECRET=1"),
        (".ignore", "*.txt"),
        ("a.log", "ignored"),
        ("kept.txt", "only search tools leave it out"),
        ("target/out", "ignored"),
        ("sub/.gitignore", "!b.log\n"),
        ("sub/b.log", "taken in again"),
        ("sub/target/out", "ignored"),
        (".git/HEAD", "ref: refs/heads/main"),
        (".git/info/exclude", "private\n"),
        ("private", "excluded"),
        ("sub/.git/config", "another repository's"),
        (".bosun-staging-1-0", "half"),
    ] {
        fixture.put(path, text);
    }
    let tree = fixture.take();
    let all = manifest::flat(&fixture.snapshots.objects, &tree).expect("files");
    let all: Vec<_> = all.keys().map(|path| path.to_str().expect("text")).collect();
    let expected = [".env", ".gitignore", ".ignore", "kept.txt", "sub/.gitignore", "sub/b.log"];
    assert_eq!(all, expected);
}

#[test]
fn other_rules_are_noticed_without_any_other_change() {
    let fixture = Fixture::new();
    fixture.put("sub/a.log", "a");
    let before = fixture.take();
    fixture.put(".gitignore", "*.log\n");
    let hidden = fixture.take();
    fixture.put(".gitignore", "*.lag\n");
    let shown = fixture.take();
    std::fs::remove_file(fixture.at(".gitignore")).expect("gone");
    assert_eq!(fixture.take(), before, "the rules are gone with their file");
    assert_eq!(fixture.diff(&before, &hidden)[1], ("sub/a.log".to_owned(), How::Removed));
    let again = fixture.diff(&hidden, &shown);
    assert_eq!(again, [(".gitignore".to_owned(), How::Changed)], "an ignored file is not new");
}

#[test]
fn what_is_too_large_is_counted_and_left_out() {
    let fixture = Fixture::with_limits(10, 25);
    fixture.put("a", "0123456789");
    fixture.put("b", "0123456789x");
    fixture.put("c", "0123456789");
    fixture.put("d", "0123456789");
    fixture.put("e", "01234");
    let tree = fixture.snapshots.take().expect("a snapshot");
    assert_eq!((tree.files, tree.left_out), (5, 2));
    let read = |path| fixture.snapshots.read(&tree.digest, Path::new(path)).expect("to be read");
    assert_eq!(read("b"), Some(Content::LeftOut));
    assert_eq!(read("d"), Some(Content::LeftOut));
    assert!(matches!(read("e"), Some(Content::File { .. })));
    std::fs::remove_file(fixture.at("a")).expect("gone");
    let tree = fixture.snapshots.take().expect("a snapshot");
    let d = fixture.snapshots.read(&tree.digest, Path::new("d")).expect("to be read");
    assert!(matches!(d, Some(Content::File { .. })), "there is room for it now");
    let mut fixture = Fixture::new();
    fixture.snapshots.limits.files = 3;
    ["a", "b", "c/d"].into_iter().for_each(|path| fixture.put(path, ""));
    for _ in 0..2 {
        assert!(matches!(fixture.snapshots.take(), Err(SnapshotError::TooMany { most: 3 })));
    }
    assert_eq!(kept_at(fixture.place.path(), b""), None, "nothing is read of what is too much");
}

#[test]
fn snapshots_that_are_no_longer_named_are_forgotten() {
    let fixture = Fixture::new();
    fixture.put("same", "same");
    fixture.put("file", "one");
    let one = fixture.take();
    fixture.put("file", "two");
    let two = fixture.take();
    fixture.put("file", "three");
    let three = fixture.take();
    let swept = fixture.snapshots.keep(&[one]).expect("a sweep");
    assert_eq!(swept, Swept { removed: 2, kept: 5 }, "the lines and the content of two");
    assert!(matches!(fixture.try_restore(&two), Err(SnapshotError::Gone { .. })));
    assert_eq!(fixture.take(), three, "the last one is kept without being named");
    fixture.restore(&one);
    assert_eq!(fixture.text("file").as_deref(), Some("one"));
    let other = open(fixture.place.path());
    fixture.snapshots.mark("ann", &[one]).expect("a mark");
    assert!(matches!(other.forget("ann"), Err(SnapshotError::InUse)), "another works here too");
    drop(other);
    fixture.snapshots.sweep().expect("nobody else works here");
    fixture.restore(&one);
}

#[test]
fn a_record_that_was_cut_off_is_not_read_and_hides_nothing_that_is_written_later() {
    let mut fixture = Fixture::new();
    fixture.put("first", "one");
    let first = fixture.take();
    fixture.put("second", "second");
    let second = fixture.take();
    let (pack, at) = kept_at(fixture.place.path(), b"second").expect("it was kept");
    let file = std::fs::File::options().write(true).open(&pack).expect("a file");
    file.set_len(at as u64 + 3).expect("cut");
    fixture.reopen();
    let undone = fixture.undo(&[(second, first)], &[]);
    assert!(matches!(undone, Err(SnapshotError::Gone { .. })));
    assert_eq!(fixture.take(), second, "it is written again");
    fixture.restore(&first);
    fixture.reopen();
    fixture.restore(&second);
    assert_eq!(fixture.text("second").as_deref(), Some("second"));
    assert_eq!(fixture.snapshots.keep(&[first, second]).expect("a sweep").removed, 0);
    let packs = std::fs::read_dir(fixture.place.path().join("store")).expect("the store").count();
    assert_eq!(packs, 4, "the lock, the marks, and two files of which every byte is needed");
    fixture.restore(&first);
    fixture.restore(&second);
}

#[test]
fn what_another_user_of_the_store_writes_is_found() {
    let fixture = Fixture::new();
    let other = open(fixture.place.path());
    fixture.put("file", "text");
    let tree = fixture.take();
    let content = other.read(&tree, Path::new("file")).expect("to be read");
    assert_eq!(bytes(content), b"text");
}

#[test]
fn a_store_inside_of_the_workspace_is_refused_before_it_is_made() {
    let fixture = Fixture::new();
    let inside = fixture.at("new/store");
    let refused = Snapshots::new(&fixture.root(), &inside);
    assert!(matches!(refused, Err(SnapshotError::Inside)));
    assert!(!fixture.at("new").exists());
}

/// An edited line in a large file costs only the line, however often.
#[test]
fn forty_edits_of_a_large_file_cost_little_more_than_the_file() {
    let mut fixture = Fixture::new();
    let line = |n: usize| format!("this is line {n} of a file that is really large\n");
    let mut lines: Vec<String> = (0..20_000).map(line).collect();
    let size = lines.concat().len() as u64;
    let mut trees = Vec::new();
    for edit in 0..40 {
        lines[edit * 487 + 3] = format!("edited the {edit}th time\n");
        fixture.put("large", &lines.concat());
        trees.push((fixture.take(), lines.concat()));
    }
    let store = fixture.place.path().join("store");
    let kept = |store: &Path| -> u64 {
        let files = std::fs::read_dir(store).expect("the store").flatten();
        files.map(|file| file.metadata().expect("facts").len()).sum()
    };
    let bytes = kept(&store);
    assert!(bytes < size * 3, "{bytes} bytes for a file of {size}");
    fixture.reopen();
    for (tree, text) in [&trees[0], &trees[20], &trees[39]] {
        fixture.restore(tree);
        assert_eq!(fixture.text("large").as_deref(), Some(text.as_str()));
    }
    // The bases of a marked snapshot are kept with it.
    fixture.snapshots.mark("r_1", &[trees[30].0]).expect("a mark");
    fixture.snapshots.sweep().expect("a sweep");
    fixture.restore(&trees[30].0);
    assert_eq!(fixture.text("large").as_deref(), Some(trees[30].1.as_str()));
    assert!(matches!(fixture.try_restore(&trees[31].0), Err(SnapshotError::Gone { .. })));
    fixture.put("large", "small now");
    fixture.take();
    fixture.snapshots.forget("r_1").expect("a sweep");
    let bytes = kept(&store);
    assert!(bytes < size / 10, "{bytes} bytes for nothing that anybody wants");
}
