//! Access to the API of the real server, and what is rejected: roles, projects, secrets, too many requests, other
//! sites, and requests that cannot be carried out.

use serde_json::{Map, Value, json};

use crate::binary::{Place, stderr};
use crate::serve::is_problem;
use crate::served::{ASKS, Api, GOAL, PROJECT, Served, TWO_TASKS, held, repository};

#[tokio::test]
async fn users_see_their_own_projects_and_do_what_their_role_allows() {
    let place = Place::new();
    repository(&place, PROJECT);
    repository(&place, "dock");
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let vic = served.user(&place, "vic", &["--role", "viewer", "--project", PROJECT]);
    let otto = served.user(&place, "otto", &["--role", "operator", "--project", "dock"]);
    let run = ann.run(GOAL, ASKS).await;
    ann.until_asked(&run).await;
    assert_eq!(vic.get(&format!("/runs/{run}")).await["view"]["status"], "waiting");
    assert_eq!(vic.get("/questions").await["items"].as_array().map(Vec::len), Some(1));
    let answer = format!("/runs/{run}/questions/0/answer");
    let body = json!({ "project": PROJECT, "goal": GOAL, "script": ASKS });
    is_problem(&vic.try_post(&answer, &json!({ "text": "hello" })).await, 403);
    is_problem(&vic.try_post("/runs", &body).await, 403);
    is_problem(&vic.try_get("/users").await, 403);
    for path in ["", "/graph", "/diff", "/events", "/why", "/comments", "/tasks/T1"] {
        is_problem(&otto.try_get(&format!("/runs/{run}{path}")).await, 404);
    }
    is_problem(&otto.try_post(&answer, &json!({ "text": "hello" })).await, 404);
    is_problem(&otto.try_post(&format!("/runs/{run}/cancel"), &json!({})).await, 404);
    is_problem(&otto.try_post("/runs", &body).await, 422);
    is_problem(&otto.try_post("/users", &json!({ "name": "eve", "role": "admin" })).await, 403);
    for list in ["/runs", "/questions", "/sessions"] {
        assert_eq!(otto.get(list).await["items"], json!([]), "{list}");
    }
    assert_eq!(otto.get("/projects").await["items"].as_array().map(Vec::len), Some(1));
    let mut stream = otto.client.stream("/api/v1/events?after=0", &[]).await.expect("a stream");
    let wanted = json!({ "project": "dock", "goal": GOAL, "script": TWO_TASKS });
    let probe = held(&place.path().join("secret"));
    let run = json!({ "project": "dock", "goal": GOAL, "script": probe });
    is_problem(&otto.try_post("/runs", &run).await, 403);
    let talk = json!({ "project": "dock", "text": "Hello", "script": probe });
    is_problem(&otto.try_post("/sessions", &talk).await, 403);
    let own = otto.post("/runs", &wanted).await["run"].clone();
    no_route_takes_a_script_that_waits(&otto, &own, &probe).await;
    loop {
        let event = stream.next().await.expect("an event").expect("the stream goes on");
        let line = event.json();
        assert!(event.event != "line" || line["run"] == own, "of another project: {line}");
        if line["event"] == "run.finished" {
            break;
        }
    }
    let removed = place.run(&["user", "remove", "vic"]);
    assert!(removed.status.success(), "{}", stderr(&removed));
    is_problem(&vic.try_get("/me").await, 401);
}

/// Every route whose body may have a script is in the API's own document, so a new one is tried here, too.
async fn no_route_takes_a_script_that_waits(user: &Api, run: &Value, probe: &str) {
    let document = user.get("/openapi.json").await;
    let values = json!({ "project": "dock", "goal": GOAL, "text": "Hello", "script": probe });
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let Some(body) = methods.pointer("/post/requestBody/content/application~1json/schema")
        else {
            continue;
        };
        let name = body["$ref"].as_str().and_then(|name| name.strip_prefix('#'));
        let schema = name.and_then(|name| document.pointer(name)).unwrap_or(body);
        let fields = schema["properties"].as_object().cloned().unwrap_or_default();
        if !fields.contains_key("script") {
            continue;
        }
        let known = values.as_object().expect("values").iter();
        let body: Value = known
            .filter(|(name, _)| fields.contains_key(*name))
            .map(pair)
            .collect::<Map<_, _>>()
            .into();
        let path = path.replace("{run}", run.as_str().expect("an id"));
        let reply = user.client.post(&path, &body).await.expect("a reply");
        is_problem(&reply, 403);
        tried += 1;
    }
    assert!(tried >= 4, "only {tried} routes take a script");
}

