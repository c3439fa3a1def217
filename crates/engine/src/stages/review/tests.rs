//! Reviews: their roles, the parts of their reports that count, and their failures.

use serde_json::{Value, json};
use types::{Budget, Effect, Input};

use super::verdict::is_there;
use crate::Run;
use crate::testing::{
    Bench, audited, begin, only, request, run_with, same, strict, submission, survey, told,
};

/// A strict run of two tasks, the first submitted and being tested.
fn tested() -> Bench<Run> {
    let mut bench = run_with(strict());
    bench.tell(
        "begin Add get_user_stats to src/stats.py\nplan.1 plans T1 src/stats.py; T2 b after T1",
    );
    bench.tell("T1.1 hands in src/stats.py");
    bench
}

fn says(bench: &mut Bench<Run>, review: &str, said: Value) -> String {
    crate::testing::render(&bench.send(&submission(review, said)))
}

/// M19, M23: the tester is given the task, the exit code and the output; after a pass the next task begins.
#[test]
fn a_tester_words_what_the_checks_said_and_the_run_goes_on() {
    let mut bench = tested();
    same(
        &bench.tell("check T1.1/0 exits 0"),
        "check.finished T1.1/0 exit 0
         attempt.started T1-review.1 tester",
    );
    assert_eq!(
        told(&bench, "T1-review.1"),
        json!({ "task_id": "T1", "pytest_exit_code": 0, "pytest_output": "exited with 0" })
    );
    let said = json!({ "task_id": "T1", "passed": true, "report": "5 passed" });
    same(
        &says(&mut bench, "T1-review.1", said),
        "attempt.finished T1-review.1 submitted
         task.reviewed T1.1 passed review.agreed
         task.verified T1.1 verify.checks_passed
         merge.started T1 onto base",
    );
}

/// M20, M23: the exit code counts, regardless of the tester's report; the first failure ends the run.
#[test]
fn a_tester_that_lies_is_corrected_and_the_run_halts() {
    let mut bench = tested();
    bench.tell("check T1.1/0 exits 1");
    let said = json!({ "task_id": "T1", "passed": true, "report": "all good" });
    let events = says(&mut bench, "T1-review.1", said);
    same(
        &only(&events, &["task", "run", "retry", "attempt.started"]),
        "task.reviewed T1.1 failed review.corrected
         task.rejected T1.1 check_failed
         task.failed T1 failure.halt
         run.finished failed, failure.halt",
    );
    let reviewed = bench.log.iter().find_map(|(event, _)| match event {
        types::Event::TaskReviewed { report, .. } => Some(report.to_string()),
        _ => None,
    });
    let report = r#"{"task_id":"T1","passed":false,"report":"exited with 1","model_passed":true,"model_text":"all good"}"#;
    assert_eq!(reviewed.as_deref(), Some(report));
}

/// M16: a tester that fails ends the run like any other error.
#[test]
fn a_tester_that_fails_ends_the_run() {
    let mut bench = tested();
    bench.tell("check T1.1/0 exits 0");
    same(
        &only(&bench.tell("T1-review.1 fails structural contract.malformed"), &["task", "run"]),
        "task.failed T1-review failure.halt
         run.finished failed, failure.halt",
    );
}

/// M24: if a rule allows it, a failed test goes back to the coder with its output.
#[test]
fn where_the_policy_allows_it_a_failed_test_goes_back_with_its_report() {
    let mut policy = strict();
    let rule = "id = 'failure.again'\nclasses = ['check_failed']\naction = 'retry_with_feedback'\nmax_executions = 4\nreason = 'r'";
    policy.failures.insert(0, toml::from_str(rule).expect("a rule"));
    let mut bench = run_with(policy);
    bench.tell("begin Add get_user_stats to src/stats.py\nplan.1 plans T1 src/stats.py");
    bench.tell("T1.1 hands in src/stats.py\ncheck T1.1/0 exits 1");
    let said = json!({ "task_id": "T1", "passed": false, "report": "1 failed" });
    says(&mut bench, "T1-review.1", said);
    bench.tell("timer T1 fires");
    let told_again = told(&bench, "T1.2");
    assert_eq!(told_again["task"]["title"], "Fix failing tests for: Do T1");
    assert!(
        told_again["task"]["feedback"].as_str().is_some_and(|text| text.contains("exited with 1"))
    );
    bench.tell("T1.2 hands in src/stats.py\ncheck T1.2/0 exits 0");
    let said = json!({ "task_id": "T1", "passed": true, "report": "ok" });
    let events = says(&mut bench, "T1-review.2", said);
    same(
        &only(&events, &["task"]),
        "task.reviewed T1.2 passed review.agreed\ntask.verified T1.2 verify.checks_passed",
    );
}

