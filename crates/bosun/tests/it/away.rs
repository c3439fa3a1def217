//! A model server that drops connections or is overloaded: requests are retried by rule. If that takes too long, the
//! work is paused with an exit code of its own, and continues with `bosun resume`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::sync::{Arc, Mutex};

use crate::binary::{Place, stderr, stdout};
use crate::stage::{repository, script};

const BUSY: &str = "HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
const HALF: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"All is\"}}]}\n\n";
const REST: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" well.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Answers one connection with each of these, and counts the connections.
#[expect(clippy::disallowed_methods, reason = "the server is part of the stage")]
fn serve(answers: Vec<String>) -> (String, Arc<Mutex<usize>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let served = Arc::new(Mutex::new(0));
    let count = served.clone();
    std::thread::spawn(move || {
        for answer in answers {
            let mut connection = asked(&listener);
            *count.lock().expect("a lock") += 1;
            connection.write_all(answer.as_bytes()).expect("an answer");
        }
    });
    (url, served)
}

/// The next connection with a request. The reachability probe before it is not a request.
fn asked(listener: &TcpListener) -> TcpStream {
    loop {
        let (mut connection, _) = listener.accept().expect("a connection");
        let (mut request, mut buffer) = (vec![], [0; 4096]);
        let is_look =
            |request: &[u8]| request.starts_with(b"GET ") && request.ends_with(b"\r\n\r\n");
        while !request.ends_with(b"}") && !is_look(&request) {
            let read = connection.read(&mut buffer).expect("a request");
            request.extend_from_slice(&buffer[..read]);
        }
        if !is_look(&request) {
            return connection;
        }
        connection.write_all(BUSY.as_bytes()).expect("an answer");
    }
}

/// The rules of a preset with this patience, and short waits.
fn rules(place: &Place, preset: &str, patience_ms: u32) -> String {
    let path = place.path().join("rules.toml");
    let text = format!(
        "extends = \"{preset}\"\nname = \"mine\"\nversion = 1\n[[model_failures]]\nid = \"mine.away\"\n\
         backoff_ms = 1\nunattended_ms = {patience_ms}\nreason = \"as we like it\"\n"
    );
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

fn solo(place: &Place, url: &str, patience_ms: u32) -> Output {
    let folder = place.path().join("work");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (folder, rules) = (folder.display().to_string(), rules(place, "solo", patience_ms));
    let words = ["run", "--policy", &rules, "--repo", &folder, "-m", "near/small", "How is it?"];
    asking(place, url, &words)
}

fn asking(place: &Place, url: &str, words: &[&str]) -> Output {
    let settings = place.path().join("models.toml");
    let text =
        format!("[providers.near]\ndialect = \"chat\"\nbase_url = \"{url}\"\nkey_needed = false\n");
    std::fs::write(&settings, text).expect("a file");
    place.command(words).env("BOSUN_MODELS", &settings).output().expect("the binary runs")
}

fn whole() -> String {
    format!("{HEAD}{HALF}{REST}")
}

#[test]
fn a_reply_that_breaks_off_and_a_busy_server_are_asked_again_and_shown() {
    let place = Place::new();
    let (url, served) = serve(vec![format!("{HEAD}{HALF}"), BUSY.to_owned(), whole()]);
    let output = solo(&place, &url, 60_000);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "All is well.\n");
    let told = stderr(&output);
    assert_eq!(told.matches("retrying in 1 s").count(), 2, "{told}");
    assert_eq!(*served.lock().expect("a lock"), 3);
}

