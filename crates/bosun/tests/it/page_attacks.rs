//! Attacks on the page in a real browser: pages of other origins, a rebound host name, and texts full of markup and
//! scripts from goals, replies and file names.

use serde_json::json;
use testkit::browser::{Browser, Page, REBOUND};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::binary::Place;
use crate::looked::{Looked, can_be_had};
use crate::served::{GOAL, PROJECT, Served, TWO_TASKS, repository};

/// Text that runs a script wherever it is interpreted as markup.
const MARKUP: &str = "<img src=x onerror=window.pwned=1><script>window.pwned=1</script><a href='javascript:pwned=1'>x</a>";

/// A site of another origin, with one page served at any path; returns its port.
#[expect(clippy::disallowed_methods, reason = "somebody else's site is part of the stage")]
async fn elsewhere() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            if stream.read(&mut request).await.unwrap_or(0) == 0 {
                continue;
            }
            let page = "<!doctype html><title>Elsewhere</title><p>Elsewhere";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
            let reply = format!("{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len());
            stream.write_all(reply.as_bytes()).await.ok();
        }
    });
    port
}

#[tokio::test]
async fn a_page_of_another_origin_learns_and_changes_nothing() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let looked = Looked::by_link(&served).await;
    looked.sees("No open questions").await;
    looked.is_quiet();
    let (page, target, port) = (&looked.page, served.url(), elsewhere().await);
    // The first is same-site for cookies, because ports do not count; the second is cross-site.
    for host in ["127.0.0.1", "localhost"] {
        visit(page, &format!("http://{host}:{port}/")).await;
        for script in [
            format!(
                "fetch('{target}/api/v1/me', {{ credentials: 'include' }}).then((a) => a.text())"
            ),
            format!(
                "fetch('{target}/api/v1/runs', {{ method: 'POST', credentials: 'include', \
                 headers: {{ 'x-bosun': '1', 'content-type': 'application/json' }}, \
                 body: JSON.stringify({{ project: '{PROJECT}', goal: 'Delete everything' }}) }}).then((a) => a.text())"
            ),
            format!(
                "new Promise((done, broken) => {{ const ws = new WebSocket('{}/api/v1/ws'); \
                 ws.onopen = () => done('open'); ws.onerror = () => broken(new Error('refused')); }})",
                target.replace("http", "ws")
            ),
            format!(
                "new Promise((done, broken) => {{ const script = document.createElement('script'); \
                 script.src = '{target}/page/theme.js'; script.onload = () => done('loaded'); \
                 script.onerror = () => broken(new Error('refused')); document.head.append(script); }})"
            ),
            format!(
                "new Promise((done, broken) => {{ const es = new EventSource('{target}/api/v1/events', {{ withCredentials: true }}); \
                 es.onopen = () => done('open'); es.onerror = () => broken(new Error('refused')); }})"
            ),
        ] {
            assert!(page.eval(&script).await.is_err(), "{host} could: {script}");
        }
        // A request whose response cannot be read may still have been executed.
        let blind = format!(
            "fetch('{target}/api/v1/runs', {{ method: 'POST', mode: 'no-cors', credentials: 'include', \
             body: JSON.stringify({{ project: '{PROJECT}', goal: {GOAL:?}, script: {TWO_TASKS:?} }}) }}).then((a) => a.type)"
        );
        page.eval(&blind).await.ok();
        // A form submission, which navigates away.
        let form = format!(
            "(() => {{ const form = document.createElement('form'); form.method = 'post'; form.enctype = 'text/plain'; \
             form.action = '{target}/api/v1/runs'; const field = document.createElement('input'); \
             field.name = '{{\"project\":\"{PROJECT}\",\"goal\":\"x\",\"a\":\"'; field.value = '\"}}'; form.append(field); \
             document.body.append(form); form.submit(); return true; }})()"
        );
        page.eval(&form).await.expect("the form is sent");
        page.wait_until(
            "document.body && document.body.innerText.includes('may not use this server')",
        )
        .await
        .expect("the form is refused");
    }
    // Embedding in a frame fails, too.
    visit(page, &format!("http://127.0.0.1:{port}/")).await;
    let frame = format!(
        "new Promise((done) => {{ const frame = document.createElement('iframe'); frame.src = '{target}/'; \
         frame.onload = () => done(frame.contentDocument === null); document.body.append(frame); }})"
    );
    assert_eq!(page.eval(&frame).await.expect("a frame"), true, "it is not readable");
    assert!(page.complaints().iter().any(|text| text.contains("frame")), "and it is not shown");
    assert_eq!(ann.get("/runs").await["items"], json!([]), "nothing was started");
}