fn pair((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

/// What is said in a shared conversation is recorded as said by whoever said it.
#[tokio::test]
async fn words_in_a_shared_conversation_are_those_of_the_one_who_sent_them() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let otto = served.user(&place, "otto", &["--role", "operator"]);
    let script = "[[attempt]]\nrole = \"solo\"\n[[attempt.reply]]\nsay = \"Hello.\"\n[[attempt.reply]]\nsay = \"Again.\"\n";
    let wanted = json!({ "project": PROJECT, "text": "first words", "script": script });
    let talk = ann.post("/sessions", &wanted).await["run"].as_str().expect("an id").to_owned();
    ann.until(&talk, "model.replied").await;
    otto.post(&format!("/sessions/{talk}/input"), &json!({ "text": "other words" })).await;
    let told = |line: &Value| line["event"] == "session.told" && line.to_string().contains("other");
    let lines = ann.until_line(&talk, told).await;
    let last = lines.last().expect("a line").to_string();
    assert!(last.contains("otto") && !last.contains("ann"), "{last}");
}

#[tokio::test]
async fn nobody_gets_anything_without_a_right_secret() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::with(&place, "127.0.0.1:0", &[]);
    let ann = served.admin(&place);
    let nobody = served.nobody();
    for path in ["/me", "/runs", "/questions", "/events", "/ws", "/health", "/openapi.json"] {
        let reply = nobody.get(&format!("/api/v1{path}")).await.expect("a reply");
        is_problem(&reply, 401);
    }
    let page = nobody.get("/").await.expect("a reply");
    assert_eq!(page.status, 401);
    assert!(page.text().contains("Token") && !page.text().contains("app.js"), "asks for a token");
    let path = served.link.strip_prefix(served.url()).expect("a path").to_owned();
    let first = served.log_in().await;
    assert_eq!((first.status, first.header("location")), (303, Some("/")));
    let cookie = first.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(nobody.get(&path).await.expect("a reply").status, 401, "a link works once");
    let mut refused = 0;
    while refused < 40 {
        let wrong = nobody.with_token("wrong").get("/api/v1/me").await.expect("a reply");
        refused += 1;
        if wrong.status == 429 {
            is_problem(&wrong, 429);
            assert!(wrong.header("retry-after").is_some());
            break;
        }
        is_problem(&wrong, 401);
    }
    assert!(refused < 40, "guessing is slowed down");
    assert_eq!(ann.get("/me").await["role"], "admin", "and nobody else is");
}

#[tokio::test]
async fn a_user_who_sends_too_much_is_told_when_to_come_back() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::with(&place, "127.0.0.1:0", &["--rate", "1"]);
    let ann = served.admin(&place);
    let ben = served.user(&place, "ben", &[]);
    let mut last = ann.try_get("/me").await;
    for _ in 0..20 {
        if last.status == 429 {
            break;
        }
        last = ann.try_get("/me").await;
    }
    is_problem(&last, 429);
    assert!(last.header("retry-after").and_then(|wait| wait.parse::<u64>().ok()).is_some());
    assert_eq!(ben.try_get("/me").await.status, 200, "everybody has their own limit");
}

