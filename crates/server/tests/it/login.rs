//! Logging in with a link or a token: nobody is logged in without being asked, and wrong secrets write nothing.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use server::Access;
use types::Timestamp;

use crate::connections::answer;
use crate::stage::Stage;

async fn get(stage: &Stage, path: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", stage.address);
    answer(stage, &request).await
}

async fn submit(stage: &Stage, form: &str) -> String {
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        stage.address,
        form.len()
    );
    answer(stage, &request).await
}

fn link(access: &Access) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = i64::try_from(now.expect("a time").as_millis()).expect("a time");
    access.link("ann", Timestamp::from_millis(now)).expect("a link")
}

/// Which version of the file with all users it is.
fn version(home: &Path) -> (u64, i64, i64) {
    let found = std::fs::metadata(home.join("access.toml")).expect("a file");
    (found.ino(), found.mtime(), found.mtime_nsec())
}

#[tokio::test]
async fn a_link_asks_before_it_logs_anybody_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let code = link(&stage.access);
    for _ in 0..2 {
        let asked = get(&stage, &format!("/runs?token={code}")).await;
        assert!(asked.starts_with("HTTP/1.1 200"), "{asked}");
        assert!(!asked.to_lowercase().contains("set-cookie"), "{asked}");
        assert!(asked.contains("<strong>ann</strong> (viewer)"), "{asked}");
        assert!(asked.contains(&code) && asked.contains("value=\"/runs\""), "{asked}");
    }
    let form = format!("token={code}&then=%2Fruns");
    let logged = submit(&stage, &form).await.to_lowercase();
    assert!(logged.starts_with("http/1.1 303") && logged.contains("set-cookie"), "{logged}");
    assert!(logged.contains("location: /runs\r\n"), "{logged}");
    assert!(submit(&stage, &form).await.starts_with("HTTP/1.1 401"), "once");
    for elsewhere in ["//evil.example", "/\\evil.example", "https://evil.example", "/%0d%0ax"] {
        let form = format!("token={}&then={elsewhere}", link(&stage.access));
        let logged = submit(&stage, &form).await.to_lowercase();
        assert!(logged.contains("location: /\r\n"), "{elsewhere}: {logged}");
    }
}

#[tokio::test]
async fn neither_wrong_secrets_nor_many_logins_fill_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage::set(folder.path()).await;
    let before = version(folder.path());
    for _ in 0..3 {
        assert!(submit(&stage, "token=wrong").await.starts_with("HTTP/1.1 401"));
        assert!(get(&stage, "/?token=wrong").await.starts_with("HTTP/1.1 401"));
        let out = format!(
            "POST /logout HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nCookie: {}=x\r\nContent-Length: 0\r\n\r\n",
            stage.address,
            format_args!("bosun-{}", stage.address.rsplit(':').next().expect("a port"))
        );
        answer(&stage, &out).await;
    }
    assert_eq!(version(folder.path()), before, "nothing was written");
    for _ in 0..40 {
        let logged = submit(&stage, &format!("token={}", stage.token)).await;
        assert!(logged.starts_with("HTTP/1.1 303"), "{logged}");
    }
    let text = std::fs::read_to_string(folder.path().join("access.toml")).expect("a file");
    assert_eq!(text.matches("[[logins]]").count(), 32, "the oldest logins ended");
}
