//! `read_file`: a window of a text file with line numbers; or a picture; or, if an encoding is requested, the bytes
//! encoded as text. The line numbers are for the model; nothing else in the product ever sees them.

mod coding;
mod kind;

pub use kind::picture_type;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use types::{CallFacts, Metadata, Source};

use crate::typed::{Reply, Typed, reads};
use crate::{ToolContext, schema};
use coding::Encoding;

/// Number of lines shown if the model gives none.
const DEFAULT_LIMIT: usize = 2000;
/// Longer lines are cut; minified files would fill the window otherwise.
const MAX_LINE_CHARS: usize = 2000;
/// Maximum size of a picture shown to a model; it is kept in the log, too.
const MAX_IMAGE_BYTES: usize = 1024 * 1024;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    /// The file, relative to the workspace.
    path: String,
    /// The first line to show, counted from 1.
    #[schemars(range(min = 1))]
    offset: Option<usize>,
    /// How many lines to show; 2000 by default.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// Leave it out for text. Otherwise `latin1`, `utf16le`, `base64` or `hex`.
    encoding: Option<String>,
}

impl ReadFile {
    fn encoding(&self) -> Result<Option<Encoding>, String> {
        self.encoding.as_deref().map(Encoding::named).transpose()
    }
}

impl Typed for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a text file. Each line is shown with its number. \
        Use offset and limit to read a part of a long file. Pictures (PNG, JPEG, GIF, WebP) are shown as such.";

    fn facts(&self) -> Result<CallFacts, String> {
        self.encoding()?;
        reads(&self.path)
    }

    async fn act(self, place: &ToolContext<'_>) -> Result<Reply, Reply> {
        let path = schema::path(&self.path)?;
        let bytes = place.read(&path).await?;
        let metadata =
            Metadata { bytes: Some(bytes.len() as u64), path: Some(path), ..Metadata::default() };
        let shown = match (self.encoding()?, kind::of(&bytes)) {
            (Some(encoding), _) => match encoding.text(&bytes) {
                coding::Text::Lines(text) => show(&text, &self).map(Reply::from),
                coding::Text::Code(code) => Ok(code.into()),
            },
            (None, Some(kind)) => binary(&bytes, kind, &self),
            (None, None) => show(&String::from_utf8_lossy(&bytes), &self).map(Reply::from),
        };
        shown.map(|reply| reply.knowing(metadata)).map_err(Reply::from)
    }
}

fn binary(bytes: &[u8], kind: kind::Kind, args: &ReadFile) -> Result<Reply, String> {
    let (size, path, word) = (bytes.len(), &args.path, kind.word);
    let Some(media_type) = kind.picture else {
        return Err(format!(
            "{path} is a binary file ({word}, {size} bytes); it is not shown as text"
        ));
    };
    if size > MAX_IMAGE_BYTES {
        return Err(format!(
            "{path} is a picture ({word}) of {size} bytes; at most {MAX_IMAGE_BYTES} can be shown"
        ));
    }
    let base64 = STANDARD.encode(bytes);
    Ok(Reply {
        text: format!("[{path} is a picture: {word}, {size} bytes]"),
        images: vec![Source::Bytes { media_type: media_type.to_owned(), base64 }],
        ..Reply::default()
    })
}

fn show(text: &str, args: &ReadFile) -> Result<String, String> {
    // A byte order mark is not part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
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
