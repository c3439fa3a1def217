//! The page in a real browser, with the real server and scripted runs: a user starts a run and watches it, answers,
//! comments, replays, reloads, and returns after a restart.

use serde_json::json;
use testkit::browser::Browser;

use crate::binary::Place;
use crate::looked::{Looked, can_be_had};
use crate::served::{ASKS, GOAL, PROJECT, Served, TWO_TASKS, held, repository};
use crate::settle::{TESTED, TESTED_GOAL, runs_a_folder_of_tests};

/// Path of a page about a run.
fn of(run: &str, part: &str) -> String {
    format!("/runs/{run}{part}")
}

#[tokio::test]
async fn a_run_is_started_on_the_page_watched_to_its_end_and_accepted() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    let repo = repository(&place, PROJECT);
    let served = Served::start(&place);
    let looked = Looked::by_link(&served).await;
    looked.sees("No open questions").await;
    looked.press("g").await;
    looked.press("n").await;
    // The goal last: a preview without a model would be refused.
    looked.click("details.new-more summary").await;
    looked.fill("#script, [name=script]", TWO_TASKS).await;
    looked.fill("#text, [name=text]", GOAL).await;
    // The verdict of the rules, before anything is spent.
    looked.sees("Admitted").await;
    looked.sees("intake.").await;
    looked.click("button[type=submit]").await;
    looked.until("/^\\/runs\\/r_/.test(location.pathname)").await;
    looked.sees("Write the farewell").await;
    looked.until("document.querySelector('.graph .node.s-finished[href$=\"/tasks/T2\"]')").await;
    looked.sees("Accept").await;
    looked.press("a").await;
    looked.until("document.querySelector('dialog[open]')").await;
    looked.click_on("Accept").await;
    looked.sees("accepted").await;
    assert_eq!(std::fs::read_to_string(repo.join("greeting.txt")).expect("a file"), "hello\n");
    looked.is_quiet();
}

#[tokio::test]
async fn a_question_is_answered_in_the_inbox_after_a_reload_and_a_restart() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let looked = Looked::by_link(&served).await;
    looked.sees("No open questions").await;
    let run = ann.run(GOAL, ASKS).await;
    // It appears without a reload.
    looked.sees("Which greeting is wanted?").await;
    looked.until("document.title.startsWith('(1)')").await;
    looked.page.reload().await.expect("the same page");
    looked.sees("Which greeting is wanted?").await;
    looked.is_quiet();
    let address = served.stop();
    looked.until("!document.querySelector('.connection.live')").await;
    let served = Served::with(&place, &address, &["--rate", "2000"]);
    looked.until("document.querySelector('.connection.live')").await;
    // Console errors are expected while the server is down.
    looked.page.complaints();
    looked.fill(".question textarea", "hello").await;
    looked.press("Enter").await;
    looked.sees("No open questions").await;
    looked.go(&of(&run, "")).await;
    looked.until("document.querySelector('.graph .node.s-finished[href$=\"/tasks/T1\"]')").await;
    looked.is_quiet();
    assert_eq!(ann.over(&run).await["status"], "done");
    drop(served);
}

#[tokio::test]
async fn a_browser_notifies_of_questions_and_ends_once_it_was_told_to() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let looked = Looked::by_link(&served).await;
    looked.sees("No open questions").await;
    // Replaces the desktop, which a headless browser lacks, and puts the page into the background.
    let desktop = "(() => { window.told = []; window.Notification = class { \
        constructor(title, { body }) { told.push(body) } \
        static permission = 'granted'; static requestPermission = async () => 'granted' }; \
        Object.defineProperty(document, 'hidden', { get: () => true }); return true })()";
    looked.until(desktop).await;
    let before = ann.run(GOAL, ASKS).await;
    looked.sees("Which greeting is wanted?").await;
    looked.until("told.length === 0").await;
    looked.click("#side button[title^=Notifications]").await;
    looked.until("document.querySelector('#side button[aria-pressed=true]')").await;
    let after = ann.run(GOAL, &ASKS.replace("Which greeting", "Which farewell")).await;
    looked.until("told.includes('2 questions wait for you')").await;
    for run in [&before, &after] {
        ann.post(&format!("/runs/{run}/questions/0/answer"), &json!({ "text": "hello" })).await;
    }
    looked.until(&format!("told.some((text) => text.includes('{after} ended'))")).await;
    looked.is_quiet();
}

