use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_journal_on_disk_keeps_every_promise() {
    let folder = tempfile::tempdir().expect("a folder");
    let count = std::sync::atomic::AtomicU32::new(0);
    crate::conformance::run(async || {
        let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = folder.path().join(format!("{n}.db"));
        Arc::new(SqliteJournal::open(&path).await.expect("a journal")) as Arc<dyn Journal>
    })
    .await;
}
