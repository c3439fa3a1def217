//! Files that an undo left alone, because something else has changed them: the differences are shown, and the user is
//! asked whether to replace them.

use std::path::PathBuf;

use runtime::Undone;
use types::count;

use super::app::{App, Replacing};
use super::look::{BOLD, WAITING};
use super::patch;
use super::ui_command::UiCommand;
use super::wrap::Row;
use crate::print::undo;
use ratatui::text::Span;

/// Maximum lines shown of the differences.
const MOST_LINES: usize = 200;

impl Replacing {
    pub(crate) const HINT: &str = "  y replaces (the present version is kept), n leaves it alone";

    pub(crate) fn row(&self) -> Row {
        let what = match self.paths.as_slice() {
            [path] => types::one_line(&path.display().to_string(), 200),
            paths => count(paths.len(), "file"),
        };
        let text = format!("Something else has changed {what} since. Restore it anyway?");
        Row::new(vec![Span::styled("? ", WAITING.patch(BOLD)), Span::styled(text, WAITING)]).hang(2)
    }
}

impl App {
    /// Shows the result of an undo, and asks about the files that it left alone.
    pub(crate) fn undone(&mut self, undone: &Undone) {
        self.note(format!("restored: {}", undo::summary(undone)));
        let incomplete = undo::incomplete(undone, &format!("type /rewind {}", undone.to));
        undo::notes(undone).into_iter().chain(incomplete).for_each(|line| self.note(line));
        let paths: Vec<PathBuf> = undone.changed_since().map(|left| left.path.clone()).collect();
        let diff: String = undone.conflicts.iter().map(undo::patch).collect();
        self.say_all(patch::rows(&diff, MOST_LINES));
        if diff.lines().count() > MOST_LINES {
            self.note(format!("… {} more lines", diff.lines().count() - MOST_LINES));
        }
        self.replacing = (!paths.is_empty()).then_some(Replacing { to: undone.to, paths });
    }

    /// Answers whether to replace the files.
    pub(crate) fn answer_replacing(&mut self, text: &str) -> Option<UiCommand> {
        let replacing = self.replacing.take()?;
        match text.to_ascii_lowercase().as_str() {
            "y" | "yes" => {
                return Some(UiCommand::Rewind { to: replacing.to, replace: replacing.paths });
            }
            "n" | "no" => self.note("left alone"),
            _ => {
                self.problem("y or n? nothing is replaced without a yes");
                self.editor.set(text);
                self.replacing = Some(replacing);
            }
        }
        None
    }

    pub(crate) fn stop_replacing(&mut self) {
        self.replacing = None;
        self.note("left alone");
    }
}
