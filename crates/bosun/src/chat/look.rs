//! Styles by meaning. Few colours, and none that carries meaning alone: nothing is lost with `NO_COLOR`.

use ratatui::style::{Color, Modifier, Style};

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
pub(crate) const ITALIC: Style = Style::new().add_modifier(Modifier::ITALIC);
pub(crate) const CODE: Style = Style::new().fg(Color::Cyan);
pub(crate) const HEADING: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
pub(crate) const LINK: Style = Style::new().add_modifier(Modifier::UNDERLINED);
pub(crate) const STRUCK: Style = Style::new().add_modifier(Modifier::CROSSED_OUT);
pub(crate) const PERSON: Style = Style::new().fg(Color::Green).add_modifier(Modifier::BOLD);
pub(crate) const ADDED: Style = Style::new().fg(Color::Green);
pub(crate) const REMOVED: Style = Style::new().fg(Color::Red);
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
pub(crate) const WAITING: Style = Style::new().fg(Color::Yellow);
