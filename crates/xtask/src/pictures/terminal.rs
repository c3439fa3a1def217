//! A terminal of a given size: a tmux server of its own with one shell in it.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

/// How long a text may take to appear.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN: Duration = Duration::from_millis(50);

pub(super) struct Terminal {
    socket: String,
}

impl Terminal {
    /// Opens a shell in the repository inside the folder, with the built program available.
    pub(super) fn open(
        folder: &Path,
        binaries: &Path,
        width: u16,
        rows: u16,
    ) -> anyhow::Result<Self> {
        let socket = folder.join("tmux").display().to_string();
        let terminal = Self { socket };
        let (width, rows) = (width.to_string(), rows.to_string());
        let start = folder.join("harbor").display().to_string();
        let variables = [
            format!("BOSUN_HOME={}", folder.join("home").display()),
            format!("XDG_CONFIG_HOME={}", folder.join("config").display()),
            "TERM=screen-256color".to_owned(),
        ];
        let mut words = vec!["-f", "/dev/null", "new-session", "-d", "-s", "it"];
        words.extend(["-x", &width, "-y", &rows, "-c", &start]);
        for variable in &variables {
            words.extend(["-e", variable]);
        }
        words.push("sh");
        terminal.tmux(&words).context("tmux draws the pictures; is it installed?")?;
        terminal.wait_for("")?;
        // The prompt of an ordinary user, and the program by its name.
        let binary = binaries.join("bosun");
        terminal.types(&format!("bosun() {{ '{}' \"$@\"; }}", binary.display()))?;
        terminal.types("PS1='$ '; clear")?;
        terminal.wait_for("$ ")?;
        Ok(terminal)
    }

    /// Types a line and presses Enter.
    pub(super) fn types(&self, line: &str) -> anyhow::Result<()> {
        self.tmux(&["send-keys", "-t", "it", "-l", line])?;
        self.tmux(&["send-keys", "-t", "it", "Enter"])?;
        Ok(())
    }

    pub(super) fn wait_for(&self, text: &str) -> anyhow::Result<()> {
        let begun = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p", "-J", "-t", "it"])?;
            // The screen also shows the typed text.
            let typed = |line: &&str| {
                line.starts_with("$ bosun") || line.contains("PS1=") || line.contains("bosun()")
            };
            let shown = screen.lines().filter(|line| !typed(line));
            if shown.into_iter().any(|line| !line.trim().is_empty() && line.contains(text)) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("waited too long for {text:?}; the screen shows:\n{screen}");
            }
            std::thread::sleep(BETWEEN);
        }
    }

    /// The content of the screen, with its colours.
    pub(super) fn styled(&self) -> anyhow::Result<String> {
        self.tmux(&["capture-pane", "-p", "-e", "-t", "it"])
    }

    fn tmux(&self, words: &[&str]) -> anyhow::Result<String> {
        let all = [&["-S", self.socket.as_str()], words].concat();
        let output = Command::new("tmux").args(all).env_remove("TMUX").output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]).ok();
    }
}
