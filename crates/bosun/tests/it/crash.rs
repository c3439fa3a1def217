//! Scenarios played again with the power cut once after each kind of line in their folder, and resumed: the outcome is
//! the same, nothing is lost, and no finished work is repeated. Kinds that many runs have are cut in one folder only.
//! `EVERY_LINE=1` cuts every scenario after every line.

use std::path::Path;

use testkit::{Played, Points, Scenario, Talked, play, play_and_cut, scenarios, talk_and_cut};
use tokio::runtime::Runtime;
use types::{
    CommitId, Measure, Millis, Progress, QuestionView, RunView, Settled, Spend, TaskView, Terms,
    Timestamp, Usage,
};

/// Runs with kinds of lines that many others have, too: one in which everything succeeds, and two with a failed
/// attempt. They are cut in their own folders; every folder skips the kinds of the runs that are listed before its own.
const COMMON: [&str; 3] =
    ["merge/accepted.toml", "failure/no_submission.toml", "failure/out_of_scope.toml"];

/// Points without the kinds of the common runs that are cut in other folders.
pub(crate) fn without_common(runtime: &Runtime, stage: &str) -> Points {
    let mut points = Points::default();
    for common in COMMON.iter().take_while(|path| !Path::new(path).starts_with(stage)) {
        let common = Scenario::load(&scenarios().join(common)).expect("a scenario");
        points.of(&runtime.block_on(play(&common)).expect("it is played").lines);
    }
    points
}

pub(crate) fn cut_run(
    runtime: &Runtime,
    name: &str,
    scenario: &Scenario,
    whole: &Played,
    points: &mut Points,
) {
    for point in points.of(&whole.lines) {
        let place = format!("{name} cut after line {} of {}", point.seq, point.log);
        let cut = runtime
            .block_on(play_and_cut(scenario, &point))
            .unwrap_or_else(|error| panic!("{place}: {error:?}"));
        assert_eq!(essence(whole), essence(&cut), "{place}\n{}", cut.trace());
        assert_eq!(whole.files, cut.files, "{place}");
    }
}

/// The same for conversations: no input is lost, and the files end up the same.
pub(crate) fn cut_conversation(
    runtime: &Runtime,
    name: &str,
    scenario: &Scenario,
    whole: &Talked,
    points: &mut Points,
) {
    for point in points.of(&whole.lines) {
        let place = format!("{name} cut after line {}", point.seq);
        let cut = runtime
            .block_on(talk_and_cut(scenario, &point))
            .unwrap_or_else(|error| panic!("{place}: {error:?}"));
        let essence =
            |talked: &Talked| (talked.state, talked.last_words.clone(), talked.files.clone());
        assert_eq!(essence(whole), essence(&cut), "{place}\n{}", cut.trace());
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
