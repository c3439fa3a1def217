//! The sandbox for commands, attacked. A program of its own, because the helper is this same program started a
//! second time, which a test harness with threads could not be.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test program without a harness"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox::{Confine, EnvError, Environment as _, Helper, Limits, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{Ended, ExecRequest, ExecResult, Scope, Span, WorkPath};

fn main() {
    let helper = Helper::enter();
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-')).unwrap_or_default();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut failed = 0;
    for (name, test) in tests().into_iter().filter(|(name, _)| name.contains(&wanted)) {
        let ground = Ground::new(helper.clone());
        let run = std::panic::AssertUnwindSafe(|| runtime.block_on(test(ground)));
        let passed = std::panic::catch_unwind(run).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += i32::from(!passed);
    }
    // Helpers of commands that were cut short may still be on their way out; do not wait for blocked threads.
    runtime.shutdown_background();
    assert_eq!(failed, 0, "{failed} tests failed");
}

type Test = fn(Ground) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

macro_rules! all {
    ($($name:ident),* $(,)?) => {
        fn tests() -> BTreeMap<&'static str, Test> {
            BTreeMap::from([$((stringify!($name), (|ground| Box::pin($name(ground))) as Test)),*])
        }
    };
}

all![
    the_proof_holds,
    a_command_runs_with_its_folder_output_and_exit_code,
    the_workspace_is_writable_and_nothing_else_is,
    what_is_outside_cannot_be_read,
    there_is_no_network_but_the_own_loopback,
    git_files_can_neither_be_changed_nor_moved,
    only_the_scope_is_writable_when_there_is_one,
    a_link_in_the_scope_opens_nothing,
    nothing_is_left_running,
    time_is_up_for_commands_that_ignore_it,
    a_stop_reaches_everything_inside,
    a_dropped_call_leaves_nothing,
    our_processes_can_be_neither_seen_nor_signalled,
    dangerous_calls_are_denied,
    processes_are_limited,
    large_files_are_limited,
    no_descriptor_or_variable_of_ours_leaks,
    a_temporary_file_is_private_to_its_command,
    a_link_cannot_be_used_to_start_elsewhere,
];

struct Ground {
    dir: tempfile::TempDir,
    helper: Helper,
}

impl Ground {
    fn new(helper: Helper) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["ws", "out"] {
            std::fs::create_dir(dir.path().join(name)).expect("a folder");
        }
        std::fs::write(dir.path().join("out/secret"), "CANARY").expect("a secret");
        Self { dir, helper }
    }

    fn ws(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn confine(&self) -> Confine {
        Confine::new(self.helper.clone())
    }

    fn env(&self) -> LocalEnvironment {
        LocalEnvironment::open(&self.ws()).expect("a workspace").confined(self.confine())
    }

    async fn sh(&self, line: &str) -> ExecResult {
        run(&self.env(), line, Span::seconds(60)).await
    }
}

fn asked(line: &str, timeout: Span) -> ExecRequest {
    ExecRequest { command: line.to_owned(), folder: WorkPath::root(), timeout }
}

async fn run(env: &LocalEnvironment, line: &str, timeout: Span) -> ExecResult {
    env.exec(asked(line, timeout), &CancellationToken::new()).await.expect("the command ran")
}

/// Whether a process with this argument is alive anywhere on the machine.
fn alive(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes.into_iter().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.first() == Some(&b"sleep".as_slice()) && words.contains(&argument.as_bytes())
    })
}

async fn the_proof_holds(ground: Ground) {
    let began = Instant::now();
    let proof = ground.confine().prove().await.expect("a proof");
    assert!(proof.holds(), "{proof:#?}");
    assert!(proof.attacks.len() >= 14);
    println!("  {} attacks held in {:?}", proof.attacks.len(), began.elapsed());
}

