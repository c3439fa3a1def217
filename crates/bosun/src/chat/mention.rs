//! File mentions with `@`: while one is typed, matching files are shown, and Tab takes the first. A picture from the
//! clipboard is mentioned in the same way. The list is made at the first `@`; searching it takes the same time however
//! long the conversation is.

use super::app::{App, Files};

/// Maximum number of matches shown.
pub(crate) const MOST_SHOWN: usize = 6;

impl App {
    /// Whether the list of files is needed now; true only once.
    pub(crate) fn wants_files(&mut self) -> bool {
        let wanted = matches!(self.files, Files::Unknown) && self.mention().is_some();
        if wanted {
            self.files = Files::Wanted;
        }
        wanted
    }

    pub(crate) fn know_files(&mut self, files: Vec<String>) {
        let lower = files.iter().map(|file| file.to_lowercase()).collect::<Vec<_>>();
        self.files = Files::Found(files.into_iter().zip(lower).collect());
    }

    /// Mentions a picture that exists only in this temporary file.
    pub(crate) fn attach(&mut self, picture: tempfile::TempPath) {
        self.on_paste(&format!("@{} ", picture.display()));
        self.pasted.push(picture);
    }

    /// The text after the `@` at the cursor.
    fn mention(&self) -> Option<String> {
        let word = self.editor.word();
        word.strip_prefix('@').map(ToOwned::to_owned)
    }

    /// Files that match the typed text: those whose path or name begins with it first; in each group, the newest first.
    pub(crate) fn matching_files(&self) -> Vec<&str> {
        let (Some(typed), Files::Found(files)) = (self.mention(), &self.files) else {
            return vec![];
        };
        let typed = typed.to_lowercase();
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).starts_with(&typed);
        let begins = files.iter().filter(|(_, low)| low.starts_with(&typed) || name(low));
        let has = files
            .iter()
            .filter(|(_, low)| low.contains(&typed) && !low.starts_with(&typed) && !name(low));
        let found = begins.chain(has).map(|(file, _)| file.as_str());
        found.filter(|file| *file != self.mention().unwrap_or_default()).take(MOST_SHOWN).collect()
    }

    /// Replaces the typed text by the first match. Returns whether there was one.
    pub(crate) fn complete_file(&mut self) -> bool {
        let Some(first) = self.matching_files().first().map(|file| format!("@{file} ")) else {
            return false;
        };
        self.editor.replace_word(&first);
        true
    }
}
