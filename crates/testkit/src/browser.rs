//! A real headless Chromium for tests of the page, driven over the DevTools protocol: started with its own profile,
//! terminated by its process id. It can reach only this machine. The actions on a page are in `page.rs`.

mod error;
mod page;
mod wire;

use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

pub use error::BrowserError;
use error::PATIENCE;
pub use page::Page;
use wire::Wire;

/// Names of the program, in order of preference.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A host name that resolves to this machine in the browser, as in a DNS rebinding attack.
pub const REBOUND: &str = "rebound.example";

/// A running browser. Terminated when dropped.
#[derive(Debug)]
pub struct Browser {
    wire: Arc<Wire>,
    _child: Child,
    _profile: TempDir,
}

impl Browser {
    /// Whether a Chromium is installed.
    #[must_use]
    pub fn is_installed() -> bool {
        program().is_some()
    }

    pub async fn start() -> Result<Self, BrowserError> {
        let program = program().ok_or(BrowserError::Missing)?;
        let profile = tempfile::tempdir()?;
        let mut command = Command::new(program);
        command
            .args(["--headless=new", "--remote-debugging-port=0", "--no-first-run", "--mute-audio"])
            .args(["--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb"])
            .args(["--disable-features=Translate,MediaRouter,OptimizationHints"])
            .arg(format!(
                "--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP * ~NOTFOUND, \
                 EXCLUDE 127.0.0.1, EXCLUDE localhost"
            ))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if is_root() {
            // Chromium's own sandbox does not work for root; the browser only ever shows pages of the test.
            command.arg("--no-sandbox");
        }
        let mut child = command.spawn()?;
        let address = tokio::time::timeout(PATIENCE, address(&mut child));
        let address = address.await.map_err(|_| BrowserError::TooLong {
            what: "the browser to listen".to_owned(),
            seen: "it says nothing".to_owned(),
        })??;
        let wire = Wire::connect(&address).await?;
        Ok(Self { wire, _child: child, _profile: profile })
    }

    /// A tab with its own cookies and storage, as in another person's browser.
    pub async fn page(&self) -> Result<Page, BrowserError> {
        let context = self.wire.ask("", "Target.createBrowserContext", json!({})).await?;
        self.tab(&context["browserContextId"]).await
    }

    async fn tab(&self, context: &Value) -> Result<Page, BrowserError> {
        let wanted = json!({ "url": "about:blank", "browserContextId": context });
        let made = self.wire.ask("", "Target.createTarget", wanted).await?;
        let target = &made["targetId"];
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = self.wire.ask("", "Target.attachToTarget", attach).await?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        Page::new(self.wire.clone(), session).await
    }
}

fn program() -> Option<&'static str> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &&&str| {
        std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
    };
    PROGRAMS.iter().find(is_there).copied()
}

fn is_root() -> bool {
    let user = std::process::Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The address that the browser prints on stderr; later output is read and dropped.
async fn address(child: &mut Child) -> Result<String, BrowserError> {
    let stderr = child.stderr.take().ok_or(BrowserError::Missing)?;
    let mut lines = BufReader::new(stderr).lines();
    let mut said = Vec::new();
    while let Some(line) = lines.next_line().await? {
        if let Some(address) = line.strip_prefix("DevTools listening on ") {
            let address = address.trim().to_owned();
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok(address);
        }
        said.push(line);
    }
    Err(BrowserError::Left(said.join("; ")))
}
