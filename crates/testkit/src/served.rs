//! The real `bosun serve` for benchmarks: a folder with a home and repositories, and the server as a separate process,
//! which ends when dropped. The caller chooses the binary. Tests of the product have their own version (`served.rs`
//! there).

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use runtime::sandbox::Repo;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use types::Timestamp;

use crate::client::Client;

/// The timeout for starting or stopping the server; far more than it ever needs.
const PATIENCE: Duration = Duration::from_secs(120);
/// A rate limit high enough for every benchmark.
const RATE: &str = "1000000";

/// A folder with a home, in which one binary runs.
#[derive(Debug)]
pub struct Site {
    folder: TempDir,
    binary: PathBuf,
}

impl Site {
    /// Creates an empty home for this binary.
    pub fn new(binary: &Path) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("tmp"))?;
        let missing = |error| io::Error::other(format!("{}: {error}", binary.display()));
        Ok(Self { folder, binary: binary.canonicalize().map_err(missing)? })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder with the journal.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The end of the server's log.
    #[must_use]
    pub fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.log()).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("serve.log")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .env("BOSUN_HOME", self.home())
            .env("TMPDIR", self.folder.path().join("tmp"))
            .env("NO_COLOR", "1")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs a command of the binary to its end; returns its output.
    pub async fn run(&self, args: &[&str]) -> io::Result<String> {
        let output = self.command(args).output().await?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("bosun {}: {said}", args.join(" "))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Creates a repository whose check requires a greeting, and adds it as a project of the server.
    pub async fn project(&self, name: &str) -> io::Result<()> {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path)?;
        std::fs::write(path.join("README.md"), format!("# {name}\n"))?;
        std::fs::write(path.join("test.sh"), "grep -q hello greeting.txt\n")?;
        Repo::create(&path, "Start\n", Timestamp::from_millis(0))
            .await
            .map_err(io::Error::other)?;
        self.run(&["project", "add", name, &path.display().to_string()]).await?;
        Ok(())
    }

    /// Adds a user with the role admin; returns the token.
    pub async fn admin(&self, name: &str) -> io::Result<String> {
        self.run(&["user", "add", name, "--role", "admin"]).await
    }

    /// Starts the server; on a free port if the address has port 0.
    pub async fn serve(&self, listen: &str, more: &[&str]) -> io::Result<Served> {
        let log = std::fs::OpenOptions::new().append(true).create(true).open(self.log())?;
        let mut command = self.command(&["serve", "--listen", listen, "--rate", RATE]);
        let mut child = command.args(more).stdout(Stdio::piped()).stderr(log).spawn()?;
        let out = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut out = BufReader::new(out);
        let mut link = String::new();
        within(out.read_line(&mut link)).await?;
        if !link.starts_with("http://") {
            return Err(io::Error::other(format!("no server: {}", self.log_tail())));
        }
        Ok(Served { child, link: link.trim().to_owned(), _out: out })
    }
}

/// A running server.
#[derive(Debug)]
pub struct Served {
    child: Child,
    link: String,
    _out: BufReader<ChildStdout>,
}

impl Served {
    /// The link that logs in one browser.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> &str {
        let url = self.link.split_once("/?").map_or(self.link.as_str(), |(url, _)| url);
        url.trim_start_matches("http://")
    }

    /// A client without a token.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(self.address())
    }

    /// The resident memory of the server, in kB.
    pub fn memory(&self) -> io::Result<u64> {
        let process = self.child.id().ok_or(io::ErrorKind::NotFound)?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        number.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Asks the server to stop, and waits until it has exited successfully.
    pub async fn stop(mut self) -> io::Result<()> {
        let process = self.child.id().ok_or(io::ErrorKind::NotFound)?.to_string();
        Command::new("kill").args(["-TERM", &process]).status().await?;
        let ended = within(self.child.wait()).await?;
        if ended.success() { Ok(()) } else { Err(io::Error::other(format!("it ended: {ended}"))) }
    }

    /// Kills the server.
    pub async fn kill(mut self) -> io::Result<()> {
        within(self.child.kill()).await
    }
}

async fn within<T>(doing: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(PATIENCE, doing).await.map_err(|_| io::ErrorKind::TimedOut)?
}
