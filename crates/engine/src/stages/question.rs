//! Answers to a run's questions: which are accepted, and the default after expiry.

use types::{Answer, AttemptId, Decision, Event, OnExpiry, Policy, RuleId, Terms, Timestamp};

use crate::Run;
use types::choices::STOP;

/// Asks a person. `attempt` is the one that asks or cannot continue, if not the run itself.
pub(crate) fn ask(
    run: &Run,
    (text, decision): (String, Decision),
    attempt: Option<AttemptId>,
    terms: Option<Terms>,
    now: Timestamp,
) -> Event {
    let expires = run.policy().questions.expire_after_ms.map(|span| now.after(span));
    Event::QuestionAsked {
        question: u32::try_from(run.questions().len()).unwrap_or(u32::MAX),
        text,
        decision,
        attempt,
        call: None,
        files: vec![],
        terms: terms.map(|terms| Box::new(Terms { expires, ..terms })),
    }
}

/// Accepts an answer if the question is open and the answer is valid.
pub(crate) fn answered(run: &Run, number: u32, by: &str, text: &str) -> Vec<Event> {
    let Some(question) = run.questions().get(number as usize) else { return vec![] };
    // People cannot answer in the policy's name.
    if !question.is_open() || run.winds_down() || by == Answer::POLICY {
        return vec![];
    }
    let choice = match &question.terms {
        None => None,
        Some(terms) => match terms.choose(text) {
            Ok(chosen) => chosen.choice,
            Err(_) => return vec![],
        },
    };
    vec![Event::QuestionAnswered {
        question: number,
        by: by.to_owned(),
        text: text.to_owned(),
        choice,
        feedback: None,
        halts: None,
    }]
}

/// Applies the default to expired questions.
pub(crate) fn due(run: &Run, now: Timestamp) -> Vec<Event> {
    let late = run.open_questions().find_map(|(number, question)| {
        let late = question.expires().is_some_and(|expires| expires <= now);
        Some((number, question.terms.as_deref()?)).filter(|_| late)
    });
    let Some((question, terms)) = late else { return vec![] };
    let (text, choice) = at_expiry(run.policy(), terms);
    let by = Answer::POLICY.to_owned();
    vec![Event::QuestionAnswered { question, by, text, choice, feedback: None, halts: None }]
}

fn at_expiry(policy: &Policy, terms: &Terms) -> (String, Option<String>) {
    match (&terms.default, policy.questions.on_expiry) {
        (Some(default), OnExpiry::Default) => {
            let choice = terms.choose(default).ok().and_then(|chosen| chosen.choice);
            (default.clone(), choice)
        }
        _ => (STOP.to_owned(), Some(STOP.to_owned())),
    }
}

/// Why a run ends when a question it depends on was not answered.
pub(crate) fn nobody_answered(text: &str) -> Decision {
    let reason = format!("not answered in time: {}", types::one_line(text, 200));
    Decision::new(RuleId::fixed("question.expired"), reason)
}

#[cfg(test)]
mod tests {
    use types::{Answer, Millis, OnExpiry, Policy, Status};

    use crate::Machine as _;
    use crate::testing::{crew, only, planned, planned_with, run_with, same};

    fn expiring(on_expiry: OnExpiry) -> Policy {
        let mut policy = crew();
        policy.questions.expire_after_ms = Some(Millis::seconds(60));
        policy.questions.on_expiry = on_expiry;
        policy
    }

    #[test]
    fn a_question_that_nobody_answers_takes_its_default() {
        let mut bench = planned_with(expiring(OnExpiry::Default), "T1 a; T2 b");
        bench.tell("T1.1 fails semantic x.y\nT2.1 asks 0 tabs or blanks?");
        assert!(!bench.machine.waits_for_a_person(), "it stays until the time is up");
        let before = bench.now;
        same(
            &bench.tell("timer 0 fires"),
            "question.answered 0 stop by policy
             task.failed T1 person.stop",
        );
        assert_eq!(bench.now.since(before), Millis::seconds(60));
    }

    #[test]
    fn a_question_without_a_default_ends_the_run_when_nobody_answers() {
        let mut bench = run_with(expiring(OnExpiry::Default));
        bench.tell("begin fix it");
        same(
            &bench.tell("timer 0 fires"),
            "question.answered 0 stop by policy
             run.finished failed, question.expired",
        );
    }

    #[test]
    fn a_question_expires_also_while_nobody_drives_the_run() {
        let mut bench = run_with(expiring(OnExpiry::Stop));
        bench.tell("begin fix it");
        bench.now = bench.now.after(Millis::seconds(3_600));
        same(&only(&bench.tell("woke"), &["run"]), "run.finished failed, question.expired");
    }

    #[test]
    fn an_answer_in_time_is_the_answer() {
        let mut bench = planned_with(expiring(OnExpiry::Stop), "T1 a");
        bench.tell("T1.1 fails semantic x.y");
        same(&only(&bench.tell("answer 0 1\ntimer 0 fires"), &["question"]), "question.answered 0");
    }

    #[test]
    fn a_person_cannot_answer_as_the_policy() {
        let mut bench = planned("T1 a");
        bench.tell("T1.1 fails semantic x.y");
        let (by, text) = (Answer::POLICY.to_owned(), "stop".to_owned());
        let answer = types::Command::Answer { by, question: 0, text };
        assert_eq!(bench.send(&types::Input::Command(answer)), []);
        assert_eq!(bench.machine.status(), Status::Waiting);
    }

    #[test]
    fn the_time_that_a_person_takes_is_not_the_runs() {
        let mut bench = planned("T1 a");
        let all = bench.machine.deadline().expect("the crew has a deadline");
        bench.tell("T1.1 fails semantic x.y");
        assert_eq!(bench.machine.deadline(), None, "no time runs while it waits");
        same(&bench.tell("timer deadline fires"), "");
        bench.now = bench.now.after(Millis::seconds(100_000));
        bench.tell("answer 0 retry");
        assert_eq!(bench.machine.deadline(), Some(all.after(Millis::seconds(100_000))));
        assert_eq!(bench.machine.status(), Status::Running);
    }

    #[test]
    fn the_time_runs_on_while_others_work() {
        let mut bench = planned("T1 a; T2 b");
        let all = bench.machine.deadline();
        bench.tell("T1.1 fails semantic x.y");
        assert_eq!(bench.machine.deadline(), all);
    }
}
