//! The cost of a session: the real program against a model server on the loopback that answers at once, with one
//! trivial call per turn: a file read, or a command, with and without the sandbox. Time is taken where requests arrive,
//! so a turn is everything between two requests: decoding, deciding, recording, the command itself, and writing the
//! next request. A shared machine only adds to that, by a half and more from one minute to the next, so the longest
//! session is repeated eight times and the fastest counts, and the time of a shell alone is shown beside it. The
//! program gets only `PATH`, because a shell's own start depends on the environment.

mod pacer;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::build::{dist_binary, dist_example};
use super::figures::{Figure, judge};
use crate::sample;
use pacer::{Beat, Call, Pacer};

pub(crate) const ABOUT: &str =
    "a conversation of 1, 20, 100 and 400 turns: first request, time, processor and memory a turn";

const CALLS: [Call; 3] = [Call::Read, Call::Bare, Call::Shell];
const TURNS: [usize; 3] = [1, 20, 100];
const LONGEST: usize = 400;
/// How often the longest session is repeated.
const HELD: usize = 8;
/// How often the start is measured.
const STARTS: usize = 10;
const TICKS_PER_SECOND: f64 = 100.0;

/// The measured programs.
struct Programs {
    whole: PathBuf,
    /// A small program around the same sessions, without a sandbox.
    bare: PathBuf,
}

/// The measurements of one session.
struct Measured {
    /// From the start of the process to its first request.
    first: Duration,
    first_bytes: usize,
    last_bytes: usize,
    beats: Vec<Beat>,
    /// Of the process and its commands, in milliseconds.
    own_cpu: f64,
    all_cpu: f64,
    /// In megabytes.
    peak: f64,
    anonymous: f64,
}

impl Measured {
    /// Milliseconds per turn, without the first ones, which include one-time work.
    fn turn(&self) -> f64 {
        mean(&self.beats, 20..100)
    }
}

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let whole = dist_binary(root)?;
    let bare = dist_example(root, "runtime", "bare")?;
    let programs = Programs { whole, bare };
    let scratch = root.join("target/bench-session");
    let mut figures = vec![];
    let mut longest = CALLS.map(|_| Vec::new());
    // Alternating, so that a busy minute affects all kinds.
    for _ in 0..HELD {
        for (call, held) in CALLS.into_iter().zip(&mut longest) {
            held.push(converse(root, &programs, &scratch, call, LONGEST)?);
        }
    }
    for (call, mut held) in CALLS.into_iter().zip(longest) {
        let word = call.as_str();
        println!(
            "\n{word}\n{:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
            "turns",
            "first ms",
            "ms/turn",
            "early ms",
            "late ms",
            "cpu/turn",
            "all cpu",
            "peak MB",
            "first B",
            "last B"
        );
        for turns in TURNS {
            print(turns, &converse(root, &programs, &scratch, call, turns)?);
        }
        held.sort_by(|one, other| one.turn().total_cmp(&other.turn()));
        held.iter().for_each(|measured| print(LONGEST, measured));
        let quickest = held.first().context("no conversation was held")?;
        figures.extend(judged(call, quickest));
    }
    let mut firsts = vec![];
    let mut bytes = 0;
    for _ in 0..STARTS {
        let measured = converse(root, &programs, &scratch, Call::Shell, 1)?;
        firsts.push(measured.first);
        bytes = measured.first_bytes;
    }
    firsts.sort();
    let first = millis(firsts.get(STARTS / 2).copied().unwrap_or_default());
    let tokens = bytes as f64 / 4.0;
    figures.extend([
        Figure { what: "first request after, median of 10", value: first, most: 40.0, unit: "ms" },
        Figure {
            what: "tokens of the first request, 4 B each",
            value: tokens,
            most: 3_000.0,
            unit: "",
        },
    ]);
    println!("\nThe shell alone, started from here and waited for: {:.2} ms.\n", shell_alone()?);
    fs::remove_dir_all(&scratch).context("removing what the bench left")?;
    judge(&figures)
}

/// Milliseconds of a trivial command, in the middle of many.
fn shell_alone() -> anyhow::Result<f64> {
    const TIMES: usize = 101;
    let mut times = vec![];
    for _ in 0..TIMES {
        let mut command = started(Path::new("/bin/bash"));
        let begun = Instant::now();
        command.args(["-c", "echo 1"]).output().context("starting a shell")?;
        times.push(begun.elapsed());
    }
    times.sort();
    Ok(millis(times[TIMES / 2]))
}