async fn a_command_runs_with_its_folder_output_and_exit_code(ground: Ground) {
    std::fs::create_dir(ground.ws().join("sub")).expect("a folder");
    let request = ExecRequest {
        folder: "sub".parse().expect("a path"),
        ..asked("pwd; echo e >&2; exit 3", Span::seconds(60))
    };
    let result = ground.env().exec(request, &CancellationToken::new()).await.expect("it ran");
    let sub = ground.ws().canonicalize().expect("a path").join("sub");
    assert_eq!(result.output, format!("{}\ne\n", sub.display()));
    assert_eq!(result.ended, Ended::Exited(3));
    assert_eq!(ground.sh("kill -9 $$").await.ended, Ended::Signalled(9));
    let tools = "f=$(mktemp) && echo hi > $f && cat $f && seq 5 | sort -r > o && wc -l < o && ls -d ~ /proc/self";
    let result = ground.sh(tools).await;
    assert!(result.passed(), "{}", result.output);
}

async fn the_workspace_is_writable_and_nothing_else_is(ground: Ground) {
    let out = ground.out();
    let out = out.display();
    let line = format!(
        "echo x > inside; echo x > {out}/new; chmod 777 {out}/secret; touch -d 2001-01-01 {out}/secret; \
         ln {out}/secret h; ln -s {out} l; echo x > l/new; echo x > /etc/x; echo x > /usr/x; echo x > /x; \
         echo x > /proc/sys/kernel/core_pattern; rm -rf {out}; true"
    );
    ground.sh(&line).await;
    assert!(ground.ws().join("inside").exists());
    assert!(!ground.ws().join("h").exists());
    let left: Vec<_> = std::fs::read_dir(ground.out()).expect("a list").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let secret = std::fs::metadata(ground.out().join("secret")).expect("the secret");
    assert!(
        secret.modified().expect("a time").elapsed().expect("the past") < Duration::from_secs(600)
    );
}

async fn what_is_outside_cannot_be_read(ground: Ground) {
    let home = std::env::var("HOME").expect("a home");
    let line = format!(
        "cat {}/secret; cat /etc/shadow; ls -A {home}/.ssh {home}/.aws; cat /proc/1/environ; \
         cat /proc/$PPID/environ; ls /sys /run /var/lib /boot /mnt /srv",
        ground.out().display()
    );
    let output = ground.sh(&line).await.output;
    assert!(!output.contains("CANARY") && !output.contains("root:"), "{output}");
    assert!(!output.contains("PATH="), "{output}");
}

async fn there_is_no_network_but_the_own_loopback(ground: Ground) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let line = format!(
        "echo x > /dev/tcp/127.0.0.1/{port} && echo REACHED; echo x > /dev/udp/192.0.2.1/9 && echo SENT; \
         python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); \
         c=socket.create_connection(s.getsockname()); print(\"OWN\")'; \
         python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' || echo NO RAW"
    );
    let output = ground.sh(&line).await.output;
    assert!(!output.contains("REACHED") && !output.contains("SENT"), "{output}");
    assert!(output.contains("OWN") && output.contains("NO RAW"), "{output}");
}

async fn git_files_can_neither_be_changed_nor_moved(ground: Ground) {
    std::fs::create_dir_all(ground.ws().join(".git/hooks")).expect("a folder");
    ground
        .sh("mv .git .git2; mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; rm -rf .git; mount -o remount,rw,bind .git; umount -l .git; echo x > .git/y")
        .await;
    assert!(ground.ws().join(".git/hooks").is_dir());
    assert!(!ground.ws().join(".git2").exists() && !ground.ws().join(".git/y").exists());
    assert!(!ground.ws().join(".git/hooks/pre-commit").exists());
    std::fs::remove_dir_all(ground.ws().join(".git")).expect("removed");
    std::fs::write(ground.ws().join(".git"), "gitdir: /x\n").expect("a file");
    ground.sh("echo x > .git; mv .git away; rm -f .git").await;
    assert_eq!(std::fs::read_to_string(ground.ws().join(".git")).expect("a file"), "gitdir: /x\n");
}