#[tokio::test]
async fn a_comment_on_a_line_of_the_diff_becomes_a_run_that_follows() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.done(GOAL, TWO_TASKS).await;
    let looked = Looked::by_link(&served).await;
    looked.go(&of(&run, "/review?task=T1")).await;
    looked.sees("greeting.txt").await;
    looked.click(".diff-line.add button.line-comment").await;
    looked.fill(".comment-form textarea", "Say hello to the world").await;
    looked.click(".comment-form button[type=submit]").await;
    looked.until("document.querySelector('.diff-body .comment:not(.comment-form) p')").await;
    looked.page.reload().await.expect("the same page");
    looked.sees("Say hello to the world").await;
    looked.click_on("follow-up").await;
    looked.until("document.querySelector('dialog[open]')").await;
    looked.click("dialog[open] button.primary, dialog[open] button[type=submit]").await;
    looked
        .until(&format!(
            "/^\\/runs\\/r_/.test(location.pathname) && !location.pathname.includes({run:?})"
        ))
        .await;
    looked.sees("Say hello to the world").await;
    looked.is_quiet();
    assert_eq!(ann.get("/runs").await["items"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn the_tests_that_a_result_passed_are_added_on_the_page_once_it_is_accepted() {
    let place = Place::new();
    let repo = repository(&place, PROJECT);
    runs_a_folder_of_tests(&place, &repo);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.done(TESTED_GOAL, TESTED).await;
    let tests = format!("/runs/{run}/tests");
    let refused = ann.try_post(&tests, &json!({})).await;
    assert_eq!(refused.status, 409, "the result is not accepted yet");
    let test = repo.join("tests/acceptance_greet.sh");
    if can_be_had() {
        let looked = Looked::by_link(&served).await;
        looked.go(&of(&run, "/review")).await;
        looked.sees("Tests by another author").await;
        looked.sees("tests/acceptance_greet.sh").await;
        looked.sees("once the result is accepted").await;
        ann.post(&format!("/runs/{run}/accept"), &json!({})).await;
        assert!(!test.exists(), "they are not part of the result");
        looked.page.reload().await.expect("the same page");
        looked.click_on("Add them to your branch").await;
        looked.until("document.querySelector('dialog[open]')").await;
        looked.click("dialog[open] button.primary, dialog[open] button[type=submit]").await;
        looked.sees("1 test file on your branch").await;
        looked.is_quiet();
        assert!(test.exists());
    } else {
        ann.post(&format!("/runs/{run}/accept"), &json!({})).await;
    }
    let added = ann.post(&tests, &json!({})).await;
    assert_eq!(added["files"], json!(["tests/acceptance_greet.sh"]), "{added}");
    assert!(test.exists());
}

#[tokio::test]
async fn the_page_shows_why_a_gate_opened_and_any_line_of_the_log() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.done(GOAL, TWO_TASKS).await;
    let last = ann.get(&format!("/runs/{run}")).await["last"].as_u64().expect("a line");
    let looked = Looked::by_link(&served).await;
    looked.go(&of(&run, "/gate")).await;
    looked.sees("gate.").await;
    looked.sees("of 100").await;
    looked.go(&of(&run, "/why")).await;
    looked.sees("intake.").await;
    looked.go(&of(&run, "/replay")).await;
    looked.until(&format!("document.querySelector('input[type=range]').max === '{last}'")).await;
    looked.click("input[type=range]").await;
    looked.until("Number(new URLSearchParams(location.search).get('at')) > 1").await;
    looked.press("Home").await;
    looked.until("new URLSearchParams(location.search).get('at') === '1'").await;
    looked.sees("run.requested").await;
    looked.press("ArrowRight").await;
    looked.until("new URLSearchParams(location.search).get('at') === '2'").await;
    // The overview shows the state at that line, too: the plan is still to be made.
    looked.press("[").await;
    looked.until("!location.pathname.endsWith('/replay') && location.search === '?at=2'").await;
    looked.go(&of(&run, "?at=2")).await;
    looked.sees("make the plan").await;
    looked.press("l").await;
    looked.until("location.search === ''").await;
    looked.sees("Write the farewell").await;
    for part in ["/timeline", "/money", "/spec", "/proof", "/review", "/tasks/T1"] {
        looked.go(&of(&run, part)).await;
        looked.until("document.querySelector('#main').innerText.length > 60").await;
        looked.until("!document.querySelector('#main .skeleton')").await;
        let text = looked.page.text().await.expect("a text");
        assert!(!text.contains("Error") && !text.contains("went wrong"), "{part}: {text}");
    }
    looked.is_quiet();
}

#[tokio::test]
async fn a_run_is_paused_and_resumed_on_the_page_and_a_reload_loses_nothing() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let go = place.path().join("go");
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let looked = Looked::by_link(&served).await;
    let run = ann.run(GOAL, &held(&go)).await;
    ann.until(&run, "plan.adopted").await;
    looked.go(&of(&run, "")).await;
    looked.sees("Write the greeting").await;
    looked.click_on("Pause").await;
    looked.sees("Resume").await;
    looked.page.reload().await.expect("the same page");
    looked.sees("paused").await;
    looked.click_on("Resume").await;
    looked.sees("Pause").await;
    std::fs::write(&go, "").expect("a file");
    looked.until("document.querySelector('.graph .node.s-finished[href$=\"/tasks/T1\"]')").await;
    looked.is_quiet();
    let other = ann.run(GOAL, &held(&place.path().join("never"))).await;
    ann.until(&other, "plan.adopted").await;
    looked.go(&of(&other, "")).await;
    looked.click_on("Cancel").await;
    looked.fill("dialog[open] input", "not today").await;
    looked.click_on("Cancel the run").await;
    looked.sees("cancelled").await;
    looked.sees("not today").await;
    looked.is_quiet();
}

