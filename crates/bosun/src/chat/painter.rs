//! The terminal: set up for a conversation, painted, and always restored. Finished rows are written once and belong to
//! the terminal's own scrollback, to be scrolled and copied; only the block below them is repainted. The terminal is
//! never queried, so no response can be mistaken for a key.
//!
//! Not ratatui's inline viewport: its height is fixed at creation, while this block grows with the input and the
//! questions; and it queries the cursor position when it is created or cleared.

use std::io::{self, Write};

use crossterm::cursor::{Hide, MoveToColumn, MoveUp, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::{
    Attribute, Color as Ink, Print, ResetColor, SetAttribute, SetForegroundColor,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use super::wrap::{Row, wrap};

/// Whether colours are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colours {
    Shown,
    Left,
}

impl Colours {
    /// Determined by `--color`, `NO_COLOR` and the kind of standard output.
    pub(crate) fn of_output() -> Self {
        match anstream::AutoStream::choice(&io::stdout()) {
            anstream::ColorChoice::Never => Self::Left,
            _ => Self::Shown,
        }
    }
}

/// The terminal during a conversation. Dropping it restores everything.
#[derive(Debug)]
pub(crate) struct Terminal {
    canvas: Canvas<io::Stdout>,
}

impl Terminal {
    pub(crate) fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let terminal = Self { canvas: Canvas::new(io::stdout(), Colours::of_output()) };
        put_back_on_panic();
        execute!(io::stdout(), EnableBracketedPaste, Hide)?;
        Ok(terminal)
    }

    /// Hands the terminal to another program.
    pub(crate) fn lend(&mut self) -> io::Result<()> {
        self.canvas.leave().and_then(|()| put_back())
    }

    /// Takes the terminal back.
    pub(crate) fn take_again(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(io::stdout(), EnableBracketedPaste, Hide)
    }

    pub(crate) fn canvas(&mut self) -> &mut Canvas<io::Stdout> {
        &mut self.canvas
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Err(error) = self.canvas.leave().and_then(|()| put_back()) {
            tracing::debug!(%error, "putting the terminal back");
        }
    }
}

/// Restores the terminal's modes without touching the painted lines.
pub(crate) fn put_back() -> io::Result<()> {
    execute!(io::stdout(), DisableBracketedPaste, Show, ResetColor)?;
    disable_raw_mode()
}

/// Restores the terminal before a panic message is printed, so that a user can read it.
fn put_back_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Panics on other threads are caught and become faults; the conversation continues.
        if std::thread::current().name() == Some("main")
            && let Err(error) = put_back()
        {
            tracing::debug!(%error, "putting the terminal back");
        }
        before(panic);
    }));
}

/// Output with a repainted block at its end.
#[derive(Debug)]
pub(crate) struct Canvas<W: Write> {
    out: W,
    colours: Colours,
    /// The painted block, and its width in columns.
    below: Vec<Line<'static>>,
    width: u16,
}

impl<W: Write> Canvas<W> {
    pub(crate) fn new(out: W, colours: Colours) -> Self {
        Self { out, colours, below: vec![], width: 80 }
    }

    /// Writes finished rows and paints the block below them.
    pub(crate) fn paint(
        &mut self,
        rows: &[Row],
        below: Vec<Line<'static>>,
        width: u16,
    ) -> io::Result<()> {
        if rows.is_empty() && below == self.below && width == self.width {
            return Ok(());
        }
        let mut above = vec![];
        for line in rows.iter().flat_map(|row| wrap(row, usize::from(width))) {
            self.line(&mut above, &line)?;
            queue!(above, Print("\r\n"))?;
        }
        self.frame(&above, below, width)
    }

    /// Writes finished lines that already have their colours, and paints the block below them. The terminal wraps them
    /// itself; control characters from outside must already have been made visible.
    pub(crate) fn print(
        &mut self,
        text: &str,
        below: Vec<Line<'static>>,
        width: u16,
    ) -> io::Result<()> {
        if text.is_empty() && below == self.below && width == self.width {
            return Ok(());
        }
        let bare = (self.colours == Colours::Left).then(|| anstream::adapter::strip_str(text));
        let text = bare.map_or_else(|| text.to_owned(), |bare| bare.to_string());
        let mut above = vec![];
        if !text.is_empty() {
            // Clears whole rows, so that a reflow does not take parts of the block for parts of these lines.
            queue!(above, Clear(ClearType::FromCursorDown))?;
        }
        for line in text.lines() {
            queue!(above, Print(line), Print("\r\n"))?;
        }
        self.frame(&above, below, width)
    }

