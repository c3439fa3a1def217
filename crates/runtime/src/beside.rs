//! Actions of a person beside a conversation, in its folder: run a command, view the changes, find files, attach
//! pictures, export the conversation as text. None of it reaches the agent by itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sandbox::{Environment as _, GitRequest, GlobRequest, Hook, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{Arguments, BlockBody, Message, Part, Source, WorkPath};

use crate::effects::processes::ending;

pub use sandbox::edit_for_person as edit;

/// The most files in a listing.
const MOST_FILES: usize = 20_000;
/// The largest picture in bytes, and the most pictures with one input.
const LARGEST_PICTURE: u64 = 5 * 1024 * 1024;
const MOST_PICTURES: usize = 8;
/// Writes the picture in the clipboard to a file, with the clipboard program of the desktop.
const CLIPBOARD: &str = r#"exec >"$BOSUN_PICTURE"
[ -n "$WAYLAND_DISPLAY" ] && wl-paste --no-newline --type image/png && exit
exec xclip -selection clipboard -target image/png -out"#;
const CLIPBOARD_LIMIT: Duration = Duration::from_secs(5);
/// The most output of a command that is returned, in bytes.
const MOST_OUTPUT: usize = 20_000;

/// Runs a person's own command line, outside the sandbox; returns its output and how it ended.
pub async fn run(folder: &Path, line: &str, stop: &CancellationToken) -> Result<String, String> {
    let ran = sandbox::run_for_person(folder, line, None, stop).await;
    let ran = ran.map_err(|error| error.chain())?;
    let mut text = ran.output;
    if text.len() > MOST_OUTPUT {
        let from = text.ceil_char_boundary(text.len() - MOST_OUTPUT);
        text = format!("[the beginning was left out]\n{}", &text[from..]);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(format!("{text}[{}]", ending(ran.ended)))
}

/// The differences from the last commit, as a unified diff.
pub async fn diff(folder: &Path) -> Result<String, String> {
    let env = LocalEnvironment::open(folder).map_err(|error| error.chain())?;
    let head = Some("HEAD".to_owned());
    let request = GitRequest::Diff { path: None, staged: false, reference: head };
    env.git(request).await.map_err(|error| error.chain())
}

/// The files of a folder that git does not ignore, newest first.
pub async fn files(folder: &Path) -> Vec<String> {
    let Ok(env) = LocalEnvironment::open(folder) else { return vec![] };
    let pattern = "**/*".to_owned();
    let request = GlobRequest { pattern, path: WorkPath::root(), max: MOST_FILES };
    let found = env.glob(request, &CancellationToken::new()).await;
    found.map(|found| found.items.iter().map(ToString::to_string).collect()).unwrap_or_default()
}

/// The pictures that a text names by path, with or without a leading `@`.
#[must_use]
pub fn pictures(text: &str, folder: &Path) -> Vec<Source> {
    let named = words(text).into_iter().filter_map(|word| picture(&word, folder));
    named.take(MOST_PICTURES).collect()
}

/// Splits a text into words. A path with blanks is one word if it is quoted or has a backslash before each blank, as
/// terminals paste it; an apostrophe within a word is not a quote.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![];
    let mut word = String::new();
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') if matches!(word.as_str(), "" | "@") => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, c) if c.is_whitespace() => words.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    match quote {
        // The quote was never closed, so it was not a quote.
        Some(_) => words.extend(word.split_whitespace().map(ToOwned::to_owned)),
        None => words.push(word),
    }
    words
}

/// Writes the picture in the person's clipboard to a file.
pub async fn clipboard_picture(file: &Path) -> Result<(), String> {
    let (hook, name) = (Hook::Line(CLIPBOARD.to_owned()), file.to_string_lossy());
    let ran = sandbox::run_hook(&hook, &[("BOSUN_PICTURE", &name)], "", CLIPBOARD_LIMIT).await;
    let found = matches!(ran, Ok(true)).then(|| std::fs::read(file).ok()).flatten();
    match found {
        Some(bytes) if bytes.len() as u64 > LARGEST_PICTURE => {
            Err("the picture in the clipboard is larger than 5 MB".to_owned())
        }
        Some(bytes) if tools::picture_type(&bytes) == Some("image/png") => Ok(()),
        _ => Err("no picture could be read from the clipboard (with wl-paste or xclip); \
                  name a file instead: @PATH"
            .to_owned()),
    }
}

