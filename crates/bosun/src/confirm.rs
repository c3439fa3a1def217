//! Asks on the terminal before something is done to a run that cannot be taken back. Where there is no terminal, nothing
//! is done: the run has to be named.

use std::io::{BufRead as _, IsTerminal as _};

use types::RunId;

use crate::print;
use crate::usage_error::UsageError;

/// Whether the person is sure. `what` is the command that would do it.
pub(crate) fn sure(what: &'static str, run: &RunId, goal: &str) -> anyhow::Result<bool> {
    let goal = print::one_line(goal, 60);
    if !std::io::stdin().is_terminal() {
        return Err(UsageError::WhichRun { what, run: run.clone(), goal }.into());
    }
    print::note(&format!("{what} {run} ({goal})? type yes to do it"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let sure = answer.trim() == "yes";
    if !sure {
        print::note("nothing was done");
    }
    Ok(sure)
}
