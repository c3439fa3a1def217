//! Escape attempts, each by a way of its own. A successful one prints ESCAPED, or leaves a trace outside that is looked
//! for afterwards. They run as the user who runs the tests and, if that is root, once more as an ordinary user.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sandbox::{Bounds, LocalEnvironment};
use types::{IsolationLevel, Millis};

use crate::fixture::{Fixture, run};

/// Name, script, and whether Landlock alone must block it as well. `$OUT` is a folder outside with a file `secret` in
/// it, `$PID` a process of the machine, `$PORT` a port with a listener.
const CORPUS: [(&str, &str, bool); 50] = [
    ("read by its path", "cat $OUT/secret && echo ESCAPED", true),
    ("read through a link", "ln -s $OUT/secret l && cat l && echo ESCAPED", true),
    ("read through a link in proc", "cat /proc/self/root$OUT/secret && echo ESCAPED", true),
    ("read through a parent's root", "cat /proc/$PPID/root$OUT/secret && echo ESCAPED", true),
    ("read through process 1", "cat /proc/1/root$OUT/secret && echo ESCAPED", true),
    (
        "read through a folder above",
        "cat ../out/secret ../../../../../../../..$OUT/secret && echo ESCAPED",
        true,
    ),
    ("hard link to the outside", "ln $OUT/secret h && cat h && echo ESCAPED", true),
    ("move it in", "mv $OUT/secret . && echo ESCAPED", true),
    ("copy with other tools", "dd if=$OUT/secret of=s && grep -q CANARY s && echo ESCAPED", true),
    ("write beside", "echo x > $OUT/new && echo ESCAPED", true),
    ("write over", "echo x > $OUT/secret && echo ESCAPED", true),
    ("append", "echo x >> $OUT/secret && echo ESCAPED", true),
    ("truncate", "truncate -s 0 $OUT/secret && echo ESCAPED", true),
    ("remove", "rm -rf $OUT && [ ! -e $OUT ] && false; rm -f $OUT/secret", true),
    ("make a folder", "mkdir $OUT/d && echo ESCAPED", true),
    ("rename the folder outside", "mv $OUT $OUT.moved && echo ESCAPED", true),
    ("write through a link to a folder", "ln -s $OUT d && echo x > d/new && echo ESCAPED", true),
    (
        "write to the system",
        "for d in / /etc /usr /usr/bin /lib /boot /opt /var/lib; do echo x > $d/bosun-x && echo ESCAPED; done",
        true,
    ),
    ("plant a program", "echo x > /usr/local/bin/bosun-x && echo ESCAPED", true),
    ("change a mode outside", "chmod 777 $OUT/secret && echo ESCAPED", false),
    ("change times outside", "touch -d 2001-01-01 $OUT/secret && echo ESCAPED", false),
    ("signal the machine", "kill -0 $PID && echo ESCAPED", true),
    ("kill the machine", "kill -9 $PID && echo ESCAPED", true),
    ("see the machine's processes", "[ -d /proc/$PID ] && [ $PID -gt 50 ] && echo ESCAPED", false),
    (
        "read another's environment",
        "tr '\\0' '\\n' < /proc/$PID/environ | grep -q CANARY_VARIABLE && echo ESCAPED",
        true,
    ),
    ("read another's memory", "head -c 1 /proc/$PID/mem && echo ESCAPED", true),
    ("connect to the machine", "(exec 3<>/dev/tcp/127.0.0.1/$PORT) && echo ESCAPED", true),
    ("connect to the world", "(exec 3<>/dev/tcp/192.0.2.1/80) && echo ESCAPED", true),
    ("send a datagram", "(echo x > /dev/udp/192.0.2.1/9) && echo ESCAPED", true),
    ("ask for a cloud's keys", "(exec 3<>/dev/tcp/169.254.169.254/80) && echo ESCAPED", true),
    (
        "a raw socket",
        "python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' && echo ESCAPED",
        true,
    ),
    (
        "netlink",
        "python3 -c 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)' && echo ESCAPED",
        true,
    ),
    (
        "a service's socket",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$OUT/sock')\" && echo ESCAPED",
        true,
    ),
    (
        "an abstract socket",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('\\0bosun-corpus')\" && echo ESCAPED",
        true,
    ),
    (
        "a service's socket in the workspace",
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('service')\" && echo ESCAPED",
        true,
    ),
    (
        "a segment that outlives the command",
        "ipcmk -M 4242 >/dev/null && [ $PID -gt 50 ] && [ -e /proc/$PID ] && echo ESCAPED",
        true,
    ),
    ("a user namespace", "unshare -Ur true && echo ESCAPED", true),
    ("a mount namespace", "unshare -m true && echo ESCAPED", true),
    (
        "enter another namespace",
        "nsenter -t $PID -m true && echo ESCAPED; nsenter -t 1 -n true && [ $PID -gt 50 ] && echo ESCAPED",
        true,
    ),
    (
        "mount",
        "mount -t tmpfs x /tmp && echo ESCAPED; mount --bind $PWD /etc && echo ESCAPED",
        true,
    ),
    (
        "mount again, writable",
        "mount -o remount,rw,bind / && echo ESCAPED; mount -o remount,rw /usr && echo ESCAPED",
        true,
    ),
    ("unmount", "umount -l /proc && echo ESCAPED; umount -l .git && echo ESCAPED", true),
    ("a new root", "chroot / true && echo ESCAPED", true),
    ("a device", "mknod dev b 8 0 && echo ESCAPED; mknod mem c 1 1 && echo ESCAPED", true),
    (
        "set-user-id",
        "cp /bin/bash b && chmod u+s b && ./b -p -c '[ $EUID != $(id -ru) ]' && echo ESCAPED; sudo -n true && echo ESCAPED",
        true,
    ),
    (
        "another user",
        "su nobody -s /bin/sh -c true && echo ESCAPED; setpriv --reuid 1 true && echo ESCAPED",
        true,
    ),
    (
        "the kernel's settings",
        "echo x > /proc/sys/kernel/core_pattern && echo ESCAPED; echo b > /proc/sysrq-trigger && echo ESCAPED",
        true,
    ),
    (
        "trace",
        "python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, int(sys.argv[1]), 0, 0) == 0 else 1)' $PID && echo ESCAPED",
        true,
    ),
    (
        "keep running",
        "(setsid sh -c 'trap \"\" TERM HUP; sleep 96501' &) ; (env -i setsid nohup sleep 96501 >/dev/null 2>&1 &); true",
        true,
    ),
    (
        "git's own files",
        "echo x > .git/hooks/pre-commit && echo ESCAPED; mv .git away && echo ESCAPED; git config core.fsmonitor x && echo ESCAPED",
        false,
    ),
];

