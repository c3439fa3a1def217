//! Secrets removed from events and texts, and texts that must stay.

use serde_json::json;
use types::{
    Arguments, BlobRef, Block, Call, CallId, CallOutcome, Digest, ModelReply, SessionId, Shown,
    StopReason, Usage,
};

use super::*;

fn output(text: &str) -> Event {
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
    let output = Shown { text: text.to_owned(), ..Shown::default() };
    Event::ToolFinished {
        call,
        outcome: CallOutcome::Ok,
        output,
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    }
}

fn reply(arguments: Value) -> Event {
    let call = Call {
        wire_id: "toolu_01A09q90qw90lq917835lq9".to_owned(),
        tool: "write_file".to_owned(),
        arguments: Arguments::Json(arguments),
    };
    let reply = ModelReply {
        blocks: vec![Block::call(call)],
        stop: StopReason::Calls,
        usage: Usage::default(),
        cost: None,
        provenance: types::Provenance::default(),
    };
    let (session, turn) = (SessionId::ROOT, 1);
    let model = "script/x".parse().expect("a model");
    let (reply, inspections, exact) = (Box::new(reply), Vec::new(), Vec::new());
    Event::ModelReplied { session, turn, model, reply, inspections, exact }
}

fn json_of(clean: &Clean) -> String {
    serde_json::to_string(clean.event()).expect("JSON")
}

/// Keys, built from parts so that this file does not seem to hold one.
fn keys() -> Vec<String> {
    let random = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1";
    let upper = "ABCD2EFGH3IJKL4M";
    vec![
        format!("sk-{random}"),
        format!("sk-ant-api03-{random}-_{random}AA"),
        format!("sk-proj-{random}"),
        format!("sk-or-v1-{}", "0123456789abcdef".repeat(4)),
        format!("sk-{}", "0a1b2c3d".repeat(4)),
        format!("ghp_{}", &random[..36]),
        format!("gho_{}", &random[..36]),
        format!("github_pat_11{}_{random}", &random[..20]),
        format!("glpat-{}", &random[..20]),
        format!("AKIA{upper}"),
        format!("ASIA{upper}"),
        format!("xoxb-123456789012-123456789012-{}", &random[..24]),
        format!("AIza{}", &random[..35]),
        format!("sk_live_{}", &random[..24]),
        format!("hf_{}", &random[..34]),
        format!("gsk_{random}"),
        format!("npm_{}", &random[..36]),
        format!("xai-{random}"),
    ]
}

/// M30, C61: key-shaped text is nowhere in a log.
#[test]
fn keys_of_well_known_providers_are_taken_out_wherever_they_stand() {
    let redactor = Redactor::none();
    for key in keys() {
        for around in [
            "KEY",
            "a KEY b",
            "TOKEN=KEY",
            "\"KEY\"",
            "line\nKEY\n",
            "tab\tKEY",
            "{\\\"a\\\":\\\"x\\nKEY\\\"}",
            "\u{1b}[32mKEY\u{1b}[0m",
            "https://x-access-token:KEY@github.com/a/b",
            "naïve→KEY←",
        ] {
            let text = around.replace("KEY", &key);
            let clean = redactor.clean(output(&text));
            let expected = output(&around.replace("KEY", REDACTED));
            assert_eq!(clean.event(), &expected, "{key} in {around:?}");
        }
    }
}

#[test]
fn bearer_tokens_and_basic_credentials_are_taken_out_and_their_names_stay() {
    let redactor = Redactor::none();
    for (text, expected) in [
        ("Authorization: Bearer abcDEF123456.ghiJKL789012", "Authorization: Bearer [redacted]"),
        (
            "-H 'authorization: bearer 550e8400-e29b-41d4-a716'",
            "-H 'authorization: bearer [redacted]'",
        ),
        (
            "{\"Authorization\": \"Basic dXNlcjpwYXNzd29yZDE=\"}",
            "{\"Authorization\": \"Basic [redacted]\"}",
        ),
    ] {
        assert_eq!(redactor.scrub(text), expected);
        assert_eq!(redactor.clean(output(text)).event(), &output(expected));
    }
}

#[test]
fn private_keys_are_taken_out_whole_also_when_cut_off_numbered_or_quoted() {
    let redactor = Redactor::none();
    let dashes = "-----";
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let begin = format!("{dashes}BEGIN RSA PRIVATE KEY{dashes}");
    let end = format!("{dashes}END RSA PRIVATE KEY{dashes}");
    let whole = format!("before\n{begin}\n{line}\n{line}\n{end}\nafter");
    assert_eq!(redactor.scrub(&whole), "before\n[redacted]\nafter");
    let numbered = format!("1 | {begin}\n2 | {line}\n3 | {end}\n4 | after");
    assert_eq!(redactor.scrub(&numbered), "1 | [redacted]\n4 | after");
    let quoted = format!("key = \"{begin}\\n{line}\\n{end}\\n\"");
    assert_eq!(redactor.scrub(&quoted), "key = \"[redacted]\\n\"");
    let cut = format!("{begin}\n{line}\n{line}\n[... 900 characters left out]");
    let scrubbed = redactor.scrub(&cut);
    assert!(!scrubbed.contains("MIIE") && scrubbed.contains("left out"), "{scrubbed}");
    let code = format!("if text.startswith(\"{begin}\"):\n    body = text\nEND = \"{end}\"\n");
    assert_eq!(redactor.scrub(&code), code);
}