    fn frame(&mut self, above: &[u8], below: Vec<Line<'static>>, width: u16) -> io::Result<()> {
        // A single write, so that no terminal shows a partial frame.
        let mut bytes = vec![];
        queue!(bytes, BeginSynchronizedUpdate)?;
        self.go_up(&mut bytes, width)?;
        if width != self.width {
            // Rows that the terminal has rewrapped itself cannot be overwritten in place.
            queue!(bytes, Clear(ClearType::FromCursorDown))?;
        }
        bytes.extend_from_slice(above);
        for (place, line) in below.iter().enumerate() {
            if place > 0 {
                queue!(bytes, Print("\r\n"))?;
            }
            self.line(&mut bytes, line)?;
        }
        queue!(bytes, Clear(ClearType::FromCursorDown), EndSynchronizedUpdate)?;
        self.below = below;
        self.width = width;
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    /// Removes the block and leaves the cursor on an empty line.
    pub(crate) fn leave(&mut self) -> io::Result<()> {
        let mut bytes = vec![];
        self.go_up(&mut bytes, self.width)?;
        queue!(bytes, Clear(ClearType::FromCursorDown))?;
        self.below.clear();
        self.out.write_all(&bytes)?;
        self.out.flush()
    }

    /// Clears the screen.
    pub(crate) fn wipe(&mut self) -> io::Result<()> {
        self.below.clear();
        execute!(self.out, Clear(ClearType::All), crossterm::cursor::MoveTo(0, 0))
    }

    /// Moves to the first row of the block. A terminal that became narrower has rewrapped its lines.
    fn go_up(&self, bytes: &mut Vec<u8>, width: u16) -> io::Result<()> {
        let width = usize::from(width.max(1));
        let rows: usize = self.below.iter().map(|line| line.width().div_ceil(width).max(1)).sum();
        queue!(bytes, MoveToColumn(0))?;
        match u16::try_from(rows.saturating_sub(1)) {
            Ok(0) | Err(_) => Ok(()),
            Ok(up) => queue!(bytes, MoveUp(up)),
        }
    }

    fn line(&self, bytes: &mut Vec<u8>, line: &Line<'_>) -> io::Result<()> {
        for span in &line.spans {
            let style = line.style.patch(span.style);
            self.style(bytes, style)?;
            // External text has been made visible by now; this is a safeguard for callers that forgot.
            let text: String = span.content.chars().filter(|c| !c.is_control()).collect();
            queue!(bytes, Print(text))?;
            if style != Style::default() {
                queue!(bytes, SetAttribute(Attribute::Reset))?;
            }
        }
        queue!(bytes, Clear(ClearType::UntilNewLine))
    }

    fn style(&self, bytes: &mut Vec<u8>, style: Style) -> io::Result<()> {
        let attributes = [
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
            (Modifier::ITALIC, Attribute::Italic),
            (Modifier::UNDERLINED, Attribute::Underlined),
            (Modifier::REVERSED, Attribute::Reverse),
            (Modifier::CROSSED_OUT, Attribute::CrossedOut),
        ];
        for (modifier, attribute) in attributes {
            if style.add_modifier.contains(modifier) {
                queue!(bytes, SetAttribute(attribute))?;
            }
        }
        let ink = match style.fg {
            Some(Color::Red) => Ink::DarkRed,
            Some(Color::Green) => Ink::DarkGreen,
            Some(Color::Yellow) => Ink::DarkYellow,
            Some(Color::Cyan) => Ink::DarkCyan,
            _ => return Ok(()),
        };
        if self.colours == Colours::Left {
            return Ok(());
        }
        queue!(bytes, SetForegroundColor(ink))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::look::{BAD, BOLD};

    fn painted(canvas: &mut Canvas<Vec<u8>>) -> String {
        let bytes = std::mem::take(&mut canvas.out);
        String::from_utf8(bytes).expect("text").replace('\x1b', "^")
    }

    #[test]
    fn what_is_done_is_written_once_and_what_is_below_is_painted_anew() {
        let mut canvas = Canvas::new(vec![], Colours::Left);
        canvas.paint(&[], vec![Line::raw("a"), Line::raw("b")], 40).expect("painted");
        assert!(painted(&mut canvas).contains("a^[K\r\nb^[K^[J"));
        canvas.paint(&[], vec![Line::raw("a"), Line::raw("b")], 40).expect("painted");
        assert_eq!(painted(&mut canvas), "", "nothing has changed");
        canvas.paint(&[Row::text("done", BOLD)], vec![Line::raw("c")], 40).expect("painted");
        let second = painted(&mut canvas);
        assert!(second.contains("^[1G^[1A^[1mdone^[0m^[K\r\nc^[K^[J"), "{second}");
    }

    #[test]
    fn lines_with_colours_of_their_own_are_written_above_the_block() {
        let mut canvas = Canvas::new(vec![], Colours::Left);
        canvas.print("", vec![Line::raw("a"), Line::raw("b")], 40).expect("painted");
        painted(&mut canvas);
        canvas.print("\x1b[32mdone\x1b[39m\nmore\n", vec![Line::raw("c")], 40).expect("painted");
        let bare = painted(&mut canvas);
        assert!(bare.contains("^[1G^[1A^[Jdone\r\nmore\r\nc^[K^[J"), "{bare}");
        let mut canvas = Canvas::new(vec![], Colours::Shown);
        canvas.print("\x1b[32mdone\x1b[39m\n", vec![], 40).expect("painted");
        assert!(painted(&mut canvas).contains("^[32mdone^[39m\r\n"));
    }

    #[test]
    fn a_terminal_that_became_narrower_is_painted_from_the_right_row() {
        let mut canvas = Canvas::new(vec![], Colours::Left);
        canvas.paint(&[], vec![Line::raw("x".repeat(60)), Line::raw("b")], 80).expect("painted");
        painted(&mut canvas);
        canvas.paint(&[], vec![Line::raw("b")], 40).expect("painted");
        assert!(painted(&mut canvas).contains("^[2A"), "two rows are one line now");
    }

    #[test]
    fn without_colours_there_are_none_and_controls_never_get_through() {
        for (colours, ink) in [(Colours::Left, false), (Colours::Shown, true)] {
            let mut canvas = Canvas::new(vec![], colours);
            canvas.paint(&[Row::text("x\x1b[2Jy\x07", BAD)], vec![], 40).expect("painted");
            let text = painted(&mut canvas);
            assert!(text.contains("x[2Jy"), "{text}");
            assert_eq!(text.contains("38;5;1"), ink, "{text}");
        }
    }
}
