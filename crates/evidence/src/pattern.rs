//! Regular expressions of the program, compiled once, on first use. Takes no patterns from outside.

use std::ops::Deref;
use std::sync::OnceLock;

use regex::Regex;

/// A constant expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: &'static str,
    compiled: OnceLock<Regex>,
}

impl Pattern {
    pub(crate) const fn new(text: &'static str) -> Self {
        Self { text, compiled: OnceLock::new() }
    }
}

impl Deref for Pattern {
    type Target = Regex;

    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants, and every one is used by a test"
    )]
    fn deref(&self) -> &Regex {
        self.compiled.get_or_init(|| Regex::new(self.text).expect("a constant pattern compiles"))
    }
}

/// The pattern with this text, compiled once per call site.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: $crate::pattern::Pattern = $crate::pattern::Pattern::new($text);
        &PATTERN
    }};
}
pub(crate) use pattern;