#[test]
fn ordinary_text_is_left_alone() {
    let redactor = Redactor::new(["correct horse battery".to_owned()]);
    let image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAIzaAKIAAsk".repeat(40);
    let digest = Digest::of(b"x").to_string();
    let texts = [
        "fn task_key(disk: &Disk) -> Task { disk.sk }",
        "task-0123456789abcdef0123456789abcdef and disk-0a1b2c3d4e5f6a7b8c9d0e1f",
        "pip install sk-learn-contrib-estimators-and-pipelines-2",
        "class=\"sk-circle-fade-dot sk-circle-fade-dot-12 sk-three-bounce\"",
        "export ANTHROPIC_API_KEY=sk-ant-api03-your-key-goes-here",
        "OPENAI_API_KEY=sk-...",
        "550e8400-e29b-41d4-a716-446655440000",
        "commit 2c26b46b68ffc68ff99b453c1d30413413422d70",
        "headers = {\"Authorization\": f\"Bearer {token}\"}",
        "use Bearer authentication with a token_that_expires_quickly",
        "SLACK=xoxb-your-token-goes-here-please",
        "npm_config_registry=https://registry.example npm_lifecycle_event",
        "postgres://user:password@localhost/db",
        "the basic authorization of a request is described below",
        digest.as_str(),
        image.as_str(),
    ];
    for text in texts {
        assert!(matches!(redactor.scrub(text), Cow::Borrowed(_)), "{text:?} was changed");
        assert_eq!(redactor.clean(output(text)).event(), &output(text));
    }
}

/// M30: values of secret variables are removed from everything that is recorded.
#[test]
fn known_secrets_are_found_in_every_form_that_json_gives_them() {
    let secret = "p\"ss\\w0rd\nüber→geheim";
    let redactor = Redactor::new([secret.to_owned(), "short".to_owned()]);
    let mut text = format!("env: {secret} end, short stays");
    for depth in 0..3 {
        let event = reply(json!({ "path": "a.txt", "content": text }));
        let clean = json_of(&redactor.clean(event));
        assert!(clean.contains(REDACTED) && !clean.contains("geheim"), "depth {depth}: {clean}");
        assert!(clean.contains("short stays"), "{clean}");
        text = Value::from(text).to_string();
    }
}

#[test]
fn a_secret_in_the_name_of_a_field_is_taken_out_too() {
    let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
    let clean = redactor.clean(reply(json!({ "hunter2hunter2": { "a": ["x hunter2hunter2"] } })));
    let arguments = json!({ "[redacted]": { "a": ["x [redacted]"] } });
    assert_eq!(clean.event(), &reply(arguments));
}

#[test]
fn the_structure_survives_a_secret_that_is_one_of_its_words() {
    let words = ["tool.finished", "outcome: ok", "toolu_01A09q90qw90lq917835lq9", "write_file"];
    let redactor = Redactor::new(words.map(str::to_owned));
    let clean = redactor.clean(output("tool.finished with outcome: ok"));
    assert_eq!(clean.event(), &output("[redacted] with [redacted]"));
    let clean = redactor.clean(reply(json!({ "content": "write_file" })));
    assert_eq!(clean.event().kind(), "model.replied");
    assert!(!json_of(&clean).contains("write_file"));
}

#[test]
fn a_longer_secret_goes_before_one_that_is_part_of_it_and_cleaning_twice_changes_nothing() {
    let redactor = Redactor::new(["abcdefgh", "abcdefghijkl", "redacted"].map(str::to_owned));
    let once = redactor.scrub("abcdefghijkl abcdefgh").into_owned();
    assert_eq!(once, "[redacted] [redacted]");
    for text in [once, keys().join(" "), "Bearer abcDEF123456.ghiJKL789012".to_owned()] {
        let once = redactor.clean(output(&text));
        let twice = redactor.clean(once.event().clone());
        assert_eq!(once, twice);
    }
}

#[test]
fn an_event_without_secrets_is_returned_as_it_was() {
    let call = CallId { session: SessionId::ROOT, turn: 1, index: 1 };
    let blob = Some(BlobRef { digest: Digest::of(b"x"), bytes: 1 });
    let output = Shown { text: "0.1 \u{0} \u{fffd} \\u0000".to_owned(), removed: 3, blob };
    let event = Event::ToolFinished {
        call,
        outcome: CallOutcome::Error,
        output,
        images: vec![],
        files: vec![],
        trees: None,
        metadata: Box::default(),
        note: None,
    };
    assert_eq!(Redactor::none().clean(event.clone()).into_event(), event);
}