#[tokio::test]
async fn a_request_from_another_site_is_refused_whatever_it_carries() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let nobody = served.nobody();
    let logged = served.log_in().await;
    let cookie = logged.header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let own = ("Cookie", cookie.as_str());
    let me = nobody.send("GET", "/api/v1/me", &[own], None).await.expect("a reply");
    assert_eq!(me.json()["name"], "owner");
    let rebound =
        format!("rebound.example:{}", served.address().rsplit(':').next().expect("a port"));
    for (headers, status) in [
        (vec![own, ("Host", rebound.as_str())], 421),
        (vec![own, ("Host", served.address()), ("Host", rebound.as_str())], 400),
        (vec![own, ("Origin", "http://evil.example")], 403),
        (vec![own, ("Origin", "null")], 403),
        (vec![own, ("Sec-Fetch-Site", "cross-site")], 403),
        (vec![own, ("Sec-Fetch-Site", "same-site")], 403),
    ] {
        for path in ["/api/v1/me", "/api/v1/events", "/api/v1/ws", "/page/app.js"] {
            let upgrade = [
                ("Connection", "Upgrade"),
                ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ];
            let more = if path.ends_with("ws") { &upgrade[..] } else { &[] };
            let all = [&headers[..], more].concat();
            let reply = nobody.send("GET", path, &all, None).await.expect("a reply");
            is_problem(&reply, status);
            assert!(reply.header("access-control-allow-origin").is_none());
        }
    }
    // A link followed from another site leads to the page, which then requests itself with the strict cookie.
    let (site, mode) = (("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"));
    for (dest, status) in [("document", 200), ("iframe", 403)] {
        let from = [site, mode, ("Sec-Fetch-Dest", dest)];
        let reply = nobody.send("GET", "/runs/r_1a2b", &from, None).await.expect("a reply");
        assert_eq!((reply.status, reply.text().contains("refresh")), (status, status == 200));
        let api = nobody.send("GET", "/api/v1/me", &from, None).await.expect("a reply");
        is_problem(&api, 403);
    }
    let body = json!({ "project": PROJECT, "goal": GOAL, "script": TWO_TASKS }).to_string();
    // A form can send a cookie, but no custom header and no JSON.
    let form = [own, ("Content-Type", "text/plain")];
    let reply = nobody.send("POST", "/api/v1/runs", &form, Some(&body)).await.expect("a reply");
    is_problem(&reply, 403);
    let ours = [own, ("Content-Type", "application/json"), ("X-Bosun", "1")];
    let reply = nobody.send("POST", "/api/v1/runs", &ours, Some(&body)).await.expect("a reply");
    assert_eq!(reply.status, 201, "the page itself may: {}", reply.text());
}

#[tokio::test]
async fn what_cannot_be_carried_out_is_a_problem_with_the_id_of_its_request() {
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let named = [("X-Request-Id", "mine-1")];
    let reply = ann.client.send("GET", "/api/v1/runs/r_nothing", &named, None).await;
    assert_eq!(is_problem(&reply.expect("a reply"), 404)["request_id"], "mine-1");
    is_problem(&ann.try_get("/no/such/thing").await, 404);
    is_problem(&ann.try_get("/runs?limit=many").await, 400);
    is_problem(&ann.try_get("/runs?cursor=wrong").await, 400);
    is_problem(&ann.try_post("/runs", &json!({ "project": PROJECT, "wish": 1 })).await, 422);
    is_problem(&ann.try_post("/runs", &json!({ "project": PROJECT })).await, 422);
    is_problem(&ann.try_post("/runs", &json!({ "project": "none", "goal": "x" })).await, 422);
    let long = json!({ "project": PROJECT, "goal": "x ".repeat(200_000) });
    is_problem(&ann.try_post("/runs/preview", &long).await, 422);
    is_problem(&ann.try_post("/runs", &long).await, 422);
    let json_type = [("Content-Type", "application/json")];
    for (headers, body, status) in [
        (&json_type[..], "{broken".to_owned(), 400),
        (&[], "{}".to_owned(), 415),
        (&json_type[..], format!("{{\"goal\": \"{}\"}}", "x".repeat(20_000_000)), 413),
    ] {
        match ann.client.send("POST", "/api/v1/runs", headers, Some(&body)).await {
            Ok(reply) => drop(is_problem(&reply, status)),
            // A server may close the connection if a request is too large.
            Err(_) => assert_eq!(status, 413),
        }
    }
    let reply = ann.client.send("PUT", "/api/v1/runs", &[], None).await.expect("a reply");
    is_problem(&reply, 405);
    assert!(reply.header("allow").is_some_and(|methods| methods.contains("POST")), "{reply:?}");
    let reply = served.nobody().get("/api/v1/runs").await.expect("a reply");
    is_problem(&reply, 401);
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
}
