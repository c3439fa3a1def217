//! The totals of the test runners. A runner without a summary adds nothing, and the caller uses its exit code.

use std::collections::BTreeMap;
use std::fmt;

const SLOWEST: usize = 10;

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    /// Seconds by test; empty if the runner does not report them.
    pub(crate) times: BTreeMap<String, f64>,
}

impl Totals {
    /// Whether any test ran at all.
    pub(crate) fn any(&self) -> bool {
        self.passed + self.failed + self.skipped > 0
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.times.extend(other.times);
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut times: Vec<(&String, &f64)> = self.times.iter().collect();
        times.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        if times.is_empty() {
            writeln!(f, "slowest tests: this runner does not tell times (cargo-nextest does)")?;
        } else {
            writeln!(f, "slowest tests:")?;
        }
        for (name, time) in times.into_iter().take(SLOWEST) {
            writeln!(f, "{time:9.3} s  {name}")?;
        }
        writeln!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

pub(crate) fn nextest_tells(line: &str) -> bool {
    timed(line).is_some() || summary(line).is_some()
}

pub(crate) fn of_nextest(lines: &[String]) -> Totals {
    let mut totals = Totals::default();
    for line in lines {
        if let Some(counts) = summary(line) {
            for (count, what) in numbers(&counts, ',') {
                match what.as_str() {
                    "passed" => totals.passed += count,
                    "skipped" => totals.skipped += count,
                    "failed" | "timed out" | "exec failed" => totals.failed += count,
                    _ => {}
                }
            }
        } else if let Some((name, time)) = timed(line) {
            totals.times.insert(name, time);
        }
    }
    totals
}

pub(crate) fn cargo_test_tells(line: &str) -> bool {
    line.starts_with("test result: ")
}

pub(crate) fn of_cargo_test(lines: &[String]) -> Totals {
    let mut totals = Totals::default();
    for line in lines {
        let counts = line.split_once(". ").map_or("", |(_, counts)| counts);
        for (count, what) in numbers(counts, ';') {
            match what.as_str() {
                "passed" => totals.passed += count,
                "failed" => totals.failed += count,
                "ignored" => totals.skipped += count,
                _ => {}
            }
        }
    }
    totals
}

/// `     Summary [   0.011s] 5 tests run: 4 passed (1 slow), 1 failed, 0 skipped`, without the brackets.
fn summary(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("Summary [")?;
    let (_, counts) = rest.split_once(" run: ")?;
    let mut depth = 0;
    let outside = counts.chars().filter(|c| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' => {
            depth -= 1;
            false
        }
        _ => depth == 0,
    });
    Some(outside.collect())
}

/// `        PASS [   0.017s] ( 1/40) types id::tests::a_name`; the count is optional.
fn timed(line: &str) -> Option<(String, f64)> {
    let (status, rest) = line.trim_start().split_once(" [")?;
    let status_word =
        status.chars().all(|c| c.is_ascii_uppercase() || c == '-' || c.is_ascii_digit());
    let (time, rest) = rest.split_once("s] ")?;
    let time: f64 = time.trim().parse().ok()?;
    let rest = rest.trim_start();
    let name = match rest.strip_prefix('(') {
        Some(counted) => counted.split_once(')')?.1.trim_start(),
        None => rest,
    };
    (status_word && !status.is_empty()).then(|| (name.to_owned(), time))
}

fn numbers(counts: &str, separator: char) -> Vec<(u64, String)> {
    let part = |part: &str| {
        let (count, what) = part.trim().split_once(' ')?;
        Some((count.parse().ok()?, what.trim().to_owned()))
    };
    counts.split(separator).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn nextest_is_understood() {
        let text = "\
    Starting 4 tests across 2 binaries
        PASS [   0.017s] (1/4) types id::tests::a_name
        SLOW [> 30.000s] (───) types slow
        FAIL [   1.250s] (2/4) xtask::it tidy
     SIGKILL [   0.300s] xtask other
     Summary [   1.300s] 4 tests run: 1 passed (1 slow, 1 leaky), 1 failed, 2 timed out, 3 skipped
        FAIL [   1.250s] (2/4) xtask::it tidy
";
        let kept: Vec<String> =
            lines(text).into_iter().filter(|line| nextest_tells(line)).collect();
        assert_eq!(kept.len(), 5, "{kept:?}");
        let totals = of_nextest(&kept);
        assert_eq!((totals.passed, totals.failed, totals.skipped), (1, 3, 3));
        assert_eq!(totals.times.len(), 3);
        assert_eq!(totals.times["xtask::it tidy"].to_bits(), 1.25_f64.to_bits());
    }

    #[test]
    fn cargo_test_is_understood_and_added_up() {
        let text = "\
test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s
test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
        let totals = of_cargo_test(&lines(text));
        assert_eq!((totals.passed, totals.failed, totals.skipped), (6, 2, 1));
    }

    #[test]
    fn the_slowest_come_first_and_the_totals_stand_alone_on_the_last_line() {
        let mut totals = of_nextest(&lines("Summary [ 1s] 12 tests run: 12 passed, 0 skipped"));
        for test in 0..12_u8 {
            totals.times.insert(format!("t{test}"), f64::from(test));
        }
        let shown = totals.to_string();
        let shown: Vec<&str> = shown.lines().collect();
        assert_eq!(shown[1], "   11.000 s  t11");
        assert_eq!(shown.len(), 1 + SLOWEST + 1);
        assert_eq!(shown[SLOWEST + 1], "12 passed, 0 failed, 0 skipped");
    }

    #[test]
    fn a_runner_that_tells_no_times_is_said_to() {
        assert!(Totals::default().to_string().contains("does not tell times"));
    }
}
