//! Questions of attempts: asked in the attempt, put to the person by the run, and the answer's way back.

use std::sync::Arc;

use types::{Effect, EffectId, Event, Input, Policy, Status};

use crate::testing::{Bench, brief, crew, fold, only, planned, reread, same};
use crate::{Attempt, Machine as _};

/// Rules that ask about every publishing command.
fn asking() -> Policy {
    let rule = r#"
        id = "mine.publish"
        verdict = "ask"
        reason = "publishing needs a person"
        commands = ["publish"]
    "#;
    let mut policy = crew();
    policy.permissions.insert(0, toml::from_str(rule).expect("a rule"));
    policy
}

fn talking(policy: Policy) -> Bench<Attempt> {
    let mut bench = Bench::of(Attempt::new(Arc::new(policy)));
    let mut brief = brief("T1.1");
    brief.tools.push("ask_user".to_owned());
    bench.send(&Input::Brief(Box::new(brief)));
    bench
}

#[test]
fn a_call_that_needs_a_person_waits_for_one_and_so_do_those_after_it() {
    let mut bench = talking(asking());
    same(
        &bench.tell("model calls shell make + shell publish now + shell make"),
        "model.replied t1
         tool.started s1.t1.c0 shell permit.command",
    );
    same(&bench.tell("tool c0 ok"), "tool.finished s1.t1.c0 ok\nquestion.asked 0 mine.publish");
    assert!(bench.machine.waits_for_a_person());
    assert_eq!(bench.asked(), []);
    let asking = bench.machine.open_question().expect("a question");
    assert_eq!(asking.text, "Allow or deny: shell publish now (publishing needs a person)");
    same(&bench.tell("answer 1 allow"), "");
    same(
        &bench.tell("answer 0 allow"),
        "question.answered 0\ntool.started s1.t1.c1 shell mine.publish",
    );
    assert!(!bench.machine.waits_for_a_person());
    same(&bench.tell("answer 0 deny"), "");
    same(
        &bench.tell("tool c1 ok"),
        "tool.finished s1.t1.c1 ok\ntool.started s1.t1.c2 shell permit.command",
    );
}

#[test]
fn anything_but_a_yes_is_a_no_and_the_model_is_told_what_was_said() {
    for text in ["deny", "no, not before the review", "allow it tomorrow", ""] {
        let mut bench = talking(asking());
        bench.tell("model calls shell publish now");
        let said = bench.tell(&format!("answer 0 {text}"));
        same(&only(&said, &["tool.refused"]), "tool.refused s1.t1.c0 shell refused, mine.publish");
        let history = format!("{:?}", bench.machine.history().last().expect("a result"));
        assert!(history.contains("ann did not allow it"), "{history}");
    }
}

/// An approval of `bash build.sh` covers that script only.
#[test]
fn a_script_that_was_replaced_after_it_was_allowed_is_asked_about_again() {
    let mut bench = talking(asking());
    same(
        &only(&bench.tell("model calls shell publish x.sh"), &["question."]),
        "question.asked 0 mine.publish",
    );
    let files = bench.machine.open_question().expect("a question").files.clone();
    assert_eq!(files.len(), 1, "{files:?}");
    bench.scripts = Some("second");
    same(
        &bench.tell("answer 0 allow"),
        "question.answered 0\nquestion.asked 1 permit.approval_outdated",
    );
    let text = &bench.machine.open_question().expect("a question").text;
    assert_eq!(text, "Allow or deny: shell publish x.sh (changed since ann allowed it: x.sh)");
    let again = fold(Attempt::new(Arc::new(asking())), &reread(&bench.log));
    assert!(again == bench.machine);
    same(
        &bench.tell("answer 1 allow"),
        "question.answered 1\ntool.started s1.t1.c0 shell permit.approval_outdated",
    );
}

#[test]
fn a_script_that_is_the_same_runs_and_one_that_cannot_be_looked_at_does_not() {
    let mut bench = talking(asking());
    bench.tell("model calls shell publish x.sh");
    bench.scripts = None;
    same(&bench.tell("answer 0 allow"), "question.answered 0");
    assert!(!bench.machine.waits_for_a_person(), "it is being looked at");
    let asked: Vec<EffectId> = bench.asked().iter().map(Effect::id).collect();
    let [look @ EffectId::Look(_)] = asked.as_slice() else { panic!("{asked:?}") };
    let mut broken = bench.clone();
    bench.scripts = Some("first");
    same(&bench.tell("due"), "tool.started s1.t1.c0 shell mine.publish");
    let fault = types::Fault::structural("workspace.lost", "it is gone");
    let events = broken.send(&Input::Outcome(look.clone(), types::Outcome::Broke(fault)));
    let refused = |event: &Event| matches!(event, Event::ToolRefused { .. });
    assert!(events.iter().any(refused), "{events:?}");
}

