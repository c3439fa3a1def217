//! The arguments of the commands that look at runs while another process drives them.

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows what `bosun run` shows, of a run that another process drives; reads only. q or Ctrl-C leaves the view, not the run.

Examples:
  bosun watch
  bosun watch r_1a2b
  bosun watch r_1a2b --json | jq -r .event

Exit codes: those of the run; 130 if the view was left.")]
pub(crate) struct Watch {
    /// The run, by its id or the beginning of it [default: the newest one]
    pub(crate) run: Option<RunRef>,
    /// Print the events as JSON lines, and the report as the last one
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
State, open questions, tasks, age, cost and last action of every run that is not over; q leaves.

Examples:
  bosun top
  bosun top --once                the table as it is now, for a pipe
  bosun top --json | jq -r 'select(.questions > 0).run'")]
pub(crate) struct Top {
    /// Print the table once, and leave; the default where there is no terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Print a JSON line for each run, once
    #[arg(long)]
    pub(crate) json: bool,
}
