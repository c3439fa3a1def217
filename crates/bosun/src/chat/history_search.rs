//! Search in the input history: finds the typed text, newest first, until Enter accepts the match or Esc restores the
//! previous input.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::{App, HistorySearch};

impl App {
    pub(crate) fn begin_search(&mut self) {
        let before = self.editor.text();
        self.search = Some(HistorySearch { before, ..HistorySearch::default() });
    }

    /// Handles a key during a search. Other keys end the search and keep their usual meaning. Returns whether the key
    /// was consumed.
    pub(crate) fn on_search_key(&mut self, key: KeyEvent) -> bool {
        let Some(search) = &mut self.search else { return false };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('r') if control => search.skipped += 1,
            KeyCode::Char(c) if !control => {
                search.query.push(c);
                search.skipped = 0;
            }
            KeyCode::Backspace => {
                search.query.pop();
                search.skipped = 0;
            }
            KeyCode::Esc => {
                let before = std::mem::take(&mut search.before);
                self.search = None;
                self.editor.set(&before);
                return true;
            }
            KeyCode::Char('c' | 'g') if control => {
                self.search = None;
                return true;
            }
            _ => {
                self.search = None;
                return key.code == KeyCode::Enter;
            }
        }
        let found = self.editor.past().find(&search.query, search.skipped).map(ToOwned::to_owned);
        match found {
            Some(text) => self.editor.set(&text),
            // There is no older match.
            None => search.skipped = search.skipped.saturating_sub(1),
        }
        true
    }

    /// The search prompt, for the line below.
    pub(crate) fn search_line(&self) -> Option<String> {
        let search = self.search.as_ref()?;
        Some(format!("  search: {}_  (Ctrl-R older, Enter accepts, Esc cancels)", search.query))
    }
}
