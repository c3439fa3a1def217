//! Queries about tests by another author, which are held back: an attempt beside each task that writes them, with a task
//! state of its own. When they are wanted, and what follows from them, is decided in `stages`.

use evidence::files::{FileKind, kind};
use types::{
    Artifact, ChangeKind, Changes, CommitId, Level, Task, TaskId, Tester, TestsView, WorkPath,
};

use super::task_state::{Last, TaskState, TaskStatus};
use super::{Run, current};

impl Run {
    /// The task that another author writes tests for; `None` if this is not the id of such tests.
    pub(crate) fn tested_task(&self, tests: &TaskId) -> Option<TaskId> {
        self.beside(tests, rules::beside::tested_by(tests)?)
    }

    /// The id of another author's tests of a task, unless its plan uses that for a task.
    pub(crate) fn tests_of(&self, task: &TaskId) -> Option<TaskId> {
        rules::beside::tests_of(task).filter(|id| self.tested_task(id).is_some())
    }

    /// The commit with the tests of a task, and their files, if they are written.
    pub(crate) fn held_back(&self, task: &TaskId) -> Option<(CommitId, Vec<WorkPath>)> {
        let task_state = self.task_state(&self.tests_of(task)?)?;
        let TaskStatus::Verified { commit } = &task_state.stage else { return None };
        let changes = &task_state.last.as_ref()?.changes;
        Some((commit.clone(), self.new_tests(changes)))
    }

    /// Whether results with or without changed code are tested by another author. Tests that the coder wrote or could
    /// read show only that they agree with its code.
    pub(crate) fn wants_tests(&self, changes_code: bool) -> bool {
        let verify = &self.policy().verify;
        let has_tester = self.survey().is_some_and(|survey| survey.has_tester);
        has_tester
            && verify.evidence_decides()
            && match verify.tester {
                Tester::Never => false,
                Tester::Auto => changes_code && !self.check_results().has_hidden(),
                Tester::Always => true,
            }
    }

    /// Whether tests by another author are to be expected for a planned task.
    pub(crate) fn expects_tests(&self, task: &Task) -> bool {
        let tests = self.test_files();
        let is_code = |artifact: &Artifact| {
            artifact.whole_folder || kind(artifact.path.as_str(), &tests) == FileKind::Code
        };
        let changes_code = task.artifacts.iter().any(is_code);
        self.wants_tests(changes_code) && self.tests_of(&task.id).is_some()
    }

    /// The new files that are tests, and neither configuration nor data.
    pub(crate) fn new_tests(&self, changes: &Changes) -> Vec<WorkPath> {
        let tests = self.test_files();
        let new = changes.0.iter().filter(|change| change.how == ChangeKind::Added);
        let paths = new.map(|change| &change.path);
        paths.filter(|path| kind(path.as_str(), &tests) == FileKind::Test).cloned().collect()
    }

    /// The tests that finished results passed, with the commits that have them.
    #[must_use]
    pub fn passed_tests(&self) -> Vec<(CommitId, Vec<WorkPath>)> {
        let passed = |task_state: &TaskState| {
            let weighed = task_state.evidence.as_ref();
            task_state.is_finished()
                && weighed.is_some_and(|one| one.level == Level::ProvenByOthers)
        };
        let tasks = self.tasks().iter().zip(self.task_states());
        let tasks = tasks.filter(|(_, task_state)| passed(task_state));
        tasks.filter_map(|(task, _)| self.held_back(&task.id)).collect()
    }

    /// The tests of a task as screens show them.
    pub(super) fn tests_shown(&self, task: &TaskId) -> Option<TestsView> {
        let id = self.tests_of(task)?;
        let task_state = self.task_state(&id)?;
        let files = self.held_back(task).map(|(_, files)| files).unwrap_or_default();
        Some(TestsView { attempt: current(&id, task_state), files, spent: task_state.spent })
    }

    /// The commit of tests that failed, if their author has looked at them again.
    pub(crate) fn disputed(&self, tests: &TaskId) -> Option<&CommitId> {
        self.reviews.disputed.get(tests).map(|(commit, _)| commit)
    }

    /// Usable tests are looked at again: until that has ended well, they stand as they are.
    pub(super) fn keep_disputed(&mut self, tests: &TaskId) {
        let Some(state) = self.reviews.reviews.get(tests) else { return };
        if let (TaskStatus::Verified { commit }, Some(last)) = (&state.stage, &state.last) {
            self.reviews.disputed.insert(tests.clone(), (commit.clone(), last.clone()));
        }
    }

    /// The attempt that left this commit of disputed tests, if it is not a later one.
    pub(super) fn before_dispute(&self, tests: &TaskId, commit: &CommitId) -> Option<Box<Last>> {
        let disputed = self.reviews.disputed.get(tests);
        disputed.filter(|(before, _)| before == commit).map(|(_, last)| last.clone())
    }
}
