//! Evidence beyond exit codes: single tests, trials of checks, evidence levels of tasks. Plain data; the `evidence`
//! crate reads reports, the engine decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BlobRef;

/// The outcome of one test, as its runner reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TestCase {
    /// Unique within one report: file or module and test, as the runner writes it.
    pub name: String,
    pub outcome: TestOutcome,
}

/// The report of a check's test runners.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TestReport {
    /// `pytest`, `cargo test`, …; several are joined with a comma.
    pub runner: String,
    /// Whether every runner that started also reported its end.
    pub complete: bool,
    /// Whether it is incomplete only because runners printed no summary.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub quiet: bool,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
    /// The tests by name, if the runner names them; some only count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<TestCase>,
}

/// A report as stored in an event: counts, and the important names. A blob has the whole list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tests {
    pub runner: String,
    pub complete: bool,
    /// Whether it is incomplete only because runners printed no summary.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub quiet: bool,
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
    /// Tests that failed, up to a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Tests that passed before and are now missing, skipped or failing, or that failed and are now missing or skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Tests that pass now and did not before, or did not exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub won: Vec<String>,
    /// How many of `won` existed before, and failed.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub mended: u32,
    /// Failing tests that also failed before and are unrelated to the changed files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excused: Vec<String>,
    /// The whole report as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all: Option<BlobRef>,
}

impl Tests {
    /// Whether every test that failed is named.
    #[must_use]
    pub fn names_all_failing(&self) -> bool {
        self.complete && self.failed > 0 && self.failing.len() as u64 == u64::from(self.failed)
    }

    /// Whether tests failed, but only unrelated ones that also failed before.
    #[must_use]
    pub fn only_excused(&self) -> bool {
        self.names_all_failing() && self.failing.iter().all(|name| self.excused.contains(name))
    }
}

/// How the tree of a check differs from a plain checkout of its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trial {
    /// The new code with the tests, recipes and data of its base commit. It should pass.
    BaseTests,
    /// The new tests with the code of the base commit. It should fail.
    NewTests,
    /// The new code with altered expectations in its tests. It should fail.
    Altered,
    /// The new code with a fault in one of its changed lines, one after the other. It should fail.
    Mutated,
    /// The result with its tests in another order, on other lines and in another file. It should pass.
    Moved,
    /// The base commit with tests by another author. It should fail.
    OthersWithout,
    /// The new code with the tests of its base commit and those by another author. It should pass.
    Others,
    /// The same with altered expectations in the tests by another author. It should fail.
    OthersAltered,
}

/// How well a task's result is shown to meet its goal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// No check that Bosun ran would notice if the change were missing.
    Unproven,
    /// Checks that can fail pass on it; none of them is about the change itself.
    Covered,
    /// A test that fails without the change passes with it, and altered expectations are noticed.
    Proven,
    /// Tests by an author who has not seen the change fail without it and pass with it.
    ProvenByOthers,
}

impl Trial {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BaseTests => "with the tests of before",
            Self::NewTests => "without its code",
            Self::Altered => "with altered tests",
            Self::Mutated => "with faults in it",
            Self::Moved => "with its tests moved",
            Self::OthersWithout => "without it, with another author's tests",
            Self::Others => "with another author's tests",
            Self::OthersAltered => "with another author's tests, altered",
        }
    }

    /// Whether it is a trial with tests by another author.
    #[must_use]
    pub const fn is_of_others(self) -> bool {
        matches!(self, Self::OthersWithout | Self::Others | Self::OthersAltered)
    }
}

impl Level {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unproven => "unproven",
            Self::Covered => "covered",
            Self::Proven => "proven",
            Self::ProvenByOthers => "proven by another author's tests",
        }
    }

    /// The level for a person.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::Unproven => "not shown by any test",
            Self::Covered | Self::Proven | Self::ProvenByOthers => self.as_str(),
        }
    }
}

/// The rule by which a person accepts a result that is in doubt.
pub const ACCEPTED_IN_DOUBT: &str = "person.accept";
/// The rule by which a person accepts a result and drops the checks that object to it.
pub const DROPPED_CHECK: &str = "person.drop";

/// The fault of a result whose checks did not end in time, and the rule of the question about it.
pub const TIMED_OUT: &str = "verify.timed_out";

/// The evidence level of a task's result, and the reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Weighed {
    pub level: Level,
    /// The observations, a sentence each.
    pub because: Vec<String>,
}