async fn only_the_scope_is_writable_when_there_is_one(ground: Ground) {
    std::fs::create_dir(ground.ws().join("docs")).expect("a folder");
    std::fs::write(ground.ws().join("one.txt"), "1").expect("a file");
    std::fs::write(ground.ws().join("two.txt"), "2").expect("a file");
    let scope =
        ["src/deep/", "one.txt", "absent.txt"].map(|text| text.parse().expect("an artifact"));
    let confine = ground.confine().writing_to(Scope(scope.to_vec()));
    let env = LocalEnvironment::open(&ground.ws()).expect("a workspace").confined(confine);
    let line = "echo x > src/deep/a; mkdir src/deep/b; echo 9 > one.txt; echo 9 > two.txt; echo x > docs/a; \
        echo x > new; echo x > src/a; rm two.txt; mv docs d; ln src/deep/a docs/b; cat two.txt";
    let output = run(&env, line, Span::seconds(60)).await.output;
    assert!(output.ends_with('2'), "{output}");
    let text = |name: &str| std::fs::read_to_string(ground.ws().join(name)).ok();
    assert_eq!(text("src/deep/a").as_deref(), Some("x\n"));
    assert_eq!((text("one.txt").as_deref(), text("two.txt").as_deref()), (Some("9\n"), Some("2")));
    for name in ["docs/a", "docs/b", "new", "src/a", "d", "absent.txt"] {
        assert!(!ground.ws().join(name).exists(), "{name} was made");
    }
}

async fn a_link_in_the_scope_opens_nothing(ground: Ground) {
    std::os::unix::fs::symlink(ground.out(), ground.ws().join("src")).expect("a link");
    let scope = Scope(vec!["src/".parse().expect("an artifact")]);
    let env = LocalEnvironment::open(&ground.ws()).expect("a workspace");
    let env = env.confined(ground.confine().writing_to(scope));
    let refused =
        env.exec(asked("echo x > src/x", Span::seconds(60)), &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Sandbox { .. })), "{refused:?}");
    assert!(!ground.out().join("x").exists());
}

async fn nothing_is_left_running(ground: Ground) {
    let result = ground
        .sh("setsid sleep 98706 >/dev/null 2>&1 & (setsid nohup sleep 98706 &) ; echo ok")
        .await;
    assert_eq!((result.output.as_str(), result.ended), ("ok\n", Ended::Exited(0)));
    assert!(!alive("98706"));
}

