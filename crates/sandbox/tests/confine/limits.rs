//! Limits on the combined usage of a command's processes, and access to the machine other than by files and network.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use sandbox::{Bounds, Limits, LocalEnvironment};
use types::{Ended, ExecResult, IsolationLevel, Millis};

use crate::fixture::{Fixture, gone, run};

const MB: u64 = 1 << 20;

async fn within(fixture: &Fixture, limits: Limits, line: &str) -> ExecResult {
    let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
    run(
        &env.confined(fixture.confine_to(Bounds { limits, ..Bounds::default() })),
        line,
        Millis::seconds(60),
    )
    .await
}

fn assert_ended_by(result: &ExecResult, limit: &str) {
    let said = result.output.contains("[limit: ended, because") && result.output.contains(limit);
    assert!(said, "{result:?}");
    assert_eq!(result.ended, Ended::Signalled(9), "{result:?}");
}

/// Writes a minimal ELF program that consists of this code.
fn program(fixture: &Fixture, name: &str, code: &[u8]) {
    const BASE: u64 = 0x40_0000;
    const HEAD: u64 = 120;
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    let short = |bytes: &mut Vec<u8>, all: &[u16]| {
        all.iter().for_each(|one| bytes.extend_from_slice(&one.to_le_bytes()));
    };
    let word = |bytes: &mut Vec<u8>, all: &[u32]| {
        all.iter().for_each(|one| bytes.extend_from_slice(&one.to_le_bytes()));
    };
    let long = |bytes: &mut Vec<u8>, all: &[u64]| {
        all.iter().for_each(|one| bytes.extend_from_slice(&one.to_le_bytes()));
    };
    short(&mut bytes, &[2, 62]);
    word(&mut bytes, &[1]);
    long(&mut bytes, &[BASE + HEAD, 64, 0]);
    word(&mut bytes, &[0]);
    short(&mut bytes, &[64, 56, 1, 0, 0, 0]);
    word(&mut bytes, &[1, 5]);
    let size = HEAD + code.len() as u64;
    long(&mut bytes, &[0, BASE, BASE, size, size, 0x1000]);
    bytes.extend_from_slice(code);
    let path = fixture.ws().join(name);
    let mut file = std::fs::File::create(&path).expect("a file");
    file.write_all(&bytes).expect("written");
    drop(file);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

pub(crate) async fn the_limits_are_proved(fixture: Fixture) {
    let levels = if nix::unistd::getuid().is_root() { 1 } else { 2 };
    for level in [IsolationLevel::Full, IsolationLevel::Landlock].into_iter().take(levels) {
        let attacks = fixture
            .confine_to(Bounds { level, ..Bounds::default() })
            .prove_limits()
            .await
            .expect("a proof");
        assert_eq!(attacks.len(), 3);
        let open = attacks.iter().filter(|attack| attack.through.is_some());
        assert_eq!(open.count(), 0, "{level:?}: {attacks:#?}");
    }
}

pub(crate) async fn commands_give_way_to_other_programs(fixture: Fixture) {
    const NICE: usize = 18;
    let nice = |stat: &str| -> i64 {
        let (_, after) = stat.rsplit_once(") ").expect("a name");
        after.split(' ').nth(NICE - 2).and_then(|field| field.parse().ok()).expect("a number")
    };
    let own = nice(&std::fs::read_to_string("/proc/self/stat").expect("it can be read"));
    let result = fixture.sh("cat /proc/self/stat").await;
    assert_eq!(nice(&result.output), (own + 5).min(19), "{result:?}");
}

pub(crate) async fn other_numberings_of_system_calls_are_refused(fixture: Fixture) {
    if !cfg!(target_arch = "x86_64") {
        println!("  skipped: this processor has one numbering");
        return;
    }
    // Calls socket by its i386 number (359) and its x32 number, and exits with the negated result.
    let end = b"\xf7\xd8\x89\xc7\xb8\x3c\x00\x00\x00\x0f\x05";
    let old = b"\xb8\x67\x01\x00\x00\xbb\x11\x00\x00\x00\xb9\x03\x00\x00\x00\x31\xd2\xcd\x80";
    let x32 = b"\xb8\x29\x00\x00\x40\xbf\x11\x00\x00\x00\xbe\x03\x00\x00\x00\x31\xd2\x0f\x05";
    program(&fixture, "old", &[old.as_slice(), end].concat());
    program(&fixture, "x32", &[x32.as_slice(), end].concat());
    let result = fixture.sh("./old; echo old $?; ./x32; echo x32 $?").await;
    // 128 + SIGSYS; EPERM, where a kernel without x32 would return ENOSYS.
    assert!(result.output.contains("old 159\n"), "{}", result.output);
    assert!(result.output.contains("x32 1\n"), "{}", result.output);
}

pub(crate) async fn a_service_of_the_machine_is_not_reached_through_the_workspace(
    fixture: Fixture,
) {
    std::fs::create_dir_all(fixture.ws().join("run/deep")).expect("folders");
    let paths = ["service", "run/deep/service"].map(|name| fixture.ws().join(name));
    let services = paths.each_ref().map(|path| UnixListener::bind(path).expect("a socket"));
    let line = "for s in service run/deep/service; do python3 -c \
        \"import socket; socket.socket(socket.AF_UNIX).connect('$s')\" && echo ESCAPED; done; \
        mv run elsewhere; rm -f service; ls -R";
    // Twice: the second command uses a helper that is already prepared.
    for _ in 0..2 {
        let result = fixture.sh(line).await;
        assert!(!result.output.contains("ESCAPED"), "{}", result.output);
    }
    for service in &services {
        service.set_nonblocking(true).expect("a socket");
        assert!(service.accept().is_err(), "somebody came");
    }
    assert!(fixture.ws().join("service").exists());
}

pub(crate) async fn sockets_of_the_command_itself_work(fixture: Fixture) {
    drop(UnixListener::bind(fixture.ws().join("left")).expect("a socket that nobody listens at"));
    let line = "python3 -c \"
import os, socket
os.unlink('left')
s = socket.socket(socket.AF_UNIX); s.bind('left'); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect('left')
a, b = socket.socketpair(); a.send(b'x'); print('OWN', b.recv(1))
\"";
    let result = fixture.sh(line).await;
    assert!(result.output.contains("OWN"), "{}", result.output);
}

pub(crate) async fn memory_of_all_processes_together_is_limited(fixture: Fixture) {
    let limits = Limits { memory_bytes: 300 * MB, ..Limits::default() };
    // Each process stays below the limit.
    let line = "for i in 1 2 3 4 5 6; do python3 -c 'import signal; b=bytes([1])*(90<<20); \
        signal.pause()' & done; wait; echo done";
    assert_ended_by(&within(&fixture, limits, line).await, "memory_mb");
    // Memory that processes share is not counted for each of them.
    let line = "python3 -c '
import os, time
b = bytes([1]) * (150 << 20)
for i in range(6):
    if os.fork() == 0: time.sleep(0.7); os._exit(0)
for i in range(6): os.wait()
'; echo done";
    let result = within(&fixture, limits, line).await;
    assert_eq!(result.output, "done\n", "{result:?}");
}

pub(crate) async fn shared_memory_is_limited_and_counted_once(fixture: Fixture) {
    let limits = Limits { memory_bytes: 200 * MB, ..Limits::default() };
    let map = "import mmap, signal; m = mmap.mmap(-1, 400 << 20); x = b'1' * 4096
while m.tell() < len(m): m.write(x)
signal.pause()";
    let file = "import os, signal; f = os.memfd_create('x'); x = b'1' * (1 << 20)
for i in range(400): os.write(f, x)
signal.pause()";
    let folder = "import signal; f = open('/dev/shm/x', 'wb'); x = b'1' * (1 << 20)
for i in range(400): f.write(x); f.flush()
signal.pause()";
    for script in [map, file, folder] {
        let line = format!("python3 -c \"{script}\"");
        assert_ended_by(&within(&fixture, limits, &line).await, "memory_mb");
    }
    // The memory of a program that is executable but not readable cannot be inspected.
    let hidden = "cp $(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))') hidden; \
        export PYTHONHOME=$(python3 -c 'import sys; print(sys.base_prefix)'); chmod 111 hidden;";
    let hidden = format!("{hidden} ./hidden -c \"{file}\"");
    assert_ended_by(&within(&fixture, limits, &hidden).await, "memory_mb");
    let once = "python3 -c \"
import mmap, time
f = open('/dev/shm/x', 'w+b'); f.truncate(120 << 20)
m = mmap.mmap(f.fileno(), 120 << 20); x = b'1' * 4096
while m.tell() < len(m): m.write(x)
time.sleep(0.5)
\"; echo done";
    let result = within(&fixture, limits, once).await;
    assert_eq!(result.output, "done\n", "{result:?}");
}

pub(crate) async fn processes_are_limited_for_root_too(fixture: Fixture) {
    let limits = Limits { processes: 60, ..Limits::default() };
    let line = "i=0; while [ $i -lt 300 ]; do sleep 98712 & i=$((i+1)); done; wait; echo done";
    let result = within(&fixture, limits, line).await;
    // The kernel refuses an ordinary user the next process; a command of root is killed.
    let refused = result.output.contains("Resource temporarily unavailable");
    if nix::unistd::getuid().is_root() || !refused {
        assert_ended_by(&result, "(processes)");
    }
    gone("98712").await;
}

pub(crate) async fn what_a_command_writes_is_limited_in_total(fixture: Fixture) {
    std::fs::write(fixture.ws().join("old"), vec![1; 60 << 20]).expect("a file");
    let limits = Limits { disk_bytes: 40 * MB, ..Limits::default() };
    let line = "for i in $(seq 30); do head -c 4M /dev/urandom > new$i; done; sleep 98713";
    assert_ended_by(&within(&fixture, limits, line).await, "disk_mb");
    let hidden = "mkdir d; cd d; for i in $(seq 30); do head -c 4M /dev/urandom > new$i; done; \
        chmod 0 .; sleep 98713";
    assert_ended_by(&within(&fixture, limits, hidden).await, "disk_mb");
    let removed = "exec 3> gone; rm gone; head -c 100M /dev/urandom >&3; sleep 98713";
    assert_ended_by(&within(&fixture, limits, removed).await, "disk_mb");
}

pub(crate) async fn temporary_folders_share_one_limit(fixture: Fixture) {
    let limits = Limits { temp_bytes: 8 * MB, ..Limits::default() };
    let line = "for d in /tmp /var/tmp /dev/shm ~; do head -c 3M /dev/zero > $d/x && echo one; done; \
        ls -la / | grep -c tmp; touch ~/y /tmp/y; stat -c %a /tmp ~";
    let result = within(&fixture, limits, line).await;
    assert_eq!(result.output.matches("one\n").count(), 2, "{}", result.output);
    assert!(result.output.ends_with("1777\n700\n"), "{}", result.output);
}
