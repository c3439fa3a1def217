//! Coverage figures of a number of simulated runs, to show that they are not trivial.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default, Clone)]
pub(super) struct Tally {
    /// How often each kind of event was stored.
    pub(super) events: BTreeMap<&'static str, u64>,
    /// How often each fault was injected.
    pub(super) faults: BTreeMap<&'static str, u64>,
    /// How runs ended, by preset and status.
    pub(super) ends: BTreeMap<String, u64>,
    pub(super) effects: u64,
    pub(super) lives: u64,
    pub(super) virtual_ms: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        let sum = |into: &mut BTreeMap<&'static str, u64>, from: &BTreeMap<&'static str, u64>| {
            from.iter().for_each(|(key, count)| *into.entry(*key).or_default() += count);
        };
        sum(&mut self.events, &other.events);
        sum(&mut self.faults, &other.faults);
        for (key, count) in &other.ends {
            *self.ends.entry(key.clone()).or_default() += count;
        }
        self.effects += other.effects;
        self.lives += other.lives;
        self.virtual_ms += other.virtual_ms;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |counts: &BTreeMap<&'static str, u64>| {
            let each = counts.iter().map(|(key, count)| format!("{key} {count}"));
            each.collect::<Vec<_>>().join(", ")
        };
        let ends = self.ends.iter().map(|(key, count)| format!("{key} {count}"));
        let events: u64 = self.events.values().sum();
        let hours = self.virtual_ms / 3_600_000;
        writeln!(f, "{} processes, {} effects, {hours} virtual hours", self.lives, self.effects)?;
        writeln!(f, "ends: {}", ends.collect::<Vec<_>>().join(", "))?;
        writeln!(f, "faults: {}", list(&self.faults))?;
        write!(f, "{events} events of {} kinds: {}", self.events.len(), list(&self.events))
    }
}
