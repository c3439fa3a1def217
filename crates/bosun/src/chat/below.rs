//! The area below the conversation: the incoming reply, running calls, open questions, the prompt, and a status line.
//! Everything fits the given width and height.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use types::{SessionState, visible};

use super::app::{App, MOST_OF_A_QUESTION};
use super::calls;
use super::look::{BOLD, DIM, PERSON, PLAIN, WAITING};
use super::slash;
use super::wrap::{Row, columns, cut, wrap};

/// Bytes of the thinking text searched for its last line.
const RECENT: usize = 2_000;

impl App {
    /// The lines below the conversation.
    pub(crate) fn view(&self, width: u16, height: u16) -> Vec<Line<'static>> {
        let wide = usize::from(width).max(8);
        let high = usize::from(height).max(4);
        let mut below = self.prompt(wide, high);
        below.push(self.status(wide));
        let room = high.saturating_sub(below.len() + 1);
        let mut above: Vec<Line<'static>> = self.coming(wide);
        above.extend(self.under_way(wide));
        above.extend(self.waiting(wide));
        // The oldest lines are dropped if there is no room for all.
        let surplus = above.len().saturating_sub(room);
        above.drain(..surplus);
        above.push(Line::default());
        above.extend(below);
        above
    }

    /// The incoming reply.
    fn coming(&self, width: usize) -> Vec<Line<'static>> {
        if self.summarising {
            return vec![Line::styled("  compacting: writing a summary of the older part", DIM)];
        }
        if self.thinking {
            let recent = self.thought.len().saturating_sub(RECENT);
            let thought = visible(&self.thought[self.thought.ceil_char_boundary(recent)..]);
            let row = Row::text(format!("  {}", last_line(&thought)), DIM).hang(2);
            let mut lines = wrap(&row, width);
            let surplus = lines.len().saturating_sub(3);
            lines.drain(..surplus);
            return lines;
        }
        self.text.rest().iter().flat_map(|row| wrap(row, width)).collect()
    }

    /// Running calls with the tail of their output.
    fn under_way(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = vec![];
        for running in &self.running {
            let took = calls::seconds(running.elapsed);
            let title = cut(&format!("  {}", running.title), width.saturating_sub(took.len() + 2));
            lines.push(Line::from(vec![Span::raw(title), Span::styled(format!("  {took}"), DIM)]));
            let partial = std::iter::once(&running.partial).filter(|text| !text.trim().is_empty());
            for line in running.tail.iter().chain(partial) {
                lines.push(Line::styled(cut(&format!("    {}", visible(line)), width), DIM));
            }
        }
        lines
    }

    /// Queued texts and the open question.
    fn waiting(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = vec![];
        for queued in &self.queue {
            let when = if queued.later { "when done" } else { "queued" };
            let text = types::one_line(&queued.text, 300);
            lines.push(Line::styled(cut(&format!("  {when}: {text}"), width), DIM));
        }
        if let Some(replacing) = &self.replacing {
            lines.extend(wrap(&replacing.row(), width));
            lines.extend(wrap(&Row::text(replacing.hint(), DIM).hang(2), width));
        } else if let Some(asked) = self.question() {
            let question = asked.rows();
            let mut question = question.iter().flat_map(|row| wrap(row, width));
            lines.extend(question.by_ref().take(MOST_OF_A_QUESTION));
            if question.next().is_some() {
                // The head is always shown: the end of a long command may look harmless.
                lines.push(Line::styled(cut("  … full text above", width), WAITING));
            }
            for (number, option) in (1..).zip(asked.options()) {
                lines.push(Line::raw(cut(&format!("  {number}  {}", visible(&option)), width)));
            }
            let hint = if let Some(hint) = self.granting_hint() {
                hint.to_owned()
            } else if asked.approval {
                format!("  y allows, n denies, or say why not ({})", asked.rule)
            } else {
                "  type an answer; Enter sends it".to_owned()
            };
            lines.extend(wrap(&Row::text(hint, DIM).hang(2), width));
        }
        lines
    }

    fn prompt(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let asks = self.question().is_some() || self.replacing.is_some();
        let (sign, style) = if asks { ("? ", WAITING.patch(BOLD)) } else { ("> ", PERSON) };
        let hint = match self.standing.state {
            _ if asks => "your answer",
            SessionState::Idle => "describe a task, or type /help",
            SessionState::Processing | SessionState::AwaitingInput => "steer the agent",
            SessionState::Closed => "",
        };
        let room = u16::try_from(width - 3).unwrap_or(u16::MAX);
        let mut lines = vec![];
        let rows = u16::try_from(height / 2).unwrap_or(u16::MAX);
        for (place, mut line) in self.editor.view(room, rows, hint).into_iter().enumerate() {
            let head = if place == 0 { Span::styled(sign, style) } else { Span::raw("  ") };
            line.spans.insert(0, head);
            lines.push(line);
        }
        let most = height.saturating_sub(lines.len() + 2);
        let text = self.editor.text();
        let commands = slash::beginning(&text).into_iter().map(slash::line);
        let own = self.own_beginning(&text);
        let files = self.matching_files().into_iter().map(|file| format!("  @{}", visible(file)));
        let hints = self.search_line().into_iter().chain(commands).chain(own).chain(files);
        for hint in hints.take(most) {
            lines.push(Line::styled(cut(&hint, width), DIM));
        }
        lines
    }

    /// One line; less important parts are dropped first if there is no room.
    fn status(&self, width: usize) -> Line<'static> {
        let standing = &self.standing;
        let (state, style): (String, Style) = match standing.state {
            _ if self.leaving => ("Ctrl-C again to quit".to_owned(), WAITING),
            _ if self.person_runs => ("running your command (Esc stops)".to_owned(), BOLD),
            SessionState::Processing => {
                (format!("working {} (Esc stops)", calls::seconds(self.working)), BOLD)
            }
            SessionState::AwaitingInput => ("waiting for you".to_owned(), WAITING),
            SessionState::Idle => ("ready".to_owned(), PLAIN),
            SessionState::Closed => ("closed".to_owned(), WAITING),
        };
        let mut parts = vec![types::one_line(&standing.model, 28)];
        parts.extend(self.planning.then(|| "plan only".to_owned()));
        parts.extend(standing.effort.map(|effort| format!("effort {}", effort.as_str())));
        let agents = Some(standing.agents).filter(|agents| *agents > 0);
        parts.extend(agents.map(|agents| types::count(agents, "sub-agent")));
        // Models without a price, such as local ones, cost nothing worth a place here.
        let cost =
            standing.cost.as_ref().filter(|cost| cost.contains(|c| ('1'..='9').contains(&c)));
        parts.extend(cost.map(|cost| format!("${cost}")));
        let window = standing.window.filter(|window| *window > 0);
        let percent = window.map(|window| standing.used.saturating_mul(100) / window);
        parts.extend(percent.map(|percent| format!("context {percent} %")));
        let used = |parts: &[String]| parts.iter().map(|part| columns(part) + 3).sum::<usize>();
        while !parts.is_empty() && columns(&state) + used(&parts) > width {
            parts.remove(0);
        }
        let rest: String = parts.iter().map(|part| format!(" · {part}")).collect();
        Line::from(vec![Span::styled(cut(&state, width), style), Span::styled(rest, DIM)])
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
