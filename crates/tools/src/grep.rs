//! `grep`: finds lines by content; shows the lines, the files that contain them, or counts.

use sandbox::{Found, GrepRequest, Hits};
use schemars::JsonSchema;
use serde::Deserialize;
use types::CallFacts;

use crate::typed::{Reply, Typed, reads};
use crate::{ToolContext, UNNAMED, schema};

const DEFAULT_MAX: usize = 100;
/// Files and counts are short, so the limit is high.
const MAX_LINES_FOR_COUNTS: usize = 100_000;

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
            path: schema::path(self.path.as_deref().unwrap_or("."))?,
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
