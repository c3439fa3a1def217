//! Tests of the stores with the objects that commands see.

use std::time::{Duration, SystemTime};

use super::super::history::{MOST_PACKS, sweep_history};
use super::{Fixture, Path, PathBuf, commit, fixture, git, put};
use types::CommitId;

impl Fixture {
    async fn store(&self, commit: &CommitId) -> PathBuf {
        let below = self.dir.path().join("history");
        self.repo.history(&below, commit).await.expect("a store")
    }
}

/// A repository with nothing but this store.
fn alone(fixture: &Fixture, store: &Path) -> PathBuf {
    let dir = tempfile::tempdir_in(fixture.dir.path()).expect("a folder").keep();
    git(&dir, &["init", "--quiet", "--bare"]);
    put(&dir, "objects/info/alternates", &format!("{}\n", store.display()));
    dir
}

fn has(repo: &Path, object: &str) -> bool {
    let all = git(repo, &["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    all.lines().any(|line| line == object)
}

fn packs(store: &Path) -> usize {
    let files = std::fs::read_dir(store.join("pack")).expect("packs").flatten();
    files.filter(|file| file.file_name().to_string_lossy().ends_with(".pack")).count()
}

#[tokio::test]
async fn a_store_has_what_led_to_its_commit_and_nothing_else() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let root = fixture.repo.root();
    git(root, &["checkout", "--quiet", "-b", "other"]);
    let other = commit(root, &[("b", "theirs\n")]);
    git(root, &["checkout", "--quiet", "-"]);
    let next = commit(root, &[("a", "2\n")]);
    git(root, &["repack", "-a", "-d", "--quiet"]);
    for (commit, whole) in [(&fixture.start, 1), (&next, 2), (&next, 2)] {
        let store = fixture.store(commit).await;
        assert_eq!(packs(&store), whole);
        let seen = alone(&fixture, &store);
        git(&seen, &["fsck", "--full", "--strict", &commit.0]);
        assert_eq!(has(&seen, &next.0), *commit == next);
        assert!(!has(&seen, &other.0));
        let theirs = git(root, &["rev-parse", &format!("{}:b", other.0)]);
        assert!(!has(&seen, &theirs));
    }
}

#[tokio::test]
async fn many_packs_become_one_again() {
    let fixture = fixture(&[("a", "0\n")]).await;
    let root = fixture.repo.root();
    let mut counts = vec![];
    for n in 0..=MOST_PACKS {
        let next = commit(root, &[("a", &format!("{n}\n"))]);
        let store = fixture.store(&next).await;
        git(&alone(&fixture, &store), &["fsck", "--full", &next.0]);
        counts.push(packs(&store));
    }
    assert!(counts.contains(&MOST_PACKS) && counts.ends_with(&[1]), "{counts:?}");
}

#[tokio::test]
async fn a_damaged_history_does_not_keep_anybody_from_the_rest() {
    let fixture = fixture(&[("a", "1\n"), ("b", "1\n")]).await;
    let root = fixture.repo.root();
    let lost = git(root, &["rev-parse", "HEAD:a"]);
    let next = commit(root, &[("a", "2\n")]);
    let (folder, file) = lost.split_at(2);
    std::fs::remove_file(root.join(".git/objects").join(folder).join(file)).expect("it is lost");
    let seen = alone(&fixture, &fixture.store(&next).await);
    assert_eq!(git(&seen, &["show", &format!("{}:a", next.0)]), "2");
    assert!(!has(&seen, &lost));
}

#[tokio::test]
async fn stores_that_nobody_used_for_long_go() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let old = fixture.store(&fixture.start).await;
    let second = commit(fixture.repo.root(), &[("a", "2\n")]);
    let used = fixture.store(&second).await;
    let month_ago = SystemTime::now() - Duration::from_hours(30 * 24);
    for folder in [&old, &used] {
        let opened = std::fs::File::open(folder).expect("a folder");
        opened.set_modified(month_ago).expect("a time");
    }
    assert_eq!(fixture.store(&second).await, used, "it is used again");
    let third = commit(fixture.repo.root(), &[("a", "3\n")]);
    let newest = fixture.store(&third).await;
    assert!(!old.exists() && used.exists());
    git(&alone(&fixture, &newest), &["fsck", "--full", &third.0]);
}

#[tokio::test]
async fn what_is_being_made_stays_and_goes_with_its_maker() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let store = fixture.store(&fixture.start).await;
    let part = store.with_file_name(".part-x");
    std::fs::create_dir(&part).expect("a folder");
    let maker = std::fs::File::open(&part).expect("a folder");
    maker.lock().expect("nobody else has it");
    let below = fixture.dir.path().join("history");
    sweep_history(&below);
    assert!(part.exists(), "its maker lives");
    drop(maker);
    sweep_history(&below);
    assert!(!part.exists() && store.exists());
}

#[tokio::test]
async fn two_that_need_the_same_store_get_one() {
    let fixture = fixture(&[("a", "1\n")]).await;
    let (one, other) = tokio::join!(fixture.store(&fixture.start), fixture.store(&fixture.start));
    assert_eq!(one, other);
    git(&alone(&fixture, &one), &["fsck", "--full", &fixture.start.0]);
    let shelf = std::fs::read_dir(one.parent().expect("a shelf")).expect("a list");
    assert_eq!(shelf.count(), 1, "nothing half-made is left");
}
