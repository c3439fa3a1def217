//! Documented commands that are not run, with the reason, and those whose exit code is not 0.

/// Programs that are not run here. A line that begins with an unlisted program fails the test.
pub(super) const OTHER_PROGRAMS: &[(&str, &str)] = &[
    ("cargo", "builds, and runs other tests"),
    ("curl", "needs the token of a server that runs; serve.rs has the same requests"),
    ("gh", "a program of others that needs an account"),
    ("head", "prove.rs verifies a proof with ssh-keygen and a JSON reader"),
    (
        "jq",
        "prove.rs verifies a proof with ssh-keygen and a JSON reader; elsewhere it only reads our JSON",
    ),
    ("llama-server", "a model of several gigabytes"),
    ("man", "opens a pager"),
    ("type=$(jq", "prove.rs verifies a proof with ssh-keygen and a JSON reader"),
    ("{", "prove.rs verifies a proof with ssh-keygen and a JSON reader"),
];

/// `bosun` lines that are not run, by prefix.
pub(super) const NOT_RUN: &[(&str, &str)] = &[
    ("bosun answer RUN", "three answers to one question; ordinary.rs gives each of them"),
    ("bosun answer r_1a2b3c4d 2", "the run has one question; questions.rs has more"),
    ("bosun demo", "commands.rs runs it"),
    ("bosun chat", "needs a terminal; chat.rs has one"),
    ("bosun serve", "runs until it is stopped; serve.rs uses it"),
    ("bosun top", "needs a terminal"),
    ("bosun pr r_1a2b --open", "needs gh or glab"),
    ("bosun run --preset strict", "strict.rs runs it, with replies in its format"),
    ("bosun run --spec", "needs an approved spec; spec.rs makes one"),
    ("bosun restore", "names the backup of another day; journal.rs restores one"),
    ("bosun doctor --models", "asks every server for which there is a key"),
    ("bosun prove r_1a2b", "needs a key; prove.rs makes one"),
    ("bosun prove --verify", "needs a signed proof; prove.rs makes one"),
];

/// Lines with other exit codes than 0: prefix, exit codes, and reason.
pub(super) const ENDS: &[(&str, &[i32], &str)] = &[
    ("bosun accept r_1a2b --merge", &[2], "accepted by the line before"),
    ("bosun accept r_1a2b --author", &[2], "accepted by a line before"),
    (
        "bosun answer r_1a2b3c4d retry",
        &[3],
        "the scripted coder has nothing better to offer, and it is asked again",
    ),
    ("bosun cancel r_1a2b --reason", &[2], "cancelled by the line before"),
    ("bosun doctor", &[0, 1], "depends on the machine"),
    (
        "bosun init --preset strict",
        &[0, 2],
        "in the examples, the line before wrote the rules of another preset",
    ),
    ("bosun permit", &[5], "denied, as the example wants to show"),
    ("bosun resume r_1a2b --money", &[2], "this run has a higher limit, or none on money"),
    ("bosun resume", &[3], "the run waits for a person"),
    ("bosun rewind r_1a2b --to 17 --replace src/a.rs", &[2], "its changes are to other files"),
    ("bosun review r_1a2b --comment T1", &[3], "the scripted coder has nothing better to offer"),
    ("bosun run --approve-plan", &[3], "waits for the approval"),
    ("bosun spec approve", &[65], "the template has to be filled in first"),
    ("bosun spec check", &[65], "the template has to be filled in first"),
];
