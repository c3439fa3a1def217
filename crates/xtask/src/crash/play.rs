//! Plays one point: the command until it crashes, recovery as a person would do it, perhaps with another crash in it,
//! and the checks. Also plays undisturbed commands.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::disk::{self, Change, Disk};
use super::judge::{self, Names, Promise};
use super::point::{DiskError, Fault, How, Kind, Point};
use super::stage::{Stage, remove};
use super::tracer::{OUTPUT, Traced, trace};

/// A person gives up after the same answer this many times.
const TRIES: usize = 5;

/// Which start of the machine this is, and the one that follows a power cut; both are equally long.
const BOOT: &str = "/proc/sys/kernel/random/boot_id";
const NEXT_BOOT: &str = "00000000-0000-4000-8000-000000000000";

/// An undisturbed command.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) traced: Traced,
    pub(super) names: Names,
    /// The disk before it.
    pub(super) disk: Disk,
}

/// The result of a point.
#[derive(Debug)]
pub(super) struct Played {
    /// The operation hit; `None` if the command had ended before.
    pub(super) hit: Option<String>,
    pub(super) wrong: Vec<String>,
}

/// Plays a command to its end and checks the result.
pub(super) fn whole(stage: &Stage, command: &str) -> anyhow::Result<Whole> {
    stage.reset(command)?;
    let disk = Disk::read(&stage.place())?;
    let traced = trace(&stage.order(&stage.first(command), None, true))?;
    let said = stage.last_error();
    ensure!(traced.exit == Some(0), "{command} alone ended with {:?}: {said}", traced.exit);
    let calls = [stage.calls_before(command), traced.calls.clone()].concat();
    let wrong = judge::judge(stage, command, Promise::Kill, &calls, None)?;
    ensure!(wrong.is_empty(), "{command} alone: {}", wrong.join("; "));
    ensure!(traced.left.is_empty(), "{command} alone left {}", traced.left.join(", "));
    Ok(Whole { traced, names: judge::names(stage)?, disk })
}

/// Plays one point.
pub(super) fn play(stage: &Stage, point: &Point, whole: &Whole) -> anyhow::Result<Played> {
    let command = point.command.as_str();
    let promise = match point.fault.how {
        How::Fails { .. } => Promise::DiskError,
        How::PowerCut { .. } => Promise::PowerCut,
        _ => Promise::Kill,
    };
    let mut calls = stage.calls_before(command);
    let (hit, made, mut wrong) = match point.fault.how {
        How::PowerCut { seed } => {
            let (hit, calls) = cut_power(stage, whole, point.fault.n, seed)?;
            (Some(hit), calls, vec![])
        }
        _ => {
            stage.reset(command)?;
            let first = trace(&stage.order(&stage.first(command), Some(point.fault), false))?;
            let wrong = troubles("the command", &first);
            (first.hit, first.calls, wrong)
        }
    };
    calls.extend(made);
    wrong.extend(recover(stage, point, &mut calls)?);
    // Files that could not be removed stay.
    let removal_failed = match point.fault.how {
        How::Fails { error: DiskError::Io, for_good: true } => true,
        How::Fails { .. } => point.fault.kind == Some(Kind::Unlink),
        _ => false,
    };
    let usual = (!removal_failed).then_some(&whole.names);
    wrong.extend(judge::judge(stage, command, promise, &calls, usual)?);
    Ok(Played { hit, wrong })
}

/// Writes the state after a power cut following this many changes; returns the calls made until then.
fn cut_power(
    stage: &Stage,
    whole: &Whole,
    n: usize,
    seed: u64,
) -> anyhow::Result<(String, Vec<String>)> {
    let changes = &whole.traced.changes;
    let done = changes.get(..n.min(changes.len())).unwrap_or_default();
    let mut left = disk::cut(&whole.disk, done, seed);
    // Printed output has been seen, regardless of the state of the disk.
    let mut real = whole.disk.clone();
    done.iter().for_each(|change| real.apply(change));
    left.replace(OUTPUT, real.bytes(OUTPUT));
    // The machine starts anew, and Bosun recognizes its starts.
    let start = std::fs::read_to_string(BOOT).with_context(|| format!("reading {BOOT}"))?;
    left.rewrite(start.trim().as_bytes(), NEXT_BOOT.as_bytes());
    remove(&stage.place())?;
    left.write(&stage.place())?;
    let calls = done.iter().filter_map(|change| match change {
        Change::Call(label) => Some(label.clone()),
        _ => None,
    });
    let last = done.last().map(Change::summary).unwrap_or_default();
    Ok((format!("power cut after {last}"), calls.collect()))
}

fn troubles(what: &str, traced: &Traced) -> Vec<String> {
    let hung = traced.hung.then(|| format!("{what} did not end"));
    let left = traced.left.iter().map(|words| format!("{what} left a process behind: {words}"));
    hung.into_iter().chain(left).collect()
}

/// Continues as a person would: resume, answer again while the question is open, accept again; start over if nothing is
/// recorded.
fn recover(stage: &Stage, point: &Point, calls: &mut Vec<String>) -> anyhow::Result<Vec<String>> {
    let command = point.command.as_str();
    let mut asked = false;
    let mut wrong = vec![];
    for time in 0..TRIES {
        let run = match stage.run_before(command) {
            Some(run) => Some(run.to_owned()),
            None => known_run(stage)?,
        };
        let words = match (command, run) {
            ("accept", _) | (_, None) => stage.first(command),
            ("answer", Some(_)) if asked => stage.first(command),
            (_, Some(run)) => ["resume", &run, "--json"].map(str::to_owned).to_vec(),
        };
        let again = point.again.filter(|_| time == 0);
        let fault = again.map(|n| Fault { kind: None, n, how: How::Before });
        let traced = trace(&stage.order(&words, fault, false))?;
        wrong.extend(troubles("the recovery", &traced));
        calls.extend(traced.calls);
        let said = stage.last_error();
        match traced.exit {
            Some(0) => return Ok(wrong),
            // The crash came after the last step; the checks show whether that is true.
            Some(2) if said.contains(" is over: ") || said.contains(" was accepted by ") => {
                return Ok(wrong);
            }
            // A restarted attempt asks again.
            Some(3) if command == "answer" => asked = true,
            _ if traced.hit.is_some() => {}
            // Failed, a question, a no-go: the acceptable results on a broken disk.
            Some(1 | 3 | 6) if matches!(point.fault.how, How::Fails { .. }) => return Ok(wrong),
            Some(2) if asked && said.contains(" is not an answer to this question") => {
                if !matches!(point.fault.how, How::Fails { .. }) {
                    wrong.push(format!("another question was asked: {said}"));
                }
                return Ok(wrong);
            }
            exit => {
                let exit = exit.map_or("a signal".to_owned(), |code| code.to_string());
                wrong.push(format!("`bosun {}` ended with {exit}: {said}", words.join(" ")));
                return Ok(wrong);
            }
        }
    }
    wrong.push("no recovery came to an end".to_owned());
    Ok(wrong)
}

/// The printed run, or else the listed one.
fn known_run(stage: &Stage) -> anyhow::Result<Option<String>> {
    if let Some(run) = stage.printed_run()? {
        return Ok(Some(run));
    }
    let listed = stage.play(&["list", "--json"].map(str::to_owned))?;
    let Some(first) = listed.out.lines().next() else { return Ok(None) };
    let first: Value = serde_json::from_str(first).context("the first line of the list")?;
    Ok(first["run"].as_str().map(str::to_owned))
}
