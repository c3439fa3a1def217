//! The columns of the live view: which of them fit a width, and the line of one task. A line is never wider than
//! requested.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use types::{PlanPhase, TaskStage};

use crate::chat::look::{BAD, DIM, PLAIN};
use crate::chat::wrap::{columns, cut};

/// Maximum width of a title next to the last action.
const MOST_TITLE: usize = 44;
/// Maximum width of a state such as `waiting for T1, T2`.
const MOST_STATE: usize = 22;

/// Minimum width at which a text about a task is worth showing.
pub(super) const LEAST_TEXT: usize = 18;

/// One line below that of the run before layout: the contents of its columns, all safe for a terminal.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) phase: Option<PlanPhase>,
    pub(super) mark: &'static str,
    pub(super) style: Style,
    pub(super) id: String,
    pub(super) state: String,
    pub(super) stage: Option<TaskStage>,
    pub(super) title: String,
    /// Current action, or fault.
    pub(super) action: String,
    pub(super) who: String,
    pub(super) time: String,
    pub(super) cost: String,
}

/// Widths of the columns; 0 for one that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    id: usize,
    state: usize,
    who: usize,
    title: usize,
    text: usize,
    time: usize,
    cost: usize,
}

impl Columns {
    /// Adds time, cost, title and role, in this order, as long as enough room is left for the text.
    pub(super) fn fit(entries: &[Entry], width: usize) -> Self {
        let widest = |of: fn(&Entry) -> &str| {
            entries.iter().map(|entry| columns(of(entry))).max().unwrap_or(0)
        };
        let id = widest(|entry| &entry.id).min(width / 3);
        let state = widest(|entry| &entry.state).min(MOST_STATE).min(width * 2 / 5);
        // Margin, mark, and the blank after each column.
        let mut room = width.saturating_sub(4 + id + 1 + state + 1);
        let mut take = |wanted: usize, leave: usize| {
            if wanted == 0 || room < wanted + 1 + leave {
                return 0;
            }
            room -= wanted + 1;
            wanted
        };
        let time = take(widest(|entry| &entry.time), LEAST_TEXT);
        let cost = take(widest(|entry| &entry.cost), LEAST_TEXT);
        let wanted = widest(|entry| &entry.title).min(MOST_TITLE);
        let has_actions = widest(|entry| &entry.action) > 0;
        // Next to an action a title may be truncated; the role comes after both.
        let beside = wanted.min(width / 3);
        let title = if has_actions { take(beside, width / 3) } else { 0 };
        let who = if title == wanted { take(widest(|entry| &entry.who), width / 3) } else { 0 };
        Self { id, state, who, title, text: room, time, cost }
    }

    pub(super) fn line(&self, entry: &Entry, width: usize) -> Line<'static> {
        let begun = !matches!(entry.stage, Some(TaskStage::Waiting | TaskStage::Skipped));
        let plain = if begun { PLAIN } else { DIM };
        let text = match (self.title, entry.action.as_str()) {
            (0, "") => entry.title.as_str(),
            (_, action) => action,
        };
        let failed = matches!(entry.stage, Some(TaskStage::Failed));
        let text_style = if failed { BAD } else { DIM };
        let mut spans = vec![
            Span::raw("  "),
            Span::styled(entry.mark, entry.style),
            Span::raw(" "),
            Span::styled(left_aligned(&entry.id, self.id), plain),
            Span::styled(left_aligned(&entry.state, self.state), entry.style),
        ];
        if self.who > 0 {
            spans.push(Span::styled(left_aligned(&entry.who, self.who), DIM));
        }
        if self.title > 0 {
            spans.push(Span::styled(left_aligned(&entry.title, self.title), plain));
        }
        let shown = cut(text, self.text);
        let is_title = self.title == 0 && entry.action.is_empty();
        spans.push(Span::styled(shown.clone(), if is_title { plain } else { text_style }));
        let pad = self.text.saturating_sub(columns(&shown));
        spans.push(Span::raw(" ".repeat(pad)));
        for (text, wide) in [(&entry.time, self.time), (&entry.cost, self.cost)] {
            if wide > 0 {
                let pad = (wide + 1).saturating_sub(columns(text));
                spans.push(Span::styled(format!("{}{text}", " ".repeat(pad)), DIM));
            }
        }
        clipped(spans, width)
    }
}

fn left_aligned(text: &str, wide: usize) -> String {
    let text = cut(text, wide);
    let pad = (wide + 1).saturating_sub(columns(&text));
    format!("{text}{}", " ".repeat(pad))
}

/// Removes trailing blanks, and text that a very narrow screen has no room for.
fn clipped(spans: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let mut room = width;
    let mut kept = Vec::with_capacity(spans.len());
    for span in spans {
        let text = cut(&span.content, room);
        room -= columns(&text).min(room);
        kept.push(Span::styled(text, span.style));
    }
    while kept.last().is_some_and(|span| span.content.trim().is_empty()) {
        kept.pop();
    }
    Line::from(kept)
}
