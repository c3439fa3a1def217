//! The feed on disk: two processes, damage, copies, removal of the newest lines, and journals of earlier versions,
//! which get a feed.

use super::*;
use crate::Damage;

async fn fed(journal: &SqliteJournal, of: Option<&RunId>) -> Vec<(u64, LogId, u64)> {
    let page = journal.feed(of, 0, usize::MAX).await.expect("a page");
    page.iter().map(|line| (line.position, line.line.log(), line.line.seq)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_feed_has_the_lines_of_two_processes_in_one_order() {
    const LINES: u64 = 40;
    let (_folder, path) = folder();
    let journals = [open(&path).await, open(&path).await];
    let follow = |journal: &SqliteJournal, of: Option<RunId>, lines: u64| {
        let stream = journal.follow_feed(of, 0).take(lines as usize);
        let all = stream.map(|line| line.expect("a line").position).collect::<Vec<_>>();
        tokio::spawn(tokio::time::timeout(Duration::from_secs(60), all))
    };
    let followers = [
        follow(&journals[0], None, 4 * LINES),
        follow(&journals[1], None, 4 * LINES),
        // Written by the other process.
        follow(&journals[1], Some(log("r_22").run), LINES),
    ];
    let writers = (0..4).map(|n| {
        let journal = journals[n % 2].clone();
        tokio::spawn(async move { filled(&journal, &log(&format!("r_{n}{n}")), LINES).await })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("a writer");
    }
    let stored: Vec<u64> = fed(&journals[0], None).await.iter().map(|line| line.0).collect();
    assert_eq!(stored, (1..=4 * LINES).collect::<Vec<_>>());
    let mut seen = Vec::new();
    for follower in followers {
        seen.push(follower.await.expect("a follower").expect("in time"));
    }
    assert!(seen[0] == stored && seen[1] == stored);
    let of_run = fed(&journals[0], Some(&log("r_22").run)).await;
    assert!(of_run.iter().map(|line| line.0).eq(seen.pop().expect("positions")));
}

#[tokio::test]
async fn a_damaged_line_is_not_returned_and_those_before_it_are() {
    const OF: &str = "log = (SELECT id FROM logs WHERE name = 'r_ab')";
    for seq in 1..=3 {
        let change = format!(
            "UPDATE lines SET line = replace(line, 'line {seq}', 'lime {seq}') WHERE {OF} AND seq = {seq}"
        );
        let garbage = format!("UPDATE lines SET line = '{{' WHERE {OF} AND seq = {seq}");
        let gone = format!("DELETE FROM lines WHERE {OF} AND seq = {seq}");
        // A line whose successor cannot be read is not proven either.
        for (sql, intact) in [(change, seq - 1), (garbage, seq.max(2) - 2), (gone, seq.max(2) - 2)]
        {
            let (_folder, path) = folder();
            let journal = open(&path).await;
            filled(&journal, &log("r_ab"), 3).await;
            filled(&journal, &log("r_cd"), 2).await;
            damage::edit(&path, &sql);
            for of in [None, Some(log("r_ab").run)] {
                let mut followed = journal.follow_feed(of, 0);
                for position in 1..=intact {
                    let line = followed.next().await.expect("more").expect("an intact line");
                    assert_eq!(line.position, position);
                }
                let error = followed.next().await.expect("more").expect_err("a damaged line");
                let named = match error {
                    JournalError::Damaged { log: id, seq, why: _ } if id == log("r_ab") => seq,
                    other => panic!("{sql} gave {other}"),
                };
                assert_eq!(named, seq, "{sql}");
                assert!(followed.next().await.is_none(), "an error is the last item");
            }
            assert_eq!(journal.feed(None, 3, 9).await.expect("the other log is intact").len(), 2);
        }
    }
    let (_folder, path) = folder();
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 3).await;
    damage::edit(&path, "UPDATE logs SET last_seq = 2");
    let error = journal.feed(None, 2, 9).await.expect_err("a line beyond the end");
    assert!(matches!(error, JournalError::Damaged { seq: 3, why: Damage::BeyondEnd, .. }));
}

#[tokio::test]
async fn positions_survive_backup_removal_and_another_start() {
    let (folder, path) = folder();
    let copy = folder.path().join("copy.db");
    let journal = open(&path).await;
    filled(&journal, &log("r_ab"), 2).await;
    filled(&journal, &log("r_cd"), 3).await;
    journal.backup(&copy).await.expect("a backup");
    let copied = SqliteJournal::read_only(&copy, false).await.expect("a read").expect("a journal");
    assert_eq!(fed(&copied, None).await, fed(&journal, None).await);
    assert_eq!(copied.position().await.expect("a position"), 5);
    let runs = vec![log("r_cd").run];
    let at = Timestamp::from_millis(0);
    let removal = Removal { runs, at, by: "ada".to_owned(), dry_run: false };
    journal.remove(removal).await.expect("a removal");
    drop(journal);
    let journal = open(&path).await;
    assert_eq!(journal.position().await.expect("a position"), 5, "it does not go back");
    filled(&journal, &log("r_ef"), 1).await;
    let lines = fed(&journal, None).await;
    assert_eq!(lines.iter().map(|line| line.0).collect::<Vec<_>>(), [1, 2, 6]);
}

/// A copy of a journal of an earlier form.
fn of_form(form: &str) -> (TempDir, PathBuf) {
    let (folder, path) = folder();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bosun/tests/fixtures/journals");
    std::fs::copy(fixtures.join(form).join("journal.db"), &path).expect("a copy");
    (folder, path)
}

#[tokio::test]
async fn a_journal_of_the_third_form_keeps_its_positions_and_all_its_lines() {
    let (_folder, path) = of_form("v3");
    let older = rusqlite::Connection::open(&path).expect("a connection");
    // The newest lines were removed, and two places of the feed are damaged: those of lines 4 and 5.
    damage::edit(
        &path,
        "UPDATE sqlite_sequence SET seq = 200 WHERE name = 'feed';
        UPDATE feed SET position = position + 1000 WHERE position > 5; DELETE FROM feed WHERE position IN (4, 5)",
    );
    let placed = "SELECT log, seq, position FROM feed ORDER BY position";
    let read = |sql: &str| -> Vec<(i64, i64, i64)> {
        let mut statement = older.prepare(sql).expect("a statement");
        let rows = statement.query_map([], |row| row.try_into()).expect("rows");
        rows.collect::<Result<_, _>>().expect("rows")
    };
    let mut expected = read(placed);
    let journal = open(&path).await;
    assert_eq!(journal.position().await.expect("a position"), 1159);
    let lines = read("SELECT log, seq, position FROM lines ORDER BY position");
    assert_eq!(lines.len(), 157);
    assert_eq!(lines[..155], expected[..], "what was in the feed is where it was");
    expected.extend([(1, 4, 1158), (1, 5, 1159)]);
    assert_eq!(lines, expected);
    let given = read("SELECT position, position, position FROM given");
    assert_eq!(given, [(200, 200, 200)]);
    let (_folder, path) = of_form("v3");
    damage::edit(&path, "UPDATE sqlite_sequence SET seq = 200 WHERE name = 'feed'");
    let journal = open(&path).await;
    assert_eq!(journal.position().await.expect("a position"), 200);
    filled(&journal, &log("r_ef"), 1).await;
    assert_eq!(fed(&journal, Some(&log("r_ef").run)).await, [(201, log("r_ef"), 1)]);
}

#[tokio::test]
async fn a_journal_of_the_second_form_gets_its_feed() {
    let (folder, path) = of_form("v2");
    // A program of that version has it open meanwhile, and writes a line later.
    let older = rusqlite::Connection::open(&path).expect("a connection");
    let logs = "SELECT count(*) FROM logs WHERE last_seq > 0";
    let logs: i64 = older.query_row(logs, [], |row| row.get(0)).expect("the logs");
    let journal = SqliteJournal::read_only(&path, false).await.expect("a read").expect("a journal");
    assert_eq!(journal.kept_copy(), Some(folder.path().join("journal.v2.db").as_path()));
    let mut expected = Vec::new();
    for found in journal.logs(None).await.expect("the logs").into_iter().rev() {
        expected.extend((1..=found.last_seq).map(|seq| (found.log.clone(), seq)));
    }
    assert_eq!(logs, 12);
    let lines = fed(&journal, None).await;
    assert!(lines.iter().map(|line| line.0).eq(1..=157));
    assert_eq!(lines.into_iter().map(|(_, id, seq)| (id, seq)).collect::<Vec<_>>(), expected);
    let of_run = fed(&journal, Some(&log("r_fc40903a").run)).await;
    assert_eq!(of_run.len(), 21 + 4 + 7);
    assert!(of_run.iter().all(|(_, id, _)| id.run == log("r_fc40903a").run));
    older
        .execute(
            "INSERT INTO lines (log, seq, line) SELECT id, last_seq + 1, '{}' FROM logs WHERE id = 6",
            [],
        )
        .expect("a line");
    assert_eq!(journal.position().await.expect("a position"), 158);
}
