//! `read_file`: a text file with line numbers, a window of it at a time. The numbers are for the model; nothing
//! else in the product ever sees them.

use async_trait::async_trait;
use sandbox::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use types::{Access, CallFacts, Inspection, Repeat, ToolOutput, ToolSpec};

use crate::{Tool, schema};

/// How many lines are shown when the model does not say.
const DEFAULT_LIMIT: usize = 2000;
/// A longer line is cut; minified files would fill the window otherwise.
const MAX_LINE_CHARS: usize = 2000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, counted from 1.
    #[schemars(range(min = 1))]
    offset: Option<usize>,
    /// How many lines to show; 2000 if left out.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct ReadFile {
    spec: ToolSpec,
}

impl ReadFile {
    pub(crate) fn new() -> Self {
        let description = "Reads a text file. Each line is shown with its number. \
            Use offset and limit to read a part of a long file.";
        Self { spec: schema::spec::<Arguments>("read_file", description) }
    }
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn inspect(&self, arguments: &Value) -> Inspection {
        let path = schema::parse::<Arguments>(arguments).and_then(|args| schema::path(&args.path));
        match path {
            Ok(path) => Inspection::Would(CallFacts {
                access: Access::Read,
                paths: vec![path],
                command: None,
                repeat: Repeat::Safe,
            }),
            Err(complaint) => Inspection::Invalid(complaint),
        }
    }

    async fn run(
        &self,
        arguments: &Value,
        env: &dyn Environment,
        _stop: &CancellationToken,
    ) -> ToolOutput {
        let args = match schema::parse::<Arguments>(arguments) {
            Ok(args) => args,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        let path = match schema::path(&args.path) {
            Ok(path) => path,
            Err(complaint) => return ToolOutput::error(complaint),
        };
        match env.read(&path).await {
            Ok(bytes) => show(&bytes, &args),
            Err(error) => ToolOutput::error(error.chain()),
        }
    }
}

fn show(bytes: &[u8], args: &Arguments) -> ToolOutput {
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        let size = bytes.len();
        return ToolOutput::error(format!(
            "{} is a binary file of {size} bytes; it is not shown as text",
            args.path
        ));
    }
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().collect();
    let first = args.offset.unwrap_or(1);
    if lines.is_empty() {
        return ToolOutput::ok("[the file is empty]");
    }
    if first > lines.len() {
        return ToolOutput::error(format!(
            "{} has {} lines; there is no line {first}",
            args.path,
            lines.len()
        ));
    }
    let window = lines.iter().skip(first - 1).take(args.limit.unwrap_or(DEFAULT_LIMIT));
    let mut shown = String::new();
    let mut last = first - 1;
    for line in window {
        last += 1;
        shown.push_str(&format!("{last:>6}\t"));
        let mut cut = line.char_indices().skip(MAX_LINE_CHARS);
        match cut.next() {
            None => shown.push_str(line),
            Some((end, _)) => {
                shown.push_str(&line[..end]);
                shown.push_str(&format!(" [{} more bytes in this line]", line.len() - end));
            }
        }
        shown.push('\n');
    }
    if first > 1 || last < lines.len() {
        shown.push_str(&format!("[lines {first} to {last} of {}]\n", lines.len()));
    }
    ToolOutput::ok(shown)
}
