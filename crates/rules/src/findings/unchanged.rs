//! Results without effect: one that changes nothing, leaves a promised file untouched, or keeps a file that was to be
//! deleted or moved is rejected. Compares file names only; an agent's claims are not read.

use evidence::files::{FileKind, kind, kind_of};
use types::{ChangeKind, Changes, Fault, FaultClass, Task, WorkPath};

/// The rule against results that leave the work undone.
pub const NOTHING: &str = "verify.nothing_done";
/// The rule against untouched files. Applied once per task: a plan may name more files than the work needs.
pub const UNTOUCHED: &str = "verify.untouched";

/// Verbs that request the removal of a file.
const TAKING_AWAY: &[&str] = &["delete", "remove", "move", "rename", "drop"];
/// Words allowed between such a verb and the file.
const BETWEEN: &[&str] = &[
    "the", "file", "files", "old", "unused", "obsolete", "empty", "both", "all", "of", "a",
    "stale", "legacy", "script", "module", "document",
];

/// Why a result counts as not done, if it does. `goal` is the request, if the task covers all of it. `earlier` are the
/// task's previous changes: they need not be repeated, but a result that adds nothing to them counts as not done.
#[must_use]
pub fn nothing_done(
    task: &Task,
    goal: &str,
    files: &[WorkPath],
    (changes, earlier): (&Changes, &Changes),
    tests: &[String],
    untouched_before: bool,
) -> Option<Fault> {
    if task.artifacts.is_empty() {
        return None;
    }
    let fault = |rule: &str, what: &str| Some(Fault::new(FaultClass::CheckFailed, rule, what));
    if changes.0.is_empty() {
        return fault(NOTHING, "the submission changes nothing");
    }
    let changes = &Changes(changes.0.iter().chain(&earlier.0).cloned().collect());
    let texts = [task.title.as_str(), task.description.as_str(), goal];
    let mut to_go = texts.iter().flat_map(|text| taken_away(text, files));
    if let Some(first) = to_go.find(|path| !is_gone(path, changes)) {
        let what = format!("{first} should have been deleted or moved, but still exists");
        return fault(NOTHING, &what);
    }
    if texts.iter().any(|text| begins_by_taking_away(text)) && only_adds_papers(changes, tests) {
        let what = "the task is to delete or move something, but nothing was removed";
        return fault(NOTHING, what);
    }
    let touched = |path: &WorkPath| changes.0.iter().any(|change| change.path == *path);
    // Tests and documents named in a plan may turn out to need no change.
    let may_stay =
        |path: &WorkPath| files.contains(path) && kind(path.as_str(), tests) != FileKind::Code;
    let untouched: Vec<&str> = task
        .artifacts
        .iter()
        .filter(|artifact| !artifact.whole_folder && !touched(&artifact.path))
        .filter(|artifact| !may_stay(&artifact.path))
        .map(|artifact| artifact.path.as_str())
        .collect();
    if untouched.is_empty() || untouched_before {
        return None;
    }
    fault(UNTOUCHED, &format!("named in the plan, but not changed: {}", untouched.join(", ")))
}

/// Whether a text begins with a verb that requests a removal.
fn begins_by_taking_away(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    TAKING_AWAY.contains(&first.to_lowercase().as_str())
}

/// Whether a result removes nothing and changes no code.
fn only_adds_papers(changes: &Changes, tests: &[String]) -> bool {
    changes.0.iter().all(|change| {
        change.how != ChangeKind::Deleted
            && change.removed == 0
            && kind_of(change, tests) != FileKind::Code
    })
}

fn is_gone(path: &str, changes: &Changes) -> bool {
    let deleted = changes.0.iter().filter(|change| change.how == ChangeKind::Deleted);
    let within = |inside: &str| inside.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
    deleted.into_iter().any(|change| change.path.as_str() == path || within(change.path.as_str()))
}

