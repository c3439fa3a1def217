//! Mistakes of the first hour: each gets one line that names the problem and the way out, and its own exit code.

use crate::binary::{Place, stderr, stdout};
use crate::naming::done;

/// Command line (`RUN` is a finished run), exit code, named problem, and way out.
const MISTAKES: &[(&str, i32, &str, &str)] = &[
    ("show r_nosuch", 68, "r_nosuch", "bosun list"),
    ("show nonsense!", 68, "nonsense!", "bosun list"),
    ("resume", 68, "no run to resume", "bosun list"),
    ("resume RUN", 2, "is over", "done"),
    ("resume r_nosuch --repo .", 68, "r_nosuch", "bosun list"),
    ("cancel", 68, "no open run", "bosun list"),
    ("cancel RUN", 2, "RUN", "is over"),
    ("answer yes", 2, "is waiting for an answer", "bosun list"),
    ("answer RUN", 2, "no answer given", "bosun answer RUN ANSWER"),
    ("answer RUN yes", 2, "no open question", "RUN"),
    ("accept", 68, "no result to accept", "bosun list"),
    ("discard", 68, "no result to discard", "bosun list"),
    ("discard RUN", 2, "no terminal", "--yes"),
    ("list --repo nowhere", 2, "nowhere", "no such folder"),
    ("trust nowhere", 2, "nowhere", "no such folder"),
    ("log r_nosuch --verify", 68, "r_nosuch", "bosun list"),
    ("rewind RUN --to 1", 68, "not a session", "bosun list"),
    ("show RUN --gate closed", 2, "closed", "initiation"),
    ("diff r_nosuch", 68, "r_nosuch", "bosun list"),
    (
        "ask -m near/small --base-url http://127.0.0.1:9 --dialect chat -",
        2,
        "standard input",
        "nothing to ask",
    ),
    ("ask -m antropic/claude-sonnet-4-5 hello", 2, "antropic", "did you mean anthropic/claude"),
    ("log RUN --attempt T9.9", 2, "no attempt T9.9", "bosun show RUN"),
    ("run --policy solo --repo . work", 2, "no such file: solo", "--preset solo"),
    ("run --check  work", 2, "''", "expected a command"),
    ("run --money 0 work", 2, "greater than 0", "--money"),
    ("run --money -1 work", 2, "-1", "--money"),
    ("run --tokens many work", 2, "many", "50k"),
    ("run --calls 0 work", 2, "0 is not in", "1.."),
    ("run --time 5x work", 2, "5x", "2h"),
    ("init --preset foo", 65, "foo", "crew"),
    ("diff newest T9", 2, "no task or attempt T9", "it has T1"),
    ("diff RUN T9", 2, "no task or attempt T9", "it has T1"),
    ("transcript RUN T9", 2, "no transcript of T9", "bosun show RUN"),
    ("transcript RUN --format pdf", 2, "pdf", "markdown"),
    ("review RUN T9", 2, "T9", "bosun show RUN"),
    ("review RUN --send", 2, "no comments", "--comment"),
    ("review RUN --comment T9 no", 2, "no task T9", "it has T1"),
    ("review RUN --comment T1:other:1 no", 2, "did not change other", "it changed greeting.txt"),
    ("review RUN --comment T1:a:b no", 2, "T1:a:b", "T2:src/main.rs:12"),
    ("pr RUN --open", 1, "git remote failed", "origin"),
    ("accept RUN --author you", 2, "you", "me"),
    ("completions tcsh", 2, "tcsh", "bash"),
    ("run --issue nowhere.md", 65, "nowhere.md", "No such file"),
    ("serve --listen 127.0.0.1:0 --tls-cert no.pem --tls-key no.pem", 1, "no.pem", "No such file"),
];

#[test]
fn every_mistake_is_answered_with_one_line_and_a_way_out() {
    let place = Place::new();
    let (_, run) = done(&place);
    for (line, code, thing, way) in MISTAKES {
        let line = line.replace("RUN", &run);
        let words: Vec<&str> = line.split(' ').collect();
        let output = place.run(&words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(*code), "{line}: {said}");
        assert_eq!(stdout(&output), "", "{line}");
        for part in [thing, way] {
            assert!(said.contains(&part.replace("RUN", &run)), "{line}: {part:?} is not in {said}");
        }
        // Errors of the argument parser have more lines.
        if !said.starts_with("error:") {
            assert_eq!(said.trim_end().lines().count(), 1, "{line}: one line, not {said}");
        }
    }
}
