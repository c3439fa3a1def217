//! `cargo xtask attacks`: hostile inputs, one per line, against the real program, as root and as an ordinary user. Uses
//! only public commands: `bosun tool` and `bosun permit`. Every vector is held, fails, or is skipped for a printed
//! reason.

mod call;
mod check;
mod fixture;
mod rules;
mod sink;
mod watch;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::tree::target_folder;
use call::Observation;
use fixture::{Fixture, User};

/// The parts of a list about files, commands, their sandbox and their rules.
const AREAS: [&str; 17] = [
    "path",
    "links",
    "race",
    "patch-edit",
    "process",
    "environment",
    "output",
    "resources",
    "git",
    "network",
    "command-policy",
    "blocklist",
    "folder",
    "credentials",
    "trust",
    "kernel",
    "control",
];

/// A larger list beside the repository, if there is one.
const BESIDE: &str = "../shared/attacks/attacks.jsonl";
const OUR_OWN: &str = "crates/xtask/attacks.jsonl";

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let (file, wanted) = match words {
        [] => (None, None),
        [word] if Path::new(word).is_file() => (Some(PathBuf::from(word)), None),
        [wanted] => (None, Some(*wanted)),
        [file, wanted] => (Some(PathBuf::from(file)), Some(*wanted)),
        _ => bail!("usage: cargo xtask attacks [FILE] [PART-OF-AN-ID]"),
    };
    let mut vectors = vectors(&file.unwrap_or_else(|| list(root)))?;
    if let Some(wanted) = wanted {
        vectors.retain(|vector| vector["id"].as_str().is_some_and(|id| id.contains(wanted)));
        if vectors.is_empty() {
            bail!("no attack has {wanted:?} in its id");
        }
    }
    let binary = binary(root)?;
    let mut failed = 0;
    for user in User::all() {
        println!("as {}", user.as_str());
        failed += table(root, &binary, user, &vectors, wanted.is_some());
    }
    if failed == 0 { Ok(()) } else { bail!("{failed} attacks got through, or controls did not") }
}

fn list(root: &Path) -> PathBuf {
    let named = std::env::var_os("ATTACKS").map(PathBuf::from);
    let beside = Some(root.join(BESIDE)).filter(|file| file.is_file());
    named.or(beside).unwrap_or_else(|| root.join(OUR_OWN))
}

fn vectors(file: &Path) -> anyhow::Result<Vec<Value>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .enumerate()
        .map(|(at, line)| serde_json::from_str(line).with_context(|| format!("vector {}", at + 1)))
        .collect()
}

/// The most recently built program.
pub(crate) fn binary(root: &Path) -> anyhow::Result<PathBuf> {
    let target = target_folder(root);
    let built = ["debug/bosun", "release/bosun"].map(|name| target.join(name));
    let age = |path: &PathBuf| path.metadata().and_then(|found| found.modified()).ok();
    let newest = built.into_iter().filter(|path| path.is_file()).max_by_key(age);
    newest.context("the program is not built; run `cargo build -p bosun`")
}

/// The result of one vector.
enum Verdict {
    Held,
    Skipped(String),
    Failed(String),
}

fn table(root: &Path, binary: &Path, user: User, vectors: &[Value], each: bool) -> u32 {
    let mut counts: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for vector in vectors {
        let word = |name: &str| vector[name].as_str().unwrap_or_default();
        let (id, area) = (word("id"), word("area"));
        if !AREAS.contains(&area) {
            continue;
        }
        let verdict = match Fixture::prepare(root, binary, user, vector) {
            Ok(fixture) => attack(&fixture, vector),
            Err(error) => Verdict::Failed(format!("it could not be set up: {error:#}")),
        };
        let (column, said) = match verdict {
            Verdict::Held => (0, String::new()),
            Verdict::Skipped(why) => (1, format!("skipped: {why}")),
            Verdict::Failed(what) => (2, format!("FAILED: {what}")),
        };
        counts.entry(area).or_default()[column] += 1;
        if column > 0 || each {
            let said = if said.is_empty() { "held" } else { &said };
            println!("  {id} {}: {said}", word("title"));
        }
    }
    println!("  {:<16}{:>6}{:>9}{:>8}", "area", "held", "skipped", "failed");
    for area in AREAS {
        if let Some([held, skipped, failed]) = counts.get(area) {
            println!("  {area:<16}{held:>6}{skipped:>9}{failed:>8}");
        }
    }
    let sum = |column: usize| counts.values().map(|row| row[column]).sum::<u32>();
    println!("  {:<16}{:>6}{:>9}{:>8}", "all", sum(0), sum(1), sum(2));
    sum(2)
}

/// Prepares, attacks, checks and cleans up.
fn attack(fixture: &Fixture, vector: &Value) -> Verdict {
    if let Some(why) = unsupported(fixture, vector) {
        return Verdict::Skipped(why.to_owned());
    }
    let setup = vector["setup"].as_str().unwrap_or("true");
    if !fixture.shell(setup) {
        return Verdict::Failed("the setup did not work".to_owned());
    }
    let verdict = match call::attack(fixture, vector) {
        Err(error) => Verdict::Failed(format!("{error:#}")),
        Ok(observed) => judge(fixture, vector, &observed),
    };
    if let Some(teardown) = vector["teardown"].as_str() {
        fixture.shell(teardown);
    }
    verdict
}

fn judge(fixture: &Fixture, vector: &Value, observed: &Observation) -> Verdict {
    let checks = vector["expected"]["checks"].as_array().into_iter().flatten();
    for one in checks {
        match check::broken(fixture, observed, one) {
            Ok(None) => {}
            Ok(Some(what)) => {
                let output: String = observed.output.chars().take(300).collect();
                return Verdict::Failed(format!("{what}; {:?} said {output:?}", observed.outcomes));
            }
            Err(unknown) => return Verdict::Skipped(unknown),
        }
    }
    Verdict::Held
}

fn unsupported(fixture: &Fixture, vector: &Value) -> Option<&'static str> {
    if vector["danger"].as_str().is_some_and(|danger| danger.contains("tmpfs")) && !fixture.mounted
    {
        return Some("needs a small file system of its own, and none can be mounted here");
    }
    let action = &vector["action"];
    let op = action["params"]["op"].as_str();
    match action["tool"].as_str() {
        Some("session") if op == Some("open_and_prompt") => {
            Some("needs a model that is asked, and none is here")
        }
        Some("policy") if op == Some("load") || action["params"]["rules"].is_array() => {
            Some("speaks of rules in another form than ours")
        }
        _ => None,
    }
}
