//! The selection of points, the threads, and the final table.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

use super::child;
use super::play::{self, Played, Whole};
use super::point::{Dice, DiskError, Fault, How, Kind, Point};
use super::stage::{COMMANDS, Stage, remove};

const HELP: &str = "\
usage: cargo xtask crash [--points N] [--seed N] [--only REGEX] [--jobs N] [--binary PATH] [--keep DIR]
       cargo xtask crash --point run:write:123:after

  --points N     so many points, shared out among commands and sorts of crashes; otherwise all there are
  --seed N       which ones, and where recoveries are killed again; otherwise 1
  --only REGEX   points whose word matches
  --point POINT  this one alone, as the report names it; may be given several times
  --jobs N       points at a time; otherwise 3
  --binary PATH  the program; otherwise the one that was built last
  --keep DIR     keep what a violation left, in a folder below DIR for each";

/// The points in `ci`: as many of every kind as fit into two minutes on two cores.
const CI_POINTS: usize = 160;
const CI_SEED: u64 = 15;

#[derive(Debug)]
struct Options {
    points: Option<usize>,
    seed: u64,
    only: Option<regex::Regex>,
    named: Vec<Point>,
    jobs: usize,
    binary: Option<PathBuf>,
    keep: Option<PathBuf>,
    /// A violation counts only if the point reproduces it.
    confirmed: bool,
}

impl Default for Options {
    fn default() -> Self {
        let (points, only, binary, keep) = (None, None, None, None);
        Self { points, seed: 1, only, named: vec![], jobs: 3, binary, keep, confirmed: false }
    }
}

/// The `crash` command.
pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    match words {
        ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            Ok(())
        }
        ["--traced", words @ ..] => child::become_traced(words),
        words => series(root, &options(words)?),
    }
}

/// The step of `ci`: a fixed sample.
pub(crate) fn ci(root: &Path) -> anyhow::Result<()> {
    let points = Some(CI_POINTS);
    let options = Options { points, seed: CI_SEED, confirmed: true, ..Options::default() };
    series(root, &options)
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n\n{HELP}"));
        match *word {
            "--points" => options.points = Some(value()?.parse().context("reading --points")?),
            "--seed" => options.seed = value()?.parse().context("reading --seed")?,
            "--only" => options.only = Some(value()?.parse().context("reading --only")?),
            "--point" => options.named.push(value()?.parse().context("reading --point")?),
            "--jobs" => options.jobs = value()?.parse().context("reading --jobs")?,
            "--binary" => options.binary = Some(std::path::absolute(value()?)?),
            "--keep" => options.keep = Some(std::path::absolute(value()?)?),
            other => bail!("there is no option {other}\n\n{HELP}"),
        }
    }
    Ok(options)
}

/// The stage of one thread, and its undisturbed commands.
#[derive(Debug)]
struct Worker {
    stage: Stage,
    wholes: BTreeMap<&'static str, Whole>,
}

impl Worker {
    fn new(root: &Path, binary: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        let mut stage = Stage::new(root, binary, folder)?;
        let mut wholes = BTreeMap::new();
        for command in COMMANDS {
            let whole = play::whole(&stage, command)?;
            if command == "run" {
                stage.continue_with("accept", whole.traced.calls.clone())?;
            }
            wholes.insert(command, whole);
        }
        Ok(Self { stage, wholes })
    }

    fn play(&self, point: &Point) -> anyhow::Result<Played> {
        let whole = self.wholes.get(point.command.as_str());
        let whole = whole.with_context(|| format!("there is no command {}", point.command))?;
        play::play(&self.stage, point, whole)
    }
}

fn series(root: &Path, options: &Options) -> anyhow::Result<()> {
    // `ci` has had other children before.
    let (began, busy_before) = (Instant::now(), processor_seconds()?);
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => crate::attacks::binary(root)?,
    };
    println!("against {}", binary.display());
    let scratch = root.join("target/crash").join(std::process::id().to_string());
    remove(&scratch)?;
    let tried = try_all(root, &binary, &scratch, options);
    remove(&scratch)?;
    let rows = tried?;
    let violations = report(&rows);
    let (seconds, busy) = (began.elapsed().as_secs_f64(), processor_seconds()? - busy_before);
    println!("tried in {seconds:.0} s with {busy:.0} s of processor time");
    ensure!(violations == 0, "{violations} of {} points violate what is promised", rows.len());
    Ok(())
}

/// The processor time of this program and its children.
fn processor_seconds() -> anyhow::Result<f64> {
    let mut sum = Duration::ZERO;
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        let usage = getrusage(who).context("asking for the processor time")?;
        for time in [usage.user_time(), usage.system_time()] {
            sum += Duration::from_micros(u64::try_from(time.num_microseconds())?);
        }
    }
    Ok(sum.as_secs_f64())
}

type Row = (Point, anyhow::Result<Played>);

