//! Undo on a full disk: a small file system in a mount namespace of its own, so each test starts itself there.

use std::process::Command;

use rustix::io::Errno;

use super::*;
use crate::snapshot::carry::{Obstacle, Part, Step};

/// Set for the process in the namespace: the folder for the fixture.
const IN_NAMESPACE: &str = "BOSUN_TEST_FULL_DISK";
const PAGE: usize = 4096;

/// A workspace on a file system of its own; `None` in the process that only starts the one with the workspace.
fn small(test: &str) -> Option<Fixture> {
    on_file_system(test, 64, "work")
}

/// A fixture, of which a part is on a file system with so many pages.
fn on_file_system(test: &str, pages: usize, part: &str) -> Option<Fixture> {
    let Some(place) = std::env::var_os(IN_NAMESPACE) else {
        let place = tempfile::tempdir().expect("a folder");
        let test = format!("snapshot::tests::full::{test}");
        let ran = Command::new("unshare")
            .args(["--map-root-user", "--mount"])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", &test, "--nocapture"])
            .env(IN_NAMESPACE, place.path())
            .output()
            .expect("unshare runs");
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return None;
    };
    let place = tempfile::tempdir_in(place).expect("a folder");
    let (at, size) = (place.path().join(part), format!("size={}", pages * PAGE));
    std::fs::create_dir_all(&at).expect("a folder");
    let (kind, flags) = (Some("tmpfs"), nix::mount::MsFlags::empty());
    nix::mount::mount(kind, &at, kind, flags, Some(size.as_str())).expect("a file system");
    std::fs::create_dir_all(place.path().join("work")).expect("a folder");
    let snapshots = open(place.path());
    Some(Fixture { place, snapshots })
}

/// Four files of ten pages each, which a call replaces by small ones. Returns the files before and after it.
fn shrunk(fixture: &Fixture) -> (Digest, Digest) {
    for name in ["a", "b", "c", "d"] {
        fixture.put(name, &name.repeat(10 * PAGE));
    }
    let before = fixture.take();
    for name in ["a", "b", "c", "d"] {
        fixture.put(name, "new");
    }
    (before, fixture.take())
}

/// Takes pages until only so many are free.
fn fill(fixture: &Fixture, free: usize) {
    fixture.put(".git/filler", &"x".repeat((64 - 4 - free) * PAGE));
}

fn empty(fixture: &Fixture) {
    std::fs::remove_file(fixture.at(".git/filler")).expect("gone");
}

#[test]
fn an_undo_that_a_full_disk_stops_says_what_it_did_and_can_be_continued_or_undone() {
    let test = "an_undo_that_a_full_disk_stops_says_what_it_did_and_can_be_continued_or_undone";
    let Some(fixture) = small(test) else { return };
    let (before, after) = shrunk(&fixture);
    fixture.put("extra", "new");
    let changed = fixture.take();
    let (picture, changes) = (fixture.picture(), [(after, changed), (before, after)]);
    fill(&fixture, 23);
    let stopped = fixture.undo(&changes, &[]).expect("what was done until then");
    assert_eq!(paths(&stopped.written), ["a", "b"]);
    assert_eq!(paths(&stopped.removed), ["extra"]);
    assert_eq!(alone(&stopped), ["c", "d"]);
    for left in &stopped.left_alone {
        assert_eq!(left.why, "No space left on device");
    }
    let trees = stopped.trees;
    assert_eq!((trees.before, trees.after), (changed, fixture.take()));
    let kept_in = stopped.kept_in.expect("a folder with the replaced versions");
    for name in ["a", "b", "extra"] {
        assert_eq!(std::fs::read_to_string(kept_in.join(name)).ok().as_deref(), Some("new"));
    }
    empty(&fixture);
    let forth = fixture.undo(&[(trees.before, trees.after)], &[]).expect("an undo of the undo");
    assert_eq!(alone(&forth), [""; 0]);
    assert_eq!(fixture.picture(), picture);
    let forth = (forth.trees.before, forth.trees.after);
    let all = [&[forth, (trees.before, trees.after)], &changes[..]].concat();
    assert_eq!(alone(&fixture.undo(&all, &[]).expect("the whole undo")), [""; 0]);
    assert_eq!(fixture.take(), before);
}

#[test]
fn an_undo_that_a_full_disk_stops_is_finished_by_the_same_one() {
    let Some(fixture) = small("an_undo_that_a_full_disk_stops_is_finished_by_the_same_one") else {
        return;
    };
    let (before, after) = shrunk(&fixture);
    fill(&fixture, 12);
    let stopped = fixture.undo(&[(before, after)], &[]).expect("what was done until then");
    assert_eq!(alone(&stopped), ["b", "c", "d"]);
    empty(&fixture);
    let trees = (stopped.trees.before, stopped.trees.after);
    let rest = fixture.undo(&[trees, (before, after)], &[]).expect("the rest");
    assert_eq!(paths(&rest.written), ["b", "c", "d"]);
    assert_eq!(fixture.take(), before);
}

#[test]
fn an_undo_without_room_for_its_first_step_fails_and_leaves_nothing_behind() {
    let Some(fixture) =
        small("an_undo_without_room_for_its_first_step_fails_and_leaves_nothing_behind")
    else {
        return;
    };
    let (before, after) = shrunk(&fixture);
    fill(&fixture, 5);
    let undone = fixture.undo(&[(before, after)], &[]);
    assert!(matches!(undone, Err(SnapshotError::Workspace { .. })), "{undone:?}");
    assert_eq!(fixture.take(), after);
    let kept = std::fs::read_dir(fixture.place.path().join("aside")).expect("a folder");
    assert_eq!(kept.count(), 0, "copies of nothing");
}

/// The disk of the snapshots, too, which then cannot even record what was done.
#[test]
fn an_undo_without_room_for_its_result_is_continued_or_undone_all_the_same() {
    let test = "an_undo_without_room_for_its_result_is_continued_or_undone_all_the_same";
    let Some(fixture) = on_file_system(test, 1000, "") else { return };
    // The list of so many names takes more than a page.
    for n in 0..100 {
        fixture.put(format!("other-{n}"), "");
    }
    let (before, changed) = shrunk(&fixture);
    let picture = fixture.picture();
    let filler = fixture.at(".git/filler");
    std::fs::create_dir(fixture.at(".git")).expect("a folder");
    let make = |part: Part, step: &Step| {
        if step.path == Path::new("c") {
            let mut file = std::fs::File::create(&filler).expect("a file");
            while std::io::Write::write_all(&mut file, &[1; PAGE]).is_ok() {}
            return Err(Obstacle::from(Errno::NOSPC));
        }
        fixture.snapshots.place().make(part, step)
    };
    let trees = types::Trees { before, after: changed, switched: false };
    let aside = fixture.place.path().join("aside");
    let undo = Undo { changes: &[trees], replace: &[], aside: &aside };
    let stopped = fixture.snapshots.undo_with(undo, make).expect("what was done until then");
    assert_eq!(paths(&stopped.written), ["a", "b"]);
    assert_eq!((stopped.trees.before, stopped.trees.after), (changed, before), "the plan");
    empty(&fixture);
    let half = (stopped.trees.before, stopped.trees.after);
    let forth = fixture.undo(&[half], &[]).expect("an undo of the undo");
    assert_eq!(alone(&forth), [""; 0]);
    assert_eq!(fixture.picture(), picture);
    let forth = (forth.trees.before, forth.trees.after);
    let all = [forth, half, (before, changed)];
    assert_eq!(alone(&fixture.undo(&all, &[]).expect("the whole undo")), [""; 0]);
    assert_eq!(fixture.take(), before);
}
