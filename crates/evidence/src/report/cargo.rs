//! The text of `cargo test`: one section per binary and per crate's doc-tests, each with its own result. A section
//! without a result, or whose tests do not add up, is incomplete.

use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

const RUNNER: &str = "cargo test";

static HEADER: Pattern = Pattern::new(
    r"^ +(?:Running (?:unittests )?(\S+) \(\S*?([^/\\ ]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)|Doc-tests (\S+))$",
);
static RUNNING: Pattern = Pattern::new(r"^running (\d+) tests?$");
static RESULT: Pattern = Pattern::new(
    r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; \d+ filtered out",
);
static TEST: Pattern = Pattern::new(
    r"\btest (\S.*?)(?: - should panic)? \.\.\. ?(ok|FAILED|ignored|bench:)?(?:$|[ ,<])?",
);
static LINE: Pattern = Pattern::new(r" \(line \d+\)");
static QUIET: Pattern = Pattern::new(r"^([.iF]+)(?: \d+/\d+)?$");

/// Reads every section in the output; `only_headed` skips those that cargo did not announce.
pub(super) fn read(lines: &[&str], only_headed: bool) -> Option<Part> {
    let mut headers = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    for line in lines {
        let line = line.trim_end();
        if let Some(header) = HEADER.captures(line) {
            let part = |at| header.get(at).map_or("", |part: regex::Match<'_>| part.as_str());
            headers.push(match header.get(3) {
                Some(krate) => format!("{} doc-tests", krate.as_str()),
                None => format!("{} {}", part(2), part(1)),
            });
        } else if let Some(running) = RUNNING.captures(line) {
            let header = headers.len().checked_sub(1);
            sections.push(Section::new(number(&running[1]), header));
        } else if let Some(section) = sections.last_mut() {
            section.line(line);
        }
    }
    // If the two streams were captured one after the other, the headers are together, in the same order.
    if sections.len() == headers.len() {
        for (at, section) in sections.iter_mut().enumerate() {
            section.header = Some(at);
        }
    }
    sections.retain(|section| !only_headed || section.header.is_some());
    let missing = headers.len() > sections.len();
    let parts = sections.into_iter().map(|section| section.finish(&headers));
    let mut whole = parts.reduce(|mut whole, part| {
        whole.absorb(part);
        whole
    });
    if whole.is_none() && missing {
        whole = Some(Part::named(RUNNER, false, Cases::default()));
    }
    whole.map(|mut whole| {
        whole.complete &= !missing;
        whole
    })
}

struct Section {
    expected: u32,
    header: Option<usize>,
    /// After `failures:`, where the output of tests is quoted.
    in_details: bool,
    started: u32,
    dots: u32,
    waiting: Option<String>,
    names: Vec<(String, TestOutcome)>,
    result: Option<(Counts, u32)>,
}

impl Section {
    fn new(expected: u32, header: Option<usize>) -> Section {
        Section {
            expected,
            header,
            in_details: false,
            started: 0,
            dots: 0,
            waiting: None,
            names: Vec::new(),
            result: None,
        }
    }

    fn line(&mut self, line: &str) {
        if self.result.is_some() {
            return;
        }
        if let Some(result) = RESULT.captures(line) {
            let at = |nth: usize| number(&result[nth]);
            let counts = Counts { passed: at(1), failed: at(2), skipped: at(3) };
            self.result = Some((counts, at(4)));
        } else if line == "failures:" || line == "successes:" {
            self.in_details = true;
        } else if self.in_details {
        } else if let Some(test) = TEST.captures(line) {
            self.started = self.started.saturating_add(1);
            let name = LINE.replace_all(&test[1], "").into_owned();
            match test.get(2).and_then(|word| outcome(word.as_str())) {
                Some(outcome) => self.names.push((name, outcome)),
                None => self.waiting = Some(name),
            }
        } else if let Some(name) = line.strip_suffix(" --- FAILED") {
            self.dots = self.dots.saturating_add(1);
            self.names.push((name.to_owned(), TestOutcome::Failed));
        } else if let Some(dots) = QUIET.captures(line) {
            let many = u32::try_from(dots[1].len()).unwrap_or(u32::MAX);
            self.dots = self.dots.saturating_add(many);
        } else if let Some(outcome) = outcome(line)
            && let Some(name) = self.waiting.take()
        {
            self.names.push((name, outcome));
        }
    }

    fn finish(self, headers: &[String]) -> Part {
        let header = self.header.and_then(|at| headers.get(at));
        let mut cases = Cases::default();
        for (name, outcome) in &self.names {
            match header {
                Some(header) => cases.push(&format!("{header} {name}"), *outcome),
                None => cases.push(name, *outcome),
            }
        }
        let Some((counts, measured)) = self.result else {
            return Part::named(RUNNER, false, cases);
        };
        let seen = if self.started > 0 { self.started } else { self.dots };
        let adds_up = counts.total().saturating_add(measured) == self.expected;
        Part::counted(RUNNER, adds_up && seen >= self.expected, counts, cases)
    }
}

fn outcome(word: &str) -> Option<TestOutcome> {
    match word {
        "ok" => Some(TestOutcome::Passed),
        "FAILED" => Some(TestOutcome::Failed),
        "ignored" => Some(TestOutcome::Skipped),
        _ => None,
    }
}