#[test]
fn an_agent_whose_model_stays_away_is_paused_and_resumed() {
    let place = Place::new();
    let half = format!("{HEAD}{HALF}");
    let (url, served) = serve(vec![half, BUSY.to_owned(), whole()]);
    let output = solo(&place, &url, 0);
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    assert!(stderr(&output).contains("resume"), "{}", stderr(&output));
    assert_eq!(stdout(&output), "", "nothing of it is an answer");
    let output = asking(&place, &url, &["resume"]);
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    let output = asking(&place, &url, &["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "All is well.\n");
    assert_eq!(*served.lock().expect("a lock"), 3, "each time it was asked once");
    assert!(place.run(&["log", "--verify"]).status.success());
}

#[test]
fn a_crew_whose_model_stays_away_is_left_and_resumed_without_losing_an_attempt() {
    let place = Place::new();
    let fault =
        "fault = { class = \"transient\", code = \"model.overloaded\", what = \"it is busy\" }";
    let away = format!("role = \"coder\"\n[[attempt.reply]]\n{fault}\n");
    let script = script("greeting.txt", "hello\n").replace("role = \"coder\"\n", &away);
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, script) = repository(&place, &files, &script);
    let (repo, script) = (repo.display().to_string(), script.display().to_string());
    let rules = rules(&place, "crew", 0);
    let goal = "Write hello to greeting.txt";
    let words =
        ["run", "--policy", &rules, "--headless", "--repo", &repo, "--script", &script, goal];
    let output = place.run(&words);
    assert_eq!(output.status.code(), Some(75), "{}{}", stdout(&output), stderr(&output));
    assert!(stderr(&output).contains("it is busy"), "{}", stderr(&output));
    let output = place.run(&["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let log = stdout(&place.run(&["log"]));
    assert!(log.contains("T1.1 submitted") && !log.contains("T1.2"), "{log}");
}

/// Work that is paid for is not lost to a key that expires: the shipped policy pauses the run.
#[test]
fn a_crew_whose_key_is_refused_is_paused_and_resumed() {
    for code in ["model.authentication", "model.quota"] {
        let place = Place::new();
        let fault = format!(
            "fault = {{ class = \"person\", code = \"{code}\", what = \"not with this key\" }}"
        );
        let refused = format!("role = \"coder\"\n[[attempt.reply]]\n{fault}\n");
        let script = script("greeting.txt", "hello\n").replace("role = \"coder\"\n", &refused);
        let files = [("test.sh", "grep -q hello greeting.txt\n")];
        let (repo, script) = repository(&place, &files, &script);
        let (repo, script) = (repo.display().to_string(), script.display().to_string());
        let goal = "Write hello to greeting.txt";
        let output = place.run(&["run", "--repo", &repo, "--script", &script, goal]);
        assert_eq!(output.status.code(), Some(75), "{}{}", stdout(&output), stderr(&output));
        let told = stderr(&output);
        assert!(told.contains("not with this key") && told.contains("resume"), "{told}");
        let output = place.run(&["resume"]);
        assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
        let log = stdout(&place.run(&["log"]));
        assert!(log.contains("T1.1 submitted") && !log.contains("T1.2"), "{log}");
        let attempt = stdout(&place.run(&["log", "--attempt", "T1.1"]));
        assert!(attempt.contains("model.refused"), "{attempt}");
    }
}

#[test]
fn an_agent_is_asked_at_the_address_of_its_command_line_when_it_is_resumed() {
    let place = Place::new();
    let (url, served) = serve(vec![BUSY.to_owned(), whole()]);
    let folder = place.path().join("work");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (folder, rules) = (folder.display().to_string(), rules(&place, "solo", 0));
    let words = ["run", "--policy", &rules, "--repo", &folder, "-m", "vllm/small"];
    let output = place.run(&[&words[..], &["--base-url", &url, "How is it?"]].concat());
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    let output = place.run(&["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stdout(&output), "All is well.\n");
    assert_eq!(*served.lock().expect("a lock"), 2);
}

#[test]
fn a_crew_is_asked_at_the_address_of_its_command_line_when_it_is_resumed() {
    let place = Place::new();
    let (url, served) = serve(vec![BUSY.to_owned(); 3]);
    let files = [("test.sh", "grep -q hello greeting.txt\n")];
    let (repo, _) = repository(&place, &files, "");
    let (repo, rules) = (repo.display().to_string(), rules(&place, "crew", 0));
    let goal = "Write hello to greeting.txt";
    let words = ["run", "--policy", &rules, "--headless", "--repo", &repo, "-m", "vllm/small"];
    let output = place.run(&[&words[..], &["--base-url", &url, goal]].concat());
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    assert_eq!(*served.lock().expect("a lock"), 1);
    let output = place.run(&["resume"]);
    assert_eq!(output.status.code(), Some(75), "{}", stderr(&output));
    assert_eq!(*served.lock().expect("a lock"), 2, "it was asked at the same address");
}

#[test]
fn an_address_that_would_put_a_secret_on_record_is_refused() {
    let place = Place::new();
    let (repo, _) = repository(&place, &[("test.sh", "true\n")], "");
    let repo = repo.display().to_string();
    for (url, why) in [
        ("http://ann:open-sesame@127.0.0.1:9/v1", "would be recorded with the run"),
        ("127.0.0.1:9", "is not an HTTP or HTTPS URL"),
    ] {
        let output =
            place.run(&["run", "--repo", &repo, "-m", "vllm/small", "--base-url", url, "Do it"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(!stderr(&output).contains("sesame"), "{}", stderr(&output));
    }
    assert_eq!(stdout(&place.run(&["list", "--json"])), "", "nothing was started");
}
