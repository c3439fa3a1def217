//! Progress of long checks in plain output: rarely a line with the time and the last line that the runner printed, at
//! intervals that double, so that a check of half an hour has eight.

use std::collections::BTreeMap;

use runtime::Activity;
use types::{CheckId, Millis, Timestamp};

use super::rows::in_progress;
use crate::print::row;

/// When a check is long enough for its first line.
const FIRST: Millis = Millis::seconds(10);

/// The checks in progress, with the time of the next line about each.
#[derive(Debug, Default)]
pub(super) struct LongChecks(BTreeMap<CheckId, Millis>);

impl LongChecks {
    /// The lines that are due.
    pub(super) fn due(&mut self, activity: &Activity, now: Timestamp) -> Vec<String> {
        self.0.retain(|known, _| activity.checks().any(|(check, _)| check == known));
        let mut lines = Vec::new();
        for (check, running) in activity.checks() {
            let took = now.since(running.since);
            let next = self.0.entry(check.clone()).or_insert(FIRST);
            if took >= *next {
                lines.push(row(&check.on.to_string(), &in_progress(running, now)));
            }
            while *next <= took {
                *next = next.plus(*next);
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::rows::tests::line;
    use super::*;

    #[test]
    fn a_long_check_has_a_line_at_intervals_that_double() {
        let (mut activity, mut long) = (Activity::default(), LongChecks::default());
        let what = json!({ "name": "tests", "command": "make test" });
        let begun = json!({ "check": { "on": "base", "index": 0 }, "what": what, "commit": "" });
        activity.apply(&line(None, 0, "check.started", begun));
        let at = |second: i64| Timestamp::from_millis(second * 1_000);
        let mut told = Vec::new();
        for second in (0..=1_800).step_by(5) {
            told.extend(long.due(&activity, at(second)));
        }
        let times: Vec<&str> = told.iter().filter_map(|line| line.rsplit(' ').next()).collect();
        assert_eq!(told[0].trim(), "base         check tests, 10 s");
        assert_eq!(times.len(), 8, "{told:#?}");
        assert!(told.windows(2).all(|two| two[0] != two[1]), "{told:#?}");
    }
}
