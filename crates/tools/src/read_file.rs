//! `read_file`: a text file with line numbers, a window of it at a time. The numbers are for the model; nothing
//! else in the product ever sees them.

use async_trait::async_trait;
use sandbox::Environment;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use types::CallFacts;

use crate::schema;
use crate::typed::{Typed, reads};

/// How many lines are shown when the model does not say.
const DEFAULT_LIMIT: usize = 2000;
/// A longer line is cut; minified files would fill the window otherwise.
const MAX_LINE_CHARS: usize = 2000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
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
pub(crate) struct ReadFile;

#[async_trait]
impl Typed for ReadFile {
    type Arguments = Arguments;
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file. Each line is shown with its number. \
        Use offset and limit to read a part of a long file.";

    fn facts(&self, args: &Arguments) -> Result<CallFacts, String> {
        reads(&args.path)
    }

    async fn act(
        &self,
        args: Arguments,
        env: &dyn Environment,
        _stop: &CancellationToken,
    ) -> Result<String, String> {
        let path = schema::path(&args.path)?;
        let bytes = env.read(&path).await.map_err(|error| error.chain())?;
        show(&bytes, &args)
    }
}

fn show(bytes: &[u8], args: &Arguments) -> Result<String, String> {
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        let size = bytes.len();
        return Err(format!(
            "{} is a binary file of {size} bytes; it is not shown as text",
            args.path
        ));
    }
    let text = String::from_utf8_lossy(bytes);
    // The mark that some editors put first is no part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines: Vec<&str> = text.lines().collect();
    let first = args.offset.unwrap_or(1);
    if lines.is_empty() {
        return Ok("[the file is empty]".to_owned());
    }
    if first > lines.len() {
        let count = lines.len();
        return Err(format!("{} has {count} lines; there is no line {first}", args.path));
    }
    let window = lines.iter().skip(first - 1).take(args.limit.unwrap_or(DEFAULT_LIMIT));
    let mut shown = String::new();
    let mut last = first - 1;
    for line in window {
        last += 1;
        shown.push_str(&format!("{last:>6}\t"));
        match line.char_indices().nth(MAX_LINE_CHARS) {
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
    Ok(shown)
}
