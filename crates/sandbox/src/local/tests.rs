//! The local environment against a real folder and real processes.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, Instant};

use types::{DirEntry, Ended, ExecRequest, ExecResult, Millis};

use super::*;
use crate::Environment as _;

fn path(text: &str) -> WorkPath {
    text.parse().expect("a path")
}

fn workspace() -> (tempfile::TempDir, LocalEnvironment) {
    let dir = tempfile::tempdir().expect("a folder");
    let env = LocalEnvironment::open(dir.path()).expect("a workspace");
    (dir, env)
}

async fn exec(env: &LocalEnvironment, command: &str, timeout: Millis) -> ExecResult {
    let request = ExecRequest::new(command.to_owned(), WorkPath::root(), timeout);
    env.exec(request, &CancellationToken::new()).await.expect("the command ran")
}

async fn sh(env: &LocalEnvironment, command: &str) -> ExecResult {
    exec(env, command, Millis::seconds(60)).await
}

#[tokio::test]
async fn a_write_makes_folders_and_keeps_the_mode_of_an_existing_file() {
    let (dir, env) = workspace();
    env.write(&path("a/b/run.sh"), b"one").await.expect("a new file");
    let file = dir.path().join("a/b/run.sh");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o750)).expect("a mode");
    env.write(&path("a/b/run.sh"), b"two").await.expect("an existing file");
    assert_eq!(env.read(&path("a/b/run.sh")).await.expect("the file"), b"two");
    let mode = std::fs::metadata(&file).expect("the file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o750);
    let left: Vec<_> = std::fs::read_dir(file.parent().expect("a parent")).expect("list").collect();
    assert_eq!(left.len(), 1, "a staging file stayed behind");
}

/// K29, K30, M14, C42
#[tokio::test]
async fn a_link_that_leads_out_is_neither_read_nor_written_nor_listed() {
    let (dir, env) = workspace();
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret"), "s").expect("a file");
    symlink(outside.path(), dir.path().join("out")).expect("a link");
    symlink(outside.path().join("secret"), dir.path().join("direct")).expect("a link");
    for name in ["out/secret", "direct"] {
        let read = env.read(&path(name)).await;
        assert!(matches!(read, Err(EnvError::Escapes { .. })), "{name}: {read:?}");
        let write = env.write(&path(name), b"x").await;
        assert!(matches!(write, Err(EnvError::ThroughLink { .. })), "{name}: {write:?}");
    }
    assert!(matches!(env.list(&path("out"), 1).await, Err(EnvError::Escapes { .. })));
    let delete = env.delete(&path("out/secret")).await;
    assert!(matches!(delete, Err(EnvError::ThroughLink { .. })), "{delete:?}");
    assert_eq!(std::fs::read(outside.path().join("secret")).expect("still there"), b"s");
}

/// K30
#[tokio::test]
async fn a_link_inside_is_read_through_but_never_written_through() {
    let (dir, env) = workspace();
    env.write(&path("docs/a"), b"text").await.expect("a file");
    symlink("docs", dir.path().join("src")).expect("a link");
    assert_eq!(env.read(&path("src/a")).await.expect("read"), b"text");
    let write = env.write(&path("src/a"), b"x").await;
    assert!(matches!(write, Err(EnvError::ThroughLink { .. })), "{write:?}");
    assert_eq!(env.read(&path("docs/a")).await.expect("read"), b"text");
}

#[tokio::test]
async fn pipes_devices_and_folders_are_not_files() {
    let (dir, env) = workspace();
    assert!(sh(&env, "mkfifo pipe && mkdir folder").await.passed());
    symlink("/dev/zero", dir.path().join("zero")).expect("a link");
    assert!(matches!(env.read(&path("pipe")).await, Err(EnvError::NotRegular { .. })));
    assert!(matches!(env.write(&path("pipe"), b"").await, Err(EnvError::NotRegular { .. })));
    assert!(matches!(env.read(&path("folder")).await, Err(EnvError::IsFolder { .. })));
    assert!(matches!(env.write(&path("folder"), b"").await, Err(EnvError::IsFolder { .. })));
    assert!(matches!(env.read(&path("zero")).await, Err(EnvError::Escapes { .. })));
}