#[tokio::test]
async fn a_page_can_follow_the_stream_over_a_web_socket() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.done(GOAL, TWO_TASKS).await;
    let lines = ann.until(&run, "run.finished").await;
    let looked = Looked::by_link(&served).await;
    let script = format!(
        "new Promise((done, broken) => {{ const seen = []; const ws = new WebSocket(`ws://${{location.host}}/api/v1/ws`); \
         ws.onopen = () => ws.send(JSON.stringify({{ subscribe: {{ after: 0, run: {run:?} }} }})); \
         ws.onerror = () => broken(new Error('closed')); \
         ws.onmessage = (message) => {{ const one = JSON.parse(message.data); if (one.type === 'line') seen.push(one); \
         if (one.event === 'run.finished' || one.line?.event === 'run.finished') {{ ws.close(); done(seen.length); }} }}; }})"
    );
    assert_eq!(
        looked.eval(&script).await,
        json!(lines.len()),
        "the same lines as over the other stream"
    );
    looked.is_quiet();
}

#[tokio::test]
async fn two_people_see_what_is_theirs_and_may_do_what_their_role_allows() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    repository(&place, "dock");
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let run = ann.run(GOAL, ASKS).await;
    ann.until_asked(&run).await;
    let browser = Browser::start().await.expect("a browser");
    let vic = served.user(&place, "vic", &["--role", "viewer", "--project", PROJECT]);
    let otto = served.user(&place, "otto", &["--role", "operator", "--project", "dock"]);
    let viewer = Looked::by_token(&browser, &served, &vic).await;
    viewer.sees("Which greeting is wanted?").await;
    viewer.sees("Your role is read-only.").await;
    viewer.until("![...document.querySelectorAll('.place')].some((one) => /New run|Users/.test(one.textContent))").await;
    viewer.go(&of(&run, "")).await;
    viewer.sees("Write the greeting").await;
    viewer.until("!document.querySelector('.actions button')").await;
    viewer.is_quiet();
    let operator = Looked::by_token(&browser, &served, &otto).await;
    operator.sees("No open questions").await;
    operator.is_quiet();
    operator.page.open(&format!("{}/runs/{run}", served.url())).await.expect("an address");
    operator.sees("Not Found").await;
    let text = operator.page.text().await.expect("a text");
    assert!(!text.contains("greeting"), "{text}");
}

#[tokio::test]
async fn a_wrong_token_opens_nothing() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let browser = Browser::start().await.expect("a browser");
    let page = browser.page().await.expect("a tab");
    page.open(&format!("{}/?token=wrong", served.url())).await.expect("the page");
    page.wait_for("Token").await.expect("a field for a token");
    page.fill("#token", "also wrong").await.expect("a field");
    page.key("Enter").await.expect("a key");
    page.wait_until("location.pathname === '/login'").await.expect("the form is sent");
    page.wait_for("Token").await.expect("it is asked for again");
    assert!(page.cookies(served.url()).await.expect("cookies").is_empty());
    let status = page.eval("fetch('/api/v1/runs').then((answer) => answer.status)").await;
    assert_eq!(status.expect("a status"), 401);
    let looked = Looked::by_token(&browser, &served, &ann).await;
    looked.sees("No open questions").await;
    let cookies = looked.page.cookies(served.url()).await.expect("cookies");
    assert_eq!(
        (&cookies[0]["httpOnly"], &cookies[0]["sameSite"]),
        (&true.into(), &"Strict".into())
    );
    assert_eq!(looked.eval("document.cookie").await, "", "no script can read it");
    looked.is_quiet();
}
