//! The same run twice, with the scripted model and a fixed clock: the logs are the same, byte for byte.

use testkit::{Scenario, play_below, scenarios};

/// Scenarios with parallel work, retries, questions, failing checks, conflicts and budgets.
const STORIES: [&str; 8] = [
    "schedule/parallel_then_dependant",
    "verify/fixed_with_feedback",
    "failure/no_submission",
    "merge/moved_folder",
    "gate/missing_artifact",
    "human/asked_and_allowed",
    "budget/warned",
    "strict/example",
];

/// C11, P54: decisions follow from the input alone, so nothing in a log differs; each line is JSON.
#[test]
fn the_same_run_twice_leaves_the_same_bytes() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for story in STORIES {
        let path = scenarios().join(format!("{story}.toml"));
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let folder = tempfile::tempdir().expect("a folder");
        let log = || {
            let played = runtime
                .block_on(play_below(&scenario, folder.path()))
                .unwrap_or_else(|error| panic!("{story} could not be played: {error:?}"));
            let line = |line| serde_json::to_string(line).expect("a line is JSON");
            played.lines.iter().map(line).collect::<Vec<String>>()
        };
        let (first, second) = (log(), log());
        for (one, other) in first.iter().zip(&second) {
            assert_eq!(one, other, "a line of {story} differs");
        }
        assert_eq!(first.len(), second.len(), "{story} is longer the second time");
    }
}
