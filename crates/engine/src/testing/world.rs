//! A simulated outside world for a run: a plan, and the result of each attempt at each task. Outcomes depend on the
//! task and the attempt alone, and commits are named after their content, so that worlds can be compared.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use types::{
    AttemptEnd, AttemptId, AttemptResult, Brief, Budget, Changes, CheckEnd, CommitId, Digest,
    Effect, Ended, Fault, FaultClass, MergeCheck, MergeEnd, Millis, Outcome, Plan, Policy, RunView,
    Shown, Spend, Subject, Task, TaskId, Timestamp, Usage,
};

use super::drive::{Drive, Outside};
use super::script::changes;
use super::{Bench, Dice, begin, check, crew, isolation, request, run_with, survey};
use crate::Run;

/// The result of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Good,
    Structural,
    Broken,
    /// For the planner: an invalid plan. For the others: a write outside the scope.
    Wrong,
    CheckFails,
    CheckBreaks,
    Conflict,
    MergeBreaks,
    Resource,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) plan: Plan,
    /// The result of each attempt at each task; those not named succeed.
    fates: BTreeMap<TaskId, Vec<Fate>>,
    planning: Vec<Fate>,
    merged_checks_pass: bool,
    pub(crate) parallel: usize,
    /// Whether results are checked again on each merge, or only at the end.
    pub(crate) proves: MergeCheck,
    pub(crate) budget: Budget,
    /// The share of its budget that an attempt uses; `None`: a constant.
    pub(crate) percent_spent: Option<u64>,
}

/// Worlds with 1 to 8 tasks, with dependencies and shared artifacts, in any order.
pub(crate) fn worlds() -> impl Strategy<Value = World> {
    let tasks = vec((any::<u8>(), vec(0..ARTIFACTS.len(), 1..3), vec(fates(), 0..5)), 1..=8);
    (tasks, vec(planner_fates(), 0..3), any::<u64>(), prop::bool::weighted(0.8), 1..=4_usize)
        .prop_map(|(tasks, planning, seed, merged_checks_pass, parallel)| {
            let (plan, fates) = shuffled(&tasks, seed);
            let (budget, percent_spent) = (Budget::default(), None);
            let proves = MergeCheck::Each;
            World {
                plan,
                fates,
                planning,
                merged_checks_pass,
                parallel,
                proves,
                budget,
                percent_spent,
            }
        })
}

const ARTIFACTS: [&str; 8] =
    ["a.rs", "b.rs", "src/", "src/c.rs", "src/d/", "docs/x.md", "docs/", "./"];

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Good),
        2 => Just(Fate::Structural),
        1 => Just(Fate::Broken),
        1 => Just(Fate::Wrong),
        2 => Just(Fate::CheckFails),
        1 => Just(Fate::CheckBreaks),
        2 => Just(Fate::Conflict),
        1 => Just(Fate::MergeBreaks),
        1 => Just(Fate::Resource),
    ]
}

fn planner_fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Good),
        1 => Just(Fate::Structural),
        1 => Just(Fate::Broken),
        2 => Just(Fate::Wrong),
    ]
}

type Drawn = (u8, Vec<usize>, Vec<Fate>);

/// Each task depends on some of those drawn before it; then the plan is shuffled.
fn shuffled(drawn: &[Drawn], seed: u64) -> (Plan, BTreeMap<TaskId, Vec<Fate>>) {
    let id = |place: usize| -> TaskId { format!("T{place}").parse().expect("a task") };
    let (mut tasks, mut all_fates) = (Vec::new(), BTreeMap::new());
    for (place, (needs, artifacts, fates)) in drawn.iter().enumerate() {
        let needed =
            (0..place.min(8)).filter(|earlier| needs & (1 << earlier) != 0 && needs % 3 == 0);
        let artifacts = artifacts.iter().map(|a| ARTIFACTS[*a].parse().expect("an artifact"));
        let task = Task {
            depends_on: needed.map(id).collect(),
            checks: if needs % 2 == 0 { vec![] } else { vec![check("own", "make own")] },
            ..Task::new(id(place), format!("Do T{place}"), artifacts.collect())
        };
        all_fates.insert(task.id.clone(), fates.clone());
        tasks.push(task);
    }
    let mut dice = Dice::new(seed);
    for place in (1..tasks.len()).rev() {
        tasks.swap(place, dice.throw(place + 1));
    }
    (Plan { tasks, ..Plan::default() }, all_fates)
}

