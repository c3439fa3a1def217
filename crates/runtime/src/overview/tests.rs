//! A cached list equals one that is read anew.

use std::sync::Arc;

use sandbox::Repo;
use store::SqliteJournal;
use types::Timestamp;

use super::*;
use crate::{Config, GcRules, NewRun};

/// A run that ends at once, because it is refused.
async fn refused(bosun: &Bosun, repo: &std::path::Path) {
    let model = "scripted/x".parse().expect("a model");
    let handle = bosun.start(NewRun::new(" ", repo, model).expect("a run")).await;
    handle.expect("it starts").finished().await.expect("it ends");
}

#[tokio::test]
async fn a_list_that_is_held_is_the_list_that_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let repo = dir.path().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    Repo::create(&repo, "Start\n", Timestamp::from_millis(1)).await.expect("a repository");
    let home = dir.path().join("home");
    let journal = SqliteJournal::open(&home.join("journal.db")).await.expect("a journal");
    let bosun = Bosun::new(Config::new(Arc::new(journal.clone()), &home));
    let mut held = Overview::default();
    assert!(bosun.refresh(&mut held).await.expect("a list").is_empty());
    for count in 1..=3 {
        refused(&bosun, &repo).await;
        let list = bosun.refresh(&mut held).await.expect("a list");
        assert_eq!(list.len(), count);
        assert_eq!(*list, bosun.overview(false).await.expect("a list"));
    }
    let one = held.entries[1].run.clone();
    bosun.discard(&one, "ann").await.expect("it is over");
    let list = bosun.refresh(&mut held).await.expect("a list");
    assert_eq!(*list, bosun.overview(false).await.expect("a list"));
    let rules = GcRules { keep_days: 0, keep: 1, results: true, sessions: true, dry_run: false };
    bosun.collect_garbage(&journal, rules, "ann").await.expect("it is removed");
    let list = bosun.refresh(&mut held).await.expect("a list");
    assert_eq!((list.len(), &*list), (1, &bosun.overview(false).await.expect("a list")));
}
