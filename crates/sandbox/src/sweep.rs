//! Finds processes that an unconfined command left running, including those that left its session, by a mark in their
//! environment. A process that clears its environment is not found: only a sandbox can hold processes that try to
//! escape.

use std::io::Read as _;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Environment variable that carries the mark.
pub(crate) const NAME: &str = "BOSUN_COMMAND";

/// Maximum number of rounds: a process that was found may just have forked.
const ROUNDS: usize = 8;

/// Within this time, process ids cannot have wrapped around completely, so a command's ids are those after its own.
const QUICK: Duration = Duration::from_millis(100);

/// How much of an environment is read; Bosun's are small.
const MOST: u64 = 256 * 1024;

/// A mark that is unique to one command.
pub(crate) fn mark() -> String {
    let drawn = std::fs::read_to_string("/proc/sys/kernel/random/uuid");
    drawn.map_or_else(|_| format!("{:?}", std::time::Instant::now()), |text| text.trim().to_owned())
}

/// Kills every process that carries the mark of a command. `first` is the command's own process, `elapsed` its age.
pub(crate) async fn sweep(mark: String, first: Pid, elapsed: Duration) {
    let ids = match newest() {
        Some(newest) if elapsed < QUICK => Ids { first, newest },
        _ => Ids::ALL,
    };
    if ids.newest == ids.first {
        return;
    }
    let work = move || {
        let wanted = format!("{NAME}={mark}");
        for _ in 0..ROUNDS {
            if marked(&wanted, ids).map(end).count() == 0 {
                return;
            }
        }
    };
    // It fails only by a panic; remaining processes are left running then.
    tokio::task::spawn_blocking(work).await.ok();
}

/// Range of process ids to inspect, from a command's first to the newest. Ids are assigned in order and wrap around.
#[derive(Debug, Clone, Copy)]
struct Ids {
    first: Pid,
    newest: Pid,
}

impl Ids {
    const ALL: Self = Self { first: Pid::from_raw(0), newest: Pid::from_raw(i32::MAX) };

    fn contain(self, pid: Pid) -> bool {
        match self.first <= self.newest {
            true => self.first <= pid && pid <= self.newest,
            false => self.first <= pid || pid <= self.newest,
        }
    }
}

/// The id that was assigned last, if the system reports it.
fn newest() -> Option<Pid> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().last()?.parse().ok().map(Pid::from_raw)
}

fn end(pid: Pid) {
    // The process may be gone already, which is the goal.
    kill(pid, Signal::SIGKILL).ok();
}

fn marked(wanted: &str, ids: Ids) -> impl Iterator<Item = Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(move |process| {
        let pid = Pid::from_raw(process.file_name().to_str()?.parse().ok()?);
        if !ids.contain(pid) {
            return None;
        }
        let mut environment = Vec::with_capacity(8 * 1024);
        let file = std::fs::File::open(process.path().join("environ")).ok()?;
        file.take(MOST).read_to_end(&mut environment).ok()?;
        let mut all = environment.split(|byte| *byte == 0);
        all.any(|one| one == wanted.as_bytes()).then_some(pid)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_begin_again_are_still_younger() {
        let [low, middle, high] = [40, 5_000, 32_700].map(Pid::from_raw);
        let plain = Ids { first: low, newest: middle };
        assert!(plain.contain(low) && plain.contain(middle) && !plain.contain(high));
        let around = Ids { first: high, newest: low };
        assert!(around.contain(high) && around.contain(low) && !around.contain(middle));
        assert!([low, middle, high].into_iter().all(|pid| Ids::ALL.contain(pid)));
    }
}