fn picture(word: &str, folder: &Path) -> Option<Source> {
    let word = word.strip_prefix('@').unwrap_or(word).trim_matches(['\'', '"', ',', ';']);
    let word = word.strip_prefix("file://").unwrap_or(word);
    let kind = match word.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "png" => "png",
        "jpg" | "jpeg" => "jpeg",
        "gif" => "gif",
        "webp" => "webp",
        _ => return None,
    };
    let path: PathBuf = folder.join(word);
    let known = std::fs::metadata(&path).ok()?;
    if !known.is_file() || known.len() > LARGEST_PICTURE {
        return None;
    }
    let bytes = std::fs::read(&path).ok()?;
    let (media_type, base64) = (format!("image/{kind}"), STANDARD.encode(bytes));
    Some(Source::Bytes { media_type, base64 })
}

/// A conversation as Markdown: messages with their authors, and calls.
#[must_use]
pub fn markdown(history: &[Arc<Message>]) -> String {
    let mut out = String::new();
    for message in history {
        match &**message {
            Message::User { parts } => section(&mut out, "Person", &texts(parts)),
            Message::Developer { parts } => section(&mut out, "Program", &texts(parts)),
            Message::Assistant { blocks, .. } => {
                for block in blocks {
                    match &block.body {
                        BlockBody::Text { text } => section(&mut out, "Agent", text),
                        BlockBody::Call(call) => {
                            let arguments = match &call.arguments {
                                Arguments::Json(value) => value.to_string(),
                                Arguments::Broken(text) => text.clone(),
                            };
                            section(&mut out, &format!("Call: {}", call.tool), &fenced(&arguments));
                        }
                        BlockBody::Thinking { .. } | BlockBody::Opaque => {}
                    }
                }
            }
            Message::Results { results } => {
                for result in results {
                    let head = format!("Result: {}", result.tool);
                    section(&mut out, &head, &fenced(&texts(&result.parts)));
                }
            }
        }
    }
    out
}

fn section(out: &mut String, head: &str, text: &str) {
    if !text.trim().is_empty() {
        out.push_str(&format!("## {head}\n\n{}\n\n", text.trim_end()));
    }
}

/// A text in a code fence that it cannot close.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end())
}

fn texts(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { .. } => "[picture]".to_owned(),
        Part::Document { .. } => "[document]".to_owned(),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_attached_by_its_path_and_nothing_else_is() {
        let dir = tempfile::tempdir().expect("a folder");
        for name in ["a.png", "b.txt", "c.JPG", "from a screen.gif", "it's.webp"] {
            std::fs::write(dir.path().join(name), "x").expect("a file");
        }
        let whole = dir.path().join("c.JPG").display().to_string();
        let text = format!(
            "don't look at @a.png, b.txt and '{whole}' not missing.png: \
             @'from a screen.gif' from\\ a\\ screen.gif \"it's.webp\""
        );
        let found = pictures(&text, dir.path());
        let kinds: Vec<&str> = found
            .iter()
            .map(|source| match source {
                Source::Bytes { media_type, .. } => media_type.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(kinds, ["image/png", "image/jpeg", "image/gif", "image/gif", "image/webp"]);
        assert_eq!(pictures("'tis a.png", dir.path()).len(), 1, "an apostrophe is no quote");
    }

    #[test]
    fn a_conversation_becomes_markdown_whose_fences_hold() {
        let history = [
            Message::user("do it"),
            Message::Results {
                results: vec![types::CallResult {
                    wire_id: String::new(),
                    tool: "shell".to_owned(),
                    outcome: types::CallOutcome::Ok,
                    parts: vec![Part::Text { text: "```\nx".to_owned() }],
                }],
            },
        ];
        let history: Vec<Arc<Message>> = history.into_iter().map(Arc::new).collect();
        let text = markdown(&history);
        assert!(
            text.contains("## Person\n\ndo it\n") && text.contains("````\n```\nx\n````"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn the_files_of_a_folder_are_listed_without_those_that_git_ignores() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(dir.path().join("src")).expect("a folder");
        std::fs::create_dir(dir.path().join(".git")).expect("a folder");
        std::fs::write(dir.path().join(".gitignore"), "out.txt\n").expect("a file");
        for name in ["src/a.rs", "out.txt"] {
            std::fs::write(dir.path().join(name), "x").expect("a file");
        }
        let files = files(dir.path()).await;
        assert!(files.contains(&"src/a.rs".to_owned()), "{files:?}");
        assert!(!files.contains(&"out.txt".to_owned()), "{files:?}");
    }
}
