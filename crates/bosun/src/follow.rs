//! Following a run or a session until it is over or left, on a terminal, as plain lines or as JSON lines; answers on the
//! spot, Ctrl-C, and what is written at the end. No command is known here.

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
