//! The arguments of `bosun watch` and `bosun top`.

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows the live view of `bosun run` for a run driven by another process; read-only. q or Ctrl-C closes the view without \
stopping the run.

Examples:
  bosun watch
  bosun watch r_1a2b
  bosun watch r_1a2b --json | jq -r .event

Exit codes: those of the run; 130 if the view was closed.")]
pub(crate) struct Watch {
    /// Run id, unique prefix, or `newest` [default: newest]
    pub(crate) run: Option<RunRef>,
    /// Print events as JSON Lines, ending with the report
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Shows state, open questions, tasks, age, cost and last action of every unfinished run; press q to quit.

Examples:
  bosun top
  bosun top --once                print the current table, for a pipe
  bosun top --json | jq -r 'select(.questions > 0).run'")]
pub(crate) struct Top {
    /// Print the table once and exit; the default without a terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Print JSON Lines once, one per run
    #[arg(long)]
    pub(crate) json: bool,
}
