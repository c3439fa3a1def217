//! Hostile inputs, one a line, against the tools in a confined workspace. Each runs in a process of its own, with
//! the environment that it asks for. Where the file is comes from ATTACKS; without one there is nothing to do.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test program without a harness, which plays both the attacker and the world around"
)]

mod check;
mod ground;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use sandbox::Twin;
use serde_json::Value;

use ground::Ground;

/// The parts of the list that are about files, commands and their sandbox.
const AREAS: [&str; 11] = [
    "path",
    "links",
    "race",
    "patch-edit",
    "process",
    "environment",
    "output",
    "resources",
    "network",
    "git",
    "control",
];

fn main() -> ExitCode {
    let twin = Twin::enter();
    let said = |word: &str| std::env::args().any(|said| said == word);
    if said("--list") {
        // Test runners ask for the list first, and then for what is ignored, which is nothing.
        if !said("--ignored") {
            println!("attacks: test");
        }
        return ExitCode::SUCCESS;
    }
    let Some(vectors) = vectors() else {
        println!("no list of attacks; set ATTACKS to one");
        return ExitCode::SUCCESS;
    };
    let wanted = std::env::args().nth(1).filter(|word| !word.starts_with('-') && word != "attacks");
    match std::env::var("ATTACK_ONE") {
        Ok(id) => {
            let vector =
                vectors.iter().find(|vector| vector["id"] == id.as_str()).expect("a vector");
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let verdict = runtime.block_on(Ground::new(twin, vector).run(vector));
            println!("{verdict}");
            runtime.shutdown_background();
            ExitCode::SUCCESS
        }
        Err(_) => all(&vectors, wanted.as_deref()),
    }
}

fn vectors() -> Option<Vec<Value>> {
    let file = PathBuf::from(std::env::var_os("ATTACKS")?);
    let text = std::fs::read_to_string(file).expect("the list of attacks");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a vector")).collect())
}

/// Runs every vector in a process of its own and prints a table by area.
fn all(vectors: &[Value], wanted: Option<&str>) -> ExitCode {
    let mut table: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for vector in vectors {
        let (area, id) = (
            vector["area"].as_str().unwrap_or_default(),
            vector["id"].as_str().unwrap_or_default(),
        );
        if !AREAS.contains(&area) || wanted.is_some_and(|wanted| !id.contains(wanted)) {
            continue;
        }
        let verdict = match ground::unsupported(vector) {
            Some(why) => format!("skipped: {why}"),
            None => in_own_process(vector, id),
        };
        let column = match verdict.split(':').next() {
            Some("held") => 0,
            Some("skipped") => 1,
            _ => 2,
        };
        table.entry(area).or_default()[column] += 1;
        if column > 0 || wanted.is_some() {
            println!("{id} {}: {verdict}", vector["title"].as_str().unwrap_or_default());
        }
    }
    let mut failed = 0;
    println!("{:<14}{:>6}{:>9}{:>8}", "area", "held", "skipped", "failed");
    for (area, [held, skipped, wrong]) in table {
        println!("{area:<14}{held:>6}{skipped:>9}{wrong:>8}");
        failed += wrong;
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn in_own_process(vector: &Value, id: &str) -> String {
    let mut command = Command::new("/proc/self/exe");
    command.env("ATTACK_ONE", id).stdin(Stdio::null()).stderr(Stdio::null());
    for (name, value) in vector["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap_or_default());
    }
    let output = command.output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().last().map_or_else(|| format!("failed: it died, {}", output.status), str::to_owned)
}
