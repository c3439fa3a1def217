//! Operations that must work in the sandbox: granted hosts, and the tools that builds and tests need.

use std::io::{Read as _, Write as _};

use std::sync::Arc;

use sandbox::{Environment as _, Hosts, Listener, LocalEnvironment};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use types::{Ended, Millis};

use crate::fixture::{Fixture, asked, run};

/// Later commands reach a server that runs in the background, in a network that is otherwise as closed as any other;
/// the server ends when it is stopped.
pub(crate) async fn a_server_in_the_background_is_reached_by_later_commands(fixture: Fixture) {
    std::fs::write(fixture.ws().join("hello.txt"), "HELLO").expect("a file");
    let env = fixture.env();
    let alone = run(&env, "readlink /proc/self/ns/net", Millis::seconds(60)).await.output;
    let up = Arc::new(Notify::new());
    let told = Arc::clone(&up);
    let heard = env.clone().heard_by(Listener::new(move |_, _| told.notify_one()));
    let line = "python3 -u -m http.server 8123 --bind 127.0.0.1";
    let mut server = asked(line, Millis::seconds(600));
    server.background = true;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let serving = tokio::spawn(async move { heard.exec(server, &stopped).await });
    up.notified().await;
    let fetch = "readlink /proc/self/ns/net; python3 -c \"import urllib.request as r; \
                 print(r.urlopen('http://127.0.0.1:8123/hello.txt', timeout=10).read())\"";
    for _ in 0..2 {
        let got = run(&env, fetch, Millis::seconds(60)).await;
        assert!(got.output.contains("HELLO"), "{}", got.output);
        assert!(!got.output.contains(alone.trim()), "it is another network than before");
    }
    let out = "python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\"";
    assert!(!run(&env, out, Millis::seconds(60)).await.passed(), "and there is no way out of it");
    stop.cancel();
    let ended = serving.await.expect("a task").expect("it ran").ended;
    assert_eq!(ended, Ended::Stopped);
}

/// C44: the network is closed except for granted hosts, and a refusal is recorded.
pub(crate) async fn only_granted_hosts_are_reached(fixture: Fixture) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    let server = std::thread::spawn(move || {
        let mut heard = Vec::new();
        for _ in 0..2 {
            let (mut client, _) = listener.accept().expect("a client");
            let mut text = [0; 2048];
            let count = client.read(&mut text).expect("a request");
            heard.push(String::from_utf8_lossy(&text[..count]).into_owned());
            client
                .write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nREACHED"[..]
                        .as_ref(),
                )
                .ok();
        }
        heard
    });
    let here = "127.0.0.1".parse().expect("an address");
    let hosts = Hosts::parse(["api.test", "rebound.test"]).expect("hosts");
    let closed = hosts.clone().resolve("rebound.test", here);
    let open = hosts.allow_private().resolve("api.test", here);
    let env = |hosts| {
        let env = LocalEnvironment::open(&fixture.ws()).expect("a workspace");
        env.confined(fixture.confine().reaching(hosts))
    };
    let fetch = |url: &str| {
        format!(
            "python3 - <<'P'\nimport urllib.request as r\ntry:\n print(r.urlopen('{url}', timeout=10).read())\n\
             except Exception as e:\n print('no:', e)\nP"
        )
    };
    let plain = run(
        &env(open.clone()),
        &fetch(&format!("http://api.test:{port}/a?b")),
        Millis::seconds(60),
    )
    .await;
    assert!(plain.output.contains("REACHE"), "{}", plain.output);
    let tunnel = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT api.test:{port} HTTP/1.1\\r\\n\\r\\n' >&3; \
         head -n 2 <&3; printf 'GET /t HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"
    );
    let tunnel = run(&env(open.clone()), &tunnel, Millis::seconds(60)).await;
    assert!(
        tunnel.output.contains("200 Connection") && tunnel.output.contains("REACHE"),
        "{}",
        tunnel.output
    );
    let heard = server.join().expect("the server");
    assert!(heard[0].starts_with("GET /a?b HTTP/1.1\r\nHost: api.test"), "{heard:?}");
    assert!(heard[1].starts_with("GET /t"), "{heard:?}");

    let other = run(&env(open), &fetch("http://other.test/"), Millis::seconds(60)).await;
    assert!(other.output.contains("[network: other.test is not among"), "{}", other.output);
    assert_eq!(other.stderr.matches("[network:").count(), 1, "{}", other.stderr);
    let url = format!("http://rebound.test:{port}/");
    let rebound = run(&env(closed), &fetch(&url), Millis::seconds(60)).await;
    assert!(rebound.output.contains("not a public address"), "{}", rebound.output);
    let direct = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo REACHED");
    let direct = run(&fixture.env(), &direct, Millis::seconds(60)).await;
    assert!(!direct.output.contains("REACHED"), "{}", direct.output);
}

/// M17: common tools find themselves, their files and a writable folder.
pub(crate) async fn toolchains_work_inside(fixture: Fixture) {
    let there = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    };
    let ws = fixture.ws();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(ws.join(name).parent().expect("a folder")).expect("a folder");
        std::fs::write(ws.join(name), text).expect("a file");
    };
    write("Cargo.toml", "[package]\nname = \"t\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    write("src/lib.rs", "#[test]\nfn holds() { assert!(std::env::temp_dir().is_dir()); }\n");
    write("package.json", "{\"scripts\":{\"test\":\"node --test\"}}");
    write("a.test.js", "require('node:test')('holds', () => {});");
    write("test_a.py", "import unittest\nclass T(unittest.TestCase):\n  def test_a(self): pass\n");
    for (program, line) in [
        ("cargo", "cargo test --offline -q"),
        ("npm", "npm test --silent"),
        ("python3", "python3 -m unittest -q test_a"),
        ("go", "go version && go env GOCACHE"),
        ("git", "git --version"),
    ] {
        // An ordinary user may not be able to use another user's toolchain.
        if there(program)
            && run(
                &LocalEnvironment::open(&ws).expect("a workspace"),
                &format!("{program} --version"),
                Millis::seconds(60),
            )
            .await
            .passed()
        {
            let result = run(&fixture.env(), line, Millis::seconds(120)).await;
            assert!(result.passed(), "{program}: {} {}", result.ended, result.output);
        }
    }
}
