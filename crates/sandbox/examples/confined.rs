//! Runs a command in the sandbox in this folder, as often as asked, and says what it cost beside the plain shell:
//! `cargo run --profile dist -p sandbox --example confined -- 200 true`.
#![expect(clippy::print_stdout, reason = "a program that shows figures")]

use std::time::{Duration, Instant};

use sandbox::{Bounds, Confine, Environment as _, HelperExe, LocalEnvironment};
use tokio_util::sync::CancellationToken;
use types::{ExecRequest, Millis, WorkPath};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let helper_exe = HelperExe::enter();
    let mut words = std::env::args().skip(1);
    let times: usize = words.next().ok_or("how often?")?.parse()?;
    let command = words.collect::<Vec<_>>().join(" ");
    tokio::runtime::Runtime::new()?.block_on(async {
        let bare = LocalEnvironment::open(&std::env::current_dir()?)?;
        let confined = bare.clone().confined(Confine::new(helper_exe, Bounds::default()));
        if times == 1 {
            let result = confined.exec(asked(&command), &CancellationToken::new()).await?;
            println!("{}\n[{} after {}]", result.output.trim_end(), result.ended, result.elapsed);
            return Ok(());
        }
        // Turn and turn about, so that whatever else goes on hits all three alike.
        let mut took = [const { Vec::new() }; 3];
        for _ in 0..times {
            let began = Instant::now();
            tokio::process::Command::new("/bin/bash").arg("-c").arg(&command).output().await?;
            took[0].push(began.elapsed());
            for (env, place) in [(&bare, 1), (&confined, 2)] {
                let began = Instant::now();
                env.exec(asked(&command), &CancellationToken::new()).await?;
                took[place].push(began.elapsed());
            }
        }
        for (name, took) in
            ["plain bash -c", "an environment", "in the sandbox"].iter().zip(&mut took)
        {
            took.sort();
            let at = |share: usize| {
                took.get(took.len() * share / 100).copied().unwrap_or(Duration::ZERO)
            };
            println!("{name:<16} median {:>9.3?}  p95 {:>9.3?}", at(50), at(95));
        }
        Ok(())
    })
}

fn asked(command: &str) -> ExecRequest {
    let (folder, timeout) = (WorkPath::root(), Millis::seconds(600));
    ExecRequest::new(command.to_owned(), folder, timeout)
}
