//! Runners of which only the totals and the names of failures are read: RSpec, minitest, PHPUnit, dotnet, Maven,
//! Gradle, `prove`, CTest.

use std::sync::LazyLock;

use regex::{Captures, RegexSet};
use types::TestOutcome;

use super::part::{Cases, Counts, Part};
use super::text::number;
use crate::pattern::Pattern;

/// The format of one runner's totals.
struct Totals {
    runner: &'static str,
    /// Announces its start, if it does.
    begins: Option<Pattern>,
    /// The line with the totals: groups `total`, `passed`, `failed`, `errors`, `skipped`, as far as it has them.
    totals: Pattern,
    /// Failures by name, in group 1.
    failure: Option<Pattern>,
    /// Must follow the totals.
    ends: Option<Pattern>,
}

const fn some(text: &'static str) -> Option<Pattern> {
    Some(Pattern::new(text))
}

static RUNNERS: [Totals; 8] = [
    Totals {
        runner: "rspec",
        begins: None,
        totals: Pattern::new(
            r"^(?<total>\d+) examples?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending)?(?:, (?<errors>\d+) errors? occurred outside of examples)?$",
        ),
        failure: some(r"^rspec \S+ # (.+)$"),
        ends: None,
    },
    Totals {
        runner: "minitest",
        begins: some(r"^Run options: .*--seed \d+"),
        totals: Pattern::new(
            r"^(?<total>\d+) (?:runs|tests), \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) (?:skips|pendings)",
        ),
        failure: some(
            r"^(?:Failure|Error):$|^ +\d+\) (?:Failure|Error):$|^(\w+(?:::\w+)*#test_\S+?)(?: \[.*\])?:$",
        ),
        ends: None,
    },
    Totals {
        runner: "phpunit",
        begins: some(r"^PHPUnit \d+\.\d+"),
        totals: Pattern::new(
            r"^(?:OK \((?<total>\d+) tests?, \d+ assertions?\)|Tests: (?<all>\d+), Assertions: \d+(?:, (?:Errors: (?<errors>\d+)|Failures: (?<failed>\d+)|Skipped: (?<skipped>\d+)|[A-Z][A-Za-z ]+: \d+))*\.|No tests executed!)$",
        ),
        failure: some(r"^\d+\) (\S+::\S+.*)$"),
        ends: None,
    },
    Totals {
        runner: "dotnet test",
        begins: some(r"^(?:Starting test execution, please wait|Test run for .+\.dll)"),
        totals: Pattern::new(
            r"^(?:Passed|Failed|Skipped)! +- Failed: +(?<failed>\d+), Passed: +(?<passed>\d+), Skipped: +(?<skipped>\d+), Total: +(?<total>\d+)",
        ),
        failure: some(r"^ +Failed (\S.*?) \[[^\]]*\]$"),
        ends: None,
    },
    Totals {
        runner: "maven",
        begins: some(r"^(?:\[INFO\])? +T E S T S$"),
        totals: Pattern::new(
            r"^(?:\[[A-Z]+\] )?Tests run: (?<total>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)$",
        ),
        failure: some(r"^\[ERROR\] (?:  )?(\w[\w.$]*\.\w+)(?::\d+| --|\()"),
        ends: some(r"^\[(?:INFO|ERROR)\] BUILD (?:SUCCESS|FAILURE)$"),
    },
    Totals {
        runner: "gradle",
        begins: None,
        totals: Pattern::new(
            r"^(?<total>\d+) tests? completed, (?<failed>\d+) failed(?:, (?<skipped>\d+) skipped)?$",
        ),
        failure: some(r"^(\S+ > .+) FAILED$"),
        ends: some(r"^BUILD (?:SUCCESSFUL|FAILED) in "),
    },
    Totals {
        runner: "prove",
        begins: None,
        totals: Pattern::new(r"^Files=\d+, Tests=(?<total>\d+), "),
        failure: some(r"^(\S+\.t) +\(Wstat:"),
        ends: some("^Result: (?:PASS|FAIL|NOTESTS)$"),
    },
    Totals {
        runner: "ctest",
        begins: some("^Test project /"),
        totals: Pattern::new(
            r"^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<total>\d+)$",
        ),
        failure: some(
            r"^\s+\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run|ILLEGAL|Exception.*)\)",
        ),
        ends: None,
    },
];

/// All patterns, to skip other lines at once.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    let all = RUNNERS.iter().flat_map(|runner| {
        let others = [&runner.begins, &runner.failure, &runner.ends].into_iter().flatten();
        others.chain([&runner.totals]).map(|pattern| pattern.as_str())
    });
    RegexSet::new(all).unwrap_or_default()
});

/// Reads the totals of every such runner in the output.
pub(super) fn read(lines: &[&str]) -> Vec<Part> {
    let lines: Vec<&str> =
        lines.iter().map(|line| line.trim_end()).filter(|line| ANY.is_match(line)).collect();
    RUNNERS.iter().filter_map(|runner| runner.read(&lines)).collect()
}

/// Whether Gradle reported its end.
pub(super) fn gradle_ended(lines: &[&str]) -> bool {
    let gradle = RUNNERS.iter().find(|runner| runner.runner == "gradle");
    let ends = gradle.and_then(|gradle| gradle.ends.as_ref());
    ends.is_some_and(|ends| lines.iter().any(|line| ends.is_match(line.trim_end())))
}

impl Totals {
    fn read(&self, lines: &[&str]) -> Option<Part> {
        let (mut begun, mut seen, mut open) = (false, false, false);
        let mut ended = self.ends.is_none();
        let mut counts = Counts::default();
        let mut cases = Cases::default();
        let is = |pattern: &Option<Pattern>, line: &str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(line))
        };
        for line in lines {
            if let Some(totals) = self.totals.captures(line) {
                counts.add(read_counts(&totals));
                (seen, open) = (true, false);
            } else if is(&self.begins, line) {
                (begun, open) = (true, true);
            } else if is(&self.ends, line) {
                ended = true;
            } else if let Some(name) = self.failure.as_ref().and_then(|f| f.captures(line)?.get(1))
            {
                cases.merge(name.as_str(), TestOutcome::Failed);
            }
        }
        if !begun && !seen {
            return None;
        }
        Some(Part::counted(self.runner, seen && ended && !open, counts, cases))
    }
}

fn read_counts(totals: &Captures<'_>) -> Counts {
    let get = |name: &str| totals.name(name).map(|digits| number(digits.as_str()));
    let failed = get("failed").unwrap_or(0).saturating_add(get("errors").unwrap_or(0));
    let skipped = get("skipped").unwrap_or(0);
    let total = get("total").or(get("all")).unwrap_or(0);
    let passed = get("passed").unwrap_or(total.saturating_sub(failed).saturating_sub(skipped));
    Counts { passed, failed, skipped }
}
