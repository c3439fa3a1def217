//! `bosun ask` against a server on the loopback interface: replies are streamed, validated, recorded and played back.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};

const STREAM: &str = "data: {\"id\":\"c1\",\"model\":\"small\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"{\\\"age\\\":\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" 30}\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\ndata: [DONE]\n\n";

/// Answers `times` requests with the stream, each on its own connection, and returns the requests.
fn serve(times: usize) -> (String, std::thread::JoinHandle<Vec<String>>) {
    serve_stream(times, STREAM.to_owned())
}

#[expect(clippy::disallowed_methods, reason = "the server is part of the stage")]
fn serve_stream(times: usize, stream: String) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let served = std::thread::spawn(move || {
        let answer = |_| {
            let (mut connection, _) = listener.accept().expect("a connection");
            let mut request = vec![];
            let mut buffer = [0; 4096];
            while !request.ends_with(b"}") {
                let count = connection.read(&mut buffer).expect("a request");
                request.extend_from_slice(&buffer[..count]);
            }
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            connection.write_all(format!("{head}{stream}").as_bytes()).expect("an answer");
            String::from_utf8_lossy(&request).into_owned()
        };
        (0..times).map(answer).collect()
    });
    (url, served)
}

/// K12, K14: an answer is streamed to the terminal, separate from usage and cost.
#[test]
fn an_answer_goes_to_stdout_and_what_it_cost_to_stderr() {
    let place = Place::new();
    let (url, served) = serve(1);
    let output = place.run(&[
        "ask",
        "-m",
        "near/small",
        "--base-url",
        &url,
        "--dialect",
        "chat",
        "How old?",
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "{\"age\": 30}\n");
    assert!(stderr(&output).contains("9 tokens in"), "{}", stderr(&output));
    assert!(stderr(&output).contains("cost unknown"), "{}", stderr(&output));
    assert!(served.join().expect("served")[0].contains("How old?"));
}

#[test]
fn an_exchange_that_was_recorded_is_played_back_without_a_server_and_without_the_key() {
    let place = Place::new();
    let (url, served) = serve(1);
    let tape = place.path().join("tape");
    let words =
        ["ask", "-m", "near/small", "--base-url", &url, "--dialect", "chat", "--json", "How old?"];
    let mut recording = place.command(&words);
    recording.env("BOSUN_RECORD", &tape).env("NEAR_API_KEY", "sk-not-to-be-kept");
    let live = recording.output().expect("the binary runs");
    assert!(live.status.success(), "{}", stderr(&live));
    served.join().expect("served");
    let kept = std::fs::read_to_string(tape.join("exchange-0001.json")).expect("a recording");
    assert!(kept.contains("How old?") && !kept.contains("sk-not-to-be-kept"), "{kept}");
    let replayed =
        place.command(&words).env("BOSUN_REPLAY", &tape).output().expect("the binary runs");
    assert_eq!(stdout(&replayed), stdout(&live));
    let answer: Value = serde_json::from_str(&stdout(&live)).expect("one object");
    assert_eq!(answer["text"], "{\"age\": 30}");
    assert_eq!(answer["stop_reason"], "end");
    assert!(answer["cost"].is_null(), "{answer}");
}

/// A92, A98: a schema is enforced, and a question beside a conversation is rejected.
#[test]
fn an_answer_must_fit_its_schema_and_a_question_stands_alone() {
    let place = Place::new();
    let (url, served) = serve(2);
    for (kind, exit) in [("integer", 0), ("string", 1)] {
        let schema =
            format!("{{\"type\":\"object\",\"properties\":{{\"age\":{{\"type\":\"{kind}\"}}}}}}");
        let file = place.path().join("schema.json");
        std::fs::write(&file, schema).expect("a schema");
        let file = file.display().to_string();
        let words = [
            "ask",
            "-m",
            "near/small",
            "--base-url",
            &url,
            "--dialect",
            "chat",
            "--json",
            "--schema",
            &file,
            "How old?",
        ];
        let output = place.run(&words);
        let answer: Value = serde_json::from_str(&stdout(&output)).expect("one object");
        assert_eq!(output.status.code(), Some(exit), "{answer}");
        let told = if exit == 0 { &answer["object"]["age"] } else { &answer["fault"]["code"] };
        assert!(told == 30 || told == "model.no_object", "{answer}");
    }
    served.join().expect("served");
    let output = place.run(&["ask", "-m", "near/small", "--messages", "talk.json", "and this"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
}

/// A reply that was cut off, and one that was refused, is shown and is no answer.
#[test]
fn a_refusal_and_a_reply_that_was_cut_off_are_failures() {
    for (word, code) in [("length", "model.reply_cut"), ("content_filter", "model.content_filter")]
    {
        let place = Place::new();
        let stream = STREAM.replace("\"stop\"", &format!("\"{word}\""));
        let (url, served) = serve_stream(2, stream);
        let words = ["ask", "-m", "near/small", "--base-url", &url, "--dialect", "chat", "How?"];
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stdout(&output).contains("age"), "{}", stdout(&output));
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
        let output = place.run(&[&words[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let told: Value = serde_json::from_str(&stdout(&output)).expect("one object");
        assert_eq!(
            (&told["fault"]["code"], &told["text"]),
            (&code.into(), &"{\"age\": 30}".into())
        );
        served.join().expect("served");
    }
}