async fn time_is_up_for_commands_that_ignore_it(ground: Ground) {
    let began = Instant::now();
    let line = "(setsid sh -c 'trap \"\" TERM; nohup sleep 98705 & ' &); trap '' TERM; echo hi; sleep 98705; sleep 98705";
    let result = run(&ground.env(), line, Span::millis(500)).await;
    assert_eq!((result.ended, result.output.as_str()), (Ended::TimedOut, "hi\n"));
    let result = run(&ground.env(), "kill -STOP $$; sleep 98705", Span::millis(500)).await;
    assert_eq!(result.ended, Ended::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    gone("98705").await;
}

async fn a_stop_reaches_everything_inside(ground: Ground) {
    let stop = CancellationToken::new();
    let env = ground.env();
    let exec =
        env.exec(asked("setsid sleep 98708 & touch up; sleep 98708", Span::seconds(600)), &stop);
    let stopper = async {
        up(&ground.ws().join("up")).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(exec, stopper);
    assert_eq!(result.expect("it ran").ended, Ended::Stopped);
    gone("98708").await;
}

async fn a_dropped_call_leaves_nothing(ground: Ground) {
    let mark = ground.ws().join("up");
    let env = ground.env();
    let stop = CancellationToken::new();
    let exec =
        env.exec(asked("setsid sleep 98710 & touch up; sleep 98710", Span::seconds(600)), &stop);
    tokio::select! {
        _ = exec => panic!("it ended by itself"),
        () = up(&mark) => {}
    }
    gone("98710").await;
}

async fn our_processes_can_be_neither_seen_nor_signalled(ground: Ground) {
    let pid = std::process::id();
    let line = format!(
        "ls /proc | grep -c '^[0-9]'; kill -0 {pid} && echo SIGNALLED; kill -9 1; kill -9 $PPID; echo alive"
    );
    let result = ground.sh(&line).await;
    assert!(
        result.output.contains("alive") && !result.output.contains("SIGNALLED"),
        "{}",
        result.output
    );
    let seen: u32 =
        result.output.lines().next().and_then(|line| line.parse().ok()).expect("a number");
    assert!(seen < 8, "{seen} processes are seen");
}

async fn dangerous_calls_are_denied(ground: Ground) {
    let line = "python3 - <<'P'\nimport ctypes\nl=ctypes.CDLL(None,use_errno=True)\n\
        for n,s in (('bpf',321),('perf',298),('keyctl',250),('userfaultfd',323),('kexec',246),('initmod',175),('obha',304),('fsopen',430),('unshare',272),('clone3',435),('io_uring',425),('ptrace',101)):\n\
        \x20 r=l.syscall(s,0,0,0,0,0);e=ctypes.get_errno();print(n,'DENIED' if r==-1 and e in (1,38) else f'ALLOWED r={r} e={e}')\nP";
    let result = ground.sh(line).await;
    assert!(result.passed() && !result.output.contains("ALLOWED"), "{}", result.output);
    let result = ground.sh("unshare -U true; unshare -r true; echo $?; grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status").await;
    assert!(result.output.contains("NoNewPrivs:\t1"), "{}", result.output);
    assert_eq!(result.output.matches("0000000000000000").count(), 2, "{}", result.output);
}

async fn processes_are_limited(ground: Ground) {
    let limits = Limits { processes: 600, ..Limits::default() };
    let env = LocalEnvironment::open(&ground.ws()).expect("a workspace");
    let env = env.confined(ground.confine().limits(limits));
    let line =
        "i=0; while [ $i -lt 2000 ]; do sleep 98711 & i=$((i+1)); done 2>/dev/null; echo done";
    let result = run(&env, line, Span::seconds(20)).await;
    assert!(result.output.contains("esource") || result.ended != Ended::Exited(0), "{result:?}");
}

async fn large_files_are_limited(ground: Ground) {
    let limits = Limits { file_bytes: 1 << 20, ..Limits::default() };
    let env = LocalEnvironment::open(&ground.ws()).expect("a workspace");
    let env = env.confined(ground.confine().limits(limits));
    let result = run(&env, "head -c 5000000 /dev/zero > big", Span::seconds(60)).await;
    assert!(!result.passed());
    assert_eq!(std::fs::metadata(ground.ws().join("big")).expect("a file").len(), 1 << 20);
}

async fn no_descriptor_or_variable_of_ours_leaks(ground: Ground) {
    let result = ground
        .sh("ls /proc/self/fd | sort -n | tr '\\n' ' '; readlink /proc/self/fd/0; cat; env")
        .await;
    assert!(result.output.starts_with("0 1 2 3 /dev/null\n"), "{}", result.output);
    assert!(!result.output.contains("CARGO_"), "{}", result.output);
}

async fn a_temporary_file_is_private_to_its_command(ground: Ground) {
    ground.sh("echo CANARY > /tmp/left; echo CANARY > /var/tmp/left; echo CANARY > ~/left").await;
    let result = ground.sh("cat /tmp/left /var/tmp/left ~/left; ls -A /tmp /var/tmp").await;
    assert!(!result.output.contains("CANARY\n"), "{}", result.output);
    assert!(!Path::new("/tmp/left").exists());
}

async fn a_link_cannot_be_used_to_start_elsewhere(ground: Ground) {
    std::os::unix::fs::symlink("/etc", ground.ws().join("etc")).expect("a link");
    let request =
        ExecRequest { folder: "etc".parse().expect("a path"), ..asked("pwd", Span::seconds(60)) };
    let refused = ground.env().exec(request, &CancellationToken::new()).await;
    assert!(matches!(refused, Err(EnvError::Escapes { .. })), "{refused:?}");
}

/// Waits until a file is there.
async fn up(file: &Path) {
    while !file.exists() {
        tokio::task::yield_now().await;
    }
}

/// Waits until no process with this argument is left.
async fn gone(argument: &str) {
    while alive(argument) {
        tokio::task::yield_now().await;
    }
}
