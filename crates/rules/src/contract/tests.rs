//! Replies by contract: accepted ones, rejected ones with the reason, and the agent's input.

use serde_json::{Value, json};
use types::{Brief, Contract, Contracts, FaultClass, ReplyRule, Scope, Strictness, VerifyPolicy};

use super::{Taken, take};
use samples::brief;

fn role(contract: Contract, reading: Strictness) -> Brief {
    let artifacts = ["src/stats.py", "src/a.py", "tests/test_new.py", "lib/"];
    Brief {
        reply: Some(ReplyRule { contract, reading }),
        scope: Scope(artifacts.iter().map(|path| path.parse().expect("an artifact")).collect()),
        task: json!({ "task_id": "T1" }).to_string(),
        ..brief("T1.1")
    }
}

fn strictly(contract: Contract, text: &str) -> Result<Taken, (FaultClass, String, String)> {
    read(&role(contract, Strictness::Strict), text)
}

fn read(brief: &Brief, text: &str) -> Result<Taken, (FaultClass, String, String)> {
    with(brief, &Contracts::default(), text).map_err(|fault| (fault.class, fault.code, fault.what))
}

fn with(brief: &Brief, policy: &Contracts, text: &str) -> Result<Taken, types::Fault> {
    take(brief, policy, &VerifyPolicy::default(), text).expect("the role has a contract")
}

/// Asserts that a reply is rejected, with this class, code and part of the text.
#[track_caller]
fn refused(contract: Contract, text: &str, class: FaultClass, code: &str, part: &str) {
    match strictly(contract, text) {
        Ok(taken) => panic!("it was taken: {taken:?}"),
        Err((found, found_code, what)) => {
            assert_eq!((found, found_code.as_str()), (class, code), "{what}");
            assert!(what.contains(part), "{part:?} is not in {what:?}");
        }
    }
}

#[track_caller]
fn malformed(contract: Contract, text: &str, part: &str) {
    refused(contract, text, FaultClass::Structural, "contract.malformed", part);
}

#[track_caller]
fn out_of_scope(text: &str, part: &str) {
    let code = "contract.outside_artifacts";
    refused(Contract::Edits, text, FaultClass::Semantic, code, part);
}

fn plan(change: impl Fn(&mut Value)) -> String {
    let mut plan = json!({ "plan_id": "plan_0001", "tasks": [
        { "id": "T1", "title": "t", "rationale": "r", "acceptance": "a", "artifacts": ["src/a.py"] },
        { "id": "T2", "title": "t", "rationale": "r", "acceptance": "a", "artifacts": ["b.py"] },
    ]});
    change(&mut plan);
    plan.to_string()
}

/// M6: a plan is tasks in the order of execution, each after the one before it.
#[test]
fn a_plan_becomes_a_plan_like_any_other() {
    let taken = strictly(Contract::Plan, &plan(|_| {})).expect("a plan");
    let tasks = &taken.submission["tasks"];
    assert_eq!(tasks[1]["depends_on"], json!(["T1"]));
    assert_eq!(tasks[0]["acceptance"], json!(["a"]));
    assert!(taken.writes.is_empty());
}

/// M6, M7, M8, M27: ids in order, the wanted id, paths inside, no unknown key, no empty list, nothing too long.
#[test]
fn a_plan_that_is_not_to_the_letter_is_refused_with_the_cause() {
    type Change = fn(&mut Value);
    let cases: [(Change, &str); 9] = [
        (|p| p["tasks"][1]["id"] = "T3".into(), "T2"),
        (|p| p["plan_id"] = "plan_7".into(), "plan_0001"),
        (|p| p["tasks"] = json!([]), "no tasks"),
        (|p| p["tasks"][0]["artifacts"] = json!(["../x"]), "leads out"),
        (|p| p["tasks"][0]["artifacts"] = json!(["/etc/passwd"]), "absolute"),
        (|p| p["tasks"][0]["artifacts"] = json!([]), "no artifacts"),
        (|p| p["tasks"][0]["checks"] = json!([{ "name": "x", "command": "curl x" }]), "checks"),
        (|p| p["tasks"][0]["title"] = "x".repeat(4_001).into(), "4000"),
        (|p| p["tasks"][0]["rationale"] = Value::Null, "null"),
    ];
    for (change, part) in cases {
        malformed(Contract::Plan, &plan(change), part);
    }
    // A text of 4,000 characters that are more than one byte each is not too long.
    let long = plan(|plan| plan["tasks"][0]["title"] = "ä".repeat(4_000).into());
    assert!(strictly(Contract::Plan, &long).is_ok());
}

