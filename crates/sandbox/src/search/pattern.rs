//! Compiled patterns for the contents and paths of files. No file is accessed here.

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use types::WorkPath;

use super::request::GrepRequest;
use crate::error::EnvError;

/// Memory limit of a regular expression.
const MAX_REGEX_BYTES: usize = 10 * 1024 * 1024;

pub(crate) fn matcher(request: &GrepRequest) -> Result<RegexMatcher, EnvError> {
    RegexMatcherBuilder::new()
        .case_insensitive(request.ignore_case)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES)
        .line_terminator(Some(b'\n'))
        .build(&request.pattern)
        .map_err(|error| EnvError::BadPattern { cause: error.to_string() })
}

/// A glob over whole paths.
pub(crate) fn glob_of(pattern: &str) -> Result<GlobMatcher, EnvError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| EnvError::BadPattern { cause: error.to_string() })
}

/// A filter on files: a glob without a slash applies to names, one with a slash to paths.
#[derive(Debug, Clone)]
pub(crate) struct Include(Option<GlobMatcher>);

impl Include {
    pub(crate) fn new(pattern: Option<&str>) -> Result<Self, EnvError> {
        let anywhere = |pattern: &str| {
            if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") }
        };
        pattern.map(|pattern| glob_of(&anywhere(pattern))).transpose().map(Self)
    }

    pub(crate) fn takes(&self, path: &str) -> bool {
        self.0.as_ref().is_none_or(|glob| glob.is_match(path))
    }
}

/// A path relative to the folder that it is below.
pub(crate) fn below<'a>(path: &'a str, folder: &WorkPath) -> &'a str {
    let rest = path.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
    rest.unwrap_or(path)
}
