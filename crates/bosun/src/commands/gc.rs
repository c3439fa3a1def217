//! `bosun gc`: remove old runs, and report the space that this frees.

use anyhow::Context as _;
use runtime::{Collected, GcRules, Order};
use serde_json::json;
use types::count;

use crate::args;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print;

pub(crate) async fn gc(home: &Home, args: &args::Gc) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let journal = home.opened().context("opening the journal")?.clone();
    let rules = GcRules {
        keep_days: args.keep_days,
        keep: args.keep,
        results: args.results,
        sessions: args.sessions,
        dry_run: args.dry_run,
    };
    let collected = bosun.collect_garbage(&journal, rules, &home::person()).await?;
    let object = as_json(&collected, args.dry_run);
    print::result(args.json, &object, &as_text(&collected, args.dry_run))?;
    Ok(if collected.failed.is_empty() { Exit::Done } else { Exit::Failed })
}

fn as_json(collected: &Collected, dry_run: bool) -> serde_json::Value {
    let removed = &collected.removed;
    let failed = collected.failed.iter().map(|(run, why)| json!({ "run": run, "why": why }));
    json!({
        "dry_run": dry_run,
        "runs": removed.runs,
        "busy": removed.busy,
        "unsettled": collected.unsettled,
        "failed": failed.collect::<Vec<_>>(),
        "logs": removed.logs,
        "lines": removed.lines,
        "line_bytes": removed.line_bytes,
        "blobs": removed.blobs,
        "blob_bytes": removed.blob_bytes,
        "snapshots": collected.snapshots,
        "snapshot_bytes": collected.snapshot_bytes,
        "copies": collected.copies,
        "copy_bytes": collected.copy_bytes,
        "bytes": freed(collected),
        "in_use": removed.in_use,
    })
}

fn freed(collected: &Collected) -> u64 {
    let removed = &collected.removed;
    removed.line_bytes + removed.blob_bytes + collected.snapshot_bytes + collected.copy_bytes
}

fn as_text(collected: &Collected, dry_run: bool) -> String {
    let removed = &collected.removed;
    let mut lines = Vec::new();
    for run in &removed.runs {
        lines.push(format!("{} {run}", if dry_run { "would remove" } else { "removed" }));
    }
    for (runs, why) in [
        (&collected.unsettled, "its result is neither accepted nor discarded (--results)"),
        (&removed.busy, "in use by another process"),
    ] {
        lines.extend(runs.iter().map(|run| format!("kept {run}: {why}")));
    }
    for (run, why) in &collected.failed {
        lines.push(format!("kept {run}: {}", print::one_line(why, 300)));
    }
    if removed.in_use {
        lines.push("Bosun is in use; outputs and snapshots are kept until the next gc".to_owned());
    }
    if removed.runs.is_empty() && collected.copies == 0 && freed(collected) == 0 {
        lines.push("nothing to remove".to_owned());
        return lines.join("\n") + "\n";
    }
    lines.push(format!(
        "{}: {}, {}, {}, {}, {}",
        if dry_run { "would free" } else { "freed" },
        count(removed.runs.len(), "run"),
        sized(removed.lines, "line", removed.line_bytes),
        sized(removed.blobs, "blob", removed.blob_bytes),
        sized(collected.snapshots, "snapshot folder", collected.snapshot_bytes),
        sized(collected.copies, "folder of removed files", collected.copy_bytes),
    ));
    lines.join("\n") + "\n"
}

/// A count with its size in kB.
fn sized(number: u64, what: &str, bytes: u64) -> String {
    format!("{} ({} kB)", count(number, what), bytes.div_ceil(1_000))
}
