//! Misbehaving servers, from the list `shared/attacks/provider-faults.jsonl` above this crate, if there is
//! one. Every case ends in the right reply or the right fault. Cases about the loop above a model (tools,
//! budgets, runs) are checked there and skipped here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use llm::{Dialect, Http, Model, Provider, Quirks, Registry, Settings};
use serde_json::{Value, json};
use types::{
    AttemptId, Fault, Message, Millis, ModelOptions, ModelReply, ModelRequest, Origin, RoleId,
    SessionId, TaskId,
};

use crate::server::Server;

/// Cases that only the loop above a model can handle, or that have a test of their own.
const NOT_OURS: &[&str] = &[
    "PF-071", "PF-078", "PF-090", "PF-091", "PF-092", "PF-094", "PF-095", "PF-096", "PF-097",
    "PF-098", "PF-105", "PF-110", "PF-113", "PF-132", "PF-133", "PF-135", "PF-136", "PF-139",
    "PF-140", "PF-142",
];

const SETTINGS: &str = r"
[retry]
max_tries = 3
base_ms = 100
longest_wait_ms = 5000
[deadlines]
connect_ms = 1000
first_byte_ms = 2000
idle_ms = 2000
total_ms = 30000
";

fn vectors() -> Option<Vec<Value>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file: Option<PathBuf> = here
        .ancestors()
        .map(|up| up.join("shared/attacks/provider-faults.jsonl"))
        .find(|path| path.is_file());
    let Some(file) = file else {
        println!("SKIPPED: there is no shared/attacks above {}", here.display());
        return None;
    };
    let text = std::fs::read_to_string(file).expect("a file");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

fn dialect(vector: &Value) -> Dialect {
    let server = vector["server"].to_string();
    match vector["style"].as_str() {
        Some("openai") if server.contains("response.") => Dialect::Responses,
        Some("openai") => Dialect::Chat,
        Some("gemini" | "google") => Dialect::Gemini,
        _ => Dialect::Messages,
    }
}

/// An answer that says "ok" in the dialect.
fn ok(dialect: Dialect) -> Value {
    let body = match dialect {
        Dialect::Responses => {
            let part = json!({ "type": "output_text", "text": "ok" });
            let item = json!({ "type": "message", "content": [part] });
            json!({ "status": "completed", "output": [item] })
        }
        Dialect::Chat => {
            json!({ "choices": [{ "message": { "content": "ok" }, "finish_reason": "stop" }] })
        }
        Dialect::Gemini => {
            let content = json!({ "parts": [{ "text": "ok" }] });
            json!({ "candidates": [{ "content": content, "finishReason": "STOP" }] })
        }
        _ => json!({ "content": [{ "type": "text", "text": "ok" }], "stop_reason": "end_turn" }),
    };
    let headers = json!({ "content-type": "application/json" });
    json!({ "status": 200, "headers": headers, "body": body.to_string() })
}

fn attempts(vector: &Value) -> Vec<Value> {
    // One second more than the vector says: on a busy machine one passes before the server answers.
    let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3);
    let soon = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let attempts = vector["server"]["attempts"].as_array().cloned().unwrap_or_default();
    let attempts = attempts.into_iter().map(|attempt| match attempt {
        Value::String(_) => ok(dialect(vector)),
        attempt => {
            let text = attempt.to_string().replace("$HTTPDATE+2s", &soon);
            serde_json::from_str(&text).expect("JSON")
        }
    });
    attempts.collect()
}

pub(crate) fn http() -> Arc<Http> {
    Arc::new(Http::new(Millis::seconds(1)))
}

