//! Graphs of recorded runs.

use super::*;
use crate::views::testing::{recorded, recorded_after};

fn node<'a>(graph: &'a Graph, id: &str) -> &'a GraphNode {
    graph.nodes.iter().find(|node| node.id.as_str() == id).expect("a node")
}

fn names(ids: &[TaskId]) -> Vec<&str> {
    ids.iter().map(TaskId::as_str).collect()
}

#[test]
fn a_task_shows_what_it_waits_for_and_what_waits_for_it() {
    let graph = graph(&recorded_after("schedule/parallel_then_dependant", "task.finished", "T1"));
    let last = node(&graph, "T3");
    assert_eq!((last.stage, names(&last.blocked_by)), (TaskStage::Waiting, vec!["T2"]));
    let second = node(&graph, "T2");
    assert_eq!((names(&second.unblocks), second.merge_order), (vec!["T3"], Some(2)));
    let first = node(&graph, "T1");
    assert_eq!((first.stage, first.action.as_str()), (TaskStage::Finished, "merged"));
    assert!(first.tokens > 0 && first.elapsed_ms.is_some_and(|elapsed| elapsed.0 > 0));
    assert_eq!(first.role.as_ref().map(RoleId::as_str), Some("coder"));
    assert!(first.blocked_by.is_empty() && last.elapsed_ms.is_none());
    assert!(first.x == second.x && second.x < last.x && node(&graph, "plan").x < first.x);
    let drawn: Vec<String> =
        graph.edges.iter().map(|edge| format!("{} {}", edge.from, edge.to)).collect();
    assert_eq!(drawn, ["T1 T3", "T2 T3", "plan T1", "plan T2"]);
}

#[test]
fn a_plan_that_waits_for_approval_is_shown() {
    let recorded = recorded_after("plan/approved", "question.asked", "");
    let graph = graph(&recorded);
    let first = node(&graph, "T1");
    assert!(recorded.run.plan().is_none() && first.planned && !first.title.is_empty());
    assert_eq!((first.stage, first.attempts), (TaskStage::Waiting, 0));
    assert!(graph.proposed && node(&graph, "plan").x < first.x);
    let task = crate::views::task::task(&recorded, &first.id).expect("it can be looked at");
    assert_eq!((task.task.title, task.attempts.len()), (first.title.clone(), 0));
}

#[test]
fn planning_ends_with_its_last_attempt() {
    let recorded = recorded("schedule/parallel_then_dependant", None);
    let times = recorded.own().filter_map(|line| match &line.event {
        Event::AttemptStarted { attempt, .. } | Event::AttemptFinished { attempt, .. } => {
            (attempt.task == TaskId::plan()).then_some(line.at)
        }
        _ => None,
    });
    let times: Vec<Timestamp> = times.collect();
    let graph = graph(&recorded);
    assert_eq!(node(&graph, "plan").elapsed_ms, Some(times[1].since(times[0])));
}

#[test]
fn tasks_that_write_to_the_same_file_have_an_arrow_of_their_own() {
    let graph = graph(&recorded("schedule/same_file", None));
    let kinds: Vec<EdgeKind> = graph.edges.iter().map(|edge| edge.kind).collect();
    assert!(kinds.contains(&EdgeKind::SameFiles), "{:?}", graph.edges);
}

#[test]
fn a_review_stands_behind_its_task_and_planning_alone_before_there_is_a_plan() {
    let reviewed = graph(&recorded("audited/direct", None));
    let (task, review) = (node(&reviewed, "T1"), node(&reviewed, "T1-review"));
    assert!(task.x < review.x && !review.planned && review.title == "review of T1");
    let early = graph(&recorded("schedule/parallel_then_dependant", Some(3)));
    assert_eq!(early.nodes.len(), 1);
    assert_eq!((early.nodes[0].id.as_str(), early.nodes[0].attempts), ("plan", 0));
}

/// The graph does not move while the run progresses.
#[test]
fn places_do_not_depend_on_how_far_the_run_is() {
    let name = "schedule/parallel_then_dependant";
    let (begun, over) =
        (graph(&recorded_after(name, "attempt.started", "T1.1")), graph(&recorded(name, None)));
    let places =
        |graph: &Graph| graph.nodes.iter().map(|node| (node.x, node.y)).collect::<Vec<_>>();
    assert_eq!(places(&begun), places(&over));
    assert_eq!(begun.edges, over.edges);
}
