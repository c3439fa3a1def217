//! An open question as lines below the live view: the question and its asker, the last lines of evidence, and the
//! numbered answers, the suggested one first. Equal questions are grouped. Pure; `live.rs` reads the answer.

use ratatui::text::{Line, Span};
use runtime::{QuestionGroup, open_questions};
use types::{Choice, RunView, Terms, Timestamp, count, one_line, visible};

use crate::chat::look::{BOLD, DIM, PLAIN, WAITING};
use crate::chat::wrap::{Row, cut, wrap};
use crate::print::{duration, question};

/// Maximum lines of the question's own text; the full text is above, among the lines that scroll.
const MOST_TEXT: usize = 4;
/// Maximum lines of evidence; the complete excerpt is above, too.
const MOST_EVIDENCE: usize = 5;

/// The first group of open questions, without those whose answers are being delivered.
pub(crate) fn first<'a>(view: &'a RunView, sent: &[u32]) -> Option<QuestionGroup<'a>> {
    open_questions(view).into_iter().find(|group| !group.ids.iter().all(|id| sent.contains(id)))
}

/// The question with its evidence and choices, in at most `most` lines: evidence is dropped before choices.
pub(crate) fn lines(
    view: &RunView,
    group: &QuestionGroup<'_>,
    now: Timestamp,
    width: usize,
    most: usize,
) -> Vec<Line<'static>> {
    let asked = group.first;
    let who = match group.tasks(view).as_slice() {
        [] => "the run asks".to_owned(),
        [task] => format!("{task} asks"),
        tasks => format!("{} ask the same", tasks.join(", ")),
    };
    let kind = asked.terms.as_ref().map(|terms| {
        let sort = terms.escalation.map_or_else(|| terms.kind.as_str(), |sort| sort.as_str());
        format!(" ({sort}, {})", terms.severity.as_str())
    });
    let head = format!("? {who}{}", kind.unwrap_or_default());
    let mut lines = vec![Line::styled(cut(&head, width), WAITING.patch(BOLD))];
    lines.extend(text(&asked.text, width));
    let choices = asked.terms.as_ref().map(|terms| choices(terms, question::example(asked), now));
    let mut choices: Vec<Line<'static>> = choices
        .unwrap_or_default()
        .into_iter()
        .map(|(choice, style)| Line::styled(cut(&choice, width), style))
        .collect();
    let open = open_questions(view).len().saturating_sub(1);
    if open > 0 {
        let more = format!("    {} after this one", count(open, "question"));
        choices.push(Line::styled(cut(&more, width), DIM));
    }
    let room = most.saturating_sub(lines.len() + choices.len()).min(MOST_EVIDENCE);
    let evidence = evidence(asked.terms.as_ref());
    let from = evidence.len().saturating_sub(room);
    lines.extend(evidence[from..].iter().map(|line| Line::styled(cut(line, width), DIM)));
    lines.extend(choices);
    lines.truncate(most.max(1));
    lines
}

fn text(text: &str, width: usize) -> Vec<Line<'static>> {
    let row = |line: &str| Row::new(vec![Span::raw("  "), Span::raw(line.to_owned())]).hang(2);
    let safe = visible(text);
    let rows = safe.lines().filter(|line| !line.trim().is_empty()).map(row);
    let mut lines: Vec<Line<'static>> = rows.flat_map(|row| wrap(&row, width)).collect();
    if lines.len() > MOST_TEXT {
        lines.truncate(MOST_TEXT - 1);
        lines.push(Line::styled(cut("  … full text above", width), DIM));
    }
    lines
}

fn evidence(terms: Option<&Terms>) -> Vec<String> {
    let package = terms.and_then(|terms| terms.package.as_deref());
    let shown = package.map(|package| question::evidence(package, "    ")).unwrap_or_default();
    shown.lines().map(str::to_owned).collect()
}

/// The numbered answers, the suggested one first. The numbers are those that `bosun answer` takes.
fn choices(terms: &Terms, suggested: &str, now: Timestamp) -> Vec<(String, ratatui::style::Style)> {
    let numbered: Vec<(usize, &Choice)> = (1..).zip(&terms.choices).collect();
    let is_suggested = |choice: &Choice| question::is_suggested(choice, suggested);
    let (first, others): (Vec<_>, Vec<_>) =
        numbered.into_iter().partition(|(_, choice)| is_suggested(choice));
    let named = |choice: &Choice| {
        let note = if is_suggested(choice) { " (suggested)" } else { "" };
        format!("{}{note}", one_line(&terms.written(choice), 40))
    };
    let wide = terms.choices.iter().map(|choice| named(choice).chars().count()).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (number, choice) in first.into_iter().chain(others) {
        let (name, says) = (named(choice), one_line(&choice.says, 200));
        let style = if is_suggested(choice) { BOLD } else { PLAIN };
        lines.push((format!("    {number} {name:<wide$}  {says}"), style));
    }
    if let Some(expires) = terms.expires {
        let what = one_line(terms.default.as_deref().unwrap_or("stop"), 60);
        let left = duration(expires.since(now));
        lines.push((format!("    without an answer: {what} in {left}"), DIM));
    }
    lines
}

#[cfg(test)]
mod tests;