/// M4, M5, M31: the planner is given the goal and a sorted list of at most 200 files, and nothing else.
#[test]
fn a_planner_is_told_the_goal_and_the_files() {
    let mut known = survey();
    let names = ["src/b.py", "README.md", "src/a.py", "tests/test_a.py"];
    known.files = names.iter().map(|name| name.parse().expect("a path")).collect();
    let mut bench = run_with(strict());
    bench.send(&begin(request("Add a thing to src/a.py"), known.clone()));
    assert_eq!(
        told(&bench, "plan.1").to_string(),
        r#"{"goal":"Add a thing to src/a.py","repo_summary":"README.md (text)\nsrc/a.py\nsrc/b.py\ntests/test_a.py (tests)"}"#
    );
    let mut policy = strict();
    policy.contracts.plan_id = Some("plan_0042".to_owned());
    known.files = (0..300).map(|n| format!("f{n:03}.py").parse().expect("a path")).collect();
    let mut bench = run_with(policy);
    bench.send(&begin(request("Add a thing to src/a.py"), known));
    let told = told(&bench, "plan.1");
    assert_eq!(told["plan_id"], "plan_0042");
    assert_eq!(told["repo_summary"].as_str().map(|text| text.lines().count()), Some(200));
}

/// M32: no role of this preset is offered a tool.
#[test]
fn no_role_of_the_strict_preset_has_a_tool() {
    let policy = strict();
    assert_eq!(policy.roles.len(), 3);
    assert!(policy.roles.values().all(|role| role.tools.is_empty() && role.reply.is_some()));
}

fn audit(text: &str) -> Bench<Run> {
    let mut bench = run_with(audited());
    let mut known = survey();
    known.files = vec!["src/a.py".parse().expect("a path")];
    let budget = Budget::default();
    bench.send(&begin(types::Request { budget, ..request(text) }, known));
    bench
}

fn made() -> Value {
    json!({ "task_id": "T1", "spec_id": "SPEC-001", "status": "completed",
        "artifacts": [{ "path": "src/a.py", "content": "def parse(x):\n    return x\n", "type": "source" }] })
}

fn verdict(verdict: &str, status: &str, evidence: &str) -> Value {
    json!({ "task_id": "T1", "spec_id": "SPEC-001", "verdict": verdict,
        "requirement_results": [{ "requirement_id": "REQ-001", "status": status, "evidence": evidence }],
        "constraint_results": [] })
}

/// A technical request, carried out, with a passing check; the judge is asked.
fn judged() -> Bench<Run> {
    let mut bench = audit("Fix parse() in src/a.py");
    bench.send(&submission("T1.1", made()));
    bench.tell("check T1.1/0 exits 0");
    bench
}

/// C38, C39: the technical route needs no product agent; code writes the spec, and its hash is recorded.
#[test]
fn a_technical_request_gets_a_spec_that_code_has_written() {
    let bench = audit("Fix parse() in src/a.py");
    let log: Vec<types::Event> = bench.log.iter().map(|(event, _)| event.clone()).collect();
    same(
        &only(&crate::testing::render(&log), &["run.routed", "spec", "plan", "attempt"]),
        "run.routed dev route.files_named
         spec.written spec.inline
         plan.adopted T1
         attempt.started T1.1 dev",
    );
    let told = told(&bench, "T1.1");
    assert_eq!(told["intent_spec"]["requirements"][0]["id"], "REQ-001");
    assert_eq!(told["scope"]["network_whitelist"], json!([]));
    let keys: Vec<&String> = told.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["task_id", "input", "intent_spec", "injected_context", "workspace", "scope"]);
}

/// C12, C15: a product request goes to the product agent unchanged.
#[test]
fn a_product_request_goes_to_the_product_agent_as_it_came_in() {
    let text = "As a shop owner I want to see  the returns\n";
    let bench = audit(text);
    assert_eq!(told(&bench, "plan.1")["input"]["body"], text);
}