fn print(turns: usize, measured: &Measured) {
    let per = |all: f64| all / turns as f64;
    println!(
        "{turns:>6} {:>9.1} {:>9.2} {:>9.2} {:>9.2} {:>9.2} {:>8.2} {:>8.1} {:>9} {:>9}",
        millis(measured.first),
        mean(&measured.beats, 0..usize::MAX),
        mean(&measured.beats, early(measured)),
        mean(&measured.beats, late(measured)),
        per(measured.own_cpu),
        per(measured.all_cpu),
        measured.peak,
        measured.first_bytes,
        measured.last_bytes
    );
}

/// The turns around the tenth, and as many at the end.
fn early(_: &Measured) -> std::ops::Range<usize> {
    5..25
}

fn late(measured: &Measured) -> std::ops::Range<usize> {
    measured.beats.len().saturating_sub(20)..usize::MAX
}

fn judged(call: Call, measured: &Measured) -> Vec<Figure> {
    let turns = measured.beats.len().max(1) as f64;
    let growth =
        mean(&measured.beats, late(measured)) / mean(&measured.beats, early(measured)).max(0.001);
    let (turn, grows, most) = match call {
        Call::Read => ("a turn that reads a file", "late turn to early one, reading", 3.0),
        Call::Bare => {
            ("a turn with a command, no sandbox", "late turn to early one, no sandbox", 3.0)
        }
        Call::Shell => {
            ("a turn with a command in the sandbox", "late turn to early one, commands", 8.0)
        }
    };
    let mut figures = vec![
        Figure { what: turn, value: measured.turn(), most, unit: "ms" },
        Figure { what: grows, value: growth, most: 1.5, unit: "x" },
    ];
    if call == Call::Read {
        let cpu = measured.own_cpu / turns;
        figures.extend([
            Figure { what: "processor a turn", value: cpu, most: 3.0, unit: "ms" },
            Figure {
                what: "memory at 400 turns",
                value: measured.anonymous,
                most: 25.0,
                unit: "MB",
            },
        ]);
    }
    figures
}

/// Mean milliseconds between requests, over some of the turns.
fn mean(beats: &[Beat], turns: std::ops::Range<usize>) -> f64 {
    let pairs = beats.windows(2).enumerate().filter(|(turn, _)| turns.contains(turn));
    let times: Vec<f64> =
        pairs.map(|(_, pair)| millis(pair[1].at.duration_since(pair[0].at))).collect();
    times.iter().sum::<f64>() / times.len().max(1) as f64
}

fn converse(
    root: &Path,
    programs: &Programs,
    scratch: &Path,
    call: Call,
    turns: usize,
) -> anyhow::Result<Measured> {
    if scratch.exists() {
        fs::remove_dir_all(scratch).context("clearing the bench's folder")?;
    }
    let repo = repository(scratch)?;
    let pacer = Pacer::start(turns, call)?;
    let mut command = match call {
        Call::Bare => bare(&programs.bare, scratch, &repo, pacer.url()),
        Call::Read | Call::Shell => program(root, &programs.whole, scratch, &repo, pacer.url())?,
    };
    command.current_dir(&repo);
    let log = fs::File::create(scratch.join("log.jsonl")).context("making a log")?;
    let errors = log.try_clone().context("making a log")?;
    command.stdin(Stdio::null()).stdout(log).stderr(errors);
    let begun = Instant::now();
    let mut child = command.spawn().context("starting the program")?;
    let last = pacer.wait();
    let counted = last.and_then(|()| Ok((processor(&child)?, memory(&child)?)));
    pacer.finish();
    let status = child.wait().context("waiting for the program")?;
    let ((own_cpu, all_cpu), (peak, anonymous)) = counted?;
    if !status.success() {
        let said = fs::read_to_string(scratch.join("log.jsonl")).unwrap_or_default();
        bail!("the conversation ended with {status}: {}", said.lines().last().unwrap_or_default());
    }
    let beats = pacer.beats();
    let (Some(one), Some(end)) = (beats.first(), beats.last()) else { bail!("nothing was asked") };
    let (first, first_bytes, last_bytes) = (one.at.duration_since(begun), one.bytes, end.bytes);
    Ok(Measured { first, first_bytes, last_bytes, beats, own_cpu, all_cpu, peak, anonymous })
}

