//! Following a run or session until it is over or suspended: live view, plain lines or JSON lines, answers on the spot,
//! Ctrl-C, and the files written at the end. Knows no command.

mod live;
mod outputs;
mod prompt;
mod run;
mod runs_folder;
mod session;
mod signals;

pub(crate) use outputs::hand_out;
pub(crate) use run::{Form, Over, follow_with, until_over};
pub(crate) use session::{Voice, stay};
pub(crate) use signals::take_signals;
