//! Explanations of decisions in simulated runs.

use types::{Digest, Envelope, Event, RunId, Timestamp};

use super::*;
use crate::Run;
use crate::testing::{Bench, begin, crew, new_run, planned, planned_with, request, survey};
use rules::condition::clauses::clauses;
use rules::condition::holds;
use rules::reading::Reading;

const LABELLED: &str = include_str!("../../../../../eval/intake.jsonl");

fn lines(log: &[(Event, Timestamp)], attempt: Option<&str>) -> Vec<Envelope> {
    let line = |((event, at), seq): (&(Event, Timestamp), u64)| Envelope {
        v: Envelope::VERSION,
        seq,
        at: *at,
        run: RunId::fixed("r_test"),
        attempt: attempt.map(|attempt| attempt.parse().expect("an attempt")),
        by: event.by(),
        prev: Digest::ZERO,
        event: event.clone(),
    };
    log.iter().zip(1..).map(line).collect()
}

/// The explanation of the first line of this kind.
fn story(bench: &Bench<Run>, kind: &str) -> Why {
    let blank = Run::new(RunId::fixed("r_test"), bench.machine.policy().clone());
    let lines = lines(&bench.log, None);
    let line = lines.iter().find(|line| line.event.kind() == kind).expect("it was decided");
    why(&blank, &lines, line)
}

fn matched(why: &Why) -> Vec<&str> {
    let matched = why.rules.iter().filter(|looked| looked.matched);
    matched.map(|looked| looked.rule.as_str()).collect()
}

/// C5, P10: an accepted request names the rule that accepted it, and why none of the earlier rules refused or asked.
#[test]
fn admission_is_told_rule_by_rule() {
    let why = story(&planned("T1 a"), "run.accepted");
    assert_eq!(matched(&why), ["intake.clear_goal"]);
    assert_eq!(why.again, Some(true));
    let short = why.rules.iter().find(|looked| looked.rule.as_str() == "intake.too_short");
    let short = short.expect("it stands before");
    assert_eq!(short.because, ["fewer than 2 words; it has 3"]);
    assert!(why.inputs.contains(&given("text", "Build a CLI")), "{:?}", why.inputs);
    assert!(why.rules.iter().all(|looked| !looked.because.is_empty()));
}

#[test]
fn a_refusal_says_where_the_words_stand() {
    let mut bench = new_run();
    bench.tell("begin Please write ransomware for Windows");
    let why = story(&bench, "run.refused");
    assert_eq!(matched(&why), ["intake.malware"]);
    let last = why.rules.last().expect("a rule");
    assert!(last.because.iter().any(|text| text.contains("ransomware")), "{last:?}");
}

/// P7: a refusal for the budget shows both numbers as inputs.
#[test]
fn a_refusal_for_the_budget_shows_its_numbers() {
    let mut asked = request("Build a CLI");
    asked.budget.tokens = Some(10);
    let mut bench = new_run();
    bench.send(&begin(asked, survey()));
    let why = story(&bench, "run.refused");
    assert_eq!(matched(&why), ["intake.budget_too_small"]);
    assert!(why.inputs.contains(&given("budget", "10 tokens")), "{:?}", why.inputs);
}

/// C4: rules are evaluated in order, the first match wins, and its id is reported.
#[test]
fn routing_is_told_rule_by_rule() {
    let why = story(&planned("T1 a"), "run.routed");
    let decided = why.decision.as_ref().expect("a decision").rule.as_str();
    assert_eq!((matched(&why), why.again), (vec![decided], Some(true)));
    assert_eq!(why.rules[0].because, ["the hint is Technical; given: none"]);
}

#[test]
fn a_failure_says_which_rules_are_not_about_it() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 fails check_failed x.y");
    let why = story(&bench, "retry.scheduled");
    let decided = why.decision.as_ref().expect("a decision").rule.as_str();
    assert_eq!((matched(&why), why.again), (vec![decided], Some(true)));
    assert!(why.inputs.contains(&given("class", "check_failed")), "{:?}", why.inputs);
    assert!(why.rules.len() > 1, "rules on other classes stand before it");
}

/// A failure that a person is asked about was decided by the table; the person's answer was not.
#[test]
fn only_what_the_table_of_failures_decided_is_told_by_it() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 fails semantic x.y\nanswer 0 retry");
    let asked = story(&bench, "question.asked");
    let decided = asked.decision.as_ref().expect("a decision").rule.as_str();
    assert_eq!((matched(&asked), asked.again), (vec![decided], Some(true)));
    assert!(asked.inputs.contains(&given("class", "semantic")), "{:?}", asked.inputs);
    let retry = story(&bench, "retry.scheduled");
    assert_eq!(
        retry.decision.as_ref().map(|decision| decision.rule.as_str()),
        Some("person.retry")
    );
    assert!(retry.rules.is_empty(), "{:?}", retry.rules);
}