/// A84: the answer to a question is the result of the call.
#[test]
fn a_question_of_the_model_is_put_to_the_person() {
    let mut bench = talking(crew());
    bench.tell("model calls ask_user Which word?");
    assert_eq!(bench.machine.open_question().expect("a question").text, "Which word?");
    let said = bench.tell("answer 0 hello");
    same(&only(&said, &["tool."]), "tool.finished s1.t1.c0 ok");
    let history = format!("{:?}", bench.machine.history().last().expect("a result"));
    assert!(history.contains("hello"), "{history}");
}

#[test]
fn where_nobody_can_be_asked_the_call_is_refused() {
    let mut policy = asking();
    policy.headless = true;
    let mut bench = talking(policy);
    let said = bench.tell("model calls shell publish now + ask_user Which word?");
    same(
        &only(&said, &["tool."]),
        "tool.refused s1.t1.c0 shell refused, mine.publish\ntool.refused s1.t1.c1 ask_user refused, permit.question",
    );
    assert!(!bench.machine.waits_for_a_person());
}

#[test]
fn an_attempt_that_waits_is_the_fold_of_its_log_and_can_be_cancelled() {
    let mut bench = talking(asking());
    bench.tell("model calls shell publish now + read_file a");
    let mut again = Bench::of(fold(Attempt::new(Arc::new(asking())), &reread(&bench.log)));
    assert!(again.machine == bench.machine);
    same(&again.tell("woke"), "");
    assert!(again.machine.waits_for_a_person());
    let answered = again.tell("answer 0 yes");
    same(&answered, "question.answered 0\ntool.started s1.t1.c0 shell mine.publish");
    same(&only(&bench.tell("cancel"), &["session."]), "session.ended cancelled");
    assert!(bench.machine.is_over());
}

#[test]
fn the_run_asks_for_its_attempt_and_hands_the_answer_back() {
    let mut bench = planned("T1 a; T2 b");
    same(&bench.tell("T1.1 asks 0 May I?"), "question.asked 0 mine.rule");
    assert_eq!(bench.machine.status(), Status::Waiting);
    assert!(!bench.machine.waits_for_a_person(), "the other task goes on");
    let asked: Vec<EffectId> = bench.asked().iter().map(Effect::id).collect();
    assert!(!asked.contains(&EffectId::Attempt("T1.1".parse().expect("an attempt"))), "{asked:?}");
    // A repeated question is the same question.
    same(&bench.tell("T1.1 asks 0 May I?"), "");
    same(&bench.tell("answer 0 allow"), "question.answered 0");
    let handed = bench.asked().into_iter().find_map(|effect| match effect {
        Effect::RunAttempt { brief, answers } if brief.attempt.to_string() == "T1.1" => {
            Some(answers)
        }
        _ => None,
    });
    assert_eq!(handed.expect("it goes on").first().expect("an answer").text, "allow");
    same(&bench.tell("T1.1 asks 1 And this?"), "question.asked 1 mine.rule");
    bench.tell("answer 1 no");
    let goal = format!("{:?}", bench.asked());
    assert!(
        !goal.contains("Build a CLI\\nallow"),
        "an answer to an attempt is not part of the goal"
    );
}

#[test]
fn a_run_that_only_waits_for_its_attempts_question_waits_for_a_person() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 asks 0 May I?");
    assert!(bench.machine.waits_for_a_person());
}

#[test]
fn a_run_that_is_cancelled_ends_the_attempt_that_waits() {
    let mut bench = planned("T1 a");
    bench.tell("T1.1 asks 0 May I?");
    same(&bench.tell("cancel"), "run.cancelled ann");
    let asked: Vec<EffectId> = bench.asked().iter().map(Effect::id).collect();
    assert_eq!(asked, [EffectId::Attempt("T1.1".parse().expect("an attempt"))]);
    same(&bench.tell("T1.1 asks 0 May I?"), "");
    let ended = bench.tell("T1.1 is cancelled");
    assert!(ended.contains("run.finished cancelled"), "{ended}");
    assert!(bench.log.iter().all(|(event, _)| !matches!(event, Event::QuestionAnswered { .. })));
}
