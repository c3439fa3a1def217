//! Notifications for a user who is looking elsewhere: the terminal's bell, a desktop notification where the terminal is
//! known to support it, and user-defined commands. Configured by the environment and the user's config.toml, never by a
//! repository; nothing here delays the run.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use runtime::sandbox::{Hook, run_hook};
use runtime::settings::ConfigError;
use serde_json::json;
use types::{Millis, RunId, RunView, one_line};

use crate::{config, print};

/// The end of a run followed for less time than this is not announced on the terminal.
const LONG: Millis = Millis::seconds(30);
/// Time limit of a user-defined command.
const HOOK_LIMIT: Duration = Duration::from_secs(10);
/// Maximum characters of a text that is passed on.
const MOST: usize = 200;

static SILENT: AtomicBool = AtomicBool::new(false);

/// Turns the bell and desktop notifications off if `silent`. Called once, before any output.
pub(crate) fn silence(silent: bool) {
    SILENT.store(silent, Ordering::Relaxed);
}

/// Reason for a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// A question was asked.
    Question,
    /// The run is over, after it was followed for this long.
    End(Millis),
}

impl Occasion {
    const fn kind(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::End(_) => "end",
        }
    }
}

/// Escape sequence that requests a desktop notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Desktop {
    /// OSC 9: iTerm2, WezTerm, Ghostty, kitty.
    Osc9,
    /// OSC 777: foot and rxvt.
    Osc777,
}

impl Desktop {
    /// Selected by `TERM` and `TERM_PROGRAM`. Inside a multiplexer, the terminal around it is unknown.
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
        // The field separator must not occur in a field.
        let field = |text: &str| one_line(text, MOST).replace(';', ",");
        match self {
            Self::Osc9 => format!("\x1b]9;{}: {}\x07", field(title), field(text)),
            Self::Osc777 => format!("\x1b]777;notify;{};{}\x07", field(title), field(text)),
        }
    }
}

/// Notifies the user on the terminal, if there is one, and with their own command, which gets the report, if any.
pub(crate) fn tell(
    run: &RunId,
    occasion: Occasion,
    text: &str,
    report: Option<&RunView>,
    on_terminal: bool,
) {
    if on_terminal && !SILENT.load(Ordering::Relaxed) && is_worth_it(occasion) {
        let desktop = Desktop::of(&variable("TERM"), &variable("TERM_PROGRAM"));
        let title = format!("bosun {run}");
        let sequence = desktop.map(|desktop| desktop.sequence(&title, text)).unwrap_or_default();
        // The next paint notices a closed terminal.
        let mut out = std::io::stdout().lock();
        let _unseen =
            out.write_all(format!("{sequence}\x07").as_bytes()).and_then(|()| out.flush());
    }
    let kind = occasion.kind();
    match command(occasion) {
        Ok(None) => {}
        Ok(Some(hook)) => {
            let mut told = json!({ "run": run, "kind": kind, "text": text });
            if let Some(report) = report {
                told["report"] = serde_json::to_value(report).unwrap_or_default();
            }
            start(hook, (run.to_string(), kind, one_line(text, MOST)), told.to_string());
        }
        Err(error) => later(tokio::spawn(async move { Some(error.to_string()) })),
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// The user's command for an occasion: a command line in a variable, or else a program in their settings.
fn command(occasion: Occasion) -> Result<Option<Hook>, ConfigError> {
    let line = variable(match occasion {
        Occasion::Question => "BOSUN_ON_QUESTION",
        Occasion::End(_) => "BOSUN_ON_END",
    });
    if !line.trim().is_empty() {
        return Ok(Some(Hook::Line(line)));
    }
    // No project is given, so nothing is read from a repository.
    let set = config::load(None, &[])?.settings;
    let words = match occasion {
        Occasion::Question => set.on_question,
        Occasion::End(_) => set.on_end,
    };
    Ok(words.filter(|words| !words.is_empty()).map(Hook::Program))
}

fn is_worth_it(occasion: Occasion) -> bool {
    match occasion {
        Occasion::Question => true,
        Occasion::End(took) => took >= LONG,
    }
}

/// Started commands that may still be running; each returns its error message, if any.
static HOOKS: std::sync::Mutex<Vec<tokio::task::JoinHandle<Option<String>>>> =
    std::sync::Mutex::new(Vec::new());

fn start(hook: Hook, (run, kind, text): (String, &'static str, String), input: String) {
    later(tokio::spawn(async move {
        let facts = [("BOSUN_RUN", run.as_str()), ("BOSUN_KIND", kind), ("BOSUN_TEXT", &text)];
        match run_hook(&hook, &facts, &input, HOOK_LIMIT).await {
            Ok(true) => None,
            Ok(false) => Some(format!("the on_{kind} command failed")),
            Err(error) => Some(format!("cannot run the on_{kind} command: {error}")),
        }
    }));
}

fn later(work: tokio::task::JoinHandle<Option<String>>) {
    if let Ok(mut hooks) = HOOKS.lock() {
        hooks.push(work);
    }
}

/// Waits for the started commands before the process ends, and warns about those that failed. Each has its own time
/// limit.
pub(crate) async fn hooks_done() {
    let hooks = HOOKS.lock().map(|mut hooks| std::mem::take(&mut *hooks)).unwrap_or_default();
    let mut said: Vec<String> = vec![];
    for hook in hooks {
        // The runtime has logged a panic.
        let wrong = hook.await.ok().flatten();
        said.extend(wrong.filter(|wrong| !said.contains(wrong)));
    }
    for wrong in said {
        print::warn(&format!("bosun: warning: {}", one_line(&wrong, 2 * MOST)));
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