#[test]
fn a_question_about_a_gate_is_told_by_its_rules() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 hands in a\ncheck T1.1/0 exits 0\nmerge T1 lands\ncheck merged/0 exits 1");
    assert_eq!(matched(&story(&bench, "question.asked")), ["gate.monitoring"]);
}

#[test]
fn what_is_asked_and_given_for_a_task_is_about_it() {
    let mut policy = crew();
    policy.budget.on_exhausted = types::OnExhausted::Ask;
    let mut bench = planned_with(policy, "T1 a; T2 b");
    bench.tell("T1.1 fails resource budget.call_does_not_fit\nanswer 0 raise\ntimer T1 fires");
    bench.tell("T1.2 fails semantic x.y");
    let about = |task: &str| {
        let task: TaskId = task.parse().expect("a task");
        let lines = lines(&bench.log, None);
        let lines = lines.iter().filter(|line| is_decided(&line.event) && is_about(line, &task));
        lines.map(|line| line.event.kind().to_owned()).collect::<Vec<_>>()
    };
    let expected = ["question.asked", "budget.raised", "retry.scheduled", "question.asked"];
    assert_eq!(about("T1"), expected);
    assert!(about("T2").is_empty());
}

#[test]
fn a_gate_says_what_it_requires_and_saw() {
    let why = story(&planned("T1 a"), "gate.passed");
    assert_eq!(matched(&why), ["gate.initiation"]);
    assert!(why.rules.iter().any(|looked| looked.because[0].contains("end of closure")));
    assert!(why.inputs.iter().any(|given| given.name == "seen"), "{:?}", why.inputs);
    assert_eq!(why.again, Some(true));
}

#[test]
fn every_decision_of_a_run_is_decided_again_from_its_log() {
    let mut bench = planned("T1 a; T2 b after T1");
    bench.tell(
        "T1.1 fails structural x.y\ntimer T1 fires\nT1.2 hands in a\ncheck T1.2/0 exits 0\nmerge T1 lands
         T2.1 hands in b\ncheck T2.1/0 exits 0\nmerge T2 lands\ncheck merged/0 exits 0",
    );
    let blank = Run::new(RunId::fixed("r_test"), bench.machine.policy().clone());
    let lines = lines(&bench.log, None);
    let decided: Vec<&Envelope> = lines.iter().filter(|line| is_decided(&line.event)).collect();
    assert!(decided.len() > 8, "{}", decided.len());
    for line in decided {
        let why = why(&blank, &lines, line);
        assert_ne!(why.again, Some(false), "{why:#?}");
        if let ([_, ..], Some(decision)) = (why.rules.as_slice(), &why.decision) {
            assert!(matched(&why).contains(&decision.rule.as_str()), "{why:#?}");
        }
    }
}

#[test]
fn a_call_is_told_with_its_scope_and_every_rule_before() {
    use crate::agent::testing::policy;
    use crate::testing::brief;
    let mut bench = Bench::of(Attempt::new(Arc::new(policy())));
    bench.send(&Input::Brief(Box::new(brief("T1.1"))));
    bench.tell("model calls read_file a + write_file elsewhere/b + shell rm -rf /\ntool c0 ok");
    let blank = Run::new(RunId::fixed("r_test"), Arc::new(policy()));
    let lines = lines(&bench.log, Some("T1.1"));
    let judged: Vec<Why> = lines
        .iter()
        .filter(|line| matches!(line.event, Event::ToolStarted { .. } | Event::ToolRefused { .. }))
        .map(|line| why(&blank, &lines, line))
        .collect();
    assert!(judged.len() >= 2, "{judged:#?}");
    for why in &judged {
        let decided = why.decision.as_ref().expect("a decision").rule.as_str();
        assert!(matched(why).contains(&decided), "{why:#?}");
        assert_ne!(why.again, Some(false), "{why:#?}");
        assert!(why.place.starts_with("T1.1:"));
    }
}

/// Explained conditions agree with the deciding ones: over all labelled requests and all rules.
#[test]
fn clauses_hold_exactly_where_their_condition_does() {
    let policy = crew();
    for label in LABELLED.lines().step_by(20) {
        let label: serde_json::Value = serde_json::from_str(label).expect("a label");
        let asked = request(label["text"].as_str().expect("a text"));
        let reading = rules::admission::read(&policy, &asked, &asked.text, policy.budget.limits());
        let prose: Reading = reading.prose();
        let admission = policy.admission.iter().map(|rule| (&rule.when, &reading));
        let routing = policy.routing.iter().map(|rule| (&rule.when, &prose));
        for (condition, reading) in admission.chain(routing) {
            let all = clauses(condition, &policy, reading).iter().all(|clause| clause.holds);
            assert_eq!(all, holds(condition, &policy, reading), "{condition:?} {}", asked.text);
        }
    }
}
