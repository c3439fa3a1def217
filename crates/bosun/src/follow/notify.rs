//! Telling a person who looks elsewhere: the terminal's bell, a desktop notification where the terminal is known to make
//! one, and commands of the person's own. Only the environment configures it, never a repository, and nothing here holds
//! up the run.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runtime::sandbox::run_hook;
use types::{Millis, RunId, one_line};

/// A run that took less needs no notification of its end.
const LONG: Millis = Millis::seconds(30);
/// How long a command of the person's may take.
const HOOK_LIMIT: Duration = Duration::from_secs(10);
/// The most of a text that is handed on.
const MOST: usize = 200;

static SILENT: AtomicBool = AtomicBool::new(false);

/// Turns bell and desktop notifications off. Called once, before anything is shown.
pub(crate) fn silence(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

/// What is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A question came up.
    Question,
    /// The run is over or left, after so long.
    End(Millis),
}

/// How a terminal is asked for a desktop notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Desktop {
    /// OSC 9: iTerm2, WezTerm, Ghostty, kitty.
    Osc9,
    /// OSC 777: foot and rxvt.
    Osc777,
}

impl Desktop {
    /// By what a terminal says of itself. Inside of a multiplexer nothing is known of the terminal around it.
    fn of(term: &str, program: &str) -> Option<Self> {
        match (term, program) {
            (term, _) if term.starts_with("screen") || term.starts_with("tmux") => None,
            (_, "iTerm.app" | "WezTerm" | "ghostty") => Some(Self::Osc9),
            ("xterm-kitty" | "xterm-ghostty" | "wezterm", _) => Some(Self::Osc9),
            (term, _) if term.starts_with("foot") || term.starts_with("rxvt") => Some(Self::Osc777),
            _ => None,
        }
    }

    fn sequence(self, title: &str, text: &str) -> String {
        // What separates the fields must not stand in one.
        let field = |text: &str| one_line(text, MOST).replace(';', ",");
        match self {
            Self::Osc9 => format!("\x1b]9;{}: {}\x07", field(title), field(text)),
            Self::Osc777 => format!("\x1b]777;notify;{};{}\x07", field(title), field(text)),
        }
    }
}

/// Tells the person, on the terminal if there is one, and by their own command.
pub(crate) fn tell(run: &RunId, occasion: Occasion, text: &str, on_terminal: bool) {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if on_terminal && !SILENT.load(Ordering::Relaxed) && is_worth_it(occasion) {
        let desktop = Desktop::of(&variable("TERM"), &variable("TERM_PROGRAM"));
        let title = format!("bosun {run}");
        let sequence = desktop.map(|desktop| desktop.sequence(&title, text)).unwrap_or_default();
        // A terminal that went away is noticed by whoever paints next.
        let mut out = std::io::stdout().lock();
        let _unseen =
            out.write_all(format!("{sequence}\x07").as_bytes()).and_then(|()| out.flush());
    }
    let (name, kind) = match occasion {
        Occasion::Question => ("BOSUN_ON_QUESTION", "question"),
        Occasion::End(_) => ("BOSUN_ON_END", "end"),
    };
    let line = variable(name);
    if !line.trim().is_empty() {
        hook(line, run.to_string(), kind, one_line(text, MOST));
    }
}

fn is_worth_it(occasion: Occasion) -> bool {
    match occasion {
        Occasion::Question => true,
        Occasion::End(took) => took >= LONG,
    }
}

/// Commands that were started and may be running.
static HOOKS: std::sync::Mutex<Vec<tokio::task::JoinHandle<()>>> =
    std::sync::Mutex::new(Vec::new());

fn hook(line: String, run: String, kind: &'static str, text: String) {
    let work = tokio::spawn(async move {
        let facts = [("BOSUN_RUN", run.as_str()), ("BOSUN_KIND", kind), ("BOSUN_TEXT", &text)];
        match run_hook(&line, &facts, HOOK_LIMIT).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("the command for {kind} failed"),
            Err(error) => tracing::warn!(%error, "running the command for {kind}"),
        }
    });
    if let Ok(mut hooks) = HOOKS.lock() {
        hooks.retain(|hook| !hook.is_finished());
        hooks.push(work);
    }
}

/// Lets commands that were started come to their end, before the process ends; each has its own time limit.
pub(crate) async fn hooks_done() {
    let hooks = HOOKS.lock().map(|mut hooks| std::mem::take(&mut *hooks)).unwrap_or_default();
    for hook in hooks {
        // One that panicked was logged by the runtime.
        let _over = hook.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_terminals_that_are_known_to_notify_are_asked_to() {
        let known = [
            ("xterm-256color", "iTerm.app", Some(Desktop::Osc9)),
            ("xterm-256color", "WezTerm", Some(Desktop::Osc9)),
            ("xterm-kitty", "", Some(Desktop::Osc9)),
            ("foot", "", Some(Desktop::Osc777)),
            ("rxvt-unicode-256color", "", Some(Desktop::Osc777)),
            ("screen-256color", "iTerm.app", None),
            ("xterm-256color", "Apple_Terminal", None),
            ("", "", None),
        ];
        for (term, program, desktop) in known {
            assert_eq!(Desktop::of(term, program), desktop, "{term} {program}");
        }
    }

    #[test]
    fn a_text_cannot_end_its_sequence() {
        let said = Desktop::Osc777.sequence("bosun r_1", "a\x07b\x1b]0;x\x07;c");
        assert_eq!(said, "\x1b]777;notify;bosun r_1;a b ]0,x ,c\x07");
        assert_eq!(Desktop::Osc9.sequence("t", "x\x1b\\y"), "\x1b]9;t: x \\y\x07");
    }

    #[test]
    fn the_end_of_a_short_run_rings_no_bell() {
        assert!(!is_worth_it(Occasion::End(Millis::seconds(5))));
        assert!(is_worth_it(Occasion::End(Millis::seconds(31))));
        assert!(is_worth_it(Occasion::Question));
    }
}
