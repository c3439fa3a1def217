//! `bosun chat`: a conversation on the terminal. A pure `App` holds the state of the screen; a thin loop feeds it keys,
//! events and time, and paints the result. Makes no decisions about the work itself.

mod actions;
mod app;
mod below;
pub(crate) mod calls;
mod changes;
mod custom;
mod diff;
pub(crate) mod editor;
mod granting;
mod history_search;
mod inline;
mod keys;
pub(crate) mod look;
mod markdown;
mod mention;
mod painter;
mod past;
mod patch;
mod person;
mod replacing;
mod slash;
mod syntax;
mod table;
mod talk;
mod told;
mod ui_command;
pub(crate) mod wrap;

#[cfg(test)]
mod tests;

pub(crate) use actions::{ChatContext, Next};
pub(crate) use app::{App, Known};
pub(crate) use custom::custom_commands;
pub(crate) use painter::{Canvas, Colours, Terminal, put_back};
pub(crate) use past::Past;
pub(crate) use talk::talk;
