//! A small real model as a crew: a goal of one task goes through all stages unattended, planned by the model or with a
//! given plan. A model of this size may fail; the run has to report it. It must end in time, be done only if the check
//! passes on its branch, and otherwise leave a report with a reason, or a question.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, bail};

use super::server::{KEY, Server};
use crate::sample;

/// Time limit for a run in seconds, on a machine without a graphics card.
const PATIENCE: &str = "1800";
const GOAL: &str = "Change the file tide.txt so that it says: The tide is high.";
/// The check that Bosun finds in the repository, and that only the change makes pass.
const CHECK: &str = "#!/bin/sh\ngrep -q 'The tide is high' tide.txt\n";
const PLAN: &str = r#"{ "tasks": [{ "id": "T1", "title": "Turn the tide",
  "description": "In tide.txt replace the word low by the word high. First call read_file with the path tide.txt, then call edit_file with path tide.txt, old_string low and new_string high. Then call submit_result.",
  "acceptance": ["tide.txt says: The tide is high."], "artifacts": ["tide.txt"] }] }
"#;

pub(super) fn run(binary: &Path, scratch: &Path, server: &Server) -> anyhow::Result<()> {
    let settings = server.settings(scratch, "chat", "/v1")?;
    let mut failed = vec![];
    for planned in [false, true] {
        let name = if planned { "with a plan that is given" } else { "planned by the model" };
        println!("\n== a run {name}\n");
        if let Err(error) = one(binary, scratch, &settings, planned) {
            println!("did not hold: {error:#}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { bail!("did not hold: {}", failed.join(", ")) }
}

fn one(binary: &Path, scratch: &Path, settings: &Path, planned: bool) -> anyhow::Result<()> {
    let folder = scratch.join("line");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("clearing the folder")?;
    }
    let repo = repository(&folder)?;
    let bosun = |words: &[&str]| {
        let mut command = Command::new(binary);
        command.arg("--home").arg(folder.join("home")).args(words).current_dir(&repo);
        command.env("BOSUN_MODELS", settings).env("LIVE_KEY", KEY).stdin(Stdio::null());
        command
    };
    let mut run = bosun(&["run", GOAL, "--model", "live/local", "--time", PATIENCE]);
    if planned {
        let plan = folder.join("plan.json");
        fs::write(&plan, PLAN).context("writing the plan")?;
        run.arg("--plan").arg(plan);
    }
    let status = run.status().context("running the program")?;
    let asked = said(&bosun(&["questions"]).output().context("asking for questions")?);
    println!("\nexit {:?}; questions: {}", status.code(), asked.trim());
    let held = holds(&repo)?;
    match status.code() {
        Some(0) if held => Ok(()),
        Some(0) => bail!("it says done, and the check does not hold on its branch"),
        Some(3) if asked.contains("bosun answer") => Ok(()),
        Some(3) => bail!("it waits, and nobody is asked"),
        Some(1 | 4 | 6) => Ok(()),
        other => bail!("it ended with {other:?}"),
    }
}

/// Whether the check would pass on the run's branch.
fn holds(repo: &Path) -> anyhow::Result<bool> {
    let git = |words: &[&str]| Command::new("git").args(words).current_dir(repo).output();
    let branches = said(&git(&["branch", "--list", "bosun/*", "--format=%(refname:short)"])?);
    let Some(branch) = branches.lines().next() else { return Ok(false) };
    Ok(said(&git(&["show", &format!("{branch}:tide.txt")])?).contains("The tide is high"))
}

fn repository(folder: &Path) -> anyhow::Result<PathBuf> {
    let repo = folder.join("repo");
    fs::create_dir_all(&repo).context("making a folder")?;
    fs::write(repo.join("tide.txt"), "The tide is low.\n")?;
    fs::write(repo.join("test.sh"), CHECK)?;
    sample::commit(&repo)?;
    Ok(repo)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
