//! Plays every folder of scenarios again, cutting the power once after each kind of line in it, and resumes: the
//! outcome is the same, nothing is lost, and no finished work is repeated. Kinds that many runs have are cut in one
//! folder only. `EVERY_LINE=1` cuts every scenario after every line.

use std::path::Path;

use crate::scenarios::{PRESETS, STAGES, TALKS};
use testkit::{
    Played, Points, Scenario, Talked, all_below, play, play_and_cut, scenarios, talk, talk_and_cut,
};
use types::{
    CommitId, Measure, Millis, Progress, QuestionView, RunView, Settled, Spend, TaskView, Terms,
    Timestamp, Usage,
};

/// Runs with kinds of lines that many others have, too: one in which everything succeeds, and two with a failed
/// attempt. They are cut in their own folders; every folder skips the kinds of the runs that are listed before its own.
const COMMON: [&str; 3] =
    ["merge/accepted.toml", "failure/no_submission.toml", "failure/out_of_scope.toml"];

fn cut_all(stage: &str) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut points = Points::default();
    for common in COMMON.iter().take_while(|path| !Path::new(path).starts_with(stage)) {
        let common = Scenario::load(&scenarios().join(common)).expect("a scenario");
        points.of(&runtime.block_on(play(&common)).expect("it is played").lines);
    }
    for path in all_below(&scenarios().join(stage)).expect("the folder can be read") {
        let name = format!("{stage}/{}", path.file_name().unwrap_or_default().display());
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let whole =
            runtime.block_on(play(&scenario)).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        for point in points.of(&whole.lines) {
            let cut = runtime.block_on(play_and_cut(&scenario, &point)).unwrap_or_else(|error| {
                panic!("{name} cut after line {} of {}: {error:?}", point.seq, point.log)
            });
            let place = format!("{name} cut after line {} of {}", point.seq, point.log);
            assert_eq!(essence(&whole), essence(&cut), "{place}\n{}", cut.trace());
            assert_eq!(whole.files, cut.files, "{place}");
        }
    }
}

/// The report without parts that a cut may change: times, hashes that contain times, and the cost of repeated requests.
fn essence(played: &Played) -> RunView {
    let mut view = played.view.clone();
    let cards = view.gates.iter_mut().filter_map(|gate| gate.card.as_mut());
    for left in
        cards.flat_map(|card| &mut card.criteria).filter(|one| one.measure == Measure::Budget)
    {
        left.seen.clear();
    }
    let tasks = view.tasks.into_iter().map(|task| TaskView { commit: None, ..task }).collect();
    let questions = view.questions.into_iter().map(|question| QuestionView {
        asked: Timestamp::default(),
        terms: question.terms.map(|terms| Terms { expires: None, package: None, ..terms }),
        ..question
    });
    RunView {
        questions: questions.collect(),
        repository: String::new(),
        base: CommitId::default(),
        head: CommitId::default(),
        started: Timestamp::default(),
        ended: None,
        elapsed_ms: Millis::default(),
        progress: Progress { elapsed_ms: Millis::default(), ..view.progress },
        spent: Spend::default(),
        usage: Usage::default(),
        variance: vec![],
        settled: view.settled.map(|settled| Settled { commit: CommitId::default(), ..settled }),
        tasks,
        ..view
    }
}

/// The same for conversations: no input is lost, and the files end up the same.
#[test]
fn conversations() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut points = Points::default();
    for path in all_below(&scenarios().join(TALKS)).expect("the folder can be read") {
        let name = path.file_name().unwrap_or_default().display().to_string();
        let scenario = Scenario::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let whole =
            runtime.block_on(talk(&scenario)).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        for point in points.of(&whole.lines) {
            let place = format!("{name} cut after line {}", point.seq);
            let cut = runtime
                .block_on(talk_and_cut(&scenario, &point))
                .unwrap_or_else(|error| panic!("{place}: {error:?}"));
            let essence =
                |talked: &Talked| (talked.state, talked.last_words.clone(), talked.files.clone());
            assert_eq!(essence(&whole), essence(&cut), "{place}\n{}", cut.trace());
        }
    }
}

/// One test per folder, so that they run in parallel.
macro_rules! cut {
    ($($folder:ident),+) => {
        const CUT: &[&str] = &[$(stringify!($folder)),+];
        $(#[test]
        fn $folder() {
            cut_all(stringify!($folder));
        })+
    };
}

cut!(
    spec, intake, route, context, isolation, plan, schedule, session, permit, verify, merge, gate,
    failure, budget, human, audited, strict
);

#[test]
fn no_folder_stays_whole() {
    let known: Vec<&str> = STAGES.into_iter().chain(PRESETS).collect();
    assert_eq!(CUT, known);
}