#[tokio::test]
async fn git_files_are_protected_in_any_case_and_at_any_depth() {
    let (_dir, env) = workspace();
    for name in [".git/hooks/pre-commit", "sub/.GIT/config", ".git"] {
        let write = env.write(&path(name), b"x").await;
        assert!(matches!(write, Err(EnvError::Protected { .. })), "{name}: {write:?}");
        let delete = env.delete(&path(name)).await;
        assert!(matches!(delete, Err(EnvError::Protected { .. })), "{name}: {delete:?}");
    }
    env.write(&path(".gitignore"), b"x").await.expect("an ordinary file");
}

/// A66
#[tokio::test]
async fn a_listing_goes_as_deep_as_asked_and_names_paths_from_the_workspace() {
    let (_dir, env) = workspace();
    for name in ["a/b/c", "a/d", "e"] {
        env.write(&path(name), b"12").await.expect("a file");
    }
    let names = |entries: Vec<DirEntry>| {
        entries.into_iter().map(|entry| entry.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(env.list(&WorkPath::root(), 1).await.expect("a list")), ["a", "e"]);
    assert_eq!(names(env.list(&path("a"), 2).await.expect("a list")), ["a/b", "a/b/c", "a/d"]);
    let file = env.list(&path("a"), 1).await.expect("a list").pop().expect("a/d");
    assert_eq!((file.folder, file.bytes), (false, Some(2)));
    assert!(matches!(env.list(&path("e"), 1).await, Err(EnvError::NotAFolder { .. })));
    assert!(matches!(env.list(&path("x"), 1).await, Err(EnvError::NotFound { .. })));
}

/// A66
#[tokio::test]
async fn deleting_what_is_not_there_is_an_error() {
    let (_dir, env) = workspace();
    env.write(&path("a"), b"").await.expect("a file");
    assert!(env.exists(&path("a")).await.expect("a look"));
    env.delete(&path("a")).await.expect("a delete");
    assert!(!env.exists(&path("a")).await.expect("a look"));
    assert!(matches!(env.delete(&path("a")).await, Err(EnvError::NotFound { .. })));
}

/// A22: separate output and errors, duration, exit status.
#[tokio::test]
async fn output_and_errors_come_as_they_arrive_and_apart_with_the_exit_code() {
    let (_dir, env) = workspace();
    let result =
        sh(&env, "echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three; exit 3").await;
    assert_eq!(result.output, "one\ntwo\nthree\n");
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("one\nthree\n", "two\n"));
    assert_eq!(result.ended, Ended::Exited(3));
    assert!(result.elapsed >= Millis(100), "{}", result.elapsed);
    let killed = sh(&env, "kill -9 $$").await;
    assert_eq!(killed.ended, Ended::Signalled(9));
}

/// K25, K28
#[tokio::test]
async fn a_command_runs_in_its_folder_without_terminal_input_or_our_secrets() {
    let (_dir, env) = workspace();
    env.write(&path("sub/x"), b"").await.expect("a file");
    let request = ExecRequest {
        command: "ls; cat; tty; env | cut -d= -f1 | sort | tr '\\n' ' '".to_owned(),
        folder: path("sub"),
        timeout: Millis::seconds(60),
        variables: std::collections::BTreeMap::new(),
        hosts: vec![],
        background: false,
    };
    let result = env.exec(request, &CancellationToken::new()).await.expect("it ran");
    assert!(result.output.starts_with("x\nnot a tty\n"), "{}", result.output);
    assert!(!result.output.contains("CARGO_MANIFEST"), "{}", result.output);
}

/// A24, C45: TERM to all, then KILL; output so far is kept.
#[tokio::test]
async fn a_command_that_ignores_term_is_killed_with_its_children_when_its_time_is_up() {
    let (_dir, env) = workspace();
    let began = Instant::now();
    let line =
        "trap '' TERM; (trap '' TERM; echo $BASHPID > child; sleep 600) & echo hi; sleep 600";
    let result = exec(&env, line, Millis(200)).await;
    assert_eq!(result.ended, Ended::TimedOut);
    assert_eq!(result.output, "hi\n");
    assert!(began.elapsed() < Duration::from_secs(30));
    // A killed process that was not reaped yet is a zombie, which counts as dead.
    let gone =
        "while s=$(grep -h ^State /proc/$(cat child)/status); do case $s in *Z*) exit; esac; done";
    assert!(sh(&env, gone).await.ended != Ended::TimedOut, "the child is still there");
}

/// A73
#[tokio::test]
async fn a_background_child_that_holds_the_pipe_does_not_hold_the_call() {
    let (_dir, env) = workspace();
    let result = sh(&env, "sleep 600 & echo started").await;
    assert_eq!((result.ended, result.output.as_str()), (Ended::Exited(0), "started\n"));
}

