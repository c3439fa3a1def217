//! The parity table from recordings of real servers, made by `cargo xtask live --record`: replies that were understood
//! then are understood now, and requests have not changed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::*;

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../llm/recordings")
}

async fn columns() -> Vec<(Dialect, Vec<Cell>)> {
    let mut columns = vec![];
    for dialect in Dialect::ALL {
        let folder = recordings().join(dialect.as_str());
        let order = std::fs::read_to_string(folder.join("servers.txt")).expect("the servers");
        let endpoints = order.lines().map(|server| Endpoint {
            server: server.to_owned(),
            dialect,
            base_url: "http://127.0.0.1:9".to_owned(),
            key: "right".to_owned().into(),
            model: "local".to_owned(),
            transport: Arc::new(llm::Replayer::open(&folder.join(server)).expect("recordings")),
        });
        let endpoints: Vec<Endpoint> = endpoints.collect();
        columns.push((dialect, column(&endpoints).await));
    }
    columns
}

/// A99, K12: fifteen rows, five dialects, with the replies of real servers.
#[tokio::test]
async fn the_table_holds_from_recordings_as_it_held_live() {
    let live = std::fs::read_to_string(recordings().join("table.txt")).expect("the table");
    let table = table(&columns().await);
    assert!(!table.contains("no_exchange"), "what is asked has changed; record again:\n{table}");
    assert_eq!(table, live);
}

/// A99: no cell is empty without a reason.
#[tokio::test]
async fn every_cell_is_filled_and_an_empty_one_has_a_reason() {
    let columns = columns().await;
    assert_eq!(columns.len(), 5);
    for (dialect, cells) in &columns {
        assert_eq!(cells.len(), ROWS.len());
        for cell in cells {
            assert!(cell.held_by.is_some() || !cell.reasons.is_empty(), "{dialect:?} {}", cell.row);
        }
    }
}
