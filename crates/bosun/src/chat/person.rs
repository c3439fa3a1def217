//! User actions besides the conversation, and their display: own commands, the diff, the policy, models. The output of
//! an own command goes to the model with the next input.

use ratatui::text::Span;
use types::{one_line, visible};

use super::app::App;
use super::look::{BOLD, DIM};
use super::patch;
use super::ui_command::UiCommand;
use super::wrap::Row;

/// Maximum lines shown of a diff or of a command's output.
const MOST_LINES: usize = 400;

impl App {
    /// Starts a command that the user typed after `!`.
    pub(crate) fn run_own(&mut self, line: &str) -> Option<UiCommand> {
        let line = line.trim().to_owned();
        if line.is_empty() {
            self.note("no command after !; for example: !git push");
            return None;
        }
        if self.person_runs {
            self.problem("your last command is still running; Esc stops it");
            return None;
        }
        self.person_runs = true;
        self.say(Row::blank());
        self.say(Row::new(vec![Span::styled("! ", BOLD), Span::raw(visible(&line))]).hang(2));
        Some(UiCommand::Run(line))
    }

    /// Shows the output of the user's command and keeps it for the model.
    pub(crate) fn ran(&mut self, line: &str, output: &str) {
        self.person_runs = false;
        self.say_lines(output, MOST_LINES);
        let fence = "```";
        self.carried.push(format!("I ran this myself:\n{fence}\n$ {line}\n{output}\n{fence}"));
        self.note("the output goes to the model with your next input");
    }

    /// Shows the last lines of an output.
    pub(crate) fn say_lines(&mut self, text: &str, most: usize) {
        let text = visible(text);
        let all = text.lines().count();
        let lines = text.lines().skip(all.saturating_sub(most));
        let rows: Vec<Row> =
            lines.map(|line| Row::text(format!("    {line}"), DIM).hang(4).exact()).collect();
        self.say_all(rows);
    }

    /// Prepends the output of the user's commands to the next input.
    pub(crate) fn with_carried(&mut self, text: String) -> String {
        let mut parts = std::mem::take(&mut self.carried);
        if parts.is_empty() {
            return text;
        }
        parts.push(text);
        parts.join("\n\n")
    }

    /// Shows a unified diff with the line numbers of the new file.
    pub(crate) fn show_diff(&mut self, diff: &str) {
        self.say_all(patch::rows(diff, MOST_LINES));
        let all = diff.lines().count();
        if all > MOST_LINES {
            self.note(format!("… {} more lines: !git diff", all - MOST_LINES));
        }
    }

    pub(crate) fn tell_models(&mut self) {
        self.note(format!("model: {}", one_line(&self.standing.model, 100)));
        let rows: Vec<Row> = self
            .known
            .models
            .iter()
            .zip(1..)
            .map(|(model, number)| {
                Row::text(format!("  {number:>3}  {}", one_line(model, 80)), DIM)
            })
            .collect();
        let some = !rows.is_empty();
        self.say_all(rows);
        if some {
            self.note("switch with /model NUMBER or /model PROVIDER/MODEL");
        }
    }

    pub(crate) fn tell_permissions(&mut self) {
        let lines = self.known.policy.clone();
        for line in lines {
            self.note(format!("  {}", one_line(&line, 200)));
        }
        let granted = match self.granted.is_empty() {
            true => "nothing".to_owned(),
            false => one_line(&self.granted.says(), 400),
        };
        self.note(format!("  also allowed in this session: {granted}"));
    }
}
