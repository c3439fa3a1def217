//! Asks on the terminal before an irreversible change to a run. Without a terminal it does nothing: name the run.

use std::io::{BufRead as _, IsTerminal as _};

use types::RunId;

use crate::exit::CliError;
use crate::print;

/// Whether the user confirms. `what` is the command to be confirmed.
pub(crate) fn sure(what: &'static str, run: &RunId, goal: &str) -> anyhow::Result<bool> {
    let goal = types::headline(goal, 60);
    if !std::io::stdin().is_terminal() {
        return Err(CliError::WhichRun { what, run: run.clone(), goal }.into());
    }
    print::note(&format!("{what} {run} ({goal})? Type yes to confirm"));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let sure = answer.trim() == "yes";
    if !sure {
        print::note("nothing was done");
    }
    Ok(sure)
}
