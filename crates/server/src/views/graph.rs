//! The plan of a run as a graph: the position of each task, its dependencies, and its progress. Positions depend on the
//! plan alone, so the graph does not move while the run progresses; `layout.rs` computes them.

mod layout;

use std::collections::BTreeMap;

use rules::dag;
use schemars::JsonSchema;
use serde::Serialize;
use types::{Event, Millis, Money, RoleId, TaskId, TaskStage, TaskView, Timestamp};

use super::source::Recorded;
use layout::{HEIGHT, Layout, WIDTH};

/// The picture of a plan, from left to right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Graph {
    pub width: u32,
    pub height: u32,
    /// Whether the plan waits for approval.
    pub proposed: bool,
    pub nodes: Vec<GraphNode>,
    pub edges: Vec<GraphEdge>,
}

/// A task in the picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphNode {
    pub id: TaskId,
    pub title: String,
    pub stage: TaskStage,
    /// Whether it is a task of the plan; planning, reviews and advice are not.
    pub planned: bool,
    pub x: u32,
    pub y: u32,
    pub w: u32,
    pub h: u32,
    pub role: Option<RoleId>,
    /// The last thing that was done; empty before there was any.
    pub action: String,
    pub attempts: u32,
    /// From its first attempt to its end, or to now.
    pub elapsed_ms: Option<Millis>,
    pub tokens: u64,
    pub cost: Money,
    /// The tasks that must be settled before it can start.
    pub blocked_by: Vec<TaskId>,
    /// The tasks that wait for it.
    pub unblocks: Vec<TaskId>,
    /// Its turn to be merged, counted from 1.
    pub merge_order: Option<u32>,
}

/// An arrow from a task to one that comes after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GraphEdge {
    pub from: TaskId,
    pub to: TaskId,
    pub kind: EdgeKind,
    /// As in the attribute `d` of an SVG path.
    pub path: String,
}

/// Why one task comes after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// It needs the other's result.
    Needs,
    /// Both write to the same files.
    SameFiles,
    /// It plans, advises on or reviews the other.
    About,
}

/// The graph of a run's plan, if there is one.
#[must_use]
pub fn graph(recorded: &Recorded) -> Graph {
    let ids = recorded.tasks();
    let places: BTreeMap<&TaskId, usize> =
        ids.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let (edges, order) = arrows(recorded, &ids, &places);
    let pairs: Vec<(usize, usize)> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
    let layout = Layout::new(ids.len(), &pairs);
    let nodes = nodes(recorded, &ids, &edges, &order, &layout);
    let drawn = edges.iter().zip(&layout.paths).map(|((from, to, kind), path)| GraphEdge {
        from: ids[*from].clone(),
        to: ids[*to].clone(),
        kind: *kind,
        path: path.clone(),
    });
    let (width, height) = (layout.width, layout.height);
    let proposed = recorded.run.plan().is_none() && recorded.plan().is_some();
    Graph { width, height, proposed, nodes, edges: drawn.collect() }
}

type Arrow = (usize, usize, EdgeKind);

/// The edges between tasks, and the merge order of the tasks.
fn arrows(
    recorded: &Recorded,
    ids: &[TaskId],
    places: &BTreeMap<&TaskId, usize>,
) -> (Vec<Arrow>, Vec<Option<u32>>) {
    let tasks = recorded.plan().map(|plan| plan.tasks.as_slice()).unwrap_or_default();
    let mut found: BTreeMap<(usize, usize), EdgeKind> = BTreeMap::new();
    let mut turns = vec![None; ids.len()];
    let mut dag = dag::shape(tasks);
    let order = dag::order(&dag).unwrap_or_default();
    dag::keep_apart(&mut dag, tasks, &order);
    for (turn, place) in (1..).zip(&order) {
        if let Some(of) = turns.get_mut(*place) {
            *of = Some(turn);
        }
    }
    let kinds = [(EdgeKind::Needs, &dag.dependants), (EdgeKind::SameFiles, &dag.followers)];
    for (kind, edges) in kinds {
        for (from, later) in edges.iter().enumerate() {
            for to in later.iter().filter(|to| **to != from) {
                found.entry((from, *to)).or_insert(kind);
            }
        }
    }
    // The tasks of the plan come first in `ids`, in plan order.
    let plan = places.get(&TaskId::plan()).copied();
    if let Some(plan) = plan {
        let roots = (0..tasks.len()).filter(|to| !found.keys().any(|(_, other)| other == to));
        let roots: Vec<usize> = roots.filter(|to| *to != plan).collect();
        found.extend(roots.into_iter().map(|to| ((plan, to), EdgeKind::About)));
    }
    for (place, id) in ids.iter().enumerate().skip(tasks.len()) {
        let reviewed = rules::beside::task_of(id).and_then(|task| places.get(&task).copied());
        let about = match (reviewed, plan) {
            (Some(task), _) => Some((task, place)),
            (None, Some(plan)) if plan != place => Some((place, plan)),
            _ => None,
        };
        found.extend(about.map(|about| (about, EdgeKind::About)));
    }
    (found.into_iter().map(|((from, to), kind)| (from, to, kind)).collect(), turns)
}

