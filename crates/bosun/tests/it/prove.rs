//! A proof is verified without Bosun's code: with git, plain ssh-keygen and a JSON reader. Also the XML and the SARIF
//! of a run's checks, as other tools would read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::binary::{Place, stderr, stdout};
use crate::commands::{SCRIPT, repository, run};

const RUN: &str = "urn:x-bosun:attestation:run:v0.1";
const TEST_RESULT: &str = "https://in-toto.io/attestation/test-result/v0.1";
const SVR: &str = "https://in-toto.io/attestation/svr/v0.1";

#[expect(clippy::print_stdout, reason = "a test that is left out says so")]
/// A finished run, and a key to prove it with; `None`, with a message, where OpenSSH is missing.
fn proven(place: &Place) -> Option<Proven> {
    let (repo, script) = repository(place, SCRIPT);
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.push("--json");
    let output = place.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let last: Value = serde_json::from_str(stdout(&output).lines().last().expect("a report"))
        .expect("the report is JSON");
    let run = last["report"]["run"].as_str().expect("a run").to_owned();
    let key = place.path().join("key");
    let words = ["-q", "-t", "ed25519", "-N", "", "-C", "ann", "-f", text(&key)];
    let Some(made) = ssh_keygen(&words, b"") else {
        println!("SKIPPED: ssh-keygen is not installed, so nothing is signed or verified");
        return None;
    };
    assert!(made.status.success(), "{}", stderr(&made));
    let public = std::fs::read_to_string(place.path().join("key.pub")).expect("a key");
    let signers = place.path().join("signers");
    std::fs::write(&signers, format!("ann@example.org {public}")).expect("a file");
    let file = place.path().join("proof.intoto.jsonl");
    let output = place.run(&["prove", &run, "--sign", text(&key), "--out", text(&file)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("signed with ED25519 key SHA256:"), "{}", stderr(&output));
    Some(Proven { repo, run, signers, file })
}

struct Proven {
    repo: PathBuf,
    run: String,
    signers: PathBuf,
    file: PathBuf,
}

impl Proven {
    fn lines(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.file).expect("a proof");
        text.lines().map(|line| serde_json::from_str(line).expect("an envelope")).collect()
    }

    fn verify(&self, place: &Place, more: &[&str]) -> (i32, String) {
        let mut args = vec!["prove", "--verify", text(&self.file)];
        args.extend(more);
        let output = place.run(&args);
        (output.status.code().expect("an exit code"), stdout(&output) + &stderr(&output))
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

#[expect(clippy::disallowed_methods, reason = "the proof is verified with the user's own program")]
fn ssh_keygen(args: &[&str], stdin: &[u8]) -> Option<Output> {
    let mut command = Command::new("ssh-keygen");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    std::io::Write::write_all(child.stdin.as_mut().expect("a pipe"), stdin).ok();
    Some(child.wait_with_output().expect("it ends"))
}

/// Decodes Base64 as in RFC 4648.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let digit = DIGITS.iter().position(|digit| *digit == c).expect("a digit");
        bits = bits << 6 | u32::try_from(digit).expect("small");
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).expect("a byte"));
        }
    }
    bytes
}

/// The bytes that an envelope's signature covers, as in the DSSE protocol.
fn signed_bytes(envelope: &Value) -> Vec<u8> {
    let kind = envelope["payloadType"].as_str().expect("a type");
    let body = decoded(envelope["payload"].as_str().expect("a payload"));
    let mut bytes = format!("DSSEv1 {} {kind} {} ", kind.len(), body.len()).into_bytes();
    bytes.extend(body);
    bytes
}

fn ssh_verifies(place: &Place, proven: &Proven, envelope: &Value) -> bool {
    let signature = decoded(envelope["signatures"][0]["sig"].as_str().expect("a signature"));
    let file = place.path().join("one.sig");
    std::fs::write(&file, signature).expect("a file");
    let space = ["-Y", "verify", "-n", "bosun@attestation", "-I", "ann@example.org"];
    let files = ["-f", text(&proven.signers), "-s", text(&file)];
    let output = ssh_keygen(&[&space[..], &files].concat(), &signed_bytes(envelope));
    output.expect("it was there").status.success()
}