/// M6: a given id is repeated.
#[test]
fn a_plan_has_the_id_that_was_given() {
    let policy = Contracts { plan_id: Some("plan_0042".to_owned()), ..Contracts::default() };
    let brief = role(Contract::Plan, Strictness::Strict);
    let named = |id: &str| with(&brief, &policy, &plan(|plan| plan["plan_id"] = id.into()));
    assert!(named("plan_0042").is_ok() && named("plan_0001").is_err());
}

/// M15: prose, markdown and fences are errors. M35: an excerpt of the reply is kept.
#[test]
fn what_is_not_json_alone_is_refused() {
    let good = r#"{"edits":[{"path":"src/a.py","content":"x"}]}"#;
    assert!(strictly(Contract::Edits, &format!("\n {good} \n")).is_ok());
    for text in [
        "Sure! I will.".to_owned(),
        format!("Here it is: {good}"),
        format!("```json\n{good}\n```"),
        format!("{good}\nDone."),
        format!("[{good}]"),
        "{\"edits\":[{\"path\":\"src/a.py\",\"cont".to_owned(),
        String::new(),
    ] {
        malformed(Contract::Edits, &text, "reply violates the contract edits");
    }
    let long = "x".repeat(5_000);
    let (_, _, what) = strictly(Contract::Edits, &long).expect_err("it is no JSON");
    assert!(what.ends_with(&"x".repeat(1_200)) && !what.contains(&"x".repeat(1_201)));
}

/// M40: an agent's failure object is recognised before any other check.
#[test]
fn an_agents_own_error_is_its_own_reason() {
    let text = r#"{"status":"error","reason":"src/b.py is not in artifacts"}"#;
    for contract in [Contract::Plan, Contract::Edits, Contract::Report, Contract::DevOutput] {
        let what = "src/b.py is not in artifacts";
        refused(contract, text, FaultClass::Semantic, "agent.error", what);
    }
}

/// M11: edits are ordered by path, regardless of their order in the reply.
#[test]
fn edits_are_whole_files_in_the_order_of_their_paths() {
    let text =
        r#"{"edits":[{"path":"src/stats.py","content":"1"},{"path":"lib/x.py","content":"2"}]}"#;
    let taken = strictly(Contract::Edits, text).expect("edits");
    let paths: Vec<&str> = taken.writes.iter().map(|write| write.path.as_str()).collect();
    assert_eq!(paths, ["lib/x.py", "src/stats.py"]);
    assert_eq!(taken.submission["files"], json!(["lib/x.py", "src/stats.py"]));
}

/// M12, M14: one forbidden path rejects the whole batch.
#[test]
fn one_path_outside_of_the_artifacts_refuses_all_of_them() {
    for path in ["src/other.py", "../x", "/etc/passwd", "src/../../x", "."] {
        let edits = json!({ "edits": [
            { "path": "src/a.py", "content": "fine" },
            { "path": path, "content": "x" },
        ]});
        out_of_scope(&edits.to_string(), "nothing was written");
    }
}

/// M13: a test is written only if the task names that very file.
#[test]
fn a_test_is_written_only_where_the_task_names_it() {
    let edit = |path: &str| json!({ "edits": [{ "path": path, "content": "x" }] }).to_string();
    for path in
        ["lib/test_a.py", "lib/tests/a.py", "lib/a_test.go", "lib/a.spec.ts", "lib/conftest.py"]
    {
        out_of_scope(&edit(path), "a test that the task does not name");
    }
    for path in ["tests/test_new.py", "lib/latest.py", "lib/contest.py"] {
        assert!(strictly(Contract::Edits, &edit(path)).is_ok(), "{path}");
    }
    // The policy defines which files are tests.
    let own = VerifyPolicy { tests: vec!["proofs/".to_owned()], ..VerifyPolicy::default() };
    let brief = role(Contract::Edits, Strictness::Strict);
    let taken = |path: &str| take(&brief, &Contracts::default(), &own, &edit(path));
    assert!(matches!(taken("lib/proofs/a.py"), Some(Err(_))));
    assert!(matches!(taken("lib/test_a.py"), Some(Ok(_))));
}

/// M27: files have their own limit, and the whole reply has one.
#[test]
fn edits_that_are_too_long_too_few_or_doubled_are_refused() {
    let edit = |content: &str| json!({ "path": "src/a.py", "content": content });
    let edits = |edits: Vec<Value>| json!({ "edits": edits }).to_string();
    malformed(Contract::Edits, &edits(vec![edit(&"x".repeat(200_001))]), "200000");
    assert!(strictly(Contract::Edits, &edits(vec![edit(&"ü".repeat(200_000))])).is_ok());
    malformed(Contract::Edits, &edits(vec![edit(&"x".repeat(400_000))]), "400000");
    malformed(Contract::Edits, &edits(vec![]), "no files");
    malformed(Contract::Edits, &edits(vec![edit("a"), edit("b")]), "twice");
    let mut extra = edit("a");
    extra["mode"] = "0755".into();
    malformed(Contract::Edits, &edits(vec![extra]), "mode");
}

