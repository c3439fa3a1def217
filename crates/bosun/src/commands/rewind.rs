//! `bosun rewind`: undo a session's own changes to files after a line of its log.

use std::path::{Component, Path, PathBuf};

use runtime::{Order, Undone};
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print::{self, patch, undo};
use crate::recorded;

pub(crate) async fn rewind(home: &Home, args: args::Rewind) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let run = recorded::named(&bosun, &args.run).await?;
    let replace = args.replace.iter().map(|path| plain(path)).collect();
    let undone = bosun.rewind(&run, args.to, replace, &home::person()).await?;
    let conflicts: Vec<&Path> = undone.changed_since().map(|left| left.path.as_path()).collect();
    let incomplete = undo::incomplete(&undone, "run the same command again");
    let partly = if incomplete.is_some() { "partly " } else { "" };
    let summary = undo::summary(&undone);
    let mut said = format!("changes after line {} {partly}undone: {summary}\n", undone.to);
    let notes = undo::notes(&undone).into_iter().chain(incomplete);
    notes.for_each(|line| said.push_str(&format!("{line}\n")));
    if !conflicts.is_empty() {
        let diff: String = undone.conflicts.iter().map(undo::patch).collect();
        said.push_str(&format!("\n{}\n", patch::shown(&diff, false)));
        let which = match conflicts.as_slice() {
            [path] => print::path(path),
            _ => ".".to_owned(),
        };
        let (bosun, to) = (home.flag(), undone.to);
        said.push_str(&format!(
            "to restore what was left alone, too: {bosun} rewind {run} --to {to} --replace {which}\n"
        ));
    }
    print::result(args.json, &object(&undone, &run), &said)?;
    let is_complete = conflicts.is_empty() && undone.restored.stopped.is_none();
    Ok(if is_complete { Exit::Done } else { Exit::Waiting })
}

/// The path as it is written in a snapshot: `.` is the folder itself.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}

fn object(undone: &Undone, run: &types::RunId) -> serde_json::Value {
    let files =
        |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let restored = &undone.restored;
    let left = restored.left_alone.iter().map(|left| {
        let path = left.path.display().to_string();
        json!({ "path": path, "why": left.why, "can_be_replaced": left.is_conflict() })
    });
    json!({
        "run": run,
        "to": undone.to,
        "written": files(&restored.written),
        "removed": files(&restored.removed),
        "left_alone": left.collect::<Vec<_>>(),
        "kept_in": restored.kept_in.as_ref().map(|folder| folder.display().to_string()),
        "stopped": restored.stopped,
    })
}
