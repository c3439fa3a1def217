//! The attack from inside: the attempts of a hostile command, made by Bosun itself after all restrictions are in place.
//! An attempt yields `None` if it was blocked, and otherwise a description of how it succeeded.

#![expect(clippy::disallowed_methods, reason = "an attack on the sandbox, from inside")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::path::Path;
use std::time::Duration;

use types::{Attack, IsolationLevel};

use super::spec::Targets;

/// File by which the proof checks that the workspace is writable.
pub(super) const CONTROL: &str = "probe-was-here";

/// Socket of an outside service, in the workspace.
pub(super) const SERVICE: &str = "service";

/// Attempts that only namespaces block.
pub(super) const GIT: &str = "change git's own files";
pub(super) const SEE: &str = "see processes of the machine";
pub(super) const METADATA: &str = "change the mode of a file outside";

pub(super) fn attack(workspace: &Path, targets: &Targets, level: IsolationLevel) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let mut note = |what: &str, through| attacks.push(Attack { what: what.to_owned(), through });
    note("write outside the workspace", write_outside(&targets.outside));
    note("read a secret outside the workspace", got(&fs::read(&targets.secret), "read it"));
    note(METADATA, change_mode(&targets.secret));
    note(GIT, change_git(workspace));
    note("reach the network", reach(targets.port));
    note(SEE, see(targets.pid));
    note("signal a process of the machine", signal(targets.pid));
    note("trace another process", trace());
    note("make a namespace", namespace());
    note("mount something", mounting());
    note("call the kernel by other numbers", other_numbers());
    note("reach a service's socket in the workspace", service(workspace));
    note("keep a capability", keep(level));
    note(
        "write to the kernel's settings",
        got(&open("/proc/sys/kernel/core_pattern"), "opened it"),
    );
    note("use the workspace", use_workspace(workspace));
    attacks
}

/// An operation that succeeded got through.
fn got<T>(result: &io::Result<T>, how: &str) -> Option<String> {
    result.is_ok().then(|| how.to_owned())
}

fn open(path: impl AsRef<Path>) -> io::Result<fs::File> {
    OpenOptions::new().write(true).open(path)
}

fn write_outside(outside: &Path) -> Option<String> {
    let places = [outside, Path::new("/"), Path::new("/etc"), Path::new("/usr"), Path::new("/dev")];
    let landed = places.iter().find(|place| fs::write(place.join("bosun-probe"), "x").is_ok());
    landed.map(|place| format!("wrote to {}", place.display()))
}

fn change_mode(secret: &Path) -> Option<String> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o604);
    got(&fs::set_permissions(secret, mode), "changed it")
}

fn change_git(workspace: &Path) -> Option<String> {
    let git = workspace.join(".git");
    let moved = got(&fs::rename(&git, workspace.join("moved")), "moved .git away");
    moved.or_else(|| got(&fs::write(git.join("probe"), "x"), "wrote into .git"))
}

fn reach(port: u16) -> Option<String> {
    let address = ([127, 0, 0, 1], port).into();
    let wait = Duration::from_millis(100);
    let tcp = got(&TcpStream::connect_timeout(&address, wait), "connected by TCP");
    let outward = ([192, 0, 2, 1], 9).into();
    let tcp = tcp.or_else(|| {
        // Without a route, the kernel fails at once; a time-out would mean that a packet was sent.
        let error = TcpStream::connect_timeout(&outward, wait).err()?;
        (error.kind() == io::ErrorKind::TimedOut).then(|| "sent something out by TCP".to_owned())
    });
    tcp.or_else(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        got(&socket.send_to(b"x", outward), "sent something out by UDP")
    })
}

fn see(pid: i32) -> Option<String> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let seen: Vec<i32> = numbers.filter(|number| *number == pid || *number > 2).collect();
    (!seen.is_empty()).then(|| format!("saw processes {seen:?}"))
}

fn signal(pid: i32) -> Option<String> {
    let sent = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None);
    (sent.is_ok() && pid > 2).then(|| "it took the signal".to_owned())
}

#[expect(unsafe_code, reason = "ptrace is tried to see that it fails")]
fn trace() -> Option<String> {
    // SAFETY: no pointer is passed; PTRACE_TRACEME has no effect on memory.
    let done = unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) };
    (done == 0).then(|| "ptrace was allowed".to_owned())
}

fn namespace() -> Option<String> {
    let made = nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER);
    made.is_ok().then(|| "made a user namespace".to_owned())
}

fn mounting() -> Option<String> {
    let none = None::<&str>;
    let flags = nix::mount::MsFlags::empty();
    let done = nix::mount::mount(Some("tmpfs"), "/tmp", Some("tmpfs"), flags, none);
    done.is_ok().then(|| "mounted over /tmp".to_owned())
}

#[expect(unsafe_code, reason = "a call by a number of x32 is tried to see that it fails")]
fn other_numbers() -> Option<String> {
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    // SAFETY: getppid has no arguments and no effect.
    let done = unsafe { libc::syscall(0x4000_0000 | libc::SYS_getppid) };
    let refused = done < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    (!refused).then(|| "x32 was not refused".to_owned())
}

fn service(workspace: &Path) -> Option<String> {
    got(&std::os::unix::net::UnixStream::connect(workspace.join(SERVICE)), "connected to it")
}

/// Checks the kernel's status of this process.
fn keep(level: IsolationLevel) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1).map(str::to_owned)
    };
    let none = "0000000000000000";
    let mut wanted =
        vec![("CapEff:", none), ("CapPrm:", none), ("NoNewPrivs:", "1"), ("Seccomp:", "2")];
    if level == IsolationLevel::Full {
        // An ordinary user outside cannot drop these, and with no_new_privs they have no effect.
        wanted.push(("CapBnd:", none));
    }
    let wrong = wanted.iter().find(|(name, wanted)| value(name).as_deref() != Some(wanted));
    wrong.map(|(name, _)| format!("{name} is {:?}", value(name)))
}

fn use_workspace(workspace: &Path) -> Option<String> {
    let written =
        fs::File::create(workspace.join(CONTROL)).and_then(|mut file| file.write_all(b"x"));
    written.err().map(|error| format!("the workspace itself cannot be written to: {error}"))
}
