//! `bosun stats` with the real binary: figures over runs that happened.

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
    assert!(told.contains("100 % of accepted runs that are over (1 of 1)"), "{told}");
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
    assert_eq!(stdout(&place.run(&["stats", "--since", "2999-01-01"])), "no runs\n");
    let wrong = place.run(&["stats", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("30d"), "{}", stderr(&wrong));
}