/// M19, M22: the keys of a report are in order, and it is about the requested task.
#[test]
fn a_report_is_read_to_the_letter() {
    let good = r#"{"task_id":"T1","passed":true,"report":"5 passed"}"#;
    let taken = strictly(Contract::Report, good).expect("a report");
    assert_eq!(taken.submission.to_string(), good);
    let order = r#"{"passed":true,"task_id":"T1","report":"5 passed"}"#;
    malformed(Contract::Report, order, "task_id, passed, report");
    malformed(Contract::Report, &good.replace("T1", "T2"), "\"T2\"");
    malformed(Contract::Report, &good.replace("true", "\"yes\""), "passed");
    malformed(Contract::Report, &good.replace("5 passed", &"x".repeat(4_001)), "4000");
    malformed(
        Contract::Report,
        r#"{"task_id":"T1","passed":true,"passed":true,"report":""}"#,
        "duplicate",
    );
}

/// M14: paths in replies are relative to the folder that a policy names.
#[test]
fn paths_are_meant_below_the_root_of_the_contracts() {
    let policy = Contracts { root: Some("src".parse().expect("a path")), ..Contracts::default() };
    let brief = role(Contract::Edits, Strictness::Strict);
    let edit = |path: &str| {
        let edits = json!({ "edits": [{ "path": path, "content": "x" }] }).to_string();
        with(&brief, &policy, &edits)
    };
    assert_eq!(edit("a.py").expect("it may").writes[0].path.as_str(), "src/a.py");
    assert!(edit("../lib/x.py").is_err() && edit("src/a.py").is_err());
}

fn dev_brief() -> Brief {
    let spec = json!({ "spec_id": "SPEC-001", "requirements": [{ "id": "REQ-001" }],
                       "constraints": [{ "id": "CON-001" }] });
    Brief {
        task: json!({ "task_id": "T1", "intent_spec": spec,
                      "injected_context": [{ "ref": "context/adr.md", "content": "" }] })
        .to_string(),
        ..role(Contract::DevOutput, Strictness::Lenient)
    }
}

/// C24: a lenient reading extracts the object from a fence or surrounding text, and records that.
#[test]
fn a_lenient_reading_finds_the_object_and_says_what_it_overlooked() {
    let good = json!({ "task_id": "T1", "spec_id": "SPEC-001", "status": "completed",
        "artifacts": [{ "path": "src/a.py", "content": "a = {'}': 1}\n", "type": "source" }] });
    let brief = dev_brief();
    for (text, overlooked) in [
        (good.to_string(), None),
        (format!("```json\n{good}\n```"), Some("the object was in a code fence")),
        (format!("Done: {good} I hope."), Some("the object was surrounded by text")),
    ] {
        let taken = read(&brief, &text).expect("it is there");
        assert_eq!(taken.overlooked.as_deref(), overlooked);
        assert_eq!(taken.writes.len(), 1);
    }
    let spelt = good.to_string().replace("src/a.py", "./src//a.py").replace("source", "module");
    let taken = read(&brief, &spelt).expect("it is the same file");
    assert_eq!(taken.submission["artifacts"][0]["type"], "module");
    let (class, ..) = read(&brief, "no object { here").expect_err("there is none");
    assert_eq!(class, FaultClass::Structural);
}

/// C41, C47: files if it is completed, none if it failed; and the reported failure has its class.
#[test]
fn a_developers_output_is_completed_with_files_or_failed_without() {
    let output = |more: Value| {
        let mut output = json!({ "task_id": "T1", "spec_id": "SPEC-001" });
        for (key, value) in more.as_object().expect("an object") {
            output[key] = value.clone();
        }
        read(&dev_brief(), &output.to_string())
            .map(|_| ())
            .map_err(|(class, code, _)| (class, code))
    };
    let file = json!([{ "path": "src/a.py", "content": "", "type": "source" }]);
    let error = |kind: &str| json!({ "type": kind, "detail": "REQ-001 is not met" });
    let structural = |code: &str| Err((FaultClass::Structural, code.to_owned()));
    let semantic = |code: &str| Err((FaultClass::Semantic, code.to_owned()));
    assert_eq!(output(json!({ "status": "completed", "artifacts": file })), Ok(()));
    for (more, expected) in [
        (json!({ "status": "completed" }), structural("contract.malformed")),
        (json!({ "status": "failed", "error": error("internal") }), structural("agent.internal")),
        (json!({ "status": "failed", "error": error("timeout") }), structural("agent.timeout")),
        (
            json!({ "status": "failed", "error": error("tool_failure") }),
            structural("agent.tool_failure"),
        ),
        (
            json!({ "status": "failed", "error": error("scope_violation") }),
            semantic("agent.scope_violation"),
        ),
        (
            json!({ "status": "failed", "error": error("spec_unclear") }),
            semantic("agent.insufficient_input"),
        ),
        (
            json!({ "status": "failed", "error": error("internal"), "artifacts": file }),
            structural("contract.malformed"),
        ),
        (json!({ "status": "failed" }), structural("contract.malformed")),
        (
            json!({ "status": "completed", "artifacts": file, "spec_id": "SPEC-2" }),
            structural("contract.malformed"),
        ),
        (
            json!({ "status": "completed", "artifacts": [{ "path": "../x", "content": "", "type": "source" }] }),
            semantic("contract.outside_artifacts"),
        ),
    ] {
        assert_eq!(output(more.clone()), expected, "{more}");
    }
}

