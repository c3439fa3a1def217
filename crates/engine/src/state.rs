//! One request on its way along the line: the state, which is the fold of the run's log. Its fields are private
//! to this module; only `apply` changes them, and the stations read them through the questions below.

mod answers;
mod apply;
mod breaker;
mod budget_state;
mod change;
mod check_results;
mod checks;
mod forecast;
mod metrics;
mod progress;
mod questions;
mod reopen;
mod request;
mod review_state;
mod reviews;
mod standing;
mod task_state;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use types::{
    Artifact, AttemptId, Changes, Check, CheckEnd, CommitId, Decision, Digest, GateView,
    IsolationLevel, Plan, Policy, Proof, Request, RoleId, RunId, Selected, Settled, Side, Status,
    Survey, Task, TaskId, Timestamp, Usage,
};

use rules::dag::Dag;
use rules::ledger::Ledger;

pub(crate) use breaker::{Breakers, Hold};
pub(crate) use budget_state::BudgetState;
pub(crate) use check_results::CheckResults;
pub(crate) use forecast::{cost, estimate};
use metrics::RunMetrics;
pub(crate) use questions::{Question, Standstill};
pub(crate) use task_state::{CheckState, Running, Stage, TaskState, TrialState};

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    policy: Arc<Policy>,
    id: RunId,
    started: Timestamp,
    ended: Option<Timestamp>,
    asked: Option<Asked>,
    admitted: Option<Decision>,
    refused: Option<Decision>,
    route: Option<RoleId>,
    /// On which side of the work whoever took it first stands.
    side: Side,
    documents: Option<Vec<Selected>>,
    /// What the walls around commands hold, once that was tried.
    proof: Option<(Proof, Decision)>,
    questions: Vec<Question>,
    /// The places of those that nobody has answered.
    open: BTreeSet<usize>,
    standstill: Standstill,
    breakers: Breakers,
    planning: TaskState,
    plan: Option<Plan>,
    task_states: Vec<TaskState>,
    reviews: review_state::ReviewState,
    places: BTreeMap<TaskId, usize>,
    dag: Dag,
    order: Vec<usize>,
    /// How many tasks, from the first in the order of merging, are settled.
    settled: usize,
    /// How many tasks are settled in all.
    done: usize,
    /// Tasks that wait for one that will never be finished.
    unreachable: BTreeSet<usize>,
    ready: BTreeSet<(types::TaskPriority, usize)>,
    /// Lanes in which something is going on; all work per input is bounded by their number.
    busy: BTreeSet<usize>,
    head: CommitId,
    /// What was put on the branch last.
    tip: Option<CommitId>,
    changes: Changes,
    missing: Vec<Artifact>,
    /// The checks that will decide about the merged tree.
    final_checks: Vec<Check>,
    merged_checks: Vec<CheckState>,
    gates: Vec<GateView>,
    ledger: Ledger,
    budget_state: BudgetState,
    check_results: CheckResults,
    /// What became of the result, after the end.
    settlement: Option<Settled>,
    usage: Usage,
    attempts: u32,
    retries: u32,
    cancelled: Option<Decision>,
    /// A failure, or that nobody answered, ends the run at once.
    halted: Option<Decision>,
    exhausted: Option<Decision>,
    finished: Option<Status>,
    notes: RunMetrics,
}

/// The request and what was known when it came in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) survey: Survey,
    policy: Digest,
}

