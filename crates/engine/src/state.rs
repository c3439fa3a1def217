//! The state of a run: the fold of its log. Its fields are private to this module; only `apply` changes them, and the
//! stages read them through the methods below.

mod answers;
mod apply;
mod breaker;
mod budget_state;
mod change;
mod check_results;
mod checks;
mod figures;
mod forecast;
mod held_back;
mod metrics;
mod progress;
mod promised;
mod questions;
mod reopen;
mod review_state;
mod reviews;
mod standing;
mod tally;
mod task_state;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use types::{
    AttemptId, CheckEnd, CommitId, Decision, Digest, GateView, IsolationLevel, Plan, Policy, Proof,
    Request, RoleId, RunId, Selected, Settled, Side, Status, Survey, Task, TaskId, Timestamp,
    Usage, Wording,
};

use rules::dag::Dag;
use rules::ledger::Ledger;

pub(crate) use breaker::{Breakers, Hold};
pub(crate) use budget_state::BudgetState;
pub(crate) use check_results::CheckResults;
pub(crate) use forecast::cost;
use metrics::RunMetrics;
pub(crate) use questions::{Question, Standstill};
use tally::Tally;
pub(crate) use task_state::{Branch, CheckState, Running, TaskState, TaskStatus, TrialState};

/// The state of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    policy: Arc<Policy>,
    id: RunId,
    started: Timestamp,
    ended: Option<Timestamp>,
    asked: Option<Asked>,
    admitted: Option<Decision>,
    route: Option<RoleId>,
    /// The side of the role that took the request first.
    side: Side,
    documents: Option<Vec<Selected>>,
    /// The probed isolation, once known.
    proof: Option<(Proof, Decision)>,
    questions: Vec<Question>,
    /// The indexes of open questions.
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
    /// The number of settled tasks at the front of the merge order.
    settled: usize,
    /// The number of settled tasks.
    done: usize,
    /// Tasks that depend on one that will never finish.
    unreachable: BTreeSet<usize>,
    ready: BTreeSet<(types::TaskPriority, usize)>,
    /// Tasks in progress; all work per input is bounded by their number.
    busy: BTreeSet<usize>,
    on_branch: Branch,
    /// The last commit on the branch.
    tip: Option<CommitId>,
    gates: Vec<GateView>,
    ledger: Ledger,
    budget_state: BudgetState,
    check_results: CheckResults,
    /// The settlement of the result after the end: accepted or discarded.
    settlement: Option<Settled>,
    usage: Usage,
    attempts: u32,
    retries: u32,
    /// Why it is brought to an end early.
    stops: BTreeMap<Stop, Decision>,
    finished: Option<Status>,
    /// Why it is over, unless it is done.
    ended_by: Option<Decision>,
    notes: RunMetrics,
    tally: Box<Tally>,
}

/// A reason to end a run early. The first of them is the one that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    Refused,
    Cancelled,
    /// A failure or an unanswered question ends the run at once.
    Halted,
    Exhausted,
}

/// The request, and the facts known when it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) request: Request,
    pub(crate) survey: Survey,
    policy: Digest,
    pub(crate) wording: Wording,
}

