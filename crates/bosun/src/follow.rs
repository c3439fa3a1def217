//! Follows a run or session until it is over or suspended: live view, plain lines or JSON lines, answers on the spot,
//! Ctrl-C, notifications, and the files written at the end. Independent of any command.

mod form;
mod live;
mod long_checks;
mod notify;
mod outputs;
mod prompt;
mod question;
mod rows;
mod run;
mod runs_folder;
mod screen;
mod session;
mod signals;
mod surface;
mod watch;

pub(crate) use form::Form;
pub(crate) use notify::silence;
pub(crate) use outputs::hand_out;
pub(crate) use run::{Over, follow, until_over};
pub(crate) use session::{Voice, stay};
pub(crate) use signals::{signal, take_signals};
pub(crate) use surface::{Surface, is_capable};
pub(crate) use watch::watch;
