//! Errors that the commands themselves detect, each with the way out. Their exit codes are in `exit.rs`.

use std::io;

use types::RunId;

/// A mistake of the user, or a problem that only the user can fix.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("the goal is empty; say what you want done: bosun run \"…\"")]
    EmptyGoal,
    #[error(
        "no model available: set a provider's key (see `bosun models`), or pass --model MODEL or --script FILE"
    )]
    NoModel,
    #[error("no run to resume; `bosun list` shows all runs")]
    NothingToResume,
    #[error("chat needs a terminal; `bosun run --preset solo \"…\"` works without one")]
    NoTerminal,
    #[error("no open session in this folder; `bosun list` shows all, `bosun chat` starts one")]
    NoSessionHere,
    #[error("--output-schema works only with a single agent; add --preset solo")]
    SchemaForACrew,
    #[error(
        "{what} does not work with a single agent; omit it, or choose a crew policy with --preset"
    )]
    ForACrew { what: &'static str },
    #[error("no runs yet; start one with `bosun run`, or try `bosun demo --keep`")]
    NoRuns,
    #[error("{0}")]
    NotAChoice(types::NotAChoice),
    #[error("gate {phase} has not been decided yet")]
    NoGate { phase: &'static str },
    #[error(
        "no answer given: bosun answer {run} ANSWER; `bosun questions` lists the open questions"
    )]
    NothingSaid { run: RunId },
    #[error("run {run} has no open question")]
    NoQuestion { run: RunId },
    #[error("question #{number} of run {run} is not open; `bosun questions` lists the open ones")]
    NotOpen { run: RunId, number: u32 },
    #[error("{run} is a session, not a run; `bosun log {run}` shows its log")]
    NotARun { run: RunId },
    #[error("{what}; `bosun why {run}` lists the decisions")]
    NoDecision { what: String, run: RunId },
    #[error("no such folder: {path}")]
    NoFolder { path: String },
    #[error("run {run} has no attempt {attempt}; `bosun show {run}` lists its tasks and attempts")]
    NoAttempt { run: RunId, attempt: types::AttemptId },
    #[error("reading {path}: {source}")]
    Unreadable {
        path: String,
        #[source]
        source: io::Error,
    },
    #[error(
        "no model given and no provider key set; pass -m provider/model, or see `bosun models`"
    )]
    NoModelToAsk,
    #[error("nothing to ask; pass a text, - for standard input, or --messages FILE")]
    NothingAsked,
    #[error("{path} is not a valid spec: {cause}")]
    NotASpec { path: String, cause: String },
    #[error("{path} is not a valid plan: {cause}")]
    NotAPlan { path: String, cause: String },
    #[error("{path}: {step}")]
    NoSuchStep { path: String, step: rules::spec::NoSuchStep },
    #[error("run {run} has no spec; `bosun run --spec FILE` works on one")]
    NoSpec { run: RunId },
    #[error("{path} is not a valid request: {}", problems.join("; "))]
    BadRequest { path: String, problems: Vec<String> },
    #[error("{path} is empty; it must contain a goal, as text or as a request object")]
    EmptyRequest { path: String },
    #[error("reading {path}: {cause}")]
    Json { path: String, cause: String },
    #[error("no such folder: {path}; set the working folder with --repo")]
    NoWorkspace { path: String },
    #[error("unknown tool profile {name:?}; available: {known}")]
    NoSuchProfile { name: String, known: String },
    #[error("{}", .0.what)]
    CannotWork(types::Fault),
    #[error("no terminal to confirm on; add --yes to discard the result of run {run}")]
    NotSure { run: RunId },
    #[error("{path} is a symbolic link, which is not followed; replace it with a folder")]
    Link { path: String },
    #[error("run {run} cannot be proven: {why}")]
    Unprovable { run: RunId, why: &'static str },
    #[error("the result commit {commit} is no longer in {repo}; nothing to prove")]
    NoCommit { commit: String, repo: String },
    #[error("the signature made with {key} does not verify")]
    BadSignature { key: String },
    #[error("{path} is not a proof of a run: {cause}")]
    NotAProof { path: String, cause: String },
    #[error("{0}")]
    Tampered(String),
    #[error("run {run} has no losses to accept")]
    NoLoss { run: RunId },
    #[error("{path} already exists; choose another file name")]
    Exists { path: String },
    #[error("{path} is not a backup made by `bosun backup`")]
    NoBackup { path: String },
    #[error(
        "nothing to compare with: pass --anchor FILE, --git-note REPO or --proof FILE; for example: bosun audit \
         check {run} --anchor anchors.jsonl"
    )]
    NoAnchors { run: RunId },
    #[error("no result to accept in this repository; `bosun list` shows all runs")]
    NothingToAccept,
    #[error(
        "{path} already contains the preset {there}; nothing was written. Remove the file first, or keep it and run \
         with --preset {asked}"
    )]
    OtherPreset { path: String, there: String, asked: String },
    #[error("--webhook needs a signing secret; set BOSUN_WEBHOOK_SECRET")]
    NoWebhookSecret,
    #[error("no run given; the newest candidate is {run} ({goal}): bosun {what} {run}")]
    WhichRun { what: &'static str, run: RunId, goal: String },
    #[error("no open run to cancel; `bosun list` shows all runs")]
    NothingToCancel,
    #[error("no result to discard in this repository; `bosun list` shows all runs")]
    NothingToDiscard,
    #[error(
        "{name:?} is neither a task (T1) nor an attempt (T1.2) of run {run}; `bosun show {run}` lists them"
    )]
    NotAPart { name: String, run: RunId },
    #[error(
        "no transcript of {name} in run {run}; `bosun show {run}` lists its tasks and attempts"
    )]
    NoConversation { name: String, run: RunId },
    #[error("invalid place {place:?}; expected TASK[:PATH[:LINE]], such as T2:src/main.rs:12")]
    NotAPlace { place: String },
    #[error("no such file: {name}; for the preset of that name, use --preset {name}")]
    PresetAsFile { name: &'static str },
    #[error("the comment on {place} is empty; say what to change")]
    EmptyComment { place: String },
    #[error(
        "{next} follows up {run} after a review and is {status}; `bosun show {next}` shows its progress. To use the \
         earlier result anyway, name it: bosun {what} {run}"
    )]
    FollowedUp { what: &'static str, run: RunId, next: RunId, status: &'static str },
    #[error("standard input is empty; nothing to ask")]
    EmptyInput,
    #[error("no run or session is waiting for an answer; `bosun list` shows all")]
    NothingWaits,
    #[error(
        "several runs are waiting for an answer: {}; name one: bosun answer {} …",
        runs.iter().map(RunId::as_str).collect::<Vec<_>>().join(", "),
        runs.first().map_or("RUN", RunId::as_str)
    )]
    SeveralWait { runs: Vec<RunId> },
    #[error(
        "this repository has untrusted files that change how agents work ({files}); review them, then trust them with: \
         bosun trust {folder}; --no-project ignores them"
    )]
    Untrusted { folder: String, files: String },
    #[error("{flag}: the policy has no role {role}; its roles: {known}")]
    NoRole { flag: &'static str, role: &'static str, known: String },
    #[error(
        "no server for {model} at {address} ({cause}); start it, set its address (docs/providers.md), or choose \
         another model with --model"
    )]
    Away { model: types::ModelRef, address: String, cause: String },
    #[error(
        "no model given and no provider key set, but a local server has {model}: add --model {model}, or set it in \
         your config.toml (`bosun config path` shows where)"
    )]
    OnlyLocal { model: types::ModelRef },
    #[error("{option}: {url:?} is not an HTTP or HTTPS URL")]
    NoUrl { option: &'static str, url: String },
    #[error(
        "--base-url: the URL contains a user name, password or key, which would be recorded with the run; configure \
         the server in your config.toml, with its key in an environment variable (docs/providers.md)"
    )]
    SecretInUrl,
    #[error("unknown schema {name:?}; available: {known}")]
    NoSchema { name: String, known: String },
}
