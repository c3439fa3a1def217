//! Arguments of `bosun models`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Models {
    /// Print a JSON line for each provider and each model
    #[arg(long)]
    pub(crate) json: bool,
}
