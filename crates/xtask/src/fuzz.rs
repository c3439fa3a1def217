//! Fuzzing with cargo-fuzz: prepares a corpus, runs targets for a while, and reports the number of inputs. The targets
//! are in `fuzz/`; cargo-fuzz itself has to be installed (`cargo install cargo-fuzz`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

const MINUTES: u64 = 10;

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let all = targets(root)?;
    let (names, minutes) = match words {
        [names @ .., "--minutes", minutes] => (names, minutes.parse().context("reading minutes")?),
        names => (names, MINUTES),
    };
    let wanted: Vec<&str> = match names {
        [] => {
            println!("{}", all.join("\n"));
            return Ok(());
        }
        ["all"] => all.iter().map(String::as_str).collect(),
        names => names.to_vec(),
    };
    let mut found = vec![];
    for name in wanted {
        if !all.iter().any(|target| target == name) {
            bail!("there is no fuzz target `{name}`; there are {}", all.join(", "));
        }
        seed(root, name)?;
        found.push(format!("{name:<12} {}", fuzz(root, name, minutes)?));
        println!("{}", found.last().map_or("", String::as_str));
    }
    println!("\n{}", found.join("\n"));
    Ok(())
}

/// The names of the targets, from their file names.
fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut names = vec![];
    for entry in std::fs::read_dir(&folder).context("listing the fuzz targets")? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Files of the repository in the language of a target: folder and extension.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("policy", "policies", "toml"),
    ("script", "scenarios", "toml"),
    ("models", "crates/llm", "toml"),
    ("front_matter", "docs", "md"),
    ("request", "docs", "md"),
    ("yaml", "docs", "md"),
    ("journal_line", "crates/bosun/tests/fixtures", "jsonl"),
    ("altered", "crates/evidence/src", "rs"),
    ("change", "crates/evidence/src", "rs"),
];

/// Seeds the corpus with examples from the repository: files, and the responses of recorded exchanges.
fn seed(root: &Path, name: &str) -> anyhow::Result<()> {
    let corpus = root.join("fuzz/corpus").join(name);
    std::fs::create_dir_all(&corpus).context("making the corpus")?;
    for (_, folder, ending) in EXAMPLES.iter().filter(|(target, ..)| *target == name) {
        let mut files = vec![];
        collect(&root.join(folder), ending, &mut files);
        for (number, file) in files.iter().enumerate() {
            std::fs::copy(file, corpus.join(format!("example-{number}")))?;
        }
    }
    let dialects: &[&str] = match name {
        "sse" => &["messages", "responses", "chat", "gemini", "ollama"],
        name => &[name],
    };
    let mut files = vec![];
    for dialect in dialects {
        collect(&root.join("crates/llm/recordings").join(dialect), "json", &mut files);
    }
    for (number, file) in files.iter().enumerate() {
        let recorded: Value = serde_json::from_slice(&std::fs::read(file)?).unwrap_or_default();
        if let Some(body) = recorded.pointer("/response/body").and_then(Value::as_str) {
            std::fs::write(corpus.join(format!("recorded-{number}")), body)?;
        }
    }
    Ok(())
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, ending, files);
        } else if path.extension().is_some_and(|kind| kind == ending) {
            files.push(path);
        }
    }
}

/// Runs one target and returns libFuzzer's final report.
fn fuzz(root: &Path, name: &str, minutes: u64) -> anyhow::Result<String> {
    let seconds = format!("-max_total_time={}", minutes * 60);
    let output = Command::new("cargo")
        .args(["fuzz", "run", name, "--", &seconds, "-rss_limit_mb=2048", "-timeout=10"])
        .args(["-print_final_stats=1", "-verbosity=0"])
        .current_dir(root)
        // The stable compiler supports the sanitizers; this lets cargo-fuzz use it.
        .env("RUSTC_BOOTSTRAP", "1")
        .stdout(Stdio::inherit())
        .output()
        .context("running cargo fuzz; is cargo-fuzz installed?")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{name}: a finding, or it could not run:\n{said}");
    }
    let number = |key: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(key));
        line.map_or("?", str::trim).to_owned()
    };
    Ok(format!(
        "{} executions in {minutes} min, peak {} MB, no finding",
        number("stat::number_of_executed_units:"),
        number("stat::peak_rss_mb:"),
    ))
}
