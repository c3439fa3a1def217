//! The dependency graph of a plan: dependants, cycles, execution order, and tasks that must not overlap.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Included, Unbounded};

use types::{Task, TaskId};

/// The dependencies of a valid plan, by task index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dag {
    /// For each task, the tasks that need its result.
    pub dependants: Vec<Vec<usize>>,
    /// For each task, the tasks that must come after it because they write to the same paths.
    pub followers: Vec<Vec<usize>>,
    /// For each task, the number of tasks it waits for.
    pub waits_for: Vec<usize>,
}

/// The index of each task.
#[must_use]
pub fn places(tasks: &[Task]) -> BTreeMap<TaskId, usize> {
    tasks.iter().enumerate().map(|(place, task)| (task.id.clone(), place)).collect()
}

/// The graph of a plan. Dependencies on missing tasks are ignored; validation reports them.
#[must_use]
pub fn shape(tasks: &[Task]) -> Dag {
    let places = places(tasks);
    let mut dag = Dag {
        dependants: vec![Vec::new(); tasks.len()],
        followers: vec![Vec::new(); tasks.len()],
        waits_for: vec![0; tasks.len()],
    };
    for (place, task) in tasks.iter().enumerate() {
        for dependency in task.depends_on.iter().filter_map(|id| places.get(id)) {
            dag.dependants[*dependency].push(place);
            dag.waits_for[place] += 1;
        }
    }
    dag
}

/// A topological order of the tasks, in plan order where there is a choice. The error names the tasks that can never
/// start because they wait for each other.
pub fn order(dag: &Dag) -> Result<Vec<usize>, Vec<usize>> {
    let mut left = dag.waits_for.clone();
    let mut ready: BTreeSet<usize> = (0..left.len()).filter(|place| left[*place] == 0).collect();
    let mut order = Vec::with_capacity(left.len());
    while let Some(place) = ready.pop_first() {
        order.push(place);
        for dependant in &dag.dependants[place] {
            left[*dependant] -= 1;
            if left[*dependant] == 0 {
                ready.insert(*dependant);
            }
        }
    }
    let stuck: Vec<usize> = (0..left.len()).filter(|place| left[*place] > 0).collect();
    if stuck.is_empty() { Ok(order) } else { Err(stuck) }
}

/// Serializes tasks that write to the same paths, in the given order. Every such edge points forward in that order, so
/// there is still no cycle, and a task that merges later also started later.
pub fn keep_apart(dag: &mut Dag, tasks: &[Task], order: &[usize]) {
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for &place in order {
        let mut before = BTreeSet::new();
        for artifact in &tasks[place].artifacts {
            let path = artifact.path.as_str();
            before.extend(claims.get(path));
            before.extend(above(path).filter_map(|folder| folders.get(folder)));
            if artifact.whole_folder {
                // This claim covers everything below: later tasks wait for this one only.
                let taken = below(&claims, path);
                before.extend(taken.iter().filter_map(|key| claims.remove(key)));
                folders.insert(path, place);
            }
            claims.insert(path, place);
        }
        before.remove(&place);
        for earlier in before {
            dag.followers[earlier].push(place);
            dag.waits_for[place] += 1;
        }
    }
}

/// The path itself and the folders above it, up to the workspace.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let parents = path.char_indices().rev().filter(|(_, c)| *c == '/').map(|(at, _)| &path[..at]);
    std::iter::once(path).chain(parents).chain(std::iter::once("."))
}

/// The claimed paths below a folder; they are adjacent, so no others are visited.
fn below<'a>(claims: &BTreeMap<&'a str, usize>, folder: &str) -> Vec<&'a str> {
    if folder == "." {
        return claims.keys().copied().collect();
    }
    let start = format!("{folder}/");
    let from_there = claims.range::<str, _>((Included(&*start), Unbounded)).map(|(path, _)| *path);
    from_there.take_while(|path| path.starts_with(&start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, depends_on: &[&str]) -> Task {
        let depends_on = depends_on.iter().map(|id| id.parse().expect("an id")).collect();
        Task { depends_on, ..Task::new(id.parse().expect("an id"), id, vec![]) }
    }

    #[test]
    fn the_order_keeps_to_the_plan_where_it_can() {
        let tasks = [task("T1", &["T3"]), task("T2", &[]), task("T3", &[])];
        assert_eq!(order(&shape(&tasks)), Ok(vec![1, 2, 0]));
    }

    fn writing(id: &str, artifacts: &[&str]) -> Task {
        let artifacts = artifacts.iter().map(|a| a.parse().expect("an artifact")).collect();
        Task { artifacts, ..task(id, &[]) }
    }

    fn followers(tasks: &[Task]) -> Vec<Vec<usize>> {
        let mut dag = shape(tasks);
        let order = order(&dag).expect("no cycle");
        keep_apart(&mut dag, tasks, &order);
        dag.followers
    }

    #[test]
    fn tasks_with_a_common_place_come_one_after_the_other() {
        let tasks = [
            writing("T1", &["src/a.rs"]),
            writing("T2", &["src/b.rs"]),
            writing("T3", &["src/"]),
            writing("T4", &["src/a.rs", "docs/"]),
            writing("T5", &["docs/x/y.md"]),
            writing("T6", &["README.md"]),
        ];
        let none: Vec<usize> = vec![];
        let expected = vec![vec![2], vec![2], vec![3], vec![4], none.clone(), none];
        assert_eq!(followers(&tasks), expected);
    }

    #[test]
    fn a_name_that_only_begins_like_a_folder_is_not_in_it() {
        let tasks = [
            writing("T1", &["src-old/a"]),
            writing("T2", &["src.rs"]),
            writing("T3", &["src/x/a"]),
            writing("T4", &["src0"]),
            writing("T5", &["src/"]),
        ];
        assert_eq!(followers(&tasks), vec![vec![], vec![], vec![4], vec![], vec![]]);
    }

    #[test]
    fn everything_overlaps_the_whole_workspace() {
        let tasks = [writing("T1", &["a"]), writing("T2", &["./"]), writing("T3", &["b/c"])];
        assert_eq!(followers(&tasks), vec![vec![1], vec![2], vec![]]);
    }

    #[test]
    fn tasks_that_wait_for_each_other_are_named() {
        let tasks =
            [task("T1", &[]), task("T2", &["T3"]), task("T3", &["T2"]), task("T4", &["T2"])];
        assert_eq!(order(&shape(&tasks)), Err(vec![1, 2, 3]));
    }
}