/// C17, C50: the judge is given the developer's input and result; passing results pass.
#[test]
fn a_judge_that_cites_what_is_there_lets_the_result_pass() {
    let mut bench = judged();
    assert_eq!(told(&bench, "T1-review.1")["dev_output"], made());
    let events = says(&mut bench, "T1-review.1", verdict("pass", "pass", "src/a.py:1 defines it"));
    same(
        &only(&events, &["task"]),
        "task.reviewed T1.1 passed review.agreed
         task.verified T1.1 verify.checks_passed",
    );
}

/// C30, C50, C51: if the judge's verdict and its results differ, the stricter counts; there is no retry.
#[test]
fn an_inconsistent_or_unfounded_verdict_counts_as_the_stricter_and_ends_the_task() {
    for (said, rule) in [
        (verdict("pass", "fail", "src/a.py:1"), "review.stricter"),
        (verdict("pass", "pass", "it looks good to me"), "review.stricter"),
        (verdict("pass", "pass", "src/a.py:99"), "review.stricter"),
        (verdict("fail", "pass", "src/a.py:1"), "review.stricter"),
        (verdict("fail", "fail", "src/a.py:1"), "review.agreed"),
    ] {
        let mut bench = judged();
        let events = says(&mut bench, "T1-review.1", said);
        let expected = format!(
            "task.reviewed T1.1 failed {rule}
             task.rejected T1.1 semantic"
        );
        same(&only(&events, &["task.re"]), &expected);
        assert!(!events.contains("retry"), "{events}");
    }
}

/// C31, C53: denied calls in the log decide, regardless of the agent's claims.
#[test]
fn calls_that_were_denied_end_the_task_without_a_judge() {
    for denied in [
        "s1.t1.c0 shell: permit.not_the_roles_tool",
        "s1.t1.c0 read_file ../secret: permit.outside_workspace",
        "s1.t2.c1 read_file context/adr-1.md: permit.registry",
        "s1.t3.c0 write_file elsewhere.txt: permit.outside_artifacts",
    ] {
        let mut bench = audit("Fix parse() in src/a.py");
        let mut input = submission("T1.1", made());
        if let Input::Outcome(_, types::Outcome::Attempt(end)) = &mut input {
            end.denied = vec![denied.to_owned()];
        }
        bench.send(&input);
        for exits in [0, 1] {
            let events = bench.clone().tell(&format!("check T1.1/0 exits {exits}"));
            let told = only(&events, &["task.re", "retry", "attempt"]);
            same(&told, "task.rejected T1.1 semantic");
        }
    }
}

/// C27: a judge with an infrastructure failure is replaced by a fresh one, three times; then a person decides.
#[test]
fn a_judge_is_retried_three_times_by_fresh_instances() {
    let mut bench = judged();
    let mut started = 1;
    for n in 1..=4 {
        bench.tell(&format!("T1-review.{n} fails structural contract.malformed"));
        if n < 4 {
            let events = bench.tell("timer T1-review fires");
            started += events.matches("attempt.started T1-review").count();
        }
    }
    assert_eq!(started, 4);
    let asked =
        bench.log.iter().filter(|(event, _)| matches!(event, types::Event::QuestionAsked { .. }));
    assert_eq!(asked.count(), 1, "then a person decides");
    let events = bench.tell("answer 0 skip");
    same(
        &only(&events, &["task"]),
        "task.skipped T1-review person.skip
         task.failed T1 review.none",
    );
}

/// C25, C26, C62: timeouts, crashes and a busy service are retried by a fresh instance; a refused key and a broken rule
/// are not.
#[test]
fn mechanics_are_tried_again_and_judgement_never() {
    let decided = |fault: &str| {
        let events = audit("Fix parse() in src/a.py").tell(&format!("T1.1 {fault}"));
        only(&events, &["retry", "question", "task"])
    };
    same(
        &decided("fails resource session.time_limit"),
        "retry.scheduled T1 failure.timeout 3 left",
    );
    same(&decided("breaks"), "retry.scheduled T1 failure.structural 3 left");
    same(
        &decided("fails transient model.rate_limit"),
        "retry.scheduled T1 failure.structural 3 left",
    );
    same(&decided("fails resource model.authentication"), "question.asked 0 failure.escalate");
    same(
        &decided("fails semantic contract.outside_artifacts"),
        "question.asked 0 failure.escalate",
    );
}