impl Run {
    /// A run of which nothing has happened yet.
    #[must_use]
    pub fn new(id: RunId, policy: Arc<Policy>) -> Self {
        Self {
            ledger: Ledger::new(policy.budget.limits()),
            budget_state: BudgetState::default(),
            check_results: CheckResults::default(),
            settlement: None,
            policy,
            id,
            started: Timestamp::default(),
            ended: None,
            asked: None,
            admitted: None,
            refused: None,
            route: None,
            side: Side::Product,
            documents: None,
            proof: None,
            questions: Vec::new(),
            open: BTreeSet::new(),
            standstill: Standstill::default(),
            breakers: Breakers::default(),
            planning: TaskState::ready(),
            plan: None,
            task_states: Vec::new(),
            reviews: review_state::ReviewState::default(),
            places: BTreeMap::new(),
            dag: Dag::default(),
            order: Vec::new(),
            settled: 0,
            done: 0,
            unreachable: BTreeSet::new(),
            ready: BTreeSet::new(),
            busy: BTreeSet::new(),
            head: CommitId::default(),
            tip: None,
            changes: Changes::default(),
            missing: Vec::new(),
            final_checks: Vec::new(),
            merged_checks: Vec::new(),
            gates: Vec::new(),
            usage: Usage::default(),
            attempts: 0,
            retries: 0,
            cancelled: None,
            halted: None,
            exhausted: None,
            finished: None,
            notes: RunMetrics::default(),
        }
    }

    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// How it ended, or where it stands.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.finished {
            Some(status) => status,
            None if self.open_question().is_some() => Status::Waiting,
            None => Status::Running,
        }
    }

    /// What the repository looked like when the request came in.
    #[must_use]
    pub fn survey(&self) -> Option<&Survey> {
        self.asked.as_ref().map(|asked| &asked.survey)
    }

    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        self.asked.as_ref().map(|asked| &asked.request)
    }

    /// The policy blob that the run was started with.
    #[must_use]
    pub fn policy_digest(&self) -> Option<Digest> {
        self.asked.as_ref().map(|asked| asked.policy)
    }

    /// The policy that decides.
    #[must_use]
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    pub(crate) fn asked(&self) -> Option<&Asked> {
        self.asked.as_ref()
    }

    pub(crate) fn is_admitted(&self) -> bool {
        self.admitted.is_some()
    }

    pub(crate) fn refused(&self) -> Option<&Decision> {
        self.refused.as_ref()
    }

    pub(crate) fn route(&self) -> Option<&RoleId> {
        self.route.as_ref()
    }

    /// On which side of the work a role stands: whoever takes the request first is where the route says, all others
    /// make what was planned.
    pub(crate) fn side(&self, role: &RoleId) -> Side {
        if self.route.as_ref() == Some(role) { self.side } else { Side::Dev }
    }

    /// The documents that the agents are given, once that is decided.
    pub(crate) fn documents(&self) -> Option<&[Selected]> {
        self.documents.as_deref()
    }

    /// What holds this run's commands, once that was tried.
    pub(crate) fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref().map(|(proof, _)| proof)
    }

    /// What must hold its commands from now on; before anything was tried, what the policy requires.
    pub(crate) fn rung(&self) -> IsolationLevel {
        self.proof().map_or(self.policy.sandbox.require, |proof| proof.rung)
    }

    /// The plan that was adopted.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    pub(crate) fn task(&self, place: usize) -> Option<&Task> {
        self.plan.as_ref()?.tasks.get(place)
    }

    /// The lane of a task, of a review, or that of the plan itself.
    pub(crate) fn task_state(&self, task: &TaskId) -> Option<&TaskState> {
        if *task == TaskId::plan() {
            return Some(&self.planning);
        }
        match self.places.get(task) {
            Some(place) => self.task_states.get(*place),
            None => self.reviews.reviews.get(task),
        }
    }

    pub(crate) fn planning(&self) -> &TaskState {
        &self.planning
    }

    pub(crate) fn task_states(&self) -> &[TaskState] {
        &self.task_states
    }

    /// The lanes in which something is going on, with their tasks; the plan's own lane first, reviews last.
    pub(crate) fn busy(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        let planning = self.planning.is_busy().then(|| (TaskId::plan(), &self.planning));
        let tasks = self.busy.iter().filter_map(|place| {
            Some((self.task(*place)?.id.clone(), self.task_states.get(*place)?))
        });
        planning.into_iter().chain(tasks).chain(self.busy_reviews())
    }

    /// The tasks whose turn to start has come, by priority, then in the plan's order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().map(|(_, place)| *place)
    }

    pub(crate) fn place(&self, task: &TaskId) -> Option<usize> {
        self.places.get(task).copied()
    }

    /// How many tasks are not settled.
    pub(crate) fn unfinished(&self) -> usize {
        self.task_states.len().saturating_sub(self.done)
    }

    /// Tasks that wait for one that failed or was skipped.
    pub(crate) fn newly_unreachable(&self) -> impl Iterator<Item = usize> {
        self.unreachable.iter().copied()
    }

    /// The next task to be merged, if there is one left.
    pub(crate) fn next_to_merge(&self) -> Option<usize> {
        self.order.get(self.settled).copied()
    }

    /// Whether every task is finished, failed or skipped.
    pub(crate) fn all_settled(&self) -> bool {
        self.plan.is_some() && self.settled == self.order.len()
    }

    #[must_use]
    pub fn head(&self) -> &CommitId {
        &self.head
    }

    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(crate) fn missing(&self) -> &[Artifact] {
        &self.missing
    }

    /// The checks that decide about the merged tree, begun or not.
    pub(crate) fn final_checks(&self) -> &[Check] {
        &self.final_checks
    }

    pub(crate) fn merged_checks(&self) -> &[CheckState] {
        &self.merged_checks
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What is known of money beyond the ledger.
    pub(crate) fn budget_state(&self) -> &BudgetState {
        &self.budget_state
    }

    /// What is known of checks apart from tasks.
    pub(crate) fn check_results(&self) -> &CheckResults {
        &self.check_results
    }

    pub(crate) fn cancelled(&self) -> Option<&Decision> {
        self.cancelled.as_ref()
    }

    pub(crate) fn exhausted(&self) -> Option<&Decision> {
        self.exhausted.as_ref()
    }
}

/// The attempt that a lane is at.
pub(crate) fn current(task: &TaskId, task_state: &TaskState) -> AttemptId {
    AttemptId::new(task.clone(), task_state.attempts())
}

pub(crate) fn passed(check: &CheckState) -> Option<bool> {
    check.end.as_ref().map(CheckEnd::passed)
}
