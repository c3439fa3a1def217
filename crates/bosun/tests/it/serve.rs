//! The API of the real server, used by programs: runs from start to acceptance, questions, reviews, plans, restarts.

use serde_json::{Value, json};

use crate::binary::Place;
use crate::served::{ASKS, GOAL, PROJECT, Served, TWO_TASKS, held, repository};

/// The work that a review asks for.
const AGAIN: &str = r#"
[[attempt]]
role = "coder"
task = "T1"
[[attempt.reply]]
call = { tool = "read_file", path = "greeting.txt" }
[[attempt.reply]]
call = { tool = "write_file", path = "greeting.txt", content = "hello, world\n" }
[[attempt.reply]]
submit = { summary = "done" }
"#;

/// Asserts that a reply is a problem document with this status and an id; returns it.
pub(crate) fn is_problem(reply: &testkit::client::Reply, status: u16) -> Value {
    assert_eq!(reply.status, status, "{}", reply.text());
    assert_eq!(reply.header("content-type"), Some("application/problem+json"));
    let problem = reply.json();
    assert_eq!(problem["status"], status, "{problem}");
    assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
    assert_eq!(problem["request_id"].as_str(), reply.header("x-request-id"), "{problem}");
    assert!(problem["request_id"].as_str().is_some_and(|id| !id.is_empty()), "{problem}");
    problem
}

#[tokio::test]
async fn a_run_is_started_followed_to_its_end_and_accepted() {
    let place = Place::new();
    let repo = repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let wanted = json!({ "project": PROJECT, "goal": GOAL, "script": TWO_TASKS });
    let outlook = ann.post("/runs/preview", &wanted).await;
    assert_eq!(outlook["admission"]["verdict"], "accept", "{outlook}");
    assert_eq!(ann.get("/runs").await["items"], json!([]), "a preview leaves nothing behind");
    let run = ann.run(GOAL, TWO_TASKS).await;
    let lines = ann.until(&run, "run.finished").await;
    let positions: Vec<u64> =
        lines.iter().map(|line| line["position"].as_u64().expect("a position")).collect();
    assert!(positions.windows(2).all(|pair| pair[0] < pair[1]), "in order: {positions:?}");
    let of_run = lines.iter().filter(|line| line["attempt"].is_null());
    let seqs: Vec<u64> = of_run.map(|line| line["seq"].as_u64().expect("a number")).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no line is missing");
    let detail = ann.get(&format!("/runs/{run}")).await;
    assert_eq!((&detail["view"]["status"], &detail["by"]), (&"done".into(), &"ann".into()));
    let early = ann.get(&format!("/runs/{run}?at=2")).await;
    assert!(early["view"]["ended"].is_null() && early["at"] == 2, "as it was: {early}");
    for part in [
        "graph",
        "timeline",
        "money",
        "plan",
        "response",
        "spec",
        "proof",
        "tasks/T1",
        "diff",
        "diff?task=T2",
        "gates",
        "checks",
        "why",
        "events",
        "artifacts",
        "comments",
        "attempts/T1.1/transcript",
        "graph?at=3",
        "gates?at=3",
        "timeline?at=3",
        "money?at=3",
    ] {
        assert!(!ann.get(&format!("/runs/{run}/{part}")).await.is_null(), "{part}");
    }
    let accepted = ann.post(&format!("/runs/{run}/accept"), &json!({})).await;
    assert_eq!(accepted["view"]["settled"]["how"], "accepted", "{accepted}");
    assert_eq!(std::fs::read_to_string(repo.join("greeting.txt")).expect("a file"), "hello\n");
    is_problem(&ann.try_post(&format!("/runs/{run}/accept"), &json!({})).await, 409);
}

#[tokio::test]
async fn comments_on_a_line_become_a_run_that_follows() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.done(GOAL, TWO_TASKS).await;
    let comments = format!("/runs/{run}/comments");
    let comment =
        json!({ "task": "T1", "path": "greeting.txt", "line": 1, "text": "To the world" });
    let all = ann.post(&comments, &comment).await;
    assert_eq!(
        (&all["items"][0]["text"], &all["items"][0]["by"]),
        (&"To the world".into(), &"ann".into())
    );
    let wrong = json!({ "task": "T9", "text": "?" });
    is_problem(&ann.try_post(&comments, &wrong).await, 404);
    let made = ann.post(&format!("/runs/{run}/review"), &json!({ "script": AGAIN })).await;
    let next = made["run"].as_str().expect("an id");
    assert_ne!(next, run);
    assert_eq!(ann.over(next).await["status"], "done");
    assert_eq!(ann.get(&comments).await["items"], json!([]), "they were sent");
    assert_eq!(ann.get(&format!("/runs/{next}")).await["follows"], run.as_str());
    assert_eq!(ann.get("/runs").await["items"][0]["follows"], run.as_str());
    let diff = ann.get(&format!("/runs/{next}/diff")).await;
    assert!(diff.to_string().contains("hello, world"), "{diff}");
}

