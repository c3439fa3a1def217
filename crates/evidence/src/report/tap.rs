//! The Test Anything Protocol, with subtests as node's own runner writes them: a plan, results, `Bail out!`. A stream
//! is complete if it has its plan and as many results; node's must also end with its duration.

use types::TestOutcome;

use super::part::{Cases, Part};
use super::text::number;
use crate::pattern::Pattern;

static PLAN: Pattern = Pattern::new(r"^1\.\.(\d+)(?: *#.*)?$");
static RESULT: Pattern = Pattern::new(r"^(not )?ok(?: (\d+))?(?:(?: -)? (.*))?$");

/// Reads every stream in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut stream = Stream::default();
    for line in lines {
        let line = line.trim_end();
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        if stream.skips(text, indent) {
            continue;
        }
        if stream.ends_before(text, indent) {
            parts.extend(std::mem::take(&mut stream).finish());
        }
        stream.line(text, indent);
    }
    parts.extend(stream.finish());
    parts
}

#[derive(Default)]
struct Level {
    title: String,
    results: u32,
    plan: Option<u32>,
    failed: bool,
}

#[derive(Default)]
struct Stream {
    announced: bool,
    node: bool,
    duration: bool,
    bailed: bool,
    /// The indentation of an open block of details.
    details: Option<usize>,
    levels: Vec<Level>,
    broken: bool,
    cases: Cases,
}

impl Stream {
    /// Whether the line belongs to the details of a result.
    fn skips(&mut self, text: &str, indent: usize) -> bool {
        if let Some(at) = self.details {
            self.node |= text.starts_with("duration_ms:");
            if text == "..." && indent == at {
                self.details = None;
            }
            return true;
        }
        if text == "---"
            && indent % 4 == 2
            && self.levels.first().is_some_and(|l| l.results > 0 || self.levels.len() > 1)
        {
            self.details = Some(indent);
            return true;
        }
        false
    }

    /// Whether the line begins another stream.
    fn ends_before(&self, text: &str, indent: usize) -> bool {
        let Some(top) = self.levels.first() else { return self.announced && is_version(text) };
        let full = top.plan.is_some_and(|plan| top.results >= plan);
        indent == 0
            && (is_version(text)
                || (top.results > 0
                    && RESULT
                        .captures(text)
                        .is_some_and(|result| result.get(2).is_some_and(|n| n.as_str() == "1")))
                || (full && PLAN.is_match(text)))
    }

    fn line(&mut self, text: &str, indent: usize) {
        let depth = indent / 4;
        if indent == 0 && is_version(text) {
            self.announced = true;
        } else if indent == 0 && text.starts_with("Bail out!") {
            self.bailed = true;
        } else if indent == 0 && text.starts_with("# duration_ms ") {
            self.duration = true;
        } else if !indent.is_multiple_of(4) || depth > self.levels.len() {
        } else if let Some(title) = text.strip_prefix("# Subtest: ") {
            self.begun(depth, title);
        } else if depth > 0 && self.levels.get(depth - 1).is_none_or(|l| l.title.is_empty()) {
        } else if let Some(plan) = PLAN.captures(text) {
            self.level(depth).plan = Some(number(&plan[1]));
        } else if let Some(result) = RESULT.captures(text)
            && (result.get(2).is_some() || self.announced)
        {
            let rest = result.get(3).map_or("", |rest| rest.as_str());
            self.result(depth, result.get(1).is_some(), rest);
        }
    }

    fn level(&mut self, depth: usize) -> &mut Level {
        if self.levels.len() <= depth && depth < 64 {
            self.levels.resize_with(depth + 1, Level::default);
        }
        let last = self.levels.len() - 1;
        &mut self.levels[depth.min(last)]
    }

    fn begun(&mut self, depth: usize, title: &str) {
        self.level(depth).title = unescape(title);
        self.levels.truncate(depth + 1);
    }

    fn result(&mut self, depth: usize, failed: bool, rest: &str) {
        let (name, skipped) = directive(rest);
        let outcome = match (skipped, failed) {
            (true, _) => TestOutcome::Skipped,
            (_, true) => TestOutcome::Failed,
            (_, false) => TestOutcome::Passed,
        };
        let inner =
            self.levels.get(depth + 1).map(|inner| (inner.results, inner.failed, inner.plan));
        self.levels.truncate(depth + 1);
        let mut path: Vec<&str> = Vec::new();
        path.extend(self.levels.iter().take(depth).map(|level| level.title.as_str()));
        let name = unescape(name);
        let title = if name.is_empty() {
            format!("test {}", self.levels.get(depth).map_or(0, |l| l.results) + 1)
        } else {
            name
        };
        path.push(&title);
        let path = path.join(" > ");
        match inner {
            // A group of tests is not a test, unless it failed and none of them did.
            Some((results, inner_failed, plan)) if results > 0 => {
                self.broken |= plan != Some(results);
                if outcome == TestOutcome::Failed && !inner_failed {
                    self.cases.push(&path, outcome);
                }
            }
            _ => self.cases.push(&path, outcome),
        }
        let level = self.level(depth);
        level.title.clear();
        level.results = level.results.saturating_add(1);
        level.failed |= outcome == TestOutcome::Failed;
    }

    fn finish(self) -> Option<Part> {
        let top = self.levels.first();
        // Lines that start with `ok` are common; a plan or a version makes them TAP.
        let begun = self.announced
            || top
                .is_some_and(|top| top.plan == Some(0) || (top.plan.is_some() && top.results > 0));
        let planned = top.is_some_and(|top| top.plan == Some(top.results));
        let open = self.levels.len() > 1 || self.details.is_some();
        let ended = !self.node || self.duration;
        let complete = planned && ended && !self.bailed && !open && !self.broken;
        let runner = if self.node || self.duration { "node" } else { "tap" };
        begun.then(|| Part::named(runner, complete, self.cases))
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with("TAP version ")
}

/// A description without its directive, and whether that skips the test.
fn directive(rest: &str) -> (&str, bool) {
    for (at, _) in rest.match_indices('#') {
        let before = &rest[..at];
        if before.ends_with('\\') || !(before.is_empty() || before.ends_with(' ')) {
            continue;
        }
        let word = rest[at + 1..].trim_start();
        let starts =
            |with: &str| word.get(..with.len()).is_some_and(|w| w.eq_ignore_ascii_case(with));
        let skips = starts("skip") || starts("todo");
        if skips || starts("time=") {
            return (before.trim_end(), skips);
        }
    }
    (rest, false)
}

fn unescape(name: &str) -> String {
    name.replace("\\#", "#").replace("\\\\", "\\")
}