pub(crate) fn registry(http: Arc<Http>, dialect: Dialect, url: &str, settings: &str) -> Registry {
    let settings = Settings::parse(settings).expect("settings");
    let mut registry = Registry::new(settings, |_| None, http).expect("a registry");
    registry.add(Provider {
        name: "test".to_owned(),
        dialect,
        base_url: url.to_owned(),
        key: Some("sk-test-key".into()),
        headers: std::collections::BTreeMap::new(),
        quirks: Quirks::default(),
        auth: llm::Auth::default(),
        api_version: None,
    });
    registry
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest {
        model: "test/model".parse().expect("a model"),
        system: Arc::from("be brief"),
        messages: vec![Arc::new(Message::user("hi"))],
        tools: Arc::from([]),
        max_output: 1000,
        origin: Origin {
            role: RoleId::fixed("coder"),
            attempt: AttemptId::new(TaskId::plan(), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions::default(),
    }
}

struct Outcome {
    result: Result<ModelReply, Fault>,
    requests: Vec<(Instant, String)>,
    took: Duration,
    sink: Vec<(Instant, String)>,
}

async fn play(http: Arc<Http>, vector: &Value) -> Outcome {
    let sink = Server::start(vec![ok(Dialect::Messages)]).await;
    let port = sink.url.rsplit(':').next().expect("a port").to_owned();
    let attempts = attempts(vector).into_iter().map(|attempt| {
        let text =
            attempt.to_string().replace("other.test:$SINKPORT", &format!("127.0.0.1:{port}"));
        serde_json::from_str(&text).expect("JSON")
    });
    let server = Server::start(attempts.collect()).await;
    let url = match vector["server"]["attempts"][0]["pre"].as_str() {
        Some("nxdomain") => "http://nowhere.invalid:9".to_owned(),
        Some("tls_garbage") => server.url.replace("http:", "https:"),
        _ => server.url.clone(),
    };
    // Only one case is about the total deadline; the others need enough time on a busy machine.
    let endless = vector["server"].to_string().contains("repeat");
    let settings = SETTINGS.replace("30000", if endless { "3000" } else { "30000" });
    let registry = registry(http, dialect(vector), &url, &settings);
    let begin = Instant::now();
    let result = registry.complete(request(), |_| {}).await;
    let took = begin.elapsed();
    Outcome { result, requests: server.requests(), took, sink: sink.requests() }
}

fn wrong(check: &Value, outcome: &Outcome, resolves: bool) -> Option<String> {
    let tries = outcome.requests.len();
    let n = usize::try_from(check["n"].as_u64().unwrap_or(0)).expect("small");
    let wanted = check["text"].as_str().unwrap_or_default();
    let text = outcome.result.as_ref().map(ModelReply::text).unwrap_or_default();
    let error = outcome.result.as_ref().err().map(|fault| fault.what.clone()).unwrap_or_default();
    let good = match check["type"].as_str().unwrap_or_default() {
        "attempts" if resolves => tries == n,
        "attempts_max" | "requests_reaching_server_max" => tries <= n,
        "final_text" => text == wanted,
        "final_text_not_duplicated" => text.len() < 4,
        "text_lacks" => !text.contains(wanted),
        "error_has" => error.to_lowercase().contains(&wanted.to_lowercase()),
        // It must not hang; the time taken on a busy machine proves nothing.
        "wall_s_max" => outcome.took.as_secs_f64() <= check["s"].as_f64().unwrap_or(0.0) + 30.0,
        "delay_ms" => {
            let delay = outcome.requests[1].0 - outcome.requests[0].0;
            let bound = |key: &str| u128::from(check[key].as_u64().unwrap_or(0));
            // A busy machine is late but never early; exact waits are tested with a paused clock.
            (bound("min")..=bound("max") + 20_000).contains(&delay.as_millis())
        }
        "sink_lacks_header" => outcome.sink.is_empty(),
        "counter" => outcome.result.as_ref().is_ok_and(|reply| reply.provenance.skipped == 1),
        _ => true,
    };
    (!good)
        .then(|| format!("{check} after {tries} tries in {:?}: {:?}", outcome.took, outcome.result))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_misbehaviour_ends_in_the_right_reply_or_fault() {
    let Some(vectors) = vectors() else { return };
    let id = |vector: &Value| vector["id"].as_str().unwrap_or_default().to_owned();
    let ours = vectors.into_iter().filter(|one| !NOT_OURS.contains(&id(one).as_str()));
    // Cases with large bodies run last, so that they do not slow down the timed ones.
    let (large, usual): (Vec<Value>, Vec<Value>) =
        ours.partition(|one| ["PF-063", "PF-121"].contains(&id(one).as_str()));
    // Building a client reads all certificates of the machine, so all cases share one.
    let http = http();
    let mut wrongs = vec![];
    for cases in [usual, large] {
        let cases = cases.into_iter().map(|vector| tokio::spawn(judge(http.clone(), vector)));
        for case in cases.collect::<Vec<_>>() {
            wrongs.extend(case.await.expect("no panic"));
        }
    }
    assert!(wrongs.is_empty(), "{}", wrongs.join("\n"));
}

/// Failed checks of a case.
async fn judge(http: Arc<Http>, vector: Value) -> Vec<String> {
    let outcome = play(http, &vector).await;
    let pre = vector["server"]["attempts"][0]["pre"].as_str();
    let resolves = pre.is_none_or(|pre| !["nxdomain", "tls_garbage"].contains(&pre));
    let checks = vector["expected"]["checks"].as_array().cloned().unwrap_or_default();
    let mut wrongs: Vec<String> =
        checks.iter().filter_map(|check| wrong(check, &outcome, resolves)).collect();
    let behaviour = vector["expected"]["behaviour"].as_str().unwrap_or_default();
    if ["accept", "retry"].contains(&behaviour) != outcome.result.is_ok() {
        wrongs.push(format!("{behaviour} expected: {:?}", outcome.result));
    }
    wrongs.into_iter().map(|what| format!("{} {what:.600}", vector["id"])).collect()
}

/// A92: abort.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_a_stream_closes_the_connection() {
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n";
    let headers = json!({ "content-type": "text/event-stream" });
    let chunks = json!([start, { "repeat": [ping, 1_000_000] }]);
    let attempt = json!({ "status": 200, "headers": headers, "chunks": chunks, "end": "hang" });
    let server = Server::start(vec![attempt]).await;
    let registry = registry(http(), Dialect::Messages, &server.url, SETTINGS);
    let mut stream = registry.stream(Arc::new(request()));
    assert_eq!(stream.next().await, Some(types::StreamItem::Started));
    drop(stream);
    let dropped = Instant::now();
    let closed = tokio::time::timeout(Duration::from_secs(5), async {
        loop {
            if let Some(closed) = server.seen.lock().expect("a lock").closed {
                return closed;
            }
            tokio::task::yield_now().await;
        }
    });
    let closed = closed.await.expect("the server sees it");
    assert!(closed.duration_since(dropped) < Duration::from_millis(500));
}