/// K19, A72
#[tokio::test]
async fn a_stop_reaches_the_running_command() {
    let (_dir, env) = workspace();
    let stop = CancellationToken::new();
    let request = ExecRequest {
        command: "echo up > up; sleep 600".to_owned(),
        folder: WorkPath::root(),
        timeout: Millis::seconds(600),
        variables: std::collections::BTreeMap::new(),
        hosts: vec![],
        background: false,
    };
    let stopper = async {
        while !env.exists(&path("up")).await.expect("a look") {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    let (result, ()) = tokio::join!(env.exec(request, &stop), stopper);
    assert_eq!(result.expect("it ran").ended, Ended::Stopped);
}

/// C46
#[tokio::test]
async fn endless_output_is_bounded_and_does_not_outlive_its_time() {
    let (_dir, env) = workspace();
    let result = exec(&env, "yes", Millis(300)).await;
    assert_eq!(result.ended, Ended::TimedOut);
    assert!(result.output.len() < 2 * 1024 * 1024);
    assert!(result.dropped > 0);
}

/// A72: processes that left the session are ended, too, and none blocks the call.
#[tokio::test]
async fn what_left_the_session_is_ended_with_the_command() {
    let (_dir, env) = workspace();
    let line = "setsid sh -c 'echo $$ > child; trap \"\" TERM; sleep 600' & while [ ! -s child ]; do :; done";
    assert!(sh(&env, line).await.passed());
    let gone = "[ ! -d /proc/$(cat child) ] || grep -q 'State:.Z' /proc/$(cat child)/status";
    assert!(sh(&env, gone).await.passed(), "it is still there");
    let timed = exec(&env, &format!("{line}; sleep 600"), Millis(300)).await;
    assert_eq!(timed.ended, Ended::TimedOut);
    assert!(sh(&env, gone).await.passed(), "it outlived its time");
}

#[tokio::test]
async fn output_is_heard_while_it_comes() {
    let (_dir, env) = workspace();
    let (sender, mut heard) = tokio::sync::mpsc::channel(16);
    let env = env.heard_by(crate::Listener::new(move |stream, piece| {
        let said = (stream, String::from_utf8_lossy(piece).into_owned());
        sender.try_send(said).expect("room");
    }));
    // The command continues only after its first line was received.
    let hear = async {
        let first = heard.recv().await.expect("something");
        env.write(&path("go"), b"").await.expect("a file");
        first
    };
    let line = "echo one; while [ ! -e go ]; do :; done; echo two >&2";
    let (result, first) = tokio::join!(sh(&env, line), hear);
    assert_eq!(first, (crate::Stream::Output, "one\n".to_owned()));
    assert_eq!(heard.recv().await, Some((crate::Stream::Errors, "two\n".to_owned())));
    assert_eq!(result.output, "one\ntwo\n");
}

/// A70
#[tokio::test]
async fn the_place_says_what_it_is() {
    let (dir, env) = workspace();
    env.initialize().await.expect("it is there");
    let facts = env.facts();
    assert_eq!(facts.platform, "linux");
    assert_eq!(facts.working_dir, dir.path().canonicalize().expect("a path").to_string_lossy());
    dir.close().expect("it goes");
    assert!(env.initialize().await.is_err(), "it is gone");
}

/// C20: a file hidden by policy gives the same error as a missing one, so agents cannot learn which documents exist.
#[tokio::test]
async fn what_is_hidden_does_not_exist() {
    let (dir, env) = workspace();
    std::fs::create_dir(dir.path().join("context")).expect("a folder");
    std::fs::write(dir.path().join("context/there.md"), "there").expect("a file");
    let env = env.hiding(&["context/**"]).expect("a pattern");
    let read = async |name: &str| {
        let error = env.read(&path(&format!("context/{name}.md"))).await.expect_err("hidden");
        error.to_string().replace(name, "NAME")
    };
    assert_eq!(read("there").await, read("gone").await);
    let listed = async |env: &LocalEnvironment, folder: &str| {
        env.list(&path(folder), 1).await.map_err(|error| error.to_string().replace(folder, "NAME"))
    };
    assert_eq!(listed(&env, "context").await, listed(&env, "gone").await);
    assert_eq!(listed(&env, ".").await, Ok(vec![]));
}
