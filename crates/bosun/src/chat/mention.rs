//! Files named with `@`: while one is being typed, those that match are shown, and Tab takes the first. A picture out of the
//! clipboard is named in the same way. The list is made when the first `@` is typed; looking through it costs the same
//! however long the conversation is.

use super::app::App;
use super::input_state::Files;

/// How many matches are shown.
pub(crate) const MOST_SHOWN: usize = 6;

impl App {
    /// Whether the list of files is needed now; said once.
    pub(crate) fn wants_files(&mut self) -> bool {
        let wanted = matches!(self.files, Files::Unknown) && self.mention().is_some();
        if wanted {
            self.files = Files::Wanted;
        }
        wanted
    }

    pub(crate) fn know_files(&mut self, files: Vec<String>) {
        let lower = |file: String| (file.to_lowercase(), file);
        self.files =
            Files::Found(files.into_iter().map(lower).map(|(low, file)| (file, low)).collect());
    }

    /// Names a picture that has no other file than this one.
    pub(crate) fn attach(&mut self, picture: tempfile::TempPath) {
        self.on_paste(&format!("@{} ", picture.display()));
        self.pasted.push(picture);
    }

    /// What stands after the `@` at the cursor.
    fn mention(&self) -> Option<String> {
        let word = self.editor.word();
        word.strip_prefix('@').map(ToOwned::to_owned)
    }

    /// The files that match what is being typed: those whose name begins with it first, the newest first among equals.
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

    /// Puts the first match in place of what was typed; whether there was one.
    pub(crate) fn complete_file(&mut self) -> bool {
        let Some(first) = self.matching_files().first().map(|file| format!("@{file} ")) else {
            return false;
        };
        self.editor.replace_word(&first);
        true
    }
}
