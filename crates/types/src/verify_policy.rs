//! What is found in an attempt's changes by looking at them, and what a policy says about that and about merging.

use serde::{Deserialize, Serialize};

use crate::WorkPath;

/// What was found in the changes of an attempt, beyond which files they are in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub path: WorkPath,
    /// The line that shows it, where it is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub line: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// A test that was there before was changed.
    TestChanged,
    /// A file of tests is gone.
    TestDeleted,
    /// An assertion was taken away and none put in its place.
    AssertionDeleted,
    /// A test is skipped now.
    TestSkipped,
    /// What a check runs was changed to something that cannot fail.
    CheckWeakened,
    /// What decides how tests run was changed.
    RecipeChanged,
    /// The code under test may end the process that tests it.
    EarlyExit,
    /// The code asks whether it is being tested.
    LooksForRunner,
    /// Something compares equal to everything, or an assertion was replaced.
    AlwaysEqual,
    /// The inputs or results of visible tests stand in the code.
    TestLiterals,
    /// A function does nothing with what it is given.
    Stub,
    /// Code writes to tests, or to what they compare with, while it runs.
    WritesTests,
    /// A test was changed so that it says less.
    WeakTest,
    /// A merge was not finished.
    ConflictMarkers,
    /// Settings that make other programs run something were changed.
    SettingsChanged,
    /// A symbolic link leads out of the repository, or into git's own files.
    LinkOut,
}

impl FindingKind {
    /// What was done, as the rest of a sentence.
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
            Self::LooksForRunner => "asks whether it is being tested in",
            Self::AlwaysEqual => "makes a comparison that always holds in",
            Self::TestLiterals => "has the inputs or results of the visible tests in",
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
    /// Which files are tests: a file's name with `*` for anything, or the name of a folder with a slash.
    pub tests: Vec<String>,
    /// What counts as a violation of the task's limits.
    pub violations: Vec<FindingKind>,
    /// What a person is asked about when everything else is well.
    pub signs: Vec<FindingKind>,
    /// Whether the checks run on the untouched tree before anything is planned.
    pub baseline: bool,
    /// Whether a task's checks are tried themselves, and its result is weighed.
    pub trials: bool,
    /// How much longer than the check itself its trials may take, in percent of its time, before what is left of them
    /// is left out; a few seconds are always allowed.
    pub trial_percent: u32,
    /// What is done about a result that nothing proves.
    pub unproven: Unproven,
}

/// What is done about a run in which the change of a task would not be missed by anything that Bosun ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unproven {
    /// A person is asked; where nobody can be, the gate stays shut.
    #[default]
    Ask,
    /// It is on record, and that is all.
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
            trial_percent: 100,
            unproven: Unproven::Ask,
        }
    }
}

/// The part `[merge]` of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MergePolicy {
    pub check: MergeCheck,
}

/// When the checks run on the merged tree. At the end they always do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeCheck {
    /// Also after each merge that brought two results together, so that a broken one goes back to its task.
    Each,
    #[default]
    End,
}
