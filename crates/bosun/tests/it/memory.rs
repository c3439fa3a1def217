//! The real binary while it holds a key: other processes of the same user cannot read its memory or its environment,
//! and it can still build a sandbox. Runs as an ordinary user, because root may read everything.

use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::binary::{Place, stderr, stdout};

const NOBODY: u32 = 65534;

/// Whether the tests run as root, which can switch to another user.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").expect("this process").uid() == 0
}

fn ordinary(place: &Place, mut command: Command) -> Command {
    if is_root() {
        for path in [place.path().to_owned(), place.path().join("tmp")] {
            std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given away");
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    command.env("HOME", place.path());
    command
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the server is part of the stage")]
fn nobody_reads_the_memory_of_a_process_that_holds_a_key() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let words = ["ask", "-m", "near/small", "--base-url", &url, "--dialect", "chat", "Hello"];
    let mut command = ordinary(&place, place.command(&words));
    let mut child = command.env("NEAR_API_KEY", "sk-held").spawn().expect("the binary starts");
    // It waits for the reply, so it has loaded its key.
    let connection = listener.accept().expect("a connection");
    let process = format!("/proc/{}", child.id());
    for file in ["environ", "mem", "maps"] {
        let path = format!("{process}/{file}");
        if is_root() {
            let owner = std::fs::metadata(&path).expect("a file").uid();
            assert_eq!(owner, 0, "{path} belongs to whoever runs it");
        } else {
            let read = std::fs::File::open(&path).map(|_| ());
            assert!(read.is_err(), "{path} can be opened");
        }
    }
    let limits = std::fs::read_to_string(format!("{process}/limits")).expect("its limits");
    let core = limits.lines().find(|line| line.starts_with("Max core file size"));
    let soft = core.and_then(|line| line.split_whitespace().nth(4));
    assert_eq!(soft, Some("0"), "{limits}");
    child.kill().expect("killed");
    child.wait().expect("dead");
    drop(connection);
}

#[test]
fn a_process_whose_memory_is_closed_still_builds_a_sandbox() {
    let place = Place::new();
    let doctor = ordinary(&place, place.command(&["doctor", "--json"])).output().expect("it ran");
    let said = stdout(&doctor);
    let proof = said.lines().find(|line| line.contains("\"what\":\"sandbox\""));
    let proof = proof.unwrap_or_else(|| panic!("no proof: {said}{}", stderr(&doctor)));
    // The isolation level depends on the machine, but the closed memory must not be what limits it.
    assert!(!proof.contains("uid_map") && !proof.contains("/proc/self"), "{proof}");
    if is_root() {
        assert!(proof.contains("full: "), "{proof}");
    }
}