impl Run {
    /// A run before its first event.
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
            route: None,
            side: Side::Product,
            documents: None,
            proof: None,
            questions: Vec::new(),
            open: BTreeSet::new(),
            standstill: Standstill::default(),
            breakers: Breakers::default(),
            planning: TaskState::default(),
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
            on_branch: Branch::default(),
            tip: None,
            gates: Vec::new(),
            usage: Usage::default(),
            attempts: 0,
            retries: 0,
            stops: BTreeMap::new(),
            finished: None,
            ended_by: None,
            notes: RunMetrics::default(),
            tally: Box::default(),
        }
    }

    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Its final or current status.
    #[must_use]
    pub fn status(&self) -> Status {
        match self.finished {
            Some(status) => status,
            None if self.open_question().is_some() => Status::Waiting,
            None => Status::Running,
        }
    }

    /// The repository when the request arrived.
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

    /// The policy of the run.
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

    pub(crate) fn route(&self) -> Option<&RoleId> {
        self.route.as_ref()
    }

    /// The side of a role: the routed one for the role that takes the request first, development for all others.
    pub(crate) fn side(&self, role: &RoleId) -> Side {
        if self.route.as_ref() == Some(role) { self.side } else { Side::Dev }
    }

    /// The documents selected for the agents, once decided.
    pub(crate) fn documents(&self) -> Option<&[Selected]> {
        self.documents.as_deref()
    }

    /// The probed isolation of this run's commands.
    pub(crate) fn proof(&self) -> Option<&Proof> {
        self.proof.as_ref().map(|(proof, _)| proof)
    }

    /// The required isolation level: the probed one, or the policy's before the probe.
    pub(crate) fn isolation(&self) -> IsolationLevel {
        self.proof().map_or(self.policy.sandbox.require, |proof| proof.level)
    }

    /// The adopted plan.
    #[must_use]
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    pub(crate) fn task(&self, place: usize) -> Option<&Task> {
        self.plan.as_ref()?.tasks.get(place)
    }

    /// A task of the plan.
    pub(crate) fn planned(&self, task: &TaskId) -> Option<&Task> {
        self.task(self.place(task)?)
    }

    /// The tasks of the plan; none before there is one.
    pub(crate) fn tasks(&self) -> &[Task] {
        self.plan.as_ref().map(|plan| plan.tasks.as_slice()).unwrap_or_default()
    }

    /// The state of a task, of a review, or of planning.
    pub(crate) fn task_state(&self, task: &TaskId) -> Option<&TaskState> {
        if *task == TaskId::plan() {
            return Some(&self.planning);
        }
        match self.places.get(task) {
            Some(place) => self.task_states.get(*place),
            None => self.reviews.reviews.get(task),
        }
    }

    /// The status of a task, of a review, or of planning.
    pub(crate) fn stage(&self, task: &TaskId) -> Option<&TaskStatus> {
        self.task_state(task).map(|task_state| &task_state.stage)
    }

    pub(crate) fn planning(&self) -> &TaskState {
        &self.planning
    }

    pub(crate) fn task_states(&self) -> &[TaskState] {
        &self.task_states
    }

    /// The states in progress, with their tasks; planning first, reviews last.
    pub(crate) fn busy(&self) -> impl Iterator<Item = (TaskId, &TaskState)> {
        let planning = self.planning.is_busy().then(|| (TaskId::plan(), &self.planning));
        let tasks = self.busy.iter().filter_map(|place| {
            Some((self.task(*place)?.id.clone(), self.task_states.get(*place)?))
        });
        planning.into_iter().chain(tasks).chain(self.busy_reviews())
    }

    /// The tasks ready to start, by priority, then in the plan's order.
    pub(crate) fn ready(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().map(|(_, place)| *place)
    }

    pub(crate) fn place(&self, task: &TaskId) -> Option<usize> {
        self.places.get(task).copied()
    }

    /// The number of unsettled tasks.
    pub(crate) fn unfinished(&self) -> usize {
        self.task_states.len().saturating_sub(self.done)
    }

    /// Tasks that depend on one that failed or was skipped.
    pub(crate) fn newly_unreachable(&self) -> impl Iterator<Item = usize> {
        self.unreachable.iter().copied()
    }

    /// The next task to merge, if any.
    pub(crate) fn next_to_merge(&self) -> Option<&Task> {
        self.task(*self.order.get(self.settled)?)
    }

    /// Whether every task is finished, failed or skipped.
    pub(crate) fn all_settled(&self) -> bool {
        self.plan.is_some() && self.settled == self.order.len()
    }

    #[must_use]
    pub fn head(&self) -> &CommitId {
        &self.on_branch.head
    }

    /// The results merged so far.
    pub(crate) fn on_branch(&self) -> &Branch {
        &self.on_branch
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The budget facts beyond the ledger.
    pub(crate) fn budget_state(&self) -> &BudgetState {
        &self.budget_state
    }

    /// The results of checks outside tasks.
    pub(crate) fn check_results(&self) -> &CheckResults {
        &self.check_results
    }
}

/// The current attempt of a task.
pub(crate) fn current(task: &TaskId, task_state: &TaskState) -> AttemptId {
    AttemptId::new(task.clone(), task_state.attempts)
}

pub(crate) fn passed(check: &CheckState) -> Option<bool> {
    check.end.as_ref().map(CheckEnd::passed)
}
