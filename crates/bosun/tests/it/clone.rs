//! A remote repository, cloned by an agent's call: through the sandbox's proxy if the policy grants the host, and
//! rejected with the way to grant it otherwise. The remote is a small server for git's protocol on the loopback
//! interface. Tests that need namespaces are skipped with a message where there are none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::binary::{Place, stdout};

#[expect(clippy::disallowed_methods, reason = "git is part of the stage")]
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let identity = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").current_dir(folder).args(identity).args(words).output().ok()?;
    done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// A repository with two commits.
fn repository(folder: &Path) -> PathBuf {
    let repo = folder.join("lib.git");
    std::fs::create_dir(&repo).expect("a folder");
    git(&repo, &["init", "--quiet"]).expect("a repository");
    for text in ["one", "two"] {
        std::fs::write(repo.join("f"), text).expect("a file");
        git(&repo, &["add", "f"]).expect("it is staged");
        git(&repo, &["commit", "--quiet", "-m", text]).expect("a commit");
    }
    repo
}

/// Serves a repository for the duration of the test; returns the port.
#[expect(clippy::disallowed_methods, reason = "the server is part of the stage")]
fn serve(repo: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let repo = repo.clone();
            std::thread::spawn(move || answer(&stream, &repo));
        }
    });
    port
}

/// Answers one git request: the advertised refs, or the pack.
#[expect(clippy::disallowed_methods, reason = "the server is part of the stage")]
fn answer(stream: &TcpStream, repo: &Path) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    let _read = reader.read_line(&mut first);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    let _read = reader.read_exact(&mut body);
    let tells = first.starts_with("GET");
    let mut words = vec!["upload-pack", "--stateless-rpc"];
    words.extend(tells.then_some("--advertise-refs"));
    let mut child = Command::new("git")
        .args(words)
        .arg(repo)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git");
    child.stdin.take().expect("a pipe").write_all(&body).expect("it reads");
    let said = child.wait_with_output().expect("it ends").stdout;
    let (kind, head) = match tells {
        true => ("advertisement", "001e# service=git-upload-pack\n0000"),
        false => ("result", ""),
    };
    let mut writer = stream;
    let sent = write!(
        writer,
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n{head}",
        head.len() + said.len()
    );
    let _gone = sent.and_then(|()| writer.write_all(&said));
}

struct Clone {
    place: Place,
    port: u16,
}

impl Clone {
    fn new() -> Self {
        let place = Place::new();
        std::fs::create_dir(place.path().join("ws")).expect("a folder");
        let port = serve(repository(place.path()));
        Self { place, port }
    }

    /// Makes the call under a policy with this `[sandbox]` table.
    fn call(&self, sandbox: &str, arguments: &str) -> Value {
        let policy = self.place.path().join("policy.toml");
        std::fs::write(&policy, format!("[sandbox]\n{sandbox}")).expect("a policy");
        let arguments = arguments.replace("PORT", &self.port.to_string());
        let (policy, workspace) = (policy.display().to_string(), self.place.path().join("ws"));
        let workspace = workspace.display().to_string();
        let output = self.place.run(&[
            "tool",
            "git_clone",
            "--args",
            &arguments,
            "--workspace",
            &workspace,
            "--policy",
            &policy,
            "--json",
        ]);
        serde_json::from_str(&stdout(&output)).expect("one object")
    }
}

/// K33: a granted host is reached through the proxy, shallow by default; another is rejected with how to grant it.
#[test]
fn a_repository_of_a_granted_host_is_cloned_into_the_workspace() {
    let clone = Clone::new();
    let arguments = r#"{"url": "http://git.test:PORT/lib.git", "dest": "libs/a"}"#;
    let refused = clone.call("network = []\n", arguments);
    let said = refused["content"].as_str().expect("a text");
    assert!(said.contains("network = [\"git.test\"]"), "{refused}");
    let other = clone.call("network = [\"other.test\"]\n", arguments);
    assert!(other["content"].as_str().is_some_and(|said| said.contains("not among")), "{other}");
    let granted = "network = [\"git.test\"]\nallow_private = true\nresolve = { \"git.test\" = \"127.0.0.1\" }\n";
    let made = clone.call(granted, arguments);
    if made["content"].as_str().is_some_and(|said| said.contains("bosun doctor")) {
        eprintln!("SKIPPED: this machine has no full sandbox, so nothing can be fetched: {made}");
        return;
    }
    assert_eq!(made["outcome"], "ok", "{made}");
    let copy = clone.place.path().join("ws/libs/a");
    assert_eq!(std::fs::read_to_string(copy.join("f")).expect("the file"), "two");
    assert_eq!(git(&copy, &["rev-list", "--count", "HEAD"]).as_deref(), Some("1"));
    let by_address = r#"{"url": "http://127.0.0.1:PORT/lib.git", "dest": "libs/b"}"#;
    let made = clone.call("network = [\"127.0.0.1\"]\nallow_private = true\n", by_address);
    assert_eq!(made["outcome"], "ok", "a granted address of this machine: {made}");
    let again = clone.call(granted, arguments);
    assert!(again["content"].as_str().is_some_and(|said| said.contains("exists")), "{again}");
}