fn spec() -> Value {
    json!({ "spec_id": "SPEC-001", "task_id": "T1", "objective": "Say hello.",
        "requirements": [{ "id": "REQ-001", "description": "It says hello", "verification": "a line prints hello" }],
        "constraints": [{ "id": "CON-001", "description": "No new dependency" }],
        "out_of_scope": ["Other languages"],
        "assumptions": [{ "id": "ASM-001", "statement": "English", "source": "operator_input" }],
        "context_refs": ["context/adr.md"] })
}

/// C36, C37: a spec is complete or absent; its obstacles are a list, and only missing input can be remedied.
#[test]
fn an_intent_spec_is_complete_or_not_there() {
    let brief = Brief {
        reply: Some(ReplyRule { contract: Contract::IntentSpec, reading: Strictness::Lenient }),
        ..dev_brief()
    };
    let with = |change: &dyn Fn(&mut Value)| {
        let mut spec = spec();
        change(&mut spec);
        read(&brief, &spec.to_string()).map(|_| ()).map_err(|(_, code, _)| code)
    };
    assert_eq!(with(&|_| {}), Ok(()));
    for change in [
        (|s| s["out_of_scope"] = json!([])) as fn(&mut Value),
        |s| s["requirements"][0]["verification"] = "".into(),
        |s| s["assumptions"][0]["source"] = "hearsay".into(),
        |s| s["context_refs"] = json!(["context/secret.md"]),
        |s| s["task_id"] = "T9".into(),
        |s| s["hint"] = "use a for loop".into(),
    ] {
        assert_eq!(with(&change), Err("contract.malformed".to_owned()));
    }
    let failed = |kind: &str| {
        let problems = json!([{ "kind": kind, "statement": "which shop?" }]);
        let text = json!({ "status": "failed", "problems": problems }).to_string();
        read(&brief, &text)
    };
    for (kind, code) in [
        ("ambiguous", "agent.gave_up"),
        ("contradiction", "agent.gave_up"),
        ("unsupported", "agent.gave_up"),
        ("insufficient", "agent.insufficient_input"),
    ] {
        let (class, found, what) = failed(kind).expect_err("it failed");
        assert_eq!((class, found.as_str()), (FaultClass::Semantic, code));
        assert_eq!(what, format!("{kind}: which shop?"));
    }
}

/// C50: every requirement and every constraint of the spec is judged, once, with evidence.
#[test]
fn a_verdict_judges_everything_once() {
    let brief = Brief {
        reply: Some(ReplyRule { contract: Contract::Verdict, reading: Strictness::Lenient }),
        ..dev_brief()
    };
    let good = json!({ "task_id": "T1", "spec_id": "SPEC-001", "verdict": "pass",
        "requirement_results": [{ "requirement_id": "REQ-001", "status": "pass", "evidence": "src/a.py:1" }],
        "constraint_results": [{ "constraint_id": "CON-001", "status": "pass", "evidence": "`a = 1`" }] });
    assert!(read(&brief, &good.to_string()).is_ok());
    let camel = good.to_string().replace("requirement_results", "requirementResults");
    assert!(read(&brief, &camel.replace("task_id", "taskId")).is_ok());
    for change in [
        (|v| v["requirement_results"] = json!([])) as fn(&mut Value),
        |v| v["constraint_results"][0]["constraint_id"] = "CON-002".into(),
        |v| v["requirement_results"][0]["evidence"] = " ".into(),
        |v| v["verdict"] = "maybe".into(),
    ] {
        let mut verdict = good.clone();
        change(&mut verdict);
        assert!(read(&brief, &verdict.to_string()).is_err(), "{verdict}");
    }
}
