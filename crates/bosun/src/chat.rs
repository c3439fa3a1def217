//! `bosun chat`: a conversation on the terminal. A pure `App` holds what is on the screen; a thin loop feeds it keys,
//! events and time, and paints what it says. Nothing here decides anything about the work itself.

mod app;
mod below;
pub(crate) mod calls;
mod changes;
mod diff;
pub(crate) mod editor;
mod inline;
mod keys;
pub(crate) mod look;
mod markdown;
mod painter;
mod past;
mod slash;
mod table;
mod talk;
mod told;
mod ui_command;
mod visible;
pub(crate) mod wrap;

#[cfg(test)]
mod tests;

pub(crate) use app::App;
pub(crate) use painter::{Canvas, Colours, Terminal, put_back};
pub(crate) use past::Past;
pub(crate) use talk::talk;
pub(crate) use visible::visible;