/// C29, C32: an escalation has the input, the documents, the output and the problem.
#[test]
fn an_escalation_has_everything_that_is_known() {
    let mut bench = judged();
    says(&mut bench, "T1-review.1", verdict("fail", "fail", "src/a.py:1 does nothing"));
    let terms = bench.log.iter().rev().find_map(|(event, _)| match event {
        types::Event::QuestionAsked { terms, .. } => terms.clone(),
        _ => None,
    });
    let package = terms.and_then(|terms| terms.package).expect("a package");
    let input: Value = serde_json::from_str(&package.input).expect("what the developer was told");
    assert_eq!(input["task_id"], "T1");
    assert!(package.output.contains("def parse(x)"), "{}", package.output);
    assert!(package.fault.what.contains("REQ-001 fails"), "{}", package.fault.what);
}

/// C20: an agent without enough context is retried once with more documents; not twice.
#[test]
fn documents_are_chosen_once_more_and_no_more() {
    let mut bench = audit("Fix parse() in src/a.py");
    let lacking = |n: u32| format!("T1.{n} fails semantic agent.insufficient_input");
    let events = bench.tell(&lacking(1));
    assert_eq!(events.matches("context.selected").count(), 1, "{events}");
    assert!(bench.tell("timer T1 fires").contains("attempt.started T1.2 dev"));
    let events = bench.tell(&lacking(2));
    assert!(!events.contains("context.selected") && !events.contains("retry"), "{events}");
}

/// C51: evidence is an existing line, or quoted text that occurs.
#[test]
fn evidence_is_a_line_or_words_that_are_there() {
    for good in ["src/a.py:2", "see src/a.py, line 1", "it has `return x`", "\"def parse(x)\""] {
        assert!(is_there(good, &made()), "{good}");
    }
    for bad in [
        "looks fine",
        "src/a.py",
        "src/a.py:3",
        "src/b.py:1",
        "`return y`",
        "``",
        "''",
        "src/a.py:0",
    ] {
        assert!(!is_there(bad, &made()), "{bad}");
    }
}

/// C33: a child at work cannot be messaged.
#[test]
fn a_child_at_work_cannot_be_steered() {
    let mut bench = audit("Fix parse() in src/a.py");
    same(&bench.tell("steer hurry\nfollow_up and then?\nsubmit now"), "");
}

/// C52, C58, C59: the judge can find lines but neither write nor run, and each child's budget is that of its manifest.
#[test]
fn a_child_has_what_its_manifest_says_and_no_more() {
    let policy = audited();
    let tools = |role: &str| {
        rules::manifest::effective_tools(&policy.roles[&role.parse().expect("a role")])
    };
    assert_eq!((tools("qa"), tools("product")), (vec!["grep".to_owned()], vec!["grep".to_owned()]));
    let brief = |bench: &Bench<Run>| {
        let brief = bench.asked().into_iter().find_map(|effect| match effect {
            Effect::RunAttempt { brief, .. } => Some(brief),
            _ => None,
        });
        brief.expect("an attempt is under way")
    };
    let dev = brief(&audit("Fix parse() in src/a.py"));
    assert_eq!((dev.budget.tokens, dev.scope.to_string().as_str()), (Some(2_000_000), "src/a.py"));
    let qa = brief(&judged());
    assert_eq!((qa.budget.tokens, qa.scope.0.len()), (Some(500_000), 0));
}

/// C16, C40: a role that carries out a spec gets every document that it refers to.
#[test]
fn a_developer_is_given_what_the_spec_refers_to() {
    let mut known = survey();
    let document = |path: &str, kind: &str| types::Document {
        path: path.parse().expect("a path"),
        text: format!("---\nkind: {kind}\n---\nBe kind.\n"),
    };
    known.documents =
        vec![document("context/p.md", "principle"), document("context/q.md", "principle")];
    let mut bench = run_with(audited());
    bench.send(&begin(request("As a shop owner I want to see the returns"), known));
    let spec = json!({ "spec_id": "SPEC-001", "task_id": "T1", "objective": "Show returns.",
        "requirements": [{ "id": "REQ-001", "description": "d", "verification": "v" }], "constraints": [],
        "out_of_scope": ["x"], "assumptions": [], "context_refs": ["context/p.md"] });
    bench.send(&submission("plan.1", spec));
    let given = told(&bench, "T1.1")["injected_context"].clone();
    assert_eq!(given.as_array().map(Vec::len), Some(1), "{given}");
    assert_eq!(given[0]["ref"], "context/p.md");
}