/// Opens somebody else's page, and waits for it: what ends first may be the navigation of a form before.
async fn visit(page: &Page, url: &str) {
    page.open(url).await.expect("somebody else's page");
    let there = format!("location.href === '{url}' && document.readyState === 'complete'");
    page.wait_until(&there).await.expect("it is loaded");
}

#[tokio::test]
async fn a_rebound_host_name_gets_nothing() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let browser = Browser::start().await.expect("a browser");
    let page = browser.page().await.expect("a tab");
    let port = served.address().rsplit(':').next().expect("a port");
    page.open(&format!("http://{REBOUND}:{port}/")).await.expect("an answer");
    let text = page.text().await.expect("a text");
    assert!(text.contains("not reached under that name"), "{text}");
    let code = served.link.split_once('?').expect("a code").1;
    page.open(&format!("http://{REBOUND}:{port}/?{code}")).await.expect("an answer");
    assert!(page.cookies(&format!("http://{REBOUND}:{port}/")).await.expect("cookies").is_empty());
    let status = "fetch('/api/v1/health').then((answer) => answer.status)";
    assert_eq!(page.eval(status).await.expect("a status"), 421);
    // That did not use up the link.
    page.open(&served.link).await.expect("the page");
    page.click("form button").await.expect("the question is confirmed");
    page.wait_for("No open questions").await.expect("the inbox");
}

#[tokio::test]
async fn markup_in_goals_replies_and_file_names_is_shown_as_text() {
    if !can_be_had() {
        return;
    }
    let place = Place::new();
    repository(&place, PROJECT);
    let served = Served::start(&place);
    let ann = served.admin(&place);
    let name = "<img src=x onerror=window.pwned=2>.txt";
    let script = TWO_TASKS
        .replace("Write the farewell", &MARKUP.replace('"', "'"))
        .replace("farewell.txt", name)
        .replace("I write the greeting.", &MARKUP.replace('"', "'"))
        .replace("bye\\n", &format!("{}\\n", MARKUP.replace('"', "'")))
        .replace("summary = \"done\"", &format!("summary = {MARKUP:?}"));
    let goal = format!("Write hello to greeting.txt and explain {MARKUP} in a file");
    let run = ann.run(&goal, &script).await;
    let view = ann.over(&run).await;
    let comments = format!("/runs/{run}/comments");
    ann.try_post(&comments, &json!({ "task": "T1", "text": MARKUP })).await;
    let looked = Looked::by_link(&served).await;
    looked.go("/runs").await;
    looked.sees(MARKUP).await;
    for part in [
        "",
        "/tasks/T1",
        "/tasks/T2",
        "/review",
        "/timeline",
        "/gate",
        "/why",
        "/money",
        "/spec",
        "/proof",
        "/replay",
        "/replay?at=3",
    ] {
        looked.go(&format!("/runs/{run}{part}")).await;
        looked.sees("<script>window.pwned=1</script>").await;
        looked.until("!document.querySelector('#main .skeleton')").await;
        let found = "[window.pwned ?? null, document.querySelectorAll('#main script, #main img:not([src^=\"/page/\"]), \
                     #main iframe, #main [onerror], #main a[href^=\"javascript\"]').length]";
        assert_eq!(looked.eval(found).await, json!([null, 0]), "{part}");
    }
    looked.go(&format!("/runs/{run}/tasks/T1")).await;
    looked
        .until("document.querySelector('#main').innerText.split('window.pwned=1').length > 2")
        .await;
    assert_eq!(looked.eval("window.pwned ?? null").await, json!(null));
    looked.is_quiet();
    // An injected script would not run either.
    let inline = "(() => { const el = document.createElement('div'); el.innerHTML = '<img src=x onerror=window.pwned=3>'; \
                  document.body.append(el); const s = document.createElement('script'); s.textContent = 'window.pwned = 4'; \
                  document.body.append(s); return window.pwned ?? null; })()";
    assert_eq!(looked.eval(inline).await, json!(null), "the content security policy holds");
    looked.until("true").await;
    assert!(looked.page.complaints().iter().any(|text| text.contains("Content Security Policy")));
    assert_eq!(view["status"], "done", "{view}");
}
