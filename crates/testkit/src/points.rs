//! Points of power cuts: after the first line of each kind. Two lines are of one kind if they have the same event, rule
//! and kind of log, and the same next event; usually the same work is open after both. With `EVERY_LINE` set in the
//! environment the power is cut after every line.

use std::collections::BTreeSet;

use serde_json::Value;
use types::{Envelope, LogId};

/// A point at which the power can be cut: right after this line of this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub log: LogId,
    pub seq: u64,
}

/// The kinds of lines after which the power was already cut.
#[derive(Debug, Default)]
pub struct Points {
    seen: BTreeSet<String>,
}

impl Points {
    /// The points in these lines that are of a new kind.
    pub fn of(&mut self, lines: &[Envelope]) -> Vec<Point> {
        let every = std::env::var_os("EVERY_LINE").is_some();
        let new = |(place, line): &(usize, &Envelope)| {
            let next = lines.get(place + 1).filter(|next| next.log() == line.log());
            let sort = format!("{} > {}", sort(line), next.map_or("", |next| next.event.kind()));
            self.seen.insert(sort) || every
        };
        let chosen = lines.iter().enumerate().filter(new);
        chosen.map(|(_, line)| Point { log: line.log(), seq: line.seq }).collect()
    }
}

/// The event, rule and kind of log.
fn sort(line: &Envelope) -> String {
    let data = serde_json::to_value(&line.event).unwrap_or_default();
    let facts = ["/data/decision/rule", "/data/tool", "/data/phase", "/data/status"];
    let facts: Vec<&str> =
        facts.iter().filter_map(|place| data.pointer(place).and_then(Value::as_str)).collect();
    let log = line.attempt.as_ref().map_or("run", |attempt| {
        if attempt.task == types::TaskId::plan() { "plan" } else { "task" }
    });
    format!("{log} {} {}", line.event.kind(), facts.join(" "))
}