impl World {
    /// Independent tasks that all succeed.
    pub(crate) fn of_independent_tasks(count: usize) -> Self {
        let drawn: Vec<Drawn> = (0..count).map(|_| (1, vec![0], vec![])).collect();
        let (mut plan, fates) = shuffled(&drawn, 7);
        for task in &mut plan.tasks {
            task.depends_on.clear();
            task.checks.clear();
            task.artifacts = vec![format!("src/{}/", task.id).parse().expect("an artifact")];
        }
        let (budget, percent_spent) = (Budget::default(), None);
        let (planning, merged_checks_pass, parallel) = (vec![], true, 4);
        let proves = MergeCheck::Each;
        Self { plan, fates, planning, merged_checks_pass, parallel, proves, budget, percent_spent }
    }

    pub(crate) fn policy(&self) -> Policy {
        let mut policy = crew();
        policy.limits.parallel_tasks = self.parallel;
        policy.merge.check = self.proves;
        policy.limits.max_tasks = policy.limits.max_tasks.max(self.plan.tasks.len());
        policy.budget.tokens = None;
        // No person is available.
        policy.headless = true;
        policy
    }

    pub(crate) fn fresh(&self) -> Run {
        run_with(self.policy()).machine
    }

    /// A run in this world that has just been requested.
    pub(crate) fn begun(&self, seed: u64) -> Drive<'_, Run, Self> {
        let mut bench = Bench { walled: false, ..Bench::of(self.fresh()) };
        let mut request = request("Build a CLI");
        request.budget = self.budget;
        bench.send(&begin(request, survey()));
        Drive::new(self.fresh(), bench, self, seed)
    }

    /// A run in this world, driven to its end.
    pub(crate) fn ended(&self, seed: u64) -> Drive<'_, Run, Self> {
        let mut drive = self.begun(seed);
        drive.finish(|_| false);
        drive
    }

    fn fate(&self, attempt: &AttemptId) -> Fate {
        let fates = self.fates.get(&attempt.task).unwrap_or(&self.planning);
        fates.get(attempt.n as usize - 1).copied().unwrap_or(Fate::Good)
    }

    fn attempt(&self, brief: &Brief) -> Outcome {
        let fate = self.fate(&brief.attempt);
        let commit = CommitId(format!("{}@{}", brief.attempt, tree(&brief.start)));
        let failed = |class, code: &str| AttemptResult::Failed {
            fault: Fault::new(class, code, format!("{code} in {}", brief.attempt)),
            commit: Some(commit.clone()),
        };
        let result = match fate {
            Fate::Broken => return Outcome::Broke(Fault::structural("world.broke", "it broke")),
            Fate::Structural => failed(FaultClass::Structural, "session.no_submission"),
            Fate::Resource => failed(FaultClass::Resource, "budget.call_does_not_fit"),
            _ if brief.attempt.task == TaskId::plan() => {
                let plan = if fate == Fate::Good { json!(self.plan) } else { json!({"tasks": []}) };
                let (changes, findings) = (Changes::default(), types::Findings::default());
                AttemptResult::Submitted { commit, changes, submission: plan, findings }
            }
            Fate::Wrong => {
                let changes =
                    changes(if brief.scope.to_string().contains("./") { "" } else { "z" });
                let findings = types::Findings::default();
                AttemptResult::Submitted { commit, changes, submission: json!({}), findings }
            }
            _ => AttemptResult::Submitted {
                changes: changes(brief.scope.0[0].path.as_str()),
                commit,
                submission: json!({"summary": "done"}),
                findings: types::Findings::default(),
            },
        };
        let tokens = match (self.percent_spent, brief.budget.tokens) {
            (Some(percent), Some(all)) => all / 100 * percent,
            _ => 100 + u64::from(brief.attempt.n),
        };
        let spent = Spend { tokens, calls: 1, ..Spend::default() };
        let usage = Usage { input: tokens, ..Usage::default() };
        let (log_head, denied) = (Digest::ZERO, vec![]);
        let end = AttemptEnd { result, spent, usage, turns: 1, log_head, denied };
        Outcome::Attempt(Box::new(end))
    }

    fn merge(&self, task: &TaskId, commit: &CommitId, onto: &CommitId) -> Outcome {
        let attempt = commit.0.split('@').next().and_then(|attempt| attempt.parse().ok());
        Outcome::Merge(match attempt.map(|attempt| self.fate(&attempt)) {
            Some(Fate::Conflict) => {
                MergeEnd::Conflict { paths: vec!["a.rs".to_owned()], hunks: String::new() }
            }
            Some(Fate::MergeBreaks) => {
                return Outcome::Broke(Fault::structural("world.broke", "the merge broke"));
            }
            _ => MergeEnd::Merged {
                commit: CommitId(Digest::of(format!("{}+{task}", tree(onto)).as_bytes()).short()),
                changes: changes("a.rs"),
                missing: vec![],
            },
        })
    }
}

