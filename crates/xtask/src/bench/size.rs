//! The size of the program: its start-up time, its file, and its memory during the demo. The memory is Linux only, read
//! from `/proc`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::build::dist_binary;
use super::figures::{Figure, judge};

pub(crate) const ABOUT: &str = "start time, binary size and peak memory of target/dist/bosun";

const STARTS: usize = 20;
const MEGABYTE: f64 = 1_000_000.0;
/// The polling interval. Peak memory only grows, so the last look misses at most this much of a run.
const LOOK_EVERY: Duration = Duration::from_millis(2);
const DEMO_AT_MOST: Duration = Duration::from_secs(300);

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let binary = dist_binary(root)?;
    let length = fs::metadata(&binary).context("measuring the binary")?.len();
    let mut figures = vec![
        Figure {
            what: "start of --version, median of 20",
            value: start_time(&binary)?.as_secs_f64() * 1000.0,
            most: 20.0,
            unit: "ms",
        },
        Figure { what: "size of the binary", value: megabytes(length), most: 40.0, unit: "MB" },
    ];
    let demo = demo_peak(&binary);
    if let Ok(peak) = demo {
        let what = "peak memory of the demo";
        figures.push(Figure { what, value: megabytes(peak), most: 60.0, unit: "MB" });
    }
    let judged = judge(&figures);
    demo.context("measuring the demo's memory")?;
    judged
}

fn start_time(binary: &Path) -> anyhow::Result<Duration> {
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let began = Instant::now();
        let status = quiet(binary, "--version").status().context("starting the binary")?;
        times.push(began.elapsed());
        if !status.success() {
            bail!("`bosun --version` ended with {status}");
        }
    }
    Ok(median(times))
}

/// The demo's own memory in bytes, without its child processes.
fn demo_peak(binary: &Path) -> anyhow::Result<u64> {
    let mut child = quiet(binary, "demo").spawn().context("starting the demo")?;
    let peak = watch(&mut child);
    if peak.is_err() {
        child.kill().context("stopping the demo")?;
    }
    let status = child.wait().context("waiting for the demo")?;
    match peak? {
        _ if !status.success() => bail!("`bosun demo` ended with {status}"),
        0 => bail!("the demo ended before its memory could be read"),
        peak => Ok(peak),
    }
}

fn watch(child: &mut Child) -> anyhow::Result<u64> {
    let status = format!("/proc/{}/status", child.id());
    let began = Instant::now();
    let mut peak = 0;
    while child.try_wait().context("watching the demo")?.is_none() {
        // The file may be gone or empty when the process has just ended.
        let seen = fs::read_to_string(&status).ok().and_then(|text| high_water(&text));
        peak = peak.max(seen.unwrap_or(0));
        if began.elapsed() > DEMO_AT_MOST {
            bail!("the demo did not end within {} s", DEMO_AT_MOST.as_secs());
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(peak)
}

/// The line `VmHWM: 12345 kB`, in bytes.
fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn quiet(binary: &Path, word: &str) -> Command {
    let mut command = Command::new(binary);
    // Leftovers must not end up in the repository.
    command.arg(word).current_dir(std::env::temp_dir());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGABYTE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        assert_eq!(high_water("Name:\tx\nVmHWM:\t    1234 kB\nVmRSS: 9 kB\n"), Some(1_263_616));
        assert_eq!(high_water("Name:\tx\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn the_memory_of_a_living_process_is_seen() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let text = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        assert!(high_water(&text).unwrap() > 0);
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let times = [5, 1, 3].map(Duration::from_millis).to_vec();
        assert_eq!(median(times), Duration::from_millis(3));
    }
}
