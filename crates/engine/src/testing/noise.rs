//! Unexpected inputs: outcomes of effects that were never requested, or of the wrong kind, with hostile contents.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use types::{
    Asking, AttemptEnd, AttemptId, AttemptResult, Budget, CallId, CheckEnd, CheckId, Command,
    CommitId, Decision, Digest, EffectId, Ended, Fault, FaultClass, Input, MergeEnd, Millis, Money,
    Outcome, Retry, Sealed, SessionId, Shown, Spend, Subject, TaskId, TimerId, ToolOutput, Usage,
};

use super::script::changes;
use super::{begin, brief, isolation, plan, request, survey, talk};

pub(crate) fn inputs() -> impl Strategy<Value = Input> {
    let text = prop::sample::select(vec!["Build a CLI", "fix it", "", "write ransomware", "a b c"]);
    let amount = prop_oneof![Just(None), amounts().prop_map(Some)];
    prop_oneof![
        1 => Just(Input::Due),
        1 => Just(Input::Woke { workspace: None, recovered: vec![] }),
        1 => (text, amount).prop_map(|(text, tokens)| {
            let mut request = request(text);
            request.budget = Budget { tokens, calls: tokens, time_ms: tokens.map(Millis), money: None };
            begin(request, survey())
        }),
        1 => (0..3_u32).prop_map(|n| Input::Brief(Box::new(brief(&format!("T1.{n}"))))),
        1 => Just(Input::Command(Command::Cancel { by: "ann".to_owned(), reason: String::new() })),
        1 => (0..3_u32).prop_map(|question| Input::Command(Command::Answer {
            by: "ann".to_owned(),
            question,
            text: "do what I mean".to_owned(),
        })),
        20 => (effects(), outcomes()).prop_map(|(id, outcome)| Input::Outcome(id, outcome)),
    ]
}

fn amounts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(50_000), Just(u64::MAX), any::<u64>()]
}

fn tasks() -> impl Strategy<Value = TaskId> {
    let ids = ["plan", "T0", "T1", "T2", "T99"];
    prop::sample::select(ids.to_vec()).prop_map(|id| id.parse().expect("a task"))
}

fn effects() -> impl Strategy<Value = EffectId> {
    let attempts = || {
        (tasks(), prop_oneof![8 => 0..4_u32, 1 => Just(u32::MAX)])
            .prop_map(|(task, n)| AttemptId::new(task, n))
    };
    let subjects = prop_oneof![
        Just(Subject::Merged),
        attempts().prop_map(Subject::Attempt),
        attempts().prop_map(Subject::Landed)
    ];
    let index = || prop_oneof![8 => 0..3_u32, 1 => Just(u32::MAX)];
    prop_oneof![
        1 => Just(EffectId::Probe),
        4 => attempts().prop_map(EffectId::Attempt),
        3 => (subjects, index()).prop_map(|(on, index)| EffectId::Check(CheckId { on, index })),
        2 => tasks().prop_map(EffectId::Merge),
        1 => tasks().prop_map(|task| EffectId::Timer(TimerId::Retry(task))),
        1 => Just(EffectId::Timer(TimerId::Deadline)),
        1 => (0..3_u32).prop_map(|number| EffectId::Timer(TimerId::Question(number))),
        3 => (0..3_u32, index()).prop_map(|(s, turn)| EffectId::Model(SessionId(s), turn)),
        3 => (0..3_u32, index(), index()).prop_map(|(s, turn, index)| {
            EffectId::Tool(CallId { session: SessionId(s), turn, index })
        }),
        1 => Just(EffectId::Seal),
    ]
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    let commit = || CommitId("odd".to_owned());
    let ended = prop_oneof![Just(Ended::Exited(0)), Just(Ended::Exited(1)), Just(Ended::TimedOut)];
    let checks = ended.prop_map(|ended| {
        Outcome::Check(Box::new(CheckEnd::new(ended, Shown::default(), Millis(u64::MAX))))
    });
    let said = prop::sample::select(vec![
        "fails",
        "says nothing",
        "calls submit + shell make + read_file a",
        "calls broken + broken",
        "calls write_file src/a.rs",
    ]);
    prop_oneof![
        1 => Just(Outcome::Probed(isolation("landlock"))),
        4 => attempt_ends(),
        1 => (0..3_u32).prop_map(|question| {
            let decision = Decision::new(types::RuleId::fixed("odd.rule"), "odd");
            Outcome::Asked(Box::new(Asking { question, text: "odd?".to_owned(), decision, files: vec![], terms: None }))
        }),
        3 => checks,
        1 => Just(Outcome::Merge(MergeEnd::Conflict { paths: vec![], hunks: String::new() })),
        2 => Just(Outcome::Merge(MergeEnd::Merged {
            commit: commit(),
            changes: changes("a b"),
            missing: vec!["gone/".parse().expect("an artifact")],
        })),
        1 => faults().prop_map(|fault| Outcome::Merge(MergeEnd::Failed { fault })),
        1 => Just(Outcome::Fired),
        4 => (said, amounts()).prop_map(|(text, tokens)| {
            let mut outcome = talk::said(text);
            if let Outcome::Model(Ok(replied)) = &mut outcome {
                replied.reply.usage.output = tokens;
                replied.inspections.truncate(2);
            }
            outcome
        }),
        2 => Just(Outcome::Tool(ToolOutput::ok("x".repeat(200)))),
        1 => Just(Outcome::Sealed(Ok(Sealed {
            commit: commit(),
            changes: changes(""),
            findings: types::Findings::default(),
        }))),
        1 => faults().prop_map(|fault| Outcome::Sealed(Err(fault))),
        2 => faults().prop_map(Outcome::Broke),
    ]
}

