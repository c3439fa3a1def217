//! `bosun stats` with the real binary: figures over recorded runs.

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

#[test]
fn figures_over_runs_are_told_to_people_and_programs() {
    let place = Place::new();
    assert_eq!(stdout(&place.run(&["stats"])), "no runs\n");
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}", stderr(&output));
    let told = stdout(&place.run(&["stats", "--since", "1d"]));
    assert!(told.starts_with("1 run: 1 done\n"), "{told}");
    assert!(
        told.contains("100 % of runs that ended, except refused and cancelled ones (1 of 1)"),
        "{told}"
    );
    let stats: Value =
        serde_json::from_str(&stdout(&place.run(&["stats", "--json"]))).expect("JSON");
    let shown: Value =
        serde_json::from_str(&stdout(&place.run(&["show", "--json"]))).expect("JSON");
    assert_eq!(stats["spent"], shown["spent"]);
    let roles: u64 = ["planner", "coder"]
        .iter()
        .filter_map(|role| stats["by_role"][*role]["tokens"].as_u64())
        .sum();
    assert_eq!(Some(roles), stats["spent"]["tokens"].as_u64(), "{stats}");
    let script = told.split_whitespace().find(|word| word.starts_with("script/"));
    assert_eq!(script.map(str::len), Some("script/".len() + 12), "{told}");
    let none = stdout(&place.run(&["stats", "--since", "2999-01-01"]));
    assert_eq!(none, "no runs since 2999-01-01\n");
    let wrong = place.run(&["stats", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("30d"), "{}", stderr(&wrong));
}

#[test]
fn what_a_fork_took_over_is_counted_once_and_what_was_removed_is_mentioned() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}", stderr(&output));
    let stats = || -> Value {
        serde_json::from_str(&stdout(&place.run(&["stats", "--json"]))).expect("JSON")
    };
    let alone = stats();
    let shown: Value =
        serde_json::from_str(&stdout(&place.run(&["show", "--json"]))).expect("JSON");
    let id = shown["run"].as_str().expect("an id");
    let log = stdout(&place.run(&["log", id, "--json"]));
    let at = |kind: &str| {
        let mut lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let line = lines.rfind(|line| line["event"] == kind).expect("such a line");
        line["seq"].to_string()
    };
    // The last decision but one: all the work is done.
    let fork = place.run(&["fork", id, "--at", &at("task.finished")]);
    assert!(fork.status.success(), "{}", stderr(&fork));
    let both = stats();
    assert_eq!((&both["runs"], &both["spent"]), (&2.into(), &alone["spent"]), "{both}");
    for key in ["by_model", "by_role", "by_project", "first_pass"] {
        assert_eq!(both[key], alone[key], "{key}");
    }
    let first = place.run(&["fork", id, "--at", "2"]);
    assert!(stderr(&first).contains("is part of a decision that ends at line "), "{first:?}");
    let gone = place.run(&["gc", "--keep-days", "0", "--results"]);
    assert!(gone.status.success(), "{}", stderr(&gone));
    assert_eq!(stats()["removed"], 1);
    let told = stdout(&place.run(&["stats"]));
    assert!(told.contains("not counted: 1 removed by `bosun gc`"), "{told}");
    for command in ["show", "log", "why", "accept"] {
        let output = place.run(&[command, id]);
        assert_eq!(output.status.code(), Some(68), "{command}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("was removed by `bosun gc` on 2"), "{command}: {said}");
    }
}
