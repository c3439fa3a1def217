//! The marks, words and columns that lines and reports share.

use owo_colors::OwoColorize as _;
use types::Verdict;

/// The sign of what is well.
pub(crate) fn good_mark() -> String {
    "✔".green().to_string()
}

/// The sign of what failed.
pub(crate) fn bad_mark() -> String {
    "✘".red().to_string()
}

/// A line of what happens; the longest names are those of results that were merged and of reviews.
pub(crate) fn row(who: &str, what: &str) -> String {
    format!("  {who:<12} {what}")
}

/// The word for a gate that does not let a run through by itself.
pub(crate) const fn blocked_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ConditionalGo => "go on condition",
        Verdict::Go | Verdict::NoGo => "no-go",
    }
}