#[tokio::test]
async fn a_restart_in_the_middle_loses_nothing() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.run(GOAL, ASKS).await;
    let before = ann.until_asked(&run).await;
    let address = served.stop();
    let log = std::fs::read_to_string(place.path().join("serve.log")).expect("a log");
    assert!(log.contains(" INFO ") && !log.contains('\x1b'), "no colours in a file: {log}");
    let served = Served::with(&place, &address, &["--rate", "2000"]);
    assert_eq!(ann.get("/me").await["name"], "ann", "a token outlives the server");
    let inbox = ann.get("/questions").await;
    let asked = &inbox["items"][0];
    assert_eq!(
        (&asked["run"], &asked["text"]),
        (&run.as_str().into(), &"Which greeting is wanted?".into())
    );
    let at = before.last().expect("a line")["position"].to_string();
    let path = format!("/api/v1/events?run={run}");
    let mut stream = ann.client.stream(&path, &[("Last-Event-ID", &at)]).await.expect("a stream");
    let answer = format!("/runs/{run}/questions/{}/answer", asked["ids"][0]);
    assert_eq!(ann.post(&answer, &json!({ "text": "hello" })).await["delivered"], true);
    let mut lines = before;
    while lines.last().is_none_or(|line| line["event"] != "run.finished") {
        let event = stream.next().await.expect("an event").expect("the stream goes on");
        if event.event == "line" {
            assert_eq!(event.id, Some(event.json()["position"].to_string()));
            lines.push(event.json());
        }
    }
    assert_eq!(lines, ann.until(&run, "run.finished").await, "neither gap nor repetition");
    is_problem(&ann.try_post(&answer, &json!({ "text": "hello" })).await, 409);
    assert_eq!(ann.over(&run).await["status"], "done");
    drop(served);
}

/// Runs of a repository that is none of its projects are left to whoever started them.
#[tokio::test]
async fn a_server_that_was_killed_goes_on_with_its_runs() {
    let place = Place::new();
    repository(&place, PROJECT);
    repository(&place, "other");
    let go = place.path().join("go");
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let runs =
        [ann.run(GOAL, &held(&go)).await, ann.run("Write hello to greeting.txt", &held(&go)).await];
    let body = json!({ "project": "other", "goal": GOAL, "script": held(&go) });
    let others = ann.post("/runs", &body).await["run"].as_str().expect("an id").to_owned();
    for run in runs.iter().chain([&others]) {
        ann.until(run, "plan.adopted").await;
    }
    let address = served.kill();
    assert!(place.run(&["project", "remove", "other"]).status.success());
    std::fs::write(&go, "").expect("a file");
    let served = Served::with(&place, &address, &["--rate", "2000"]);
    for run in &runs {
        assert_eq!(ann.over(run).await["status"], "done");
    }
    let log = std::fs::read_to_string(place.path().join("serve.log")).expect("a log");
    let resumed = |run: &str| log.contains(&format!("resumed run={run}"));
    assert!(runs.iter().all(|run| resumed(run)) && !resumed(&others), "{log}");
    drop(served);
}

#[tokio::test]
async fn a_run_is_paused_resumed_and_cancelled() {
    let place = Place::new();
    repository(&place, PROJECT);
    let go = place.path().join("go");
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.run(GOAL, &held(&go)).await;
    ann.until(&run, "plan.adopted").await;
    let paused = ann.post(&format!("/runs/{run}/pause"), &json!({})).await;
    assert_eq!((&paused["paused"], &paused["state"]), (&true.into(), &"paused".into()), "{paused}");
    let address = served.stop();
    let served = Served::with(&place, &address, &["--rate", "2000"]);
    let still = ann.get(&format!("/runs/{run}")).await;
    assert_eq!(still["paused"], true, "a restart does not go on with what was paused");
    let resumed = ann.post(&format!("/runs/{run}/resume"), &json!({})).await;
    assert_eq!(resumed["paused"], false, "{resumed}");
    std::fs::write(&go, "").expect("a file");
    assert_eq!(ann.over(&run).await["status"], "done");
    is_problem(&ann.try_post(&format!("/runs/{run}/pause"), &json!({})).await, 409);
    let other = ann.run(GOAL, &held(&place.path().join("never"))).await;
    ann.until(&other, "plan.adopted").await;
    let why = json!({ "reason": "not today" });
    let cancelled = ann.post(&format!("/runs/{other}/cancel"), &why).await;
    assert_eq!(cancelled["view"]["status"], "cancelled", "{cancelled}");
    let lines = ann.get(&format!("/runs/{other}/events?limit=500")).await.to_string();
    assert!(lines.contains("not today") && lines.contains("ann"), "who did it and why");
    is_problem(&ann.try_post(&format!("/runs/{other}/cancel"), &why).await, 409);
    drop(served);
}

