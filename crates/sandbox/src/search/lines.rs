//! Matching lines of one file, truncated to a readable length.

use std::fs::File;

use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch,
};
use types::WorkPath;

use super::request::{Hits, Line};

/// Longer lines are truncated; a minified file may be a single line.
const MAX_LINE_BYTES: usize = 500;
/// A line that does not fit into this much memory ends the search of its file.
const MAX_HEAP: usize = 16 * 1024 * 1024;

/// A searcher for one thread. Files are read, never mapped: truncating a mapped file kills the process.
pub(super) fn searcher(context: usize) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(MAX_HEAP))
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .build()
}

pub(super) fn search_file(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    max: usize,
    path: &str,
    file: &File,
) -> Option<Hits> {
    let mut sink = Gather::new(max);
    // If a file cannot be read to its end, the matches until then count.
    searcher.search_file(matcher, file, &mut sink).ok();
    // A file whose path is invalid cannot be requested, so it is not reported.
    if sink.count > 0 { sink.hits(path.parse().ok()?) } else { None }
}

pub(crate) fn search_slice(
    matcher: &RegexMatcher,
    context: usize,
    max: usize,
    path: WorkPath,
    bytes: &[u8],
) -> Option<Hits> {
    let mut sink = Gather::new(max);
    searcher(context).search_slice(matcher, bytes, &mut sink).ok();
    sink.hits(path)
}

/// Collects matching lines up to a limit.
struct Gather {
    max: usize,
    count: u64,
    lines: Vec<Line>,
}

impl Gather {
    const fn new(max: usize) -> Self {
        Self { max, count: 0, lines: Vec::new() }
    }

    fn hits(self, path: WorkPath) -> Option<Hits> {
        (self.count > 0).then_some(Hits { path, count: self.count, lines: self.lines })
    }

    fn push(&mut self, number: Option<u64>, bytes: &[u8], matched: bool) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let kept = &bytes[..bytes.len().min(MAX_LINE_BYTES)];
        let mut text = String::from_utf8_lossy(kept).into_owned();
        if kept.len() < bytes.len() {
            text.push_str(&format!(" [{} more bytes]", bytes.len() - kept.len()));
        }
        self.lines.push(Line { number: number.unwrap_or(0), matched, text });
    }
}

impl Sink for Gather {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let mut number = found.line_number();
        for line in found.lines() {
            self.count += 1;
            self.push(number, line, true);
            number = number.map(|number| number + 1);
        }
        Ok(self.count < self.max as u64)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.push(found.line_number(), found.bytes(), false);
        Ok(true)
    }
}