/// The program itself, with the sandbox.
fn program(
    root: &Path,
    binary: &Path,
    scratch: &Path,
    repo: &Path,
    url: &str,
) -> anyhow::Result<Command> {
    let settings = scratch.join("models.toml");
    let text =
        format!("[providers.anthropic]\nbase_url = \"{url}\"\nkey_env = []\nkey_needed = false\n");
    fs::write(&settings, text).context("writing the settings")?;
    let policy = scratch.join("solo.toml");
    fs::write(&policy, sample::solo(root, 0)?).context("writing the rules")?;
    let mut command = started(binary);
    command.arg("--home").arg(scratch.join("home"));
    command.args(["run", "Say how the tide is.", "--headless", "--json"]);
    command.args(["--model", "anthropic/claude-sonnet-4-5"]);
    command.arg("--repo").arg(repo).arg("--policy").arg(&policy);
    command.env("BOSUN_MODELS", &settings);
    Ok(command)
}

/// A small program around the same sessions, without a sandbox.
fn bare(binary: &Path, scratch: &Path, repo: &Path, url: &str) -> Command {
    let mut command = started(binary);
    command.arg(url).arg(repo).arg(scratch.join("home"));
    command
}

/// A program with `PATH` as its only variable.
fn started(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command
}

/// An ordinary small repository.
fn repository(scratch: &Path) -> anyhow::Result<PathBuf> {
    let repo = scratch.join("repo");
    fs::create_dir_all(repo.join("src")).context("making a repository")?;
    fs::write(repo.join("AGENTS.md"), "Keep functions short.\n")?;
    for number in 0..50 {
        fs::write(repo.join(format!("src/file{number}.txt")), "some text\n")?;
    }
    sample::commit(&repo)?;
    Ok(repo)
}

/// Milliseconds of processor time: of the process, and including all its descendants.
fn processor(child: &Child) -> anyhow::Result<(f64, f64)> {
    let to_millis = 1000.0 / TICKS_PER_SECOND;
    let known = fs::read_dir("/proc")?.flatten();
    let known: Vec<Ticks> = known.filter_map(|entry| Ticks::read(&entry)).collect();
    let own = known.iter().find(|one| one.id == child.id()).context("the process is gone")?;
    let (mut all, mut open) = (0.0, vec![own]);
    while let Some(one) = open.pop() {
        all += one.own + one.waited;
        open.extend(known.iter().filter(|other| other.parent == one.id));
    }
    Ok((own.own * to_millis, all * to_millis))
}

/// The ticks of a process, and of its reaped children.
struct Ticks {
    id: u32,
    parent: u32,
    own: f64,
    waited: f64,
}

impl Ticks {
    /// `None` for anything but a live process.
    fn read(entry: &fs::DirEntry) -> Option<Self> {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("stat")).ok()?;
        let fields: Vec<&str> = text.rsplit(") ").next()?.split(' ').collect();
        let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
        let (own, waited) = (ticks(11)? + ticks(12)?, ticks(13)? + ticks(14)?);
        Some(Self { id, parent: fields.get(1)?.parse().ok()?, own, waited })
    }
}

/// Megabytes: the total peak, and the current memory not backed by files.
fn memory(child: &Child) -> anyhow::Result<(f64, f64)> {
    let text = fs::read_to_string(format!("/proc/{}/status", child.id()))?;
    let read = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024.0 / 1_000_000.0)
    };
    let there = read("VmHWM:").zip(read("RssAnon:"));
    there.context("the process has no memory to read")
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_turn_is_between_two_requests() {
        let begun = Instant::now();
        let beat = |millis| Beat { at: begun + Duration::from_millis(millis), bytes: 1 };
        let beats = [beat(0), beat(2), beat(6), beat(16)];
        assert!((mean(&beats, 0..2) - 3.0).abs() < 1e-9);
        assert!((mean(&beats, 2..9) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn processor_and_memory_of_a_living_process_are_seen() {
        let mut child =
            Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        assert!(processor(&child).is_ok());
        assert!(memory(&child).unwrap().0 > 0.0);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
