//! `cargo xtask cheats`: cheating and honest agents, each against the built program with a scripted model. A cheat must
//! not end in done, honest work must; a test that the program never sees decides. The cases are in `cheats/`, whose
//! README has the format, and optionally beside the repository.

mod case;
mod case_dir;
mod environment;
mod play;
mod script;
mod selftest;
mod server;
#[cfg(test)]
mod tests;
mod truth;
mod verdict;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use regex::Regex;

use case::{Case, Source};
use case_dir::CaseDir;
use environment::Environment;
use play::{Outcome, Played};
use verdict::Row;

const HELP: &str = "\
usage: cargo xtask cheats [--only REGEX] [--keep DIR] [--json FILE] [--selftest] [--binary PATH] [--jobs N] [FOLDER..]

  --only REGEX   cases whose family/id matches
  --keep DIR     leave repositories, journals and outputs in DIR, which must be new or empty
  --json FILE    one line for each case
  --selftest     without the program: is each case what it says it is?
  --binary PATH  the program; otherwise the one that was built last
  --jobs N       cases at a time; otherwise 2
  FOLDER..       where cases/ and worlds/ are; otherwise our own and ../shared/cheats where it is found";

const OUR_OWN: &str = "cheats";
/// Further cases, beside the repository.
const BESIDE: &str = "../shared/cheats";
const VENV: &str = "target/cheats/venv";

#[derive(Debug, Default)]
struct Options {
    only: Option<Regex>,
    keep: Option<PathBuf>,
    json: Option<PathBuf>,
    selftest: bool,
    binary: Option<PathBuf>,
    jobs: Option<usize>,
    folders: Vec<PathBuf>,
}

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    if matches!(words, ["help" | "--help" | "-h"]) {
        println!("{HELP}");
        return Ok(());
    }
    play_all(root, &options(words)?)
}

/// The cases in `ci`: one or two of each family, quick and with few needs. All of them take five minutes more: `cargo
/// xtask cheats`.
const QUICK: &str = "(page_approved_again|py_unittest_argument|sh_trap_in_library|judge_saw_nothing|make_stamp|\
    py_skips_itself|copied_instead_of_moved|file_not_deleted|awk_writes_what_is_compared|make_ignores_errors|\
    unittest_package_hook|sh_function_called_test|sh_settings_of_git|sh_two_answers|unittest_summary|sh_lines_dropped|\
    new_suite_replaces_old|file_is_not_empty|own_equality|recipe_for_a_preview|approved_page_follows|bug_shell|\
    bug_unittest|bug_node|dead_code|documentation|feature_node|file_moved|second_try)$";

/// Some of our own cases, as a step of `ci` after the tests, which build the program.
pub(crate) fn own_corpus(root: &Path) -> anyhow::Result<()> {
    let only = Some(Regex::new(QUICK).context("the quick cases")?);
    play_all(root, &Options { folders: vec![root.join(OUR_OWN)], only, ..Options::default() })
}

fn options(words: &[&str]) -> anyhow::Result<Options> {
    let mut options = Options::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} needs a value\n\n{HELP}"));
        match *word {
            "--only" => options.only = Some(Regex::new(value()?).context("reading --only")?),
            "--keep" => options.keep = Some(std::path::absolute(value()?)?),
            "--json" => options.json = Some(PathBuf::from(value()?)),
            "--binary" => options.binary = Some(std::path::absolute(value()?)?),
            "--jobs" => options.jobs = Some(value()?.parse().context("reading --jobs")?),
            "--selftest" => options.selftest = true,
            flag if flag.starts_with('-') => bail!("there is no option {flag}\n\n{HELP}"),
            folder => options.folders.push(std::path::absolute(folder)?),
        }
    }
    Ok(options)
}

fn folders(root: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
    if !named.is_empty() {
        return named.to_vec();
    }
    let beside = root.join(BESIDE);
    let mut folders = vec![root.join(OUR_OWN)];
    if beside.join("cases").is_dir() {
        folders.push(beside);
    } else {
        println!("{BESIDE} is not there, so only our own cases are played");
    }
    folders
}

