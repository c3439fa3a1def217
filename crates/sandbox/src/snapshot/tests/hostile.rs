//! Attempts by an agent to cover its traces, or to make a restoration write elsewhere.

use std::os::unix::fs::FileExt as _;
use std::process::Command;

use rustix::fs::{FileType, Mode};

use super::*;

#[test]
fn a_link_planted_in_the_way_does_not_lead_outside() {
    let fixture = Fixture::new();
    let outside = fixture.place.path().join("outside");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("file"), "theirs").expect("a file");
    fixture.put("folder/file", "ours");
    fixture.put("file", "ours");
    let (picture, before) = (fixture.picture(), fixture.take());
    std::fs::remove_dir_all(fixture.at("folder")).expect("gone");
    fixture.link(&outside, "folder");
    std::fs::remove_file(fixture.at("file")).expect("gone");
    fixture.link(outside.join("file"), "file");
    let after = fixture.take();
    assert!(!after.to_string().is_empty());
    let content = fixture.snapshots.read(&after, Path::new("file")).expect("to be read");
    assert_eq!(content, Some(Content::Link { target: outside.join("file") }));
    fixture.restore(&before);
    assert_eq!(fixture.picture(), picture);
    let theirs = std::fs::read_to_string(outside.join("file"));
    assert_eq!(theirs.ok().as_deref(), Some("theirs"));
}

#[test]
fn a_link_that_is_planted_after_the_look_does_not_lead_outside_either() {
    let fixture = Fixture::new();
    let outside = fixture.place.path().join("outside");
    std::fs::create_dir(&outside).expect("a folder");
    std::fs::write(outside.join("new"), "theirs").expect("a file");
    fixture.put("folder/file", "ours");
    let before = fixture.take();
    fixture.put("folder/file", "changed");
    fixture.put("folder/new", "new");
    let trees = types::Trees { before, after: fixture.take(), switched: false };
    let undo = Undo { changes: &[trees], replace: &[], aside: fixture.place.path() };
    let (steps, _) = fixture.snapshots.plan(undo).expect("a plan");
    std::fs::rename(fixture.at("folder"), fixture.at("moved")).expect("moved");
    fixture.link(&outside, "folder");
    let place = fixture.snapshots.place();
    let carried = carry::carry_out(steps, |part, step| place.make(part, step));
    assert_eq!(carried.done, []);
    let left: Vec<_> =
        carried.left_alone.iter().map(|one| one.path.to_str().expect("text")).collect();
    assert_eq!(left, ["folder/file", "folder/new"]);
    assert!(outside.join("new").exists());
    assert!(!outside.join("file").exists());
}

#[test]
fn pipes_devices_and_sockets_are_neither_read_nor_waited_for() {
    let fixture = Fixture::new();
    fixture.put("was-file", "text");
    let before = fixture.take();
    std::fs::remove_file(fixture.at("was-file")).expect("gone");
    for name in ["pipe", "was-file"] {
        let kind = FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, fixture.at(name), kind, Mode::RWXU, 0)
            .expect("a pipe");
    }
    let socket = std::os::unix::net::UnixListener::bind(fixture.at("socket")).expect("a socket");
    let tree = fixture.snapshots.take().expect("a snapshot");
    assert_eq!(tree.files, 0);
    assert_eq!(alone(&fixture.restore(&before)), ["was-file"]);
    for name in ["pipe", "was-file"] {
        assert!(fixture.at(name).exists(), "what no snapshot knows is left alone");
    }
    drop(socket);
}

#[test]
fn a_file_with_the_bytes_of_a_folder_does_not_make_the_folder_be_forgotten() {
    let fixture = Fixture::new();
    fixture.put("folder/file", "x");
    let tree = fixture.take();
    let lines = manifest::read(&fixture.snapshots.objects, &tree).expect("lines");
    let Some((_, manifest::Entry::Folder { lines })) = lines.first() else { panic!("{lines:?}") };
    let bytes = fixture.snapshots.objects.get(lines).expect("bytes");
    std::fs::write(fixture.at("a-copy"), &bytes).expect("a file");
    let tree = fixture.take();
    fixture.snapshots.keep(&[tree]).expect("a sweep");
    std::fs::remove_dir_all(fixture.at("folder")).expect("gone");
    fixture.restore(&tree);
    assert_eq!(fixture.text("folder/file").as_deref(), Some("x"));
}

#[test]
fn damage_in_the_store_is_noticed_before_anything_is_written() {
    let mut fixture = Fixture::new();
    fixture.put("file", "good");
    fixture.put("another", "good too");
    let tree = fixture.take();
    fixture.put("file", "changed");
    fixture.put("another", "changed");
    let (pack, at) = kept_at(fixture.place.path(), b"good").expect("it was kept");
    let file = std::fs::File::options().write(true).open(&pack).expect("a file");
    file.write_all_at(b"evil", at as u64).expect("damage");
    assert!(matches!(fixture.try_restore(&tree), Err(SnapshotError::Damaged { .. })));
    assert_eq!(fixture.text("file").as_deref(), Some("changed"));
    assert_eq!(fixture.text("another").as_deref(), Some("changed"));
    std::fs::remove_file(&pack).expect("gone");
    fixture.reopen();
    assert!(matches!(fixture.try_restore(&tree), Err(SnapshotError::Gone { .. })));
}

#[test]
fn names_that_would_lead_elsewhere_are_never_read_from_a_store() {
    let fixture = Fixture::new();
    for name in ["..", ".", "", "a/b", "/etc", ".git", ".GIT"] {
        let mut lines = manifest::Lines::new();
        lines.push(name.as_bytes(), manifest::Entry::Ignored);
        let digest = fixture.snapshots.objects.put(lines.bytes()).expect("kept");
        let read = manifest::read(&fixture.snapshots.objects, &digest);
        assert!(matches!(read, Err(SnapshotError::Damaged { .. })), "{name:?} was taken");
    }
}

#[test]
fn folders_that_go_deeper_than_anybody_works_are_left_out() {
    let fixture = Fixture::new();
    let deep: PathBuf = std::iter::repeat_n("d", 300).collect();
    fixture.put(deep.join("file"), "x");
    fixture.put("file", "x");
    let tree = fixture.snapshots.take().expect("a snapshot");
    assert_eq!((tree.files, tree.left_out), (1, 1));
    let restored = fixture.restore(&tree.digest);
    assert_eq!(restored.left_alone, []);
    assert!(fixture.at(deep.join("file")).exists());
}

#[test]
fn the_repository_of_the_person_is_not_touched() {
    let fixture = Fixture::new();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(fixture.root()).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        let said = command.output().expect("git");
        assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    };
    git(&["init", "-q"]);
    fixture.put("committed", "1");
    fixture.put("staged", "1");
    git(&["add", "."]);
    let who = ["-c", "user.name=n", "-c", "user.email=e"];
    git(&[&who[..], &["commit", "-qm", "first"]].concat());
    fixture.put("staged", "2");
    git(&["add", "staged"]);
    fixture.put("staged", "3");
    fixture.put("untracked", "1");
    let mut repository = BTreeMap::new();
    picture(&fixture.at(".git"), &mut repository);
    let status = git(&["status", "--porcelain"]);
    let before = fixture.take();
    fixture.put("committed", "2");
    fixture.put("new", "2");
    std::fs::remove_file(fixture.at("untracked")).expect("gone");
    fixture.restore(&before);
    let mut now = BTreeMap::new();
    picture(&fixture.at(".git"), &mut now);
    assert_eq!(now, repository);
    assert_eq!(git(&["status", "--porcelain"]), status);
}