fn nodes(
    recorded: &Recorded,
    ids: &[TaskId],
    edges: &[Arrow],
    turns: &[Option<u32>],
    layout: &Layout,
) -> Vec<GraphNode> {
    let activity = recorded.activity();
    let views: Vec<Option<TaskView>> = ids.iter().map(|id| recorded.run.task_shown(id)).collect();
    let stage = |place: usize| {
        views.get(place).and_then(Option::as_ref).map_or(TaskStage::Waiting, |view| view.stage)
    };
    let planned = recorded.plan().map_or(0, |plan| plan.tasks.len());
    let ends = ends(recorded);
    let mut nodes = Vec::with_capacity(ids.len());
    for (place, (id, (x, y))) in ids.iter().zip(&layout.places).enumerate() {
        let did = activity.task(id);
        let spent = did.map(runtime::TaskActivity::spent).unwrap_or_default();
        let role = did.and_then(|did| did.role.clone());
        let own = recorded.plan().and_then(|plan| plan.tasks.get(place));
        let shown = views[place].as_ref();
        let title = shown.map(|view| &view.title).or_else(|| own.map(|task| &task.title));
        let waits = !is_settled(stage(place));
        let before = edges.iter().filter(|(from, to, kind)| {
            *to == place && *kind != EdgeKind::About && waits && !is_settled(stage(*from))
        });
        let after = edges.iter().filter(|(from, to, kind)| {
            *from == place && *kind != EdgeKind::About && !is_settled(stage(*to))
        });
        nodes.push(GraphNode {
            id: id.clone(),
            title: title.cloned().unwrap_or_default(),
            stage: stage(place),
            planned: place < planned,
            x: *x,
            y: *y,
            w: WIDTH,
            h: HEIGHT,
            role: role.or_else(|| own.map(|task| task.role.clone())),
            action: did.map(|did| did.action.clone()).unwrap_or_default(),
            attempts: shown.map_or(0, |view| view.attempts),
            elapsed_ms: did.and_then(|did| {
                let over = is_settled(stage(place)).then(|| ends.get(id).copied()).flatten();
                Some(did.ended.or(over).unwrap_or(recorded.now).since(did.began?))
            }),
            tokens: spent.tokens,
            cost: spent.money,
            blocked_by: before.map(|(from, ..)| ids[*from].clone()).collect(),
            unblocks: after.map(|(_, to, _)| ids[*to].clone()).collect(),
            merge_order: turns.get(place).copied().flatten(),
        });
    }
    nodes
}

/// The end of each task's last attempt. Tasks outside the plan have no other event that settles them.
fn ends(recorded: &Recorded) -> BTreeMap<&TaskId, Timestamp> {
    let ended = recorded.own().filter_map(|line| match &line.event {
        Event::AttemptFinished { attempt, .. } => Some((&attempt.task, line.at)),
        _ => None,
    });
    ended.collect()
}

/// Whether nothing more happens to a task.
pub(super) const fn is_settled(stage: TaskStage) -> bool {
    matches!(stage, TaskStage::Finished | TaskStage::Failed | TaskStage::Skipped)
}

#[cfg(test)]
mod tests;
