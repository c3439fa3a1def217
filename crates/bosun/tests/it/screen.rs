//! A terminal in which the binary runs: tmux, driven by keys and read as a user would. Tests wait for content of the
//! screen, never for time to pass.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use crate::binary::{Place, stderr, stdout};

/// Time limit for something to appear; far more than it ever needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A terminal in which the binary runs.
pub(crate) struct Screen {
    socket: String,
    /// Signals that output was written.
    written: Receiver<()>,
}

/// Whether tmux is installed. In CI, its absence is a failure.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
pub(crate) fn can_be_had() -> bool {
    let there = tmux(&["-V"]).is_ok_and(|output| output.status.success());
    if !there {
        let must = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!must, "tmux is missing, and this test needs it");
        eprintln!("WARNING: tmux is missing; the terminal was NOT tested. Install tmux.");
    }
    there
}

impl Screen {
    /// Opens a terminal of this size, with a shell in a folder.
    pub(crate) fn open(place: &Place, folder: &Path, columns: u16, rows: u16) -> Self {
        let socket = place.path().join("tmux").display().to_string();
        let pipe = place.path().join("written");
        run("mkfifo", &[&pipe.display().to_string()]);
        let screen = Self { socket, written: listen(&pipe) };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let home = format!("BOSUN_HOME={}", place.home().display());
        let temporary = place.path().join("tmp");
        std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
        let temporary = format!("TMPDIR={}", temporary.display());
        let settings = format!("XDG_CONFIG_HOME={}", place.path().join("config").display());
        let folder = folder.display().to_string();
        screen.ask(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-s",
            "it",
            "-x",
            &columns,
            "-y",
            &rows,
            "-c",
            &folder,
            "-e",
            &home,
            "-e",
            &temporary,
            "-e",
            &settings,
            "-e",
            "TERM=screen-256color",
            "sh",
        ]);
        screen.ask(&["pipe-pane", "-t", "it", &format!("cat > {}", pipe.display())]);
        screen.press("Enter");
        screen.waits_until("a prompt", |screen| !screen.trim().is_empty());
        screen
    }

    /// Types a command line into the shell.
    pub(crate) fn run(&self, words: &str) {
        self.types(&format!("{} {words}", env!("CARGO_BIN_EXE_bosun")));
        self.press("Enter");
    }

    /// Types a text literally.
    pub(crate) fn types(&self, text: &str) {
        self.ask(&["send-keys", "-t", "it", "-l", text]);
    }

    /// Presses a key by tmux's name for it: Enter, Escape, C-c, M-Enter.
    pub(crate) fn press(&self, key: &str) {
        self.ask(&["send-keys", "-t", "it", key]);
    }

    /// Pastes a text the way terminals do, bracketed if the program supports that.
    pub(crate) fn pastes(&self, text: &str) {
        self.ask(&["set-buffer", text]);
        self.ask(&["paste-buffer", "-p", "-t", "it"]);
    }

    /// Resizes the terminal.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        self.ask(&["resize-window", "-t", "it", "-x", &columns, "-y", &rows]);
    }

    /// Waits until another process has recorded a run.
    pub(crate) fn waits_for_run(&self, place: &Place) {
        let begun = Instant::now();
        while !stdout(&place.run(&["list", "-q"])).starts_with("r_") {
            assert!(begun.elapsed() < PATIENCE, "no run was recorded");
        }
    }

    /// The text of the screen and the scrollback.
    pub(crate) fn text(&self) -> String {
        self.ask(&["capture-pane", "-p", "-t", "it", "-S", "-2000"])
    }

    /// Like `text`, with styles.
    pub(crate) fn styled(&self) -> String {
        self.ask(&["capture-pane", "-p", "-e", "-t", "it", "-S", "-2000"])
    }

    /// Waits until a text is on the screen, and returns the whole screen.
    pub(crate) fn waits_for(&self, text: &str) -> String {
        self.waits_until(&format!("{text:?} to be there"), |screen| screen.contains(text))
    }

    pub(crate) fn waits_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.text();
            if holds(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "waited too long for {what}:\n{screen}");
            let left = PATIENCE.saturating_sub(begun.elapsed());
            // With or without new output, the screen is read again and the time is checked.
            self.written.recv_timeout(left).ok();
        }
    }

    fn ask(&self, words: &[&str]) -> String {
        let all = [&["-S", self.socket.as_str()], words].concat();
        let output = tmux(&all).expect("tmux runs");
        assert!(output.status.success(), "tmux {words:?}: {}", stderr(&output));
        stdout(&output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        tmux(&["-S", &self.socket, "kill-server"]).ok();
    }
}

#[expect(clippy::disallowed_methods, reason = "a terminal is part of the stage")]
fn tmux(words: &[&str]) -> std::io::Result<Output> {
    Command::new("tmux").args(words).env_remove("TMUX").output()
}

#[expect(clippy::disallowed_methods, reason = "the stage is set with ordinary programs")]
pub(crate) fn run(program: &str, words: &[&str]) {
    let status = Command::new(program).args(words).status();
    assert!(status.is_ok_and(|status| status.success()), "{program} {words:?}");
}

/// Sends a signal whenever a pipe has output.
fn listen(pipe: &Path) -> Receiver<()> {
    let (sender, written) = sync_channel(1);
    let pipe = pipe.to_owned();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        let Ok(mut pipe) = File::open(pipe) else { return };
        while pipe.read(&mut bytes).is_ok_and(|count| count > 0) {
            // One pending signal is enough.
            sender.try_send(()).ok();
        }
    });
    written
}
