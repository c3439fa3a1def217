//! Finds what an unconfined command left running, also what left its session, by a mark in its environment. A
//! process that wipes its environment is not found: only walls hold those who do not want to be held.

use std::io::Read as _;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The variable that carries the mark.
pub(crate) const NAME: &str = "BOSUN_COMMAND";

/// How often we look again: who was found may just have made a child.
const ROUNDS: usize = 8;

/// How much of an environment is looked at; ours are small.
const MOST: u64 = 256 * 1024;

/// A mark that no other command has.
pub(crate) fn mark() -> String {
    let drawn = std::fs::read_to_string("/proc/sys/kernel/random/uuid");
    drawn.map_or_else(|_| format!("{:?}", std::time::Instant::now()), |text| text.trim().to_owned())
}

/// Ends every process that carries the mark.
pub(crate) async fn sweep(mark: String) {
    let work = move || {
        let wanted = format!("{NAME}={mark}");
        for _ in 0..ROUNDS {
            if marked(&wanted).map(end).count() == 0 {
                return;
            }
        }
    };
    // It cannot fail but by a panic, and then what is left is left.
    tokio::task::spawn_blocking(work).await.ok();
}

fn end(pid: Pid) {
    // It may be gone by now, which is what was wanted.
    kill(pid, Signal::SIGKILL).ok();
}

fn marked(wanted: &str) -> impl Iterator<Item = Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(move |process| {
        let pid: i32 = process.file_name().to_str()?.parse().ok()?;
        let mut environment = Vec::new();
        let file = std::fs::File::open(process.path().join("environ")).ok()?;
        file.take(MOST).read_to_end(&mut environment).ok()?;
        let mut all = environment.split(|byte| *byte == 0);
        all.any(|one| one == wanted.as_bytes()).then(|| Pid::from_raw(pid))
    })
}
