//! Input history of this and earlier conversations: kept in a file of the user, newest last, bounded. One JSON string
//! per line, so that multi-line texts stay whole. If the file cannot be read or written, only the history is lost.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of texts kept.
const MOST: usize = 500;
/// Longer texts are not kept.
const LONGEST: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Past {
    texts: Vec<String>,
    /// Position in the history; `None` at the draft.
    at: Option<usize>,
    /// The text being typed before going back.
    draft: String,
    file: Option<PathBuf>,
}

impl Past {
    /// Reads the history from a file.
    pub(crate) fn read(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut texts: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let surplus = texts.len().saturating_sub(MOST);
        texts.drain(..surplus);
        Self { texts, file: Some(file), ..Self::default() }
    }

    /// Adds a text, unless it is blank, too long, or the same as the last one.
    pub(crate) fn add(&mut self, text: &str) {
        self.at = None;
        if text.trim().is_empty()
            || text.len() > LONGEST
            || self.texts.last().is_some_and(|last| last == text)
        {
            return;
        }
        self.texts.push(text.to_owned());
        if self.texts.len() > MOST {
            self.texts.remove(0);
        }
        if let Some(file) = &self.file
            && let Err(error) = keep(file, &self.texts)
        {
            tracing::debug!(%error, "keeping what was typed");
        }
    }

    /// The newest text that contains `part`, after skipping some matches. `None` for an empty `part`.
    pub(crate) fn find(&self, part: &str, skipped: usize) -> Option<&str> {
        let part = part.to_lowercase();
        let has = |text: &&String| !part.is_empty() && text.to_lowercase().contains(&part);
        self.texts.iter().rev().filter(has).nth(skipped).map(String::as_str)
    }

    /// The text before the current one. `typed` becomes the draft when the history is entered.
    pub(crate) fn back(&mut self, typed: &str) -> Option<&str> {
        let at = match self.at {
            None => {
                let at = self.texts.len().checked_sub(1)?;
                typed.clone_into(&mut self.draft);
                at
            }
            Some(at) => at.checked_sub(1)?,
        };
        self.at = Some(at);
        self.texts.get(at).map(String::as_str)
    }

    /// The text after the current one; after the newest, the draft.
    pub(crate) fn forth(&mut self) -> Option<&str> {
        let at = self.at? + 1;
        self.at = (at < self.texts.len()).then_some(at);
        Some(self.at.map_or(self.draft.as_str(), |at| self.texts[at].as_str()))
    }
}

/// Writes a temporary file and renames it, so that the file is never incomplete.
fn keep(file: &Path, texts: &[String]) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    for text in texts {
        serde_json::to_writer(&mut new, text)?;
        new.write_all(b"\n")?;
    }
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_goes_back_and_forth_and_comes_out_at_what_one_was_typing() {
        let mut past = Past::default();
        assert_eq!(past.back("draft"), None);
        for text in ["one", "two", "two"] {
            past.add(text);
        }
        assert_eq!(past.back("draft"), Some("two"));
        assert_eq!(past.back("two"), Some("one"));
        assert_eq!(past.back("one"), None);
        assert_eq!(past.forth(), Some("two"));
        assert_eq!(past.forth(), Some("draft"));
        assert_eq!(past.forth(), None);
    }

    #[test]
    fn what_was_typed_is_there_next_time_and_never_too_much() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/typed.jsonl");
        let mut past = Past::read(file.clone());
        past.texts = (0..MOST).map(|n| n.to_string()).collect();
        past.add("two\nlines");
        let mut again = Past::read(file);
        assert_eq!(again.texts.len(), MOST);
        assert_eq!(again.back(""), Some("two\nlines"));
    }
}