/// The files that a text asks to remove: those named right after such a verb.
fn taken_away(text: &str, files: &[WorkPath]) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let plain = |word: &str| {
            word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_' | '.' | '-'))
                .trim_end_matches('.')
                .to_owned()
        };
        if !TAKING_AWAY.contains(&plain(word).to_lowercase().as_str()) {
            continue;
        }
        for word in &words[at + 1..] {
            let next = plain(word);
            if files.iter().any(|file| file.as_str() == next.trim_start_matches("./")) {
                found.push(next.trim_start_matches("./").to_owned());
            } else if !BETWEEN.contains(&next.to_lowercase().as_str()) && next != "and" {
                break;
            }
            if word.ends_with(['.', ';', ':']) {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(title: &str, artifacts: &[&str]) -> Task {
        let artifacts = artifacts.iter().map(|one| one.parse().expect("an artifact")).collect();
        Task::new("T1".parse().expect("a task"), title.to_owned(), artifacts)
    }

    fn changes(all: &[(&str, ChangeKind)]) -> Changes {
        let one = |(path, how): &(&str, ChangeKind)| types::FileChange {
            path: path.parse().expect("a path"),
            added: 1,
            removed: 1,
            how: *how,
            only_comments: false,
        };
        Changes(all.iter().map(one).collect())
    }

    fn said(title: &str, artifacts: &[&str], made: &[(&str, ChangeKind)]) -> Option<String> {
        let files: Vec<WorkPath> =
            ["notes.txt", "todo.txt", "src/old.py", "inventory.py", "README.md"]
                .map(|f| f.parse().expect("a path"))
                .to_vec();
        nothing_done(
            &task(title, artifacts),
            "",
            &files,
            (&changes(made), &Changes::default()),
            &[],
            false,
        )
        .map(|fault| fault.what)
    }

    use ChangeKind::{Added, Deleted, Modified};

    #[test]
    fn an_empty_change_is_nothing_done_unless_nothing_was_to_be_written() {
        assert!(said("Add x", &["a.py"], &[]).is_some_and(|what| what.contains("changes nothing")));
        assert_eq!(said("Look around", &[], &[]), None);
    }

    #[test]
    fn a_file_that_was_to_go_must_be_gone() {
        let title = "Move notes.txt and `todo.txt` to docs/";
        let artifacts = ["./"];
        let half = [("docs/notes.txt", Added), ("notes.txt", Deleted), ("docs/todo.txt", Added)];
        assert!(said(title, &artifacts, &half).is_some_and(|what| what.starts_with("todo.txt")));
        let all = [half.as_slice(), &[("todo.txt", Deleted)]].concat();
        assert_eq!(said(title, &artifacts, &all), None);
        assert!(said("Delete the old src/old.py", &artifacts, &[("a", Added)]).is_some());
        let function = "Remove the function nothing_left from inventory.py";
        assert_eq!(said(function, &artifacts, &[("inventory.py", Modified)]), None);
        // A list ends with its sentence.
        for title in
            ["Remove notes.txt; todo.txt gets a title", "Delete notes.txt. README.md: say so"]
        {
            assert_eq!(said(title, &artifacts, &[("notes.txt", Deleted)]), None, "{title}");
        }
    }

    #[test]
    fn a_copy_is_no_move() {
        let copied = |path: &str, removed: u64| {
            let mut changes = changes(&[(path, Added)]);
            changes.0.iter_mut().for_each(|change| change.removed = removed);
            let task = task("Move the notes", &["./"]);
            nothing_done(&task, "", &[], (&changes, &Changes::default()), &[], false)
                .map(|fault| fault.what)
        };
        let said = copied("docs/one.md", 0).expect("nothing is gone");
        assert!(said.contains("nothing was removed"), "{said}");
        assert_eq!((copied("docs/one.md", 1), copied("move.py", 0)), (None, None));
    }

    #[test]
    fn a_file_that_the_plan_names_is_to_be_touched_and_that_is_said_once() {
        let made = [("a.py", Modified)];
        let said = said("Add x", &["a.py", "b.py", "README.md", "docs/"], &made)
            .expect("b.py is untouched");
        assert!(said.contains("named in the plan, but not changed: b.py"), "{said}");
        let again = nothing_done(
            &task("Add x", &["a.py", "b.py"]),
            "",
            &[],
            (&changes(&made), &Changes::default()),
            &[],
            true,
        );
        assert_eq!(again, None);
    }

    #[test]
    fn what_the_task_did_before_need_not_be_done_again() {
        let made = changes(&[("a.py", Modified)]);
        let said = |title: &str, artifacts: &[&str], earlier: &[(&str, ChangeKind)]| {
            let files = ["notes.txt".parse().expect("a path")];
            let both = (&made, &changes(earlier));
            nothing_done(&task(title, artifacts), "", &files, both, &[], false)
        };
        assert!(said("Add x", &["a.py", "b.py"], &[]).is_some());
        assert_eq!(said("Add x", &["a.py", "b.py"], &[("b.py", Added)]), None);
        assert!(said("Write x and delete notes.txt", &["a.py"], &[]).is_some());
        assert_eq!(
            said("Write x and delete notes.txt", &["a.py"], &[("notes.txt", Deleted)]),
            None
        );
        let (nothing, earlier) = (Changes::default(), changes(&[("a.py", Added)]));
        let again =
            nothing_done(&task("Add x", &["a.py"]), "", &[], (&nothing, &earlier), &[], false);
        assert!(again.is_some_and(|fault| fault.what.contains("changes nothing")));
    }
}