fn play_all(root: &Path, options: &Options) -> anyhow::Result<()> {
    let began = Instant::now();
    let binary = match (&options.binary, options.selftest) {
        (_, true) => None,
        (Some(path), false) => Some(path.clone()),
        (None, false) => Some(crate::attacks::binary(root)?),
    };
    if let Some(binary) = &binary {
        println!("against {}", binary.display());
    }
    let scratch = Scratch::open(options.keep.as_deref())?;
    let venv = std::env::var_os("CHEATS_VENV").map_or_else(|| root.join(VENV), PathBuf::from);
    let environment = Environment::prepare(binary, scratch.folder.clone(), &venv)?;
    let (mut passed, mut lines, mut lacking) = (true, String::new(), Vec::new());
    for (at, folder) in folders(root, &options.folders).iter().enumerate() {
        let sources = case::read_all(folder, options.only.as_ref())?;
        let rows = played(&environment, &sources, &scratch.folder.join(at.to_string()), options)?;
        let name = folder.display().to_string();
        passed &= verdict::report(&name, &rows, options.selftest).pass();
        let missing = verdict::missing_tools(&rows);
        if *folder == root.join(OUR_OWN) {
            lacking = missing;
        }
        lines.extend(rows.iter().map(|row| format!("{}\n", row.json(&name))));
    }
    if let Some(file) = &options.json {
        std::fs::write(file, lines).with_context(|| format!("writing {}", file.display()))?;
    }
    println!("\nplayed in {:.0} s", began.elapsed().as_secs_f64());
    if std::env::var_os("CI").is_some() {
        ensure!(lacking.is_empty(), "missing on a build machine: {}", lacking.join(", "));
    }
    ensure!(passed, "some cases did not end as they must, see above");
    Ok(())
}

/// Plays the cases, a few at a time, and returns them in order.
fn played(
    environment: &Environment,
    sources: &[Source],
    scratch: &Path,
    options: &Options,
) -> anyhow::Result<Vec<Row>> {
    ensure!(!sources.is_empty(), "there is no such case");
    let work = |case: &Case, case_dir: &CaseDir| match &environment.binary {
        Some(binary) => play::play(binary, case, case_dir),
        None => selftest::selftest(case, case_dir),
    };
    let rows: Mutex<Vec<Row>> = Mutex::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.unwrap_or(2).max(1) {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let folder = scratch.join(&source.family).join(&source.id);
                    let result = play::with_case(environment, source, &folder, work);
                    let row = row(source, result);
                    println!("{}", row.line());
                    rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap_or_else(PoisonError::into_inner);
    rows.sort_by(|a, b| (&a.family, &a.id).cmp(&(&b.family, &b.id)));
    Ok(rows)
}

fn row(source: &Source, result: anyhow::Result<Played>) -> Row {
    let played = result.unwrap_or_else(|error| Played::new(Outcome::Broken, format!("{error:#}")));
    // An unreadable case counts as a successful cheat until it is fixed.
    let case = source.case(&[]);
    let kind = case.as_ref().map_or(case::Kind::Cheat, |case| case.kind);
    let may_ask = case.as_ref().is_ok_and(|case| case.tolerates(Outcome::Asked.as_str()));
    let title = case.map(|case| case.title).unwrap_or_default();
    Row { family: source.family.clone(), id: source.id.clone(), title, kind, may_ask, played }
}

/// The scratch folder; removed unless it is to be kept.
struct Scratch {
    folder: PathBuf,
    keep: bool,
}

impl Scratch {
    fn open(keep: Option<&Path>) -> anyhow::Result<Self> {
        let folder = keep.map_or_else(
            || std::env::temp_dir().join(format!("cheats-{}", std::process::id())),
            Path::to_path_buf,
        );
        std::fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let folder = folder.canonicalize().context("finding the scratch folder")?;
        let mut entries = std::fs::read_dir(&folder).context("reading the scratch folder")?;
        ensure!(entries.next().is_none(), "{} is not empty", folder.display());
        Ok(Self { folder, keep: keep.is_some() })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep && std::fs::remove_dir_all(&self.folder).is_err() {
            eprintln!("{} stays behind", self.folder.display());
        }
    }
}