fn attempt_ends() -> impl Strategy<Value = Outcome> {
    let submitted = submissions().prop_map(|submission| AttemptResult::Submitted {
        commit: CommitId("odd".to_owned()),
        changes: changes("a.rs"),
        submission,
        findings: types::Findings::default(),
    });
    let results = prop_oneof![
        4 => submitted,
        2 => faults().prop_map(|fault| AttemptResult::Failed { fault, commit: None }),
        1 => Just(AttemptResult::Cancelled),
    ];
    (results, amounts()).prop_map(|(result, tokens)| {
        let spent =
            Spend { tokens, money: Money::nanos(tokens), calls: tokens, ..Spend::default() };
        let usage = Usage { input: tokens, output: tokens, ..Usage::default() };
        let (log_head, denied) = (Digest::ZERO, vec![]);
        let end = AttemptEnd { result, spent, usage, turns: 1, log_head, denied };
        Outcome::Attempt(Box::new(end))
    })
}

fn submissions() -> impl Strategy<Value = Value> {
    let plans =
        ["T1 a; T2 b after T1", "T1 a after T2; T2 b after T1", "T1 ./; T1 a", "plan a", "T0 a"];
    let estimates = (amounts(), amounts()).prop_map(|(one, other)| {
        let mut plan = plan("T1 a; T2 b");
        plan["tasks"][0]["estimate_tokens"] = json!(one);
        plan["tasks"][1]["estimate_tokens"] = json!(other);
        plan
    });
    prop_oneof![
        4 => prop::sample::select(plans.to_vec()).prop_map(plan),
        1 => estimates,
        1 => vec(any::<i64>(), 0..3).prop_map(|numbers| json!(numbers)),
        1 => any::<Option<String>>().prop_map(|text| json!({"tasks": text})),
    ]
}

fn faults() -> impl Strategy<Value = Fault> {
    let classes = ["transient", "structural", "semantic", "check_failed", "conflict", "bug"];
    let class = prop::sample::select(classes.to_vec()).prop_map(|word| {
        serde_json::from_value::<FaultClass>(word.into()).expect("a class of faults")
    });
    (class, amounts()).prop_map(|(class, wait)| {
        Fault::new(class, "odd.fault", "odd").retry(Retry::After(Millis(wait)))
    })
}
