//! Plays every scenario as it is written, then again with power cuts (`crash.rs`). `UPDATE=1 cargo t` rewrites the
//! traces, without cuts; review the diff.

use std::collections::BTreeSet;

use testkit::{Points, Scenario, all_below, play, rewrite_trace, scenarios, talk, unread};

use crate::crash;

/// The folder of conversations with a single agent.
const TALKS: &str = "talk";

/// The folder of unusable files.
const FILES: &str = "files";

/// The folder of policies with which no run can start.
const UNUSABLE: &str = "policy";

/// C9: an unusable policy is rejected with its problems before anything is recorded.
#[test]
fn unusable_policies() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for path in all_below(&scenarios().join(UNUSABLE)).expect("the folder can be read") {
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let error = match runtime.block_on(play(&scenario)) {
            Err(error) => format!("{error:#}"),
            Ok(played) => panic!("{} was played: {}", path.display(), played.trace()),
        };
        let problem = scenario.expect.problem.as_deref().expect("it says what is wrong");
        assert!(error.contains(problem), "{}: {error}", path.display());
    }
}

#[test]
fn no_folder_of_scenarios_is_forgotten() {
    let below = std::fs::read_dir(scenarios()).expect("the folder is there");
    let found: BTreeSet<String> = below
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    let known = PLAYED.iter().chain(&[TALKS, FILES, UNUSABLE]).map(ToString::to_string);
    let known: BTreeSet<String> = known.collect();
    assert_eq!(found, known);
}

fn play_all(stage: &str) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let paths = all_below(&scenarios().join(stage)).expect("the folder can be read");
    assert!(!paths.is_empty(), "there is no scenario in {stage}");
    let mut points = crash::without_common(&runtime, stage);
    for path in paths {
        let name = format!("{stage}/{}", path.file_name().unwrap_or_default().display());
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let played = runtime
            .block_on(play(&scenario))
            .unwrap_or_else(|error| panic!("{name} could not be played: {error:?}"));
        let trace = played.trace();
        as_written(&name, &path, &scenario, &trace);
        assert_eq!(played.view.status, scenario.expect.status, "the status of {name}");
        assert_eq!(played.files, scenario.expect.files, "the files of {name}");
        shows(&name, &scenario, &trace);
        if !rewrites() {
            crash::cut_run(&runtime, &name, &scenario, &played, &mut points);
        }
    }
}

#[test]
fn conversations() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut points = Points::default();
    for path in all_below(&scenarios().join(TALKS)).expect("the folder can be read") {
        let name = format!("{TALKS}/{}", path.file_name().unwrap_or_default().display());
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let talked = runtime
            .block_on(talk(&scenario))
            .unwrap_or_else(|error| panic!("{name} could not be played: {error:?}"));
        as_written(&name, &path, &scenario, &talked.trace());
        let waits = talked.state == types::SessionState::AwaitingInput;
        assert_eq!(waits, scenario.expect.status == types::Status::Waiting, "the state of {name}");
        assert_eq!(talked.files, scenario.expect.files, "the files of {name}");
        shows(&name, &scenario, &talked.trace());
        if !rewrites() {
            crash::cut_conversation(&runtime, &name, &scenario, &talked, &mut points);
        }
    }
}

/// Files that never become a run, with the problems reported for each.
#[test]
fn files() {
    for path in all_below(&scenarios().join(FILES)).expect("the folder can be read") {
        let name = format!("{FILES}/{}", path.file_name().unwrap_or_default().display());
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let said = unread(&scenario).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(!said.is_empty(), "nothing is wrong with the files of {name}");
        as_written(&name, &path, &scenario, &said);
    }
}

/// Compares the trace with the expected one; with `UPDATE`, writes it instead.
fn as_written(name: &str, path: &std::path::Path, scenario: &Scenario, trace: &str) {
    if rewrites() {
        let text = std::fs::read_to_string(path).expect("it was just read");
        std::fs::write(path, rewrite_trace(&text, trace)).expect("it can be written");
    } else {
        assert!(
            scenario.expect.trace == trace,
            "the trace of {name} is not as written; it is now:\n{trace}"
        );
    }
}

fn rewrites() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// Asserts that the trace contains what the scenario claims to show.
fn shows(name: &str, scenario: &Scenario, trace: &str) {
    for shown in &scenario.shows {
        if let Some(what) = shown.strip_prefix("rule:").or_else(|| shown.strip_prefix("event:")) {
            assert!(trace.contains(what), "{name} does not show {what}");
        }
    }
}

#[test]
fn every_rule_of_the_shipped_policy_is_shown_by_a_scenario() {
    let policy = runtime::presets::preset("crew").expect("the preset can be read");
    let paths = all_below(&scenarios()).expect("the folder can be read");
    let mut shown = BTreeSet::new();
    for path in paths {
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let words = scenario.expect.trace.split_whitespace();
        shown.extend(words.map(|word| word.trim_end_matches([':', ',']).to_owned()));
    }
    let ids = rules::policy::ids(&policy).map(ToString::to_string);
    let hidden: Vec<String> = ids.filter(|id| !shown.contains(id)).collect();
    assert_eq!(hidden, Vec::<String>::new(), "no scenario's trace has these rules");
}

/// One test per folder, so that they run in parallel.
macro_rules! play {
    ($($folder:ident),+) => {
        const PLAYED: &[&str] = &[$(stringify!($folder)),+];
        $(#[test]
        fn $folder() {
            play_all(stringify!($folder));
        })+
    };
}

play!(
    spec, intake, route, context, isolation, plan, schedule, session, permit, verify, merge, gate,
    failure, budget, human, audited, strict
);
