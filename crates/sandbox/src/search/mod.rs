//! Searching files by content and by name. The words are here, and a way that works in any environment, by its
//! listing and its files; the fast way for this machine is in `walk.rs`. Links are never followed.

mod hidden;
mod lines;
mod near;
mod survey;
pub(crate) mod walk;

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use tokio_util::sync::CancellationToken;
use types::WorkPath;

use crate::{EnvError, Environment};
pub(crate) use hidden::Hidden;
use lines::search_slice;
pub(crate) use survey::Survey;

/// What to look for in files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepRequest {
    /// A regular expression in the syntax of ripgrep.
    pub pattern: String,
    /// A folder, with all below it, or one file.
    pub path: WorkPath,
    /// Only files whose name (or path, if it has a slash) fits this glob.
    pub include: Option<String>,
    pub ignore_case: bool,
    /// How many lines around each match are shown.
    pub context: usize,
    /// The most matching lines in all.
    pub max: usize,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hits {
    pub path: WorkPath,
    /// How many lines match.
    pub count: u64,
    /// Matching lines and those around them, in order.
    pub lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// Whether it matches, or only stands near one that does.
    pub matched: bool,
    pub text: String,
}

/// What files to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobRequest {
    /// A glob over paths below `path`; `**` stands for any number of folders.
    pub pattern: String,
    pub path: WorkPath,
    pub max: usize,
}

/// What was found, and whether the limit kept more from being found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<T> {
    pub items: Vec<T>,
    pub more: bool,
    /// Files that may fit and that no path can name, escaped; the first of them.
    pub unnamed: Vec<String>,
}

/// How many files that no path can name are told of.
const MAX_UNNAMED: usize = 50;

/// A regular expression may not need more memory than this.
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

/// A filter on files: without a slash it is about names, with one about paths.
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

/// A path below a folder, as seen from that folder.
pub(crate) fn below<'a>(path: &'a str, folder: &WorkPath) -> &'a str {
    let rest = path.strip_prefix(folder.as_str()).and_then(|rest| rest.strip_prefix('/'));
    rest.unwrap_or(path)
}

/// Content search with nothing but the environment's own listing and files.
pub(crate) async fn grep_by_listing<E: Environment + ?Sized>(
    env: &E,
    request: &GrepRequest,
    stop: &CancellationToken,
) -> Result<Found<Hits>, EnvError> {
    let matcher = matcher(request)?;
    let include = Include::new(request.include.as_deref())?;
    let mut items: Vec<Hits> = Vec::new();
    let mut left = request.max;
    let (files, unnamed) = files(env, &request.path).await?;
    for path in files.into_iter().filter(|path| include.takes(path.as_str())) {
        if stop.is_cancelled() || left == 0 {
            return Ok(Found { items, more: true, unnamed });
        }
        // A file that cannot be read has no matches; a search is not the place to complain about it.
        let Ok(bytes) = env.read(&path).await else { continue };
        if let Some(hits) = search_slice(&matcher, request.context, left, path, &bytes) {
            left = left.saturating_sub(usize::try_from(hits.count).unwrap_or(usize::MAX));
            items.push(hits);
        }
    }
    Ok(Found { items, more: left == 0, unnamed })
}

/// Name search with nothing but the environment's own listing; sorted by path, since it knows no times.
pub(crate) async fn glob_by_listing<E: Environment + ?Sized>(
    env: &E,
    request: &GlobRequest,
) -> Result<Found<WorkPath>, EnvError> {
    let glob = glob_of(&request.pattern)?;
    let (mut items, unnamed) = files(env, &request.path).await?;
    items.retain(|path| glob.is_match(below(path.as_str(), &request.path)));
    let more = items.len() > request.max;
    items.truncate(request.max);
    Ok(Found { items, more, unnamed })
}

/// The files below a path, and those that no path can name.
async fn files<E: Environment + ?Sized>(
    env: &E,
    path: &WorkPath,
) -> Result<(Vec<WorkPath>, Vec<String>), EnvError> {
    let entries = match env.list(path, u32::MAX).await {
        Ok(entries) => entries,
        Err(EnvError::NotAFolder { path }) => return Ok((vec![path], vec![])),
        Err(error) => return Err(error),
    };
    let unnamed = entries.iter().filter(|entry| entry.unnamed).take(MAX_UNNAMED);
    let unnamed = unnamed.map(|entry| entry.path.to_string()).collect();
    let files = entries.into_iter().filter(|entry| !entry.folder && !entry.unnamed);
    Ok((files.map(|entry| entry.path).collect(), unnamed))
}

#[cfg(test)]
mod tests;
