//! The end of commands, and processes and files that they leave behind.

use std::path::Path;
use std::time::{Duration, Instant};

use sandbox::{Bounds, Confine, Environment as _, HelperExe, Limits, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{Ended, Millis};

use crate::fixture::{Fixture, alive, asked, gone, run, up};

pub(crate) async fn nothing_is_left_running(fixture: Fixture) {
    let result = fixture
        .sh("setsid sleep 98706 >/dev/null 2>&1 & (setsid nohup sleep 98706 &) ; echo ok")
        .await;
    assert_eq!((result.output.as_str(), result.ended), ("ok\n", Ended::Exited(0)));
    assert!(!alive("98706"));
}

pub(crate) async fn time_is_up_for_commands_that_ignore_it(fixture: Fixture) {
    let began = Instant::now();
    let line = "(setsid sh -c 'trap \"\" TERM; nohup sleep 98705 & ' &); trap '' TERM; echo hi; sleep 98705; sleep 98705";
    let result = run(&fixture.env(), line, Millis(500)).await;
    assert_eq!((result.ended, result.output.as_str()), (Ended::TimedOut, "hi\n"));
    let result = run(&fixture.env(), "kill -STOP $$; sleep 98705", Millis(500)).await;
    assert_eq!(result.ended, Ended::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    gone("98705").await;
}

pub(crate) async fn a_stop_reaches_everything_inside(fixture: Fixture) {
    let stop = CancellationToken::new();
    let env = fixture.env();
    let exec =
        env.exec(asked("setsid sleep 98708 & touch up; sleep 98708", Millis::seconds(600)), &stop);
    let stopper = async {
        up(&fixture.ws().join("up")).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(exec, stopper);
    assert_eq!(result.expect("it ran").ended, Ended::Stopped);
    gone("98708").await;
}

pub(crate) async fn a_dropped_call_leaves_nothing(fixture: Fixture) {
    let mark = fixture.ws().join("up");
    let env = fixture.env();
    let stop = CancellationToken::new();
    let exec =
        env.exec(asked("setsid sleep 98710 & touch up; sleep 98710", Millis::seconds(600)), &stop);
    tokio::select! {
        _ = exec => panic!("it ended by itself"),
        () = up(&mark) => {}
    }
    gone("98710").await;
}

/// A program that runs a command and is killed meanwhile.
pub(crate) fn to_be_killed(helper_exe: HelperExe, ws: &Path) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let env = LocalEnvironment::open(ws)
        .expect("a workspace")
        .confined(Confine::new(helper_exe, Bounds::default()));
    runtime.block_on(run(&env, "setsid sleep 98707 & touch up; sleep 98707", Millis::seconds(600)));
}

pub(crate) async fn our_own_death_takes_everything_with_it(fixture: Fixture) {
    let mut program = std::process::Command::new("/proc/self/exe");
    let mut program = program.env("CONFINE_WS", fixture.ws()).spawn().expect("a program");
    up(&fixture.ws().join("up")).await;
    program.kill().expect("killed");
    program.wait().expect("dead");
    gone("98707").await;
}

pub(crate) async fn our_processes_can_be_neither_seen_nor_signalled(fixture: Fixture) {
    let pid = std::process::id();
    let line = format!(
        "ls /proc | grep -c '^[0-9]'; kill -0 {pid} && echo SIGNALLED; kill -9 1; kill -9 $PPID; echo alive"
    );
    let result = fixture.sh(&line).await;
    assert!(
        result.output.contains("alive") && !result.output.contains("SIGNALLED"),
        "{}",
        result.output
    );
    let seen: u32 =
        result.output.lines().next().and_then(|line| line.parse().ok()).expect("a number");
    assert!(seen < 8, "{seen} processes are seen");
}

pub(crate) async fn processes_are_limited(fixture: Fixture) {
    let limits = Limits { processes: 600, ..Limits::default() };
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
    let env = env.confined(fixture.confine_to(Bounds { limits, ..Bounds::default() }));
    let line =
        "i=0; while [ $i -lt 2000 ]; do sleep 98711 & i=$((i+1)); done 2>/dev/null; echo done";
    let result = run(&env, line, Millis::seconds(20)).await;
    assert!(result.output.contains("esource") || result.ended != Ended::Exited(0), "{result:?}");
}

pub(crate) async fn large_files_are_limited(fixture: Fixture) {
    let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
    let env = env.confined(fixture.confine_to(Bounds { limits, ..Bounds::default() }));
    let result = run(&env, "head -c 5000000 /dev/zero > big", Millis::seconds(60)).await;
    assert!(!result.passed());
    assert_eq!(std::fs::metadata(fixture.ws().join("big")).expect("a file").len(), 1 << 20);
}

pub(crate) async fn a_temporary_file_is_private_to_its_command(fixture: Fixture) {
    fixture.sh("echo CANARY > /tmp/left; echo CANARY > /var/tmp/left; echo CANARY > ~/left").await;
    let result = fixture.sh("cat /tmp/left /var/tmp/left ~/left; ls -A /tmp /var/tmp").await;
    assert!(!result.output.contains("CANARY\n"), "{}", result.output);
    assert!(!Path::new("/tmp/left").exists());
}

pub(crate) async fn no_descriptor_or_variable_of_ours_leaks(fixture: Fixture) {
    let result = fixture
        .sh("ls /proc/self/fd | sort -n | tr '\\n' ' '; readlink /proc/self/fd/0; cat; env")
        .await;
    assert!(result.output.starts_with("0 1 2 3 /dev/null\n"), "{}", result.output);
    assert!(!result.output.contains("CARGO_MANIFEST"), "{}", result.output);
}
