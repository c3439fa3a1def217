//! A small real model as one agent: it answers a question about a file by reading it, and edits a file, in every dialect
//! that the server speaks. A small model fails at times, so each of it may be tried a few times; how often is said.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

use super::server::Server;

/// How often a model of this size may fail before it counts.
const TRIES: usize = 3;

/// Something to be done, and how it shows.
struct Deed {
    name: &'static str,
    goal: &'static str,
    /// The tool that must have been used, by the beginning of its name.
    tool: &'static str,
    held: fn(&Path, &str) -> bool,
}

const DEEDS: [Deed; 2] = [
    Deed {
        name: "answers from a file",
        goal: "Who is the harbour master? Call the tool read_file with the path notes.txt and answer with the name.",
        tool: "read_file",
        held: |_, words| words.contains("Quill"),
    },
    Deed {
        name: "edits a file",
        goal: "In the file tide.txt replace the word low by the word high. First call the tool read_file with the path \
               tide.txt, then call the tool edit_file with path tide.txt, old_string low and new_string high.",
        tool: "",
        held: |repo, _| {
            fs::read_to_string(repo.join("tide.txt"))
                .is_ok_and(|text| text == "The tide is high.\n")
        },
    },
];

pub(super) fn run(binary: &Path, scratch: &Path, server: &Server, key: &str) -> anyhow::Result<()> {
    let mut failed = vec![];
    for (dialect, path) in [("messages", ""), ("responses", "/v1"), ("chat", "/v1")] {
        let settings = scratch.join(format!("{dialect}.toml"));
        let text = format!(
            "[providers.live]\ndialect = \"{dialect}\"\nbase_url = \"{}{path}\"\nkey_env = [\"LIVE_KEY\"]\n\
             [models.\"live/local\"]\nwindow = 16384\nmax_output = 1024\n[deadlines]\nidle_ms = 600000\n",
            server.url
        );
        fs::write(&settings, text).context("writing the settings")?;
        for deed in &DEEDS {
            let holds = |number: &usize| match attempt(binary, scratch, &settings, key, deed) {
                Ok(()) => true,
                Err(error) => {
                    println!("{dialect:<10} {:<20} try {number}: {error:#}", deed.name);
                    false
                }
            };
            let tried = (1..=TRIES).find(holds);
            match tried {
                Some(number) => println!("{dialect:<10} {:<20} ok at try {number}", deed.name),
                None => failed.push(format!("{dialect}: {}", deed.name)),
            }
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("did not hold: {}", failed.join(", ")) }
}

fn attempt(
    binary: &Path,
    scratch: &Path,
    settings: &Path,
    key: &str,
    deed: &Deed,
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
    command.args(["run", deed.goal, "--preset", "solo", "--headless", "--json"]);
    command.args(["--model", "live/local", "--repo"]).arg(&repo);
    command.env("BOSUN_MODELS", settings).env("LIVE_KEY", key).current_dir(&repo);
    let output = command.stdin(Stdio::null()).output().context("running the program")?;
    let said = String::from_utf8_lossy(&output.stdout);
    fs::write(folder.join("log.jsonl"), said.as_bytes()).context("keeping the log")?;
    let lines: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let used = lines.iter().any(|line| {
        line["event"] == "tool.started"
            && line["data"]["tool"].as_str().is_some_and(|tool| tool.starts_with(deed.tool))
    });
    let words: Vec<&str> = lines.iter().filter_map(words).collect();
    if !used {
        bail!("it called nothing; it said {:?}", words.last().unwrap_or(&""));
    }
    if !(deed.held)(&repo, words.last().unwrap_or(&"")) {
        bail!("it said {:?}", words.last().unwrap_or(&""));
    }
    Ok(())
}

/// What the model said in a reply.
fn words(line: &Value) -> Option<&str> {
    let blocks = line["data"]["reply"]["blocks"].as_array()?;
    blocks.iter().rev().find_map(|block| block["body"]["text"].as_str())
}