#[tokio::test]
async fn a_plan_waits_for_its_approval() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let wanted = json!({
        "project": PROJECT, "goal": GOAL, "script": TWO_TASKS, "approve_plan": true,
    });
    let run = ann.post("/runs", &wanted).await["run"].as_str().expect("an id").to_owned();
    ann.until_asked(&run).await;
    let asked = ann.get("/questions").await["items"][0].clone();
    assert_eq!((&asked["run"], &asked["rule"]), (&run.as_str().into(), &"plan.approval".into()));
    assert!(asked["text"].to_string().contains("Write the farewell"), "the plan: {asked}");
    let plan = ann.get(&format!("/runs/{run}/plan")).await;
    assert_eq!(plan["tasks"].as_array().map(Vec::len), Some(2), "it can be looked at: {plan}");
    ann.post(&format!("/runs/{run}/plan/approve"), &json!({})).await;
    assert_eq!(ann.over(&run).await["status"], "done");
    is_problem(&ann.try_post(&format!("/runs/{run}/plan/approve"), &json!({})).await, 409);
    let run = ann.post("/runs", &wanted).await["run"].as_str().expect("an id").to_owned();
    ann.until_asked(&run).await;
    ann.post(&format!("/runs/{run}/plan/reject"), &json!({})).await;
    assert_ne!(ann.over(&run).await["status"], "done");
}

#[tokio::test]
async fn a_conversation_is_held_over_the_api() {
    const TALK: &str = r#"
[[attempt]]
role = "solo"
[[attempt.reply]]
say = "What should it say?"
[[attempt.reply]]
call = { tool = "ask_user", question = "In which language?" }
[[attempt.reply]]
say = "Then it says ahoj."
"#;
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let wanted = json!({ "project": PROJECT, "text": "Write a greeting", "script": TALK });
    let id = ann.post("/sessions", &wanted).await["run"].as_str().expect("an id").to_owned();
    ann.until(&id, "model.replied").await;
    is_problem(&ann.try_get(&format!("/runs/{id}")).await, 404);
    ann.post(&format!("/sessions/{id}/input"), &json!({ "text": "Something short" })).await;
    let asked = ann.until(&id, "question.asked").await;
    let asked = asked.last().expect("a line")["data"]["question"].clone();
    let answer = json!({ "question": asked, "text": "Czech" });
    ann.post(&format!("/sessions/{id}/answer"), &answer).await;
    ann.until(&id, "question.answered").await;
    // Closing does not wait for anything, so the last reply is awaited first.
    let said = |lines: &Value| lines.to_string().contains("Then it says ahoj.");
    let replied = ann.until_line(&id, |line| line["event"] == "model.replied" && said(line)).await;
    assert!(replied.iter().any(|line| line["event"] == "session.told"), "{replied:?}");
    let told = ann.get(&format!("/sessions/{id}/transcript")).await.to_string();
    assert!(told.contains("Something short") && told.contains("ahoj"), "{told}");
    let closed = ann.client.send("DELETE", &format!("/api/v1/sessions/{id}"), &[], None).await;
    assert!(matches!(closed.expect("a reply").status, 200 | 204));
    ann.until(&id, "session.ended").await;
    let sessions = ann.get("/sessions").await;
    assert_eq!(sessions["items"][0]["run"], id.as_str(), "{sessions}");
}

#[tokio::test]
async fn a_request_sent_again_with_its_key_starts_nothing_again() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let body = json!({ "project": PROJECT, "goal": GOAL, "script": ASKS }).to_string();
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", "k-1")];
    let first = ann.client.send("POST", "/api/v1/runs", &headers, Some(&body)).await;
    let first = first.expect("a reply");
    assert_eq!(first.status, 201, "{}", first.text());
    let address = served.stop();
    let served = Served::with(&place, &address, &["--rate", "2000"]);
    let again = ann.client.send("POST", "/api/v1/runs", &headers, Some(&body)).await;
    let again = again.expect("a reply");
    assert_eq!((again.status, again.json()), (200, first.json()));
    let other = body.replace("farewell", "goodbye");
    let other = ann.client.send("POST", "/api/v1/runs", &headers, Some(&other)).await;
    is_problem(&other.expect("a reply"), 422);
    assert_eq!(ann.get("/runs").await["items"].as_array().map(Vec::len), Some(1));
    drop(served);
}
