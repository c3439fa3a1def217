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
    pub(crate) const fn hint(&self) -> &'static str {
        match (self.removes, self.paths.len()) {
            (true, 1) => "  y removes it (a copy is kept), n leaves it alone",
            (true, _) => "  y removes them (copies are kept), n leaves them alone",
            (false, 1) => "  y replaces (the present version is kept), n leaves it alone",
            (false, _) => "  y replaces (the present versions are kept), n leaves them alone",
        }
    }

    pub(crate) fn row(&self) -> Row {
        let what = match self.paths.as_slice() {
            [path] => types::one_line(&path.display().to_string(), 200),
            paths => count(paths.len(), "file"),
        };
        let them = if self.paths.len() == 1 { "it" } else { "them" };
        let verb = if self.removes { "Remove" } else { "Restore" };
        let text = format!("Something else has changed {what} since. {verb} {them} anyway?");
        Row::new(vec![Span::styled("? ", WAITING.patch(BOLD)), Span::styled(text, WAITING)]).hang(2)
    }
}

impl App {
    /// Shows the result of an undo, and asks about the files that it left alone.
    pub(crate) fn undone(&mut self, undone: &Undone) {
        self.note(undo::outcome(undone));
        let incomplete = undo::incomplete(undone, &format!("type /rewind {}", undone.to));
        undo::notes(undone).into_iter().chain(incomplete).for_each(|line| self.note(line));
        let paths: Vec<PathBuf> = undone.changed_since().map(|left| left.path.clone()).collect();
        let diff: String = undone.conflicts.iter().map(undo::patch).collect();
        self.say_all(patch::rows(&diff, MOST_LINES));
        if diff.lines().count() > MOST_LINES {
            self.note(format!("… {} more lines", diff.lines().count() - MOST_LINES));
        }
        // Whether the undo would remove all of them: they did not exist before.
        let removes = undone.conflicts.len() == paths.len()
            && undone.conflicts.iter().all(|conflict| conflict.wanted.is_none());
        self.replacing = (!paths.is_empty()).then_some(Replacing { to: undone.to, paths, removes });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_what_a_yes_does() {
        let asks = |paths: &[&str], removes| {
            let paths = paths.iter().map(PathBuf::from).collect();
            let replacing = Replacing { to: 1, paths, removes };
            format!("{} {}", replacing.row().content(), replacing.hint().trim())
        };
        assert!(asks(&["a"], false).contains("changed a since. Restore it anyway? y replaces"));
        assert!(asks(&["a"], true).contains("changed a since. Remove it anyway? y removes it"));
        assert!(asks(&["a", "b"], true).contains("2 files since. Remove them anyway?"));
    }
}
