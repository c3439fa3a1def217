//! Where the power is cut: after the first line of each sort. Two lines are of one sort when the same thing happened by
//! the same rule, in the same sort of log, and the same thing happened next; after both, mostly the same work is open. With
//! `EVERY_LINE` set in the environment the power is cut after every single line.

use std::collections::BTreeSet;

use serde_json::Value;
use types::{Envelope, LogId};

/// A place at which the power can be cut: right after this line of this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub log: LogId,
    pub seq: u64,
}

/// The sorts of lines after which the power was cut already.
#[derive(Debug, Default)]
pub struct Points {
    seen: BTreeSet<String>,
}

impl Points {
    /// The places in these lines that are of a new sort.
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

/// What happened, by which rule, in which sort of log.
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
