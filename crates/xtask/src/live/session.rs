//! A small real model as a single agent: it answers a question about a file by reading it, and edits a file, in every
//! dialect of the server. A small model fails at times, so each task has a few tries; the number is reported.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::server::{KEY, Server};
use crate::sample;

/// How often a model of this size may fail.
const TRIES: usize = 3;

/// A task for the model, and its evidence.
struct Trial {
    name: &'static str,
    goal: &'static str,
    /// The tool that must have been used.
    tool: &'static str,
    held: fn(&[Value]) -> bool,
}

/// The hash of a file in which the tide is high. A small model may later revert its own edit, so it suffices that some
/// call left the file like that.
const HIGH: &str = "ab99a919457d47db2029336a353b7993f8286888abb796d7b9b68f1c24d39d8b";
/// Maximum number of rounds of calls for a task.
const ROUNDS: i64 = 8;
/// Time limit for a task in seconds: a small model may talk indefinitely.
const TIME: &str = "300";

const TRIALS: [Trial; 2] = [
    Trial {
        name: "answers from a file",
        goal: "Who is the harbour master? Call the tool read_file with the path notes.txt and answer with the name.",
        tool: "read_file",
        held: |lines| {
            lines.iter().filter_map(words).next_back().is_some_and(|text| text.contains("Quill"))
        },
    },
    Trial {
        name: "edits a file",
        goal: "In the file tide.txt replace the word low by the word high. First call the tool read_file with the path \
               tide.txt, then call the tool edit_file with path tide.txt, old_string low and new_string high. Then say done.",
        tool: "edit_file",
        held: |lines| {
            let left = lines.iter().filter_map(|line| line["data"]["files"][0]["digest"].as_str());
            left.into_iter().any(|digest| digest == HIGH)
        },
    },
];

pub(super) fn run(
    root: &Path,
    binary: &Path,
    scratch: &Path,
    server: &Server,
) -> anyhow::Result<()> {
    let mut failed = vec![];
    let rules = scratch.join("solo.toml");
    fs::write(&rules, sample::solo(root, ROUNDS)?).context("writing the rules")?;
    for (dialect, path) in [("chat", "/v1"), ("messages", ""), ("responses", "/v1")] {
        let settings = server.settings(scratch, dialect, path)?;
        for trial in &TRIALS {
            let holds = |number: &usize| match attempt(binary, scratch, &settings, &rules, trial) {
                Ok(()) => true,
                Err(error) => {
                    println!("{dialect:<10} {:<20} try {number}: {error:#}", trial.name);
                    false
                }
            };
            let tried = (1..=TRIES).find(holds);
            match tried {
                Some(number) => println!("{dialect:<10} {:<20} ok at try {number}", trial.name),
                None => failed.push(format!("{dialect}: {}", trial.name)),
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("did not hold: {}", failed.join(", ")) }
}

fn attempt(
    binary: &Path,
    scratch: &Path,
    settings: &Path,
    rules: &Path,
    trial: &Trial,
) -> anyhow::Result<()> {
    let folder = scratch.join("session");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("clearing the folder")?;
    }
    let repo = folder.join("repo");
    fs::create_dir_all(&repo).context("making a folder")?;
    fs::write(repo.join("notes.txt"), "The harbour master is Ada Quill.\n")?;
    fs::write(repo.join("tide.txt"), "The tide is low.\n")?;
    let mut command = Command::new(binary);
    command.arg("--home").arg(folder.join("home"));
    command.args(["run", trial.goal, "--headless", "--json", "--policy"]).arg(rules);
    command.args(["--time", TIME, "--model", "live/local", "--repo"]).arg(&repo);
    command.env("BOSUN_MODELS", settings).env("LIVE_KEY", KEY).current_dir(&repo);
    let output = command.stdin(Stdio::null()).output().context("running the program")?;
    let said = String::from_utf8_lossy(&output.stdout);
    fs::write(folder.join("log.jsonl"), said.as_bytes()).context("keeping the log")?;
    let lines: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if lines.is_empty() {
        bail!("it did not start: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let used = lines
        .iter()
        .any(|line| line["event"] == "tool.started" && line["data"]["tool"] == trial.tool);
    let last = lines.iter().filter_map(words).next_back().unwrap_or_default();
    let fault = lines.iter().filter_map(|line| line["data"]["fault"]["what"].as_str()).next_back();
    if let Some(fault) = fault {
        bail!("it was stopped: {fault}");
    }
    if !used {
        bail!("it did not call {}; it said {last:?}", trial.tool);
    }
    if !(trial.held)(&lines) {
        bail!("it said {last:?}");
    }
    Ok(())
}

/// The text of a model's reply.
fn words(line: &Value) -> Option<&str> {
    let blocks = line["data"]["reply"]["blocks"].as_array()?;
    blocks.iter().rev().find_map(|block| block["body"]["text"].as_str())
}
