//! `bosun rewind`: put the files of a session back to what they were at an earlier line of its log.

use runtime::{Order, Undone};
use serde_json::json;

use crate::args;
use crate::exit::Exit;
use crate::home::{self, Home};
use crate::print;

/// The most files that are named.
const NAMED: usize = 5;

pub(crate) async fn rewind(home: &Home, args: args::Rewind) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let undone = bosun.rewind(&args.run, args.to, &home::person()).await?;
    if args.json {
        let files = |paths: &[std::path::PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        let restored = &undone.restored;
        print::json(&json!({
            "run": args.run,
            "to": undone.to,
            "written": files(&restored.written),
            "removed": files(&restored.removed),
        }))?;
    } else {
        print::line(&format!(
            "files are what they were after line {}: {}",
            undone.to,
            said(&undone)
        ))?;
    }
    Ok(Exit::Done)
}

/// What was put back, in a few words.
pub(crate) fn said(undone: &Undone) -> String {
    let restored = &undone.restored;
    let name = |path: &std::path::PathBuf| print::one_line(&path.display().to_string(), 60);
    let written = restored.written.iter().map(name);
    let removed = restored.removed.iter().map(|path| format!("{} removed", name(path)));
    let all: Vec<String> = written.chain(removed).collect();
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMED {
        text.push_str(&format!(" and {} more", all.len() - NAMED));
    }
    if all.is_empty() {
        text.push_str("nothing had to be changed");
    }
    if !restored.left_alone.is_empty() {
        text.push_str(&format!("; {} left alone", restored.left_alone.len()));
    }
    text
}