pub(crate) async fn nothing_gets_out_of_the_namespaces(fixture: Fixture) {
    let env = fixture.env();
    attack(&fixture, &env, IsolationLevel::Full).await;
}

/// Attacks that Landlock alone must block; there, root is refused, which is a valid outcome as well.
pub(crate) async fn nothing_that_landlock_claims_gets_out_of_it(fixture: Fixture) {
    let confine =
        fixture.confine_to(Bounds { level: IsolationLevel::Landlock, ..Bounds::default() });
    let proof = confine.prove().await;
    if nix::unistd::getuid().is_root() {
        let refused = proof.expect_err("root is refused");
        assert!(refused.to_string().contains("ordinary user"), "{refused}");
        return;
    }
    let proof = proof.expect("a proof");
    let open: Vec<&str> = proof.through().map(|attack| attack.what.as_str()).collect();
    assert_eq!(proof.level, IsolationLevel::Landlock, "{proof:#?}");
    assert!(!open.is_empty(), "it says what it does not hold: {open:?}");
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace").confined(confine);
    let works = run(
        &env,
        "echo hi > f && cat f && mktemp >/dev/null && ls / >/dev/null; echo $?",
        Millis::seconds(60),
    )
    .await;
    assert!(works.output.starts_with("hi\n"), "{}", works.output);
    attack(&fixture, &env, IsolationLevel::Landlock).await;
}

async fn attack(fixture: &Fixture, env: &LocalEnvironment, level: IsolationLevel) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let socket =
        std::os::unix::net::UnixListener::bind(fixture.out().join("sock")).expect("a socket");
    let service =
        std::os::unix::net::UnixListener::bind(fixture.ws().join("service")).expect("a socket");
    std::fs::create_dir_all(fixture.ws().join(".git/hooks")).expect("a folder");
    let before = trace(&fixture.out());
    let head =
        format!("OUT={}; PID={}; PORT={port}; ", fixture.out().display(), std::process::id());
    for (name, script, always) in CORPUS {
        if level == IsolationLevel::Full || always {
            let result = run(env, &format!("{head}{script}"), Millis::seconds(30)).await;
            assert!(!result.output.contains("ESCAPED"), "{name}: {}", result.output);
            assert_eq!(trace(&fixture.out()), before, "{name} left a trace: {}", result.output);
            assert!(!crate::fixture::alive("96501"), "{name} is still running");
        }
    }
    drop((listener, socket, service));
}

/// All properties of the folder outside that a script could have changed.
fn trace(folder: &Path) -> Vec<String> {
    let mut seen: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .flatten()
        .map(|entry| {
            let found = entry.metadata().expect("an entry");
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            format!("{:?} {:o} {} {text}", entry.file_name(), found.mode(), found.mtime())
        })
        .collect();
    seen.sort();
    seen
}

/// Repeats most of these tests as an unprivileged user.
pub(crate) async fn all_of_it_holds_for_an_ordinary_user_too(_ground: Fixture) {
    use std::os::unix::process::CommandExt as _;
    if !nix::unistd::getuid().is_root() {
        return;
    }
    let home = tempfile::tempdir().expect("a home");
    std::os::unix::fs::chown(home.path(), Some(65534), Some(65534)).expect("given away");
    for wanted in ["isolation::", "layers::", "limits::", "lives::", "corpus::"] {
        let mut program = std::process::Command::new("/proc/self/exe");
        program.arg(wanted).uid(65534).gid(65534).current_dir("/").env("HOME", home.path());
        let done = program.env("TMPDIR", "/tmp").output().expect("it ran");
        let said = String::from_utf8_lossy(&done.stdout);
        let why = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "as an ordinary user:\n{said}\n{why}");
    }
}