/// A name for the content of a commit: the same tasks in the same order have the same name.
fn tree(commit: &CommitId) -> &str {
    commit.0.rsplit('@').next().unwrap_or_default()
}

impl Outside for World {
    fn perform(&self, effect: &Effect) -> Outcome {
        match effect {
            Effect::Probe => Outcome::Probed(isolation("full")),
            Effect::RunAttempt { brief, .. } => self.attempt(brief),
            Effect::RunCheck { check, .. } => {
                let passes = match &check.on {
                    Subject::Merged | Subject::WithTests | Subject::Landed(_) => {
                        self.merged_checks_pass
                    }
                    Subject::Base | Subject::Without(_) => false,
                    Subject::Trial { trial, .. } => {
                        matches!(
                            trial,
                            types::Trial::BaseTests | types::Trial::Moved | types::Trial::Others
                        )
                    }
                    Subject::Attempt(attempt) => match self.fate(attempt) {
                        Fate::CheckBreaks => {
                            return Outcome::Broke(Fault::structural("world.broke", "it broke"));
                        }
                        fate => fate != Fate::CheckFails,
                    },
                };
                let ended = Ended::Exited(i32::from(!passes));
                let output = Shown::default();
                let mut end = CheckEnd::new(ended, output, Millis(1));
                if matches!(&check.on, Subject::Trial { trial: types::Trial::Mutated, .. }) {
                    end.noticed = vec!["a.py:1".to_owned()];
                }
                Outcome::Check(Box::new(end))
            }
            Effect::Merge { task, commit, onto, .. } => self.merge(task, commit, onto),
            Effect::Wait { .. } => Outcome::Fired,
            Effect::AskModel { .. }
            | Effect::RunTool { .. }
            | Effect::Look { .. }
            | Effect::Seal { .. } => {
                panic!("a run does not ask for {effect:?}")
            }
        }
    }
}

/// The report without its times.
pub(crate) fn report(run: &Run) -> RunView {
    let view = run.view(Timestamp::default());
    let progress = types::Progress { elapsed_ms: Millis(0), ..view.progress.clone() };
    let (started, ended, elapsed_ms) = (Timestamp::default(), None, Millis(0));
    RunView { started, ended, elapsed_ms, progress, ..view }
}
