//! Regular expressions of the program, compiled once, on first use. Takes no patterns from outside.

use regex::{Captures, Match, Regex};

/// A compiled expression. An invalid one matches nothing, and panics in a debug build.
#[derive(Debug)]
pub(crate) struct Pattern(Option<Regex>);

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        let made = Regex::new(text);
        debug_assert!(made.is_ok(), "{made:?}");
        Self(made.ok())
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(text))
    }

    pub(crate) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.0.as_ref()?.find(text)
    }

    pub(crate) fn find_all<'t>(&self, text: &'t str) -> Vec<Match<'t>> {
        self.0.as_ref().map(|regex| regex.find_iter(text).collect()).unwrap_or_default()
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.0.as_ref()?.captures(text)
    }

    pub(crate) fn all<'t>(&self, text: &'t str) -> Vec<Captures<'t>> {
        self.0.as_ref().map(|regex| regex.captures_iter(text).collect()).unwrap_or_default()
    }
}

/// The pattern with this text, compiled once per call site.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: std::sync::LazyLock<$crate::pattern::Pattern> =
            std::sync::LazyLock::new(|| $crate::pattern::Pattern::new($text));
        &*PATTERN
    }};
}
pub(crate) use pattern;
