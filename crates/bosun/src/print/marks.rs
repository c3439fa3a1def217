//! The marks, words and columns that lines and reports share.

use owo_colors::OwoColorize as _;
use types::Verdict;

/// Mark of success.
pub(crate) fn good_mark() -> String {
    "✔".green().to_string()
}

/// Mark of failure.
pub(crate) fn bad_mark() -> String {
    "✘".red().to_string()
}

/// A line about an event; merged results and reviews have the longest names.
pub(crate) fn row(who: &str, what: &str) -> String {
    format!("  {who:<12} {what}")
}

/// The word for a gate that a run does not pass by itself.
pub(crate) const fn blocked_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ConditionalGo => "conditional go",
        Verdict::Go | Verdict::NoGo => "no-go",
    }
}