fn try_all(
    root: &Path,
    binary: &Path,
    scratch: &Path,
    options: &Options,
) -> anyhow::Result<Vec<Row>> {
    let first = Worker::new(root, binary, scratch.join("0"))?;
    for (command, whole) in &first.wholes {
        println!("{command}: {} operations on files", whole.traced.total());
    }
    let points =
        if options.named.is_empty() { chosen(&first, options) } else { options.named.clone() };
    println!("{} points", points.len());
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<Row>> = Mutex::default();
    let work = |worker: &Worker| {
        while let Some(point) = points.get(next.fetch_add(1, Ordering::SeqCst)) {
            let mut played = worker.play(point);
            tell(point, &played);
            // Processes run concurrently: the same number may be another operation, and a busy machine be late.
            for _ in 0..if options.confirmed { 2 } else { 0 } {
                if is_kept(&played) {
                    break;
                }
                played = worker.play(point);
                tell(point, &played);
            }
            keep(worker, point, &played, options.keep.as_deref());
            let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
            rows.push((point.clone(), played));
            if rows.len().is_multiple_of(100) {
                println!("{} points tried", rows.len());
            }
        }
    };
    let more = options.jobs.min(points.len()).max(1) - 1;
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..=more)
            .map(|number| {
                let folder = scratch.join(number.to_string());
                scope.spawn(move || -> anyhow::Result<()> {
                    work(&Worker::new(root, binary, folder)?);
                    Ok(())
                })
            })
            .collect();
        work(&first);
        others.into_iter().try_for_each(|other| match other.join() {
            Ok(done) => done,
            Err(_) => bail!("a thread panicked"),
        })
    })?;
    Ok(rows.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// All matching points, or the requested number: one of each command and kind in turn.
fn chosen(worker: &Worker, options: &Options) -> Vec<Point> {
    let mut dice = Dice::new(options.seed);
    let mut sorts: BTreeMap<(&str, &str, usize), Vec<Point>> = BTreeMap::new();
    for (command, whole) in &worker.wholes {
        for point in all(command, whole, &mut dice) {
            if options.only.as_ref().is_none_or(|only| only.is_match(&point.to_string())) {
                // A whole run takes longest, so the other commands get two turns.
                let turn = if *command == "run" { 0 } else { point.fault.n % 2 };
                sorts.entry((point.group(), command, turn)).or_default().push(point);
            }
        }
    }
    let Some(wanted) = options.points else { return sorts.into_values().flatten().collect() };
    let mut sorts: VecDeque<Vec<Point>> = sorts.into_values().collect();
    let mut points = vec![];
    while let Some(mut sort) = sorts.pop_front().filter(|_| points.len() < wanted) {
        points.push(sort.swap_remove(dice.below(sort.len())));
        if !sort.is_empty() {
            sorts.push_back(sort);
        }
    }
    points
}

fn all(command: &str, whole: &Whole, dice: &mut Dice) -> Vec<Point> {
    let mut points = vec![];
    let mut add = |kind: Option<Kind>, n: usize, how: How, again: Option<usize>| {
        let (command, fault) = (command.to_owned(), Fault { kind, n, how });
        points.push(Point { command, fault, again });
    };
    for (kind, count) in &whole.traced.counts {
        for n in 1..=*count {
            add(Some(*kind), n, How::Before, None);
            add(Some(*kind), n, How::After, None);
            add(Some(*kind), n, How::After, Some(1 + dice.below(whole.traced.total())));
            if *kind == Kind::Write {
                add(Some(*kind), n, How::Torn, None);
            }
            for for_good in [false, true] {
                add(Some(*kind), n, How::Fails { error: DiskError::Io, for_good }, None);
                if kind.needs_space() {
                    add(Some(*kind), n, How::Fails { error: DiskError::Full, for_good }, None);
                }
            }
        }
    }
    for n in 1..=whole.traced.changes.len() {
        // Each fourth loses all that it may, each fourth keeps the names; the others are random.
        let seed = u64::try_from(4 * dice.below(1000) + n % 4).unwrap_or(0);
        add(None, n, How::PowerCut { seed }, None);
    }
    points
}

fn tell(point: &Point, played: &anyhow::Result<Played>) {
    match played {
        Ok(Played { wrong, .. }) if wrong.is_empty() => {}
        Ok(Played { hit, wrong }) => {
            let hit = hit.as_deref().unwrap_or("not reached");
            println!("VIOLATION {point} ({hit}): {}", wrong.join("; "));
        }
        Err(error) => println!("VIOLATION {point}: {error:#}"),
    }
}

/// Whether all guarantees held.
fn is_kept(played: &anyhow::Result<Played>) -> bool {
    played.as_ref().is_ok_and(|played| played.wrong.is_empty())
}

fn keep(worker: &Worker, point: &Point, played: &anyhow::Result<Played>, to: Option<&Path>) {
    if let Some(folder) = to.filter(|_| !is_kept(played)) {
        let to = folder.join(point.to_string().replace(':', "-"));
        std::fs::create_dir_all(folder).ok();
        if std::fs::rename(worker.stage.place(), &to).is_err() {
            println!("{} could not be kept", to.display());
        }
    }
}

/// A row for each kind of crash, a column for each command; returns the number of violating points.
fn report(rows: &[Row]) -> usize {
    let (mut cells, mut violations, mut missed) = (BTreeMap::new(), vec![], 0);
    for (point, played) in rows {
        let bad = !played.as_ref().is_ok_and(|played| played.wrong.is_empty());
        if !bad && played.as_ref().is_ok_and(|played| played.hit.is_none()) {
            missed += 1;
            continue;
        }
        let cell: &mut (usize, usize) =
            cells.entry((point.group(), point.command.as_str())).or_default();
        cell.0 += 1;
        cell.1 += usize::from(bad);
        violations.extend(bad.then_some(point));
    }
    print!("\n{:<20}", "points (violations)");
    COMMANDS.iter().for_each(|command| print!("{command:>14}"));
    println!();
    let groups: std::collections::BTreeSet<&str> = cells.keys().map(|(group, _)| *group).collect();
    for group in groups {
        print!("{group:<20}");
        for command in COMMANDS {
            let (tried, bad) = cells.get(&(group, command)).copied().unwrap_or_default();
            print!("{:>14}", format!("{tried} ({bad})"));
        }
        println!();
    }
    println!("{} points were reached, {missed} were not", rows.len() - missed);
    for point in &violations {
        println!("reproduce: cargo xtask crash --point {point}");
    }
    violations.len()
}
