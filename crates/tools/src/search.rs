//! `list_dir`: lists a folder, one entry per line, to the requested depth. `glob`: finds files by name, newest first.
//! `grep`: finds lines by content; shows the lines, the files that contain them, or counts.

use sandbox::{Found, GlobRequest, GrepRequest, Hits, MAX_ENTRIES};
use schemars::JsonSchema;
use serde::Deserialize;
use types::CallFacts;

use crate::typed::{Reply, Typed, reads};
use crate::{ToolContext, schema};

/// Note on file names that are not valid paths.
const UNNAMED: &str = "are not valid paths (control characters, not UTF-8, or a leading ~); file tools cannot open these files, commands can";
/// Maximum number of files listed by one call.
const MAX_FILES: usize = 1000;
/// Default number of matching lines.
const DEFAULT_MAX: usize = 100;
/// Files and counts are short, so the limit is high.
const MAX_LINES_FOR_COUNTS: usize = 100_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListDir {
    /// The folder, relative to the workspace (the default).
    path: Option<String>,
    /// How many levels of folders to show; 1 by default.
    #[schemars(range(min = 1, max = 10))]
    depth: Option<u32>,
}

impl Typed for ListDir {
    const NAME: &'static str = "list_dir";
    const DESCRIPTION: &'static str =
        "Lists a folder. Folders end with a slash; files have their size in bytes.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::folder(self.path.as_deref())?;
        let entries = place.env.list(&path, self.depth.unwrap_or(1)).await?;
        if entries.is_empty() {
            return Ok(format!("[{path} is empty]").into());
        }
        let mut text = String::new();
        for entry in &entries {
            match entry.bytes {
                Some(bytes) => text.push_str(&format!("{}\t{bytes}", entry.path)),
                None => text.push_str(&format!("{}/", entry.path)),
            }
            text.push_str(if entry.unnamed { "\t[escaped]\n" } else { "\n" });
        }
        if entries.iter().any(|entry| entry.unnamed) {
            text.push_str(&format!("[the names that are marked as escaped {UNNAMED}]\n"));
        }
        if entries.len() == MAX_ENTRIES {
            text.push_str(&format!("[only the first {MAX_ENTRIES} entries are shown]\n"));
        }
        Ok(text.into())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Glob {
    /// Such as `**/*.rs` or `src/*.{ts,tsx}`, relative to the folder.
    #[schemars(length(min = 1))]
    pattern: String,
    /// The folder to look in, relative to the workspace (the default).
    path: Option<String>,
}

impl Typed for Glob {
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = "Finds files by a pattern over their paths, the most recently changed first. Ignored files are left out.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::folder(self.path.as_deref())?;
        let request = GlobRequest { pattern: self.pattern, path, max: MAX_FILES };
        let found = place.env.glob(request, place.stop).await?;
        if found.items.is_empty() && found.unnamed.is_empty() {
            return Ok("[no file fits]".to_owned().into());
        }
        let mut text = String::new();
        for path in &found.items {
            text.push_str(path.as_str());
            text.push('\n');
        }
        if found.more {
            text.push_str("[there are more; use a narrower pattern]\n");
        }
        if !found.unnamed.is_empty() {
            let names = found.unnamed.join(", ");
            text.push_str(&format!("[not matched, as their names {UNNAMED}: {names}]\n"));
        }
        Ok(text.into())
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grep {
    /// A regular expression.
    #[schemars(length(min = 1))]
    pattern: String,
    /// A folder or file, relative to the workspace (the default).
    path: Option<String>,
    /// Only files that fit this glob, such as `*.rs`.
    glob_filter: Option<String>,
    case_insensitive: Option<bool>,
    /// How many lines to show before and after each match.
    #[schemars(range(max = 20))]
    context: Option<usize>,
    /// The most matching lines to show; 100 by default.
    #[schemars(range(min = 1, max = 2000))]
    max_results: Option<usize>,
    /// What to show: matching lines, the files that have any, or how many each file has.
    output: Option<Output>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Output {
    Lines,
    Files,
    Counts,
}

impl Typed for Grep {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches the content of files with a regular expression. \
        Shows path, line number and line. Ignored and binary files are left out.";

    fn facts(&self) -> Result<CallFacts, String> {
        reads(self.path.as_deref().unwrap_or("."))
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let output = self.output.unwrap_or(Output::Lines);
        let max = match output {
            Output::Lines => self.max_results.unwrap_or(DEFAULT_MAX),
            Output::Files | Output::Counts => MAX_LINES_FOR_COUNTS,
        };
        let request = GrepRequest {
            pattern: self.pattern,
            path: schema::folder(self.path.as_deref())?,
            include: self.glob_filter,
            ignore_case: self.case_insensitive.unwrap_or(false),
            context: if output == Output::Lines { self.context.unwrap_or(0) } else { 0 },
            max,
        };
        let found = place.env.grep(request, place.stop).await?;
        Ok(show(&found, output).into())
    }
}

fn show(found: &Found<Hits>, output: Output) -> String {
    let mut text = String::new();
    if found.items.is_empty() {
        text.push_str("[no line matches]");
        if found.unnamed.is_empty() {
            return text;
        }
        text.push('\n');
    }
    for hits in &found.items {
        match output {
            Output::Files => text.push_str(&format!("{}\n", hits.path)),
            Output::Counts => text.push_str(&format!("{}: {}\n", hits.path, hits.count)),
            Output::Lines => lines(hits, &mut text),
        }
    }
    if found.more {
        text.push_str("[there are more; use a narrower pattern or path]\n");
    }
    if !found.unnamed.is_empty() {
        let names = found.unnamed.join(", ");
        text.push_str(&format!("[not searched, as their names {UNNAMED}: {names}]\n"));
    }
    text
}

/// Matching lines have a colon, context lines a dash; `--` precedes a context line after a gap.
fn lines(hits: &Hits, text: &mut String) {
    let mut last = None;
    for line in &hits.lines {
        if !line.matched && last.is_some_and(|last| line.number > last + 1) {
            text.push_str("--\n");
        }
        let mark = if line.matched { ':' } else { '-' };
        text.push_str(&format!("{}{mark}{}{mark}{}\n", hits.path, line.number, line.text));
        last = Some(line.number);
    }
}