fn statement(envelope: &Value) -> Value {
    serde_json::from_slice(&decoded(envelope["payload"].as_str().expect("a payload")))
        .expect("a payload is JSON")
}

#[test]
fn a_proof_is_verified_with_plain_ssh_keygen_and_a_json_reader() {
    let place = Place::new();
    let Some(proven) = proven(&place) else { return };
    let envelopes = proven.lines();
    let branch = format!("bosun/{}", proven.run);
    let git = |args: &[&str]| place.git(&proven.repo, args).trim().to_owned();
    let (commit, base) = (git(&["rev-parse", &branch]), git(&["rev-parse", "main"]));
    let mut kinds = Vec::new();
    for envelope in &envelopes {
        assert_eq!(envelope["payloadType"], "application/vnd.in-toto+json");
        assert!(ssh_verifies(&place, &proven, envelope));
        let statement = statement(envelope);
        assert_eq!(statement["_type"], "https://in-toto.io/Statement/v1");
        assert_eq!(statement["subject"].as_array().map(Vec::len), Some(1));
        kinds.push(statement["predicateType"].as_str().expect("a type").to_owned());
    }
    assert_eq!(kinds, [RUN, TEST_RESULT, TEST_RESULT, TEST_RESULT, SVR]);
    let all: Vec<Value> = envelopes.iter().map(statement).collect();
    for whole in [&all[0], &all[4]] {
        assert_eq!(whole["subject"][0]["name"], branch.as_str());
        assert_eq!(whole["subject"][0]["digest"]["gitCommit"], commit.as_str());
        let tree = git(&["rev-parse", &format!("{branch}^{{tree}}")]);
        assert_eq!(whole["subject"][0]["digest"]["gitTree"], tree.as_str());
    }
    let checks: Vec<(&str, &str)> = all[1..4]
        .iter()
        .map(|one| {
            let tree = one["predicate"]["bosun"]["tree"].as_str().expect("a tree");
            (tree, one["predicate"]["result"].as_str().expect("a result"))
        })
        .collect();
    // The greeting does not exist before: the check fails on the base, which shows that it can fail.
    assert_eq!(checks, [("base", "FAILED"), ("task", "PASSED"), ("merged", "PASSED")]);
    assert_eq!(all[1]["subject"][0]["digest"]["gitCommit"], base.as_str());
    assert_eq!(all[3]["subject"][0]["digest"]["gitCommit"], commit.as_str());
    let properties = all[4]["predicate"]["properties"].as_array().expect("a list");
    assert!(properties.contains(&"BOSUN_GATE_CLOSURE".into()), "{properties:?}");
    let run = &all[0]["predicate"];
    let schema: Value =
        serde_json::from_str(engine::export::proof::RUN_PREDICATE_SCHEMA).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator.iter_errors(run).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{run:#}");
    assert_eq!(run["run"]["status"], "done");
    assert_eq!(run["tasks"][0]["evidence"]["level"], "proven", "{run:#}");
    assert!(run["models"][0].as_str().is_some_and(|model| model.starts_with("script/")));
    // The hashes of the logs' last lines are those that the journal itself shows.
    let shown = stdout(&place.run(&["log", &proven.run, "--verify"]));
    for log in run["logs"].as_array().expect("a list") {
        let head = log["head"]["sha256"].as_str().expect("a hash");
        assert!(shown.contains(head), "{log} is not in {shown}");
    }
}

#[test]
fn a_proof_needs_no_journal_and_says_what_it_does_not_prove() {
    let place = Place::new();
    let Some(proven) = proven(&place) else { return };
    std::fs::remove_dir_all(place.home()).expect("it was there");
    let (signers, repo) = (text(&proven.signers), text(&proven.repo));
    let (code, said) = proven.verify(&place, &["--signers", signers, "--repo", repo]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("✔ signature") && said.contains("by ann@example.org"), "{said}");
    assert!(said.contains("✔ commit") && said.contains("with the stated tree"), "{said}");
    assert!(said.contains("not proven") && said.contains("that the code is correct"), "{said}");
    assert!(!place.home().exists(), "no journal was made for it");
    let (code, said) = proven.verify(&place, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("its owner was not checked"), "{said}");
    assert!(said.contains("- commit") && said.contains("the holder of SHA256:"), "{said}");
    let nobody = place.path().join("nobody");
    std::fs::write(&nobody, "").expect("a file");
    let (code, said) = proven.verify(&place, &["--signers", text(&nobody), "--json"]);
    assert_eq!(code, 1, "{said}");
    let told: Value = serde_json::from_str(&said).expect("one JSON object");
    assert_eq!((&told["verified"], &told["signer"]), (&false.into(), &Value::Null));
    assert_eq!(told["claims"]["run"]["id"], proven.run.as_str());
    let other = place.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    place.git(&other, &["init", "--quiet"]);
    let (code, said) = proven.verify(&place, &["--repo", text(&other)]);
    assert!(code == 1 && said.contains("✘ commit"), "{code}: {said}");
}

#[test]
fn what_was_changed_after_signing_is_found_by_both() {
    let place = Place::new();
    let Some(proven) = proven(&place) else { return };
    let whole = std::fs::read_to_string(&proven.file).expect("a proof");
    let envelopes = proven.lines();
    // Changes one character in the middle of each payload in turn.
    for (at, envelope) in envelopes.iter().enumerate() {
        let payload = envelope["payload"].as_str().expect("a payload");
        let middle = payload.len() / 2;
        let other = if payload[middle..].starts_with('A') { "B" } else { "A" };
        let changed = format!("{}{other}{}", &payload[..middle], &payload[middle + 1..]);
        let mut damaged = envelope.clone();
        damaged["payload"] = changed.into();
        assert!(!ssh_verifies(&place, &proven, &damaged));
        let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
        lines[at] = damaged.to_string();
        std::fs::write(&proven.file, lines.join("\n")).expect("a file");
        let (code, said) = proven.verify(&place, &[]);
        assert_eq!(code, 76, "{at}: {said}");
        assert!(!said.contains("states the above"), "{said}");
    }
    // A missing statement is detected, although all remaining signatures are valid.
    let shorter: Vec<&str> = whole.lines().take(4).collect();
    std::fs::write(&proven.file, shorter.join("\n")).expect("a file");
    let (code, said) = proven.verify(&place, &[]);
    assert!(code == 76 && said.contains("is missing"), "{code}: {said}");
    // Without signatures, nothing vouches for the proof.
    let output = place.run(&["prove", &proven.run]);
    assert!(stderr(&output).contains("NOT SIGNED"), "{}", stderr(&output));
    std::fs::write(&proven.file, output.stdout).expect("a file");
    let (code, said) = proven.verify(&place, &[]);
    assert!(code == 1 && said.contains("✘ signature"), "{code}: {said}");
    std::fs::write(&proven.file, "{}\n").expect("a file");
    assert_eq!(proven.verify(&place, &[]).0, 65);
}

#[test]
fn what_has_no_result_cannot_be_proven() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    let output = place.run(&run(&repo, &script, " "));
    assert!(!output.status.success());
    let output = place.run(&["prove"]);
    let said = stderr(&output);
    assert!(matches!(output.status.code(), Some(2 | 68)), "{said}");
    // It waits for a person's decision.
    let failing = SCRIPT.replace("hello\\n", "goodbye\\n");
    std::fs::write(&script, failing).expect("a file");
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let output = place.run(&["prove"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("waits for an answer"), "{}", stderr(&output));
}

#[test]
fn the_proof_of_a_run_that_got_a_no_go_says_so_and_is_no_success() {
    let place = Place::new();
    // The task's own check passes; another one fails on the merged tree.
    let own = "artifacts = [\"greeting.txt\"], checks = [{ name = \"own\", command = \"true\" }]";
    let (repo, script) = repository(&place, &SCRIPT.replace("artifacts = [\"greeting.txt\"]", own));
    let mut args = run(&repo, &script, "Write hello to greeting.txt");
    args.extend(["--headless", "--check", "false"]);
    assert_eq!(place.run(&args).status.code(), Some(6));
    let key = place.path().join("key");
    if ssh_keygen(&["-q", "-t", "ed25519", "-N", "", "-f", text(&key)], b"").is_none() {
        return;
    }
    let file = place.path().join("proof.intoto.jsonl");
    let output = place.run(&["prove", "--sign", text(&key), "--out", text(&file), "--json"]);
    let written: Value = serde_json::from_str(&stdout(&output)).expect("one JSON object");
    assert_eq!(written["status"], "no_go");
    let output = place.run(&["prove", "--verify", text(&file)]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("(no-go)") && said.contains("failed on merged"), "{said}");
}

/// Names of the elements of an XML text. Asserts balanced tags and no characters that XML cannot contain.
fn elements(xml: &str) -> Vec<String> {
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{xml}");
    assert!(!xml.contains(|c: char| c < ' ' && !"\t\n\r".contains(c)), "{xml}");
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for part in xml.split('<').skip(2) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.replace("&lt;", "").replace("&gt;", "").contains('>'), "{part}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name").to_owned();
        found.push(name.clone());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

/// A test that reports in TAP, with colours.
const TAP: &str = "echo 1..2\necho 'ok 1 - \"a\" <b> & c'\n\
                   if grep -q hello greeting.txt; then echo ok 2 - greets; \
                   else printf '\\033[31mno & greeting\\033[0m\\n'; echo not ok 2 - greets; exit 1; fi\n";

#[test]
fn checks_are_told_as_junit_and_findings_as_sarif() {
    let place = Place::new();
    let (repo, script) = repository(&place, SCRIPT);
    std::fs::write(repo.join("test.sh"), TAP).expect("a file");
    place.git(&repo, &["commit", "--quiet", "--all", "--message=Tests"]);
    let output = place.run(&run(&repo, &script, "Write hello to greeting.txt"));
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));
    let xml = stdout(&place.run(&["show", "--junit"]));
    let count = |name: &str| elements(&xml).iter().filter(|one| *one == name).count();
    assert_eq!((count("testsuite"), count("testcase"), count("failure")), (3, 6, 1), "{xml}");
    for name in ["base: ", "T1: ", "merged: "] {
        assert!(xml.contains(&format!("<testsuite name=\"{name}")), "{xml}");
    }
    assert!(xml.contains("name=\"&quot;a&quot; &lt;b&gt; &amp; c\""), "{xml}");
    assert!(xml.contains("\u{fffd}[31mno &amp; greeting"), "{xml}");
    let sarif: Value =
        serde_json::from_str(&stdout(&place.run(&["show", "--sarif"]))).expect("one JSON object");
    assert_eq!(sarif["version"], "2.1.0");
    let driver = &sarif["runs"][0]["tool"]["driver"];
    let rules = driver["rules"].as_array().expect("a list");
    let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
    assert_eq!(ids.len(), rules.len(), "each rule once");
    let results = sarif["runs"][0]["results"].as_array().expect("a list");
    assert!(!results.is_empty());
    for result in results {
        let place = result["ruleIndex"].as_u64().expect("a place");
        let rule = &rules[usize::try_from(place).expect("small")];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        let level = result["level"].as_str().expect("a level");
        assert!(["none", "note", "warning", "error"].contains(&level), "{result}");
        // Only failures have a level.
        assert_eq!(level == "none", result["kind"] == "informational", "{result}");
    }
    let failed = results.iter().find(|one| one["ruleId"] == "check.failed").expect("the base's");
    assert_eq!((&failed["level"], &failed["properties"]["tree"]), (&"note".into(), &"base".into()));
}
