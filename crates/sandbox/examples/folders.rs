//! Runs commands in the sandbox in many folders in turn, and says how long one of them took:
//! `cargo run --profile dist -p sandbox --example folders -- 20 10` for 20 folders and ten rounds.
#![expect(clippy::print_stdout, reason = "a program that shows figures")]

use std::time::{Duration, Instant};

use sandbox::{Bounds, Confine, Environment as _, HelperExe, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{ExecRequest, Millis, WorkPath};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let helper_exe = HelperExe::enter();
    let mut words = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let folders = words.next().ok_or("how many folders?")??;
    let rounds = words.next().ok_or("how many rounds?")??;
    tokio::runtime::Runtime::new()?.block_on(async {
        let places = (0..folders).map(|_| tempfile::tempdir()).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::new();
        for place in &places {
            let confine = Confine::new(helper_exe.clone(), Bounds::default());
            all.push(LocalEnvironment::open(place.path())?.confined(confine));
        }
        let mut took = Vec::new();
        for _ in 0..rounds {
            for env in &all {
                let (folder, timeout) = (WorkPath::root(), Millis::seconds(600));
                let request = ExecRequest::new("true".to_owned(), folder, timeout);
                let began = Instant::now();
                env.exec(request, &CancellationToken::new()).await?;
                took.push(began.elapsed());
            }
        }
        took.sort();
        let median = took.get(took.len() / 2).copied().unwrap_or(Duration::ZERO);
        println!("{folders} folders: median {median:.3?} per command");
        Ok(())
    })
}
