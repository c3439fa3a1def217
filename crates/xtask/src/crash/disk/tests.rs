//! Power cuts: nothing synced is lost, everything else may be.

use super::*;

/// Loses everything that it may.
const DROPS: u64 = 0;
/// Keeps the names and loses the data.
const KEEPS_NAMES: u64 = 1;

fn create(path: &str) -> Change {
    Change::Create { path: path.into(), empties: false, mode: 0o644 }
}

fn write(path: &str, offset: usize, text: &str) -> Change {
    Change::Write { path: path.into(), offset, data: text.as_bytes().to_owned() }
}

fn rename(from: &str, to: &str) -> Change {
    Change::Rename { from: from.into(), to: to.into() }
}

fn sync(path: &str) -> Change {
    Change::Sync(path.into())
}

/// The remaining files, with their contents.
fn left(changes: &[Change], seed: u64) -> Vec<(String, String)> {
    let disk = cut(&Disk::default(), changes, seed);
    let text = |name: &PathBuf| {
        let name = name.display().to_string();
        let bytes = String::from_utf8_lossy(disk.bytes(&name)).into_owned();
        (name, bytes)
    };
    disk.files.keys().map(text).collect()
}

fn is(name: &str, text: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), text.to_owned())]
}

#[test]
fn what_was_synced_is_there_after_every_cut() {
    let changes = [
        create("a.lock"),
        write("a.lock", 0, "whole"),
        sync("a.lock"),
        rename("a.lock", "a"),
        sync("a"),
    ];
    for seed in 0..64 {
        assert_eq!(left(&changes, seed), is("a", "whole"), "seed {seed}");
    }
}

#[test]
fn a_file_that_was_renamed_without_a_sync_may_be_empty() {
    let changes = [create("a.lock"), write("a.lock", 0, "whole"), rename("a.lock", "a")];
    assert_eq!(left(&changes, DROPS), []);
    assert_eq!(left(&changes, KEEPS_NAMES), is("a", ""));
}

#[test]
fn names_are_safe_with_the_next_sync_of_anything_and_data_only_with_its_own() {
    let changes = [create("a"), write("a", 0, "lost"), create("b"), sync("b")];
    let all = [is("a", ""), is("b", "")].concat();
    assert_eq!(left(&changes, DROPS), all);
}

#[test]
fn a_later_write_to_a_synced_file_may_be_lost_alone() {
    let changes = [create("a"), write("a", 0, "one "), sync("a"), write("a", 4, "two")];
    assert_eq!(left(&changes, DROPS), is("a", "one "));
}

#[test]
fn a_write_is_torn_at_sectors_only() {
    let data = "x".repeat(4 * SECTOR);
    let changes = [create("a"), sync("a"), write("a", 0, &data)];
    let mut torn = 0;
    for seed in (2..400).step_by(4) {
        let all = left(&changes, seed);
        let (_, text) = all.first().expect("the file is there");
        for sector in text.as_bytes().chunks(SECTOR) {
            assert!(sector.iter().all(|byte| Some(byte) == sector.first()), "seed {seed}");
        }
        torn += usize::from(text.contains('x') && text.contains('\0'));
    }
    assert!(torn > 0, "no seed tears");
}

#[test]
fn a_folder_is_moved_with_all_that_is_in_it() {
    let changes =
        [Change::Mkdir("t".into()), create("t/a"), rename("t", "u"), create("b"), sync("b")];
    let all = [is("b", ""), is("u/a", "")].concat();
    assert_eq!(left(&changes, DROPS), all);
}

#[test]
fn two_names_of_a_file_have_the_same_content() {
    let link = Change::HardLink { from: "a".into(), to: "b".into() };
    let changes = [create("a"), link, write("b", 0, "both"), sync("a")];
    assert_eq!(left(&changes, DROPS), [is("a", "both"), is("b", "both")].concat());
}

#[test]
fn all_files_tell_of_the_next_start_of_the_machine() {
    let changes =
        [create("a"), write("a", 0, "boot 1, boot 1"), create("b"), write("b", 0, "none")];
    let mut disk = Disk::default();
    changes.iter().for_each(|change| disk.apply(change));
    disk.rewrite(b"boot 1", b"boot 2");
    assert_eq!((disk.bytes("a"), disk.bytes("b")), (&b"boot 2, boot 2"[..], &b"none"[..]));
}
