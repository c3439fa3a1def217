//! Findings in an attempt's changes, and the policy for them and for merging.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Millis, WorkPath};

/// The findings in the changes of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Findings(pub Vec<Finding>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub path: WorkPath,
    /// The line that shows it, if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// An existing test was changed.
    TestChanged,
    /// A test file was removed.
    TestDeleted,
    /// An assertion was removed without a replacement.
    AssertionDeleted,
    /// A test is now skipped.
    TestSkipped,
    /// A check's command was changed to something that cannot fail.
    CheckWeakened,
    /// The configuration of tests was changed.
    RecipeChanged,
    /// The code under test may end the process that tests it.
    EarlyExit,
    /// The code detects a test runner.
    LooksForRunner,
    /// Something compares equal to everything, or an assertion was replaced.
    AlwaysEqual,
    /// Inputs or results of visible tests occur in the code.
    TestLiterals,
    /// A function ignores its inputs.
    Stub,
    /// Code writes to tests, or their expected data, at run time.
    WritesTests,
    /// A test was changed to assert less.
    WeakTest,
    /// An unresolved merge.
    ConflictMarkers,
    /// Settings that make other programs run something were changed.
    SettingsChanged,
    /// A symbolic link leads out of the repository, or into git's own files.
    LinkOut,
}

impl FindingKind {
    /// Whether it is a sign in the lines of a change, which is a note unless the policy asks about it.
    #[must_use]
    pub const fn is_sign(self) -> bool {
        matches!(
            self,
            Self::EarlyExit
                | Self::LooksForRunner
                | Self::AlwaysEqual
                | Self::TestLiterals
                | Self::Stub
                | Self::WritesTests
                | Self::WeakTest
                | Self::ConflictMarkers
        )
    }

    /// A description, as the rest of a sentence.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::TestChanged => "changed the tests in",
            Self::TestDeleted => "deleted the tests in",
            Self::AssertionDeleted => "deleted an assertion in",
            Self::TestSkipped => "skips a test in",
            Self::CheckWeakened => "changed what a check runs in",
            Self::RecipeChanged => "changed how tests run in",
            Self::EarlyExit => "may end the process that tests it in",
            Self::LooksForRunner => "has code that detects a test run in",
            Self::AlwaysEqual => "makes a comparison that always holds in",
            Self::TestLiterals => "puts inputs or results of the visible tests into",
            Self::Stub => "leaves a stub in",
            Self::WritesTests => "writes to tests while it runs in",
            Self::WeakTest => "weakens a test in",
            Self::ConflictMarkers => "leaves conflict markers in",
            Self::SettingsChanged => "changed what makes other programs run something,",
            Self::LinkOut => "leads out of the repository by the link",
        }
    }
}

/// The part `[verify]` of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VerifyPolicy {
    /// Patterns for test files: a file name with `*` for anything, or a folder name with a slash.
    pub tests: Vec<String>,
    /// Findings that count as a violation of the task's limits.
    pub violations: Vec<FindingKind>,
    /// Findings that a person is asked about when everything else passes. Other signs are notes.
    pub signs: Vec<FindingKind>,
    /// Whether the checks run on the untouched tree before planning.
    pub baseline: bool,
    /// Whether a task's checks are tested in trials, for an evidence level.
    pub trials: bool,
    /// What decides whether a check passed.
    pub decides: Decides,
    /// Time limit for trials, in percent of the check's own time, after which the rest are skipped; a few seconds are
    /// always allowed.
    pub trial_percent: u32,
    /// The action for an unproven result.
    pub unproven: Unproven,
    /// Which results are tested by an author who has not seen them: an agent with the role `tester`.
    pub tester: Tester,
    /// Which checks build from nothing, instead of on what the build of the untouched tree left.
    pub cold: Cold,
    /// The build of the untouched tree is kept for later checks if it took at least this long.
    pub warm_from_ms: Millis,
}

/// Which results are tested by an author who has not seen them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tester {
    /// None.
    #[default]
    Never,
    /// Those with changed code, unless a hidden check decides, if there is a model for it.
    Auto,
    /// Those with changed code, data or tests.
    Always,
}

/// Which checks build from nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cold {
    /// None.
    Never,
    /// Those on the merged tree, and those on trees that lack a file of the untouched one.
    #[default]
    Merged,
    /// All.
    Always,
}

/// What decides whether a check passed, and with it the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decides {
    /// The exit code, compared with the untouched tree, the trials and the signs.
    #[default]
    Evidence,
    /// The exit code alone. Everything else is recorded beside it.
    ExitCode,
}

impl VerifyPolicy {
    /// Whether evidence can outweigh an exit code.
    #[must_use]
    pub fn evidence_decides(&self) -> bool {
        self.trials && self.decides == Decides::Evidence
    }
}

/// What happens to a run in which no check would notice the absence of a task's change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unproven {
    /// A person is asked; without one the gate stays shut.
    #[default]
    Ask,
    /// It is only recorded.
    Allow,
}

impl Default for VerifyPolicy {
    fn default() -> Self {
        let tests = [
            "tests/",
            "test/",
            "__tests__/",
            "spec/",
            "testdata/",
            "tests.rs",
            "test_*.py",
            "*_test.py",
            "conftest.py",
            "*_test.go",
            "*.test.*",
            "*.spec.*",
            "*_test.rs",
            "*_tests.rs",
            "*Test.java",
            "*Tests.java",
            "*IT.java",
            "*Test.kt",
            "*Tests.cs",
            "*_spec.rb",
            "*_test.rb",
            "*_test.exs",
            "*Test.php",
            "*_test.dart",
            "*_test.cc",
            "*_test.cpp",
            "test.sh",
            "test_*.sh",
        ];
        Self {
            tests: tests.map(str::to_owned).to_vec(),
            violations: vec![
                FindingKind::TestChanged,
                FindingKind::TestDeleted,
                FindingKind::AssertionDeleted,
                FindingKind::TestSkipped,
                FindingKind::CheckWeakened,
                FindingKind::SettingsChanged,
                FindingKind::LinkOut,
            ],
            signs: vec![],
            baseline: false,
            trials: false,
            decides: Decides::Evidence,
            trial_percent: 400,
            unproven: Unproven::Ask,
            tester: Tester::Never,
            cold: Cold::Merged,
            warm_from_ms: Millis::seconds(10),
        }
    }
}

/// The part `[merge]` of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MergePolicy {
    pub check: MergeCheck,
}

/// When the checks run on the merged tree. They always run at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeCheck {
    /// Also after each merge that combined two results, so that a broken one goes back to its task.
    Each,
    #[default]
    End,
}
