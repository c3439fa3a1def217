//! Target of a live view: standard output, and the terminal's keys if a user can press them. Dropping it removes the
//! painted lines and restores the terminal's modes.

use std::io::{self, IsTerminal as _};

use crossterm::event::{Event, EventStream};
use futures::StreamExt as _;
use ratatui::text::Line;
use runtime::sandbox::{is_in_foreground, stop_job};

use crate::chat::{Canvas, Colours, Terminal};

/// Assumed size of a terminal that does not report one.
const USUAL_SIZE: (u16, u16) = (80, 24);

/// Whether standard output is a terminal whose lines can be repainted.
pub(crate) fn is_capable() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    !dumb && io::stdout().is_terminal()
}

/// The lower part of a terminal.
#[derive(Debug)]
pub(crate) struct Surface {
    canvas: Place,
    keys: Option<EventStream>,
}

#[derive(Debug)]
enum Place {
    /// A terminal whose keys this process reads.
    Terminal(Terminal),
    /// Output only: another process reads the keys, or there are none.
    Output(Canvas<io::Stdout>),
}

impl Surface {
    pub(crate) fn enter() -> Self {
        // Changing the modes of a terminal from the background would stop this process.
        let ours = io::stdin().is_terminal() && is_in_foreground();
        let terminal = ours.then(Terminal::enter);
        match terminal {
            Some(Ok(terminal)) => {
                let keys = Some(EventStream::new());
                Self { canvas: Place::Terminal(terminal), keys }
            }
            failed => {
                if let Some(Err(error)) = failed {
                    tracing::debug!(%error, "taking the terminal");
                }
                Self::without_keys()
            }
        }
    }

    fn without_keys() -> Self {
        let canvas = Place::Output(Canvas::new(io::stdout(), Colours::of_output()));
        Self { canvas, keys: None }
    }

    /// Whether keys can be read.
    pub(crate) fn has_keys(&self) -> bool {
        self.keys.is_some()
    }

    /// The next key; pending forever without keys.
    pub(crate) async fn key(&mut self) -> Option<Event> {
        let Some(keys) = &mut self.keys else { return std::future::pending().await };
        match keys.next().await {
            Some(Ok(key)) => Some(key),
            Some(Err(_)) | None => {
                self.keys = None;
                None
            }
        }
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (u16, u16) {
        match crossterm::terminal::size() {
            Ok((columns, rows)) if columns > 0 && rows > 0 => (columns, rows),
            _ => USUAL_SIZE,
        }
    }

    /// Writes permanent lines and paints the block below them.
    pub(crate) fn print(&mut self, text: &str, below: Vec<Line<'static>>) -> io::Result<()> {
        let (width, _) = self.size();
        self.canvas().print(text, below, width)
    }

    /// Clears the screen.
    pub(crate) fn wipe(&mut self) -> io::Result<()> {
        self.canvas().wipe()
    }

    /// Suspends this process and leaves the terminal to the shell until it is continued.
    pub(crate) fn stop_job(&mut self) -> io::Result<()> {
        // Dropping the terminal restores it.
        *self = Self::without_keys();
        stop_job()?;
        *self = Self::enter();
        Ok(())
    }

    fn canvas(&mut self) -> &mut Canvas<io::Stdout> {
        match &mut self.canvas {
            Place::Terminal(terminal) => terminal.canvas(),
            Place::Output(canvas) => canvas,
        }
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        if let Place::Output(canvas) = &mut self.canvas
            && let Err(error) = canvas.leave()
        {
            tracing::debug!(%error, "clearing the live view");
        }
    }
}
