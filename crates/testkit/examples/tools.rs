//! Benchmark of tools against common programs in the same run: `grep` against `rg`, `glob` against `fd` and `find`, a
//! command with and without its sandbox against plain bash, a gigabyte of output, one line of ten megabytes.
//! Comparisons alternate and the best of each counts; if the results differ, no figure is printed.
#![expect(clippy::print_stdout, reason = "a program that measures others and prints what it found")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use runtime::sandbox::{
    Bounds, Confine, Environment, GlobRequest, GrepRequest, HelperExe, LocalEnvironment,
};
use tokio_util::sync::CancellationToken;
use types::{ExecRequest, Keep, Millis, ToolPolicy, WorkPath};

const FILES: usize = 50_000;
const ROUNDS: usize = 9;

fn main() -> anyhow::Result<()> {
    let helper_exe = HelperExe::enter();
    let runtime = tokio::runtime::Runtime::new().context("starting the runtime")?;
    runtime.block_on(measure(helper_exe))
}

async fn measure(helper_exe: HelperExe) -> anyhow::Result<()> {
    let mut missed = Vec::new();
    let folder = tempfile::tempdir().context("making a folder")?;
    plant(folder.path()).context("planting a tree")?;
    let env = LocalEnvironment::open(folder.path())?;
    println!("{FILES} files, best of {ROUNDS} in turns");
    for (name, pattern, ignore_case) in [
        ("rare", "needle_[0-9]+", false),
        ("common", "return", false),
        ("any case", "NEEDLE", true),
    ] {
        grep(&env, folder.path(), name, pattern, ignore_case, &mut missed).await?;
    }
    glob(&env, folder.path()).await?;
    drop(folder);
    commands(helper_exe, &mut missed).await?;
    one_line(&mut missed);
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join(", ")) }
}

/// A tree like that of a large project: many folders, some ignored, most files small.
fn plant(root: &Path) -> anyhow::Result<()> {
    std::fs::write(root.join(".gitignore"), "target/\n*.log\n")?;
    let endings = ["rs", "ts", "py", "md", "log"];
    for n in 0..FILES {
        let folder = root.join(format!("part{:02}/{}/mod{}", n % 40, n % 7, n % 3));
        std::fs::create_dir_all(&folder)?;
        let mut text = String::with_capacity(2_500);
        for line in 0..(20 + n % 40) {
            text.push_str(&format!("    let value_{line} = compute({n}, {line}) + other;\n"));
        }
        if n % 500 == 0 {
            text.push_str(&format!("// needle_{n}\n"));
        }
        if n % 3 == 0 {
            text.push_str("    return value_1;\n");
        }
        std::fs::write(folder.join(format!("file{n}.{}", endings[n % endings.len()])), text)?;
    }
    Ok(())
}

async fn grep(
    env: &LocalEnvironment,
    root: &Path,
    name: &str,
    pattern: &str,
    ignore_case: bool,
    missed: &mut Vec<String>,
) -> anyhow::Result<()> {
    let request = GrepRequest {
        pattern: pattern.to_owned(),
        path: WorkPath::root(),
        include: None,
        ignore_case,
        context: 0,
        max: 1_000_000,
    };
    let Some(rg) = found(&["rg"]) else {
        println!(
            "grep {name}: rg is not installed (Debian: ripgrep), so there is nothing to compare with"
        );
        return Ok(());
    };
    let mut theirs = ripgrep(&rg, pattern, ignore_case, root);
    let (mut ours_best, mut theirs_best) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let answer = env.grep(request.clone(), &CancellationToken::new()).await?;
        ours_best = ours_best.min(began.elapsed());
        let began = Instant::now();
        let output = theirs.output().context("running rg")?;
        theirs_best = theirs_best.min(began.elapsed());
        let ours: BTreeSet<String> = answer
            .items
            .iter()
            .flat_map(|hits| {
                hits.lines
                    .iter()
                    .map(move |line| format!("{}:{}:{}", hits.path, line.number, line.text))
            })
            .collect();
        let theirs: BTreeSet<String> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| line.trim_start_matches("./").to_owned())
            .collect();
        ensure!(!answer.more && ours == theirs, "grep {name}: the answers differ");
    }
    let ratio = ours_best.as_secs_f64() / theirs_best.as_secs_f64();
    figure(
        &format!("grep {name}: ours {ours_best:.1?}, rg {theirs_best:.1?}"),
        ratio,
        "x",
        1.2,
        missed,
    );
    Ok(())
}

/// The same query for rg.
fn ripgrep(rg: &str, pattern: &str, ignore_case: bool, root: &Path) -> Command {
    let mut command = Command::new(rg);
    command.args(["--line-number", "--no-heading", "--hidden", "--no-require-git", "--no-config"]);
    let case = if ignore_case { "--ignore-case" } else { "--case-sensitive" };
    command.args(["--glob", "!.git", case, "--", pattern, "."]).current_dir(root);
    command
}

async fn glob(env: &LocalEnvironment, root: &Path) -> anyhow::Result<()> {
    let request =
        GlobRequest { pattern: "**/*.rs".to_owned(), path: WorkPath::root(), max: 1_000_000 };
    let fd = found(&["fd", "fdfind"]);
    let mut others: Vec<(&str, Command)> = Vec::new();
    let mut find = Command::new("find");
    find.args([".", "-name", "*.rs", "-type", "f"]).current_dir(root);
    others.push(("find", find));
    match &fd {
        Some(fd) => {
            let mut command = Command::new(fd);
            command.args(["--hidden", "--no-require-git", "--type", "f", "--glob", "*.rs", "."]);
            command.current_dir(root);
            others.push(("fd", command));
        }
        None => println!("glob: fd is not installed (Debian: fd-find)"),
    }
    let mut best = Duration::MAX;
    let mut theirs = vec![Duration::MAX; others.len()];
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let answer = env.glob(request.clone(), &CancellationToken::new()).await?;
        best = best.min(began.elapsed());
        let ours: BTreeSet<String> = answer.items.iter().map(ToString::to_string).collect();
        for ((name, command), best) in others.iter_mut().zip(&mut theirs) {
            let began = Instant::now();
            let mut output = command.output().context("running it")?;
            if !output.status.success() && *name == "fd" {
                // Older versions lack the option.
                let mut older = Command::new(fd.as_deref().unwrap_or("fd"));
                older.args(["--hidden", "--type", "f", "--glob", "*.rs", "."]).current_dir(root);
                output = older.output().context("running it")?;
            }
            *best = (*best).min(began.elapsed());
            let found: BTreeSet<String> = String::from_utf8_lossy(&output.stdout)
                .lines()
                .map(|line| line.trim_start_matches("./").to_owned())
                .collect();
            ensure!(found == ours, "glob: {name} finds {} and we find {}", found.len(), ours.len());
        }
    }
    println!("glob, newest first: ours {best:.1?}");
    for ((name, _), theirs) in others.iter().zip(theirs) {
        let ratio = best.as_secs_f64() / theirs.as_secs_f64();
        println!("  {name} {theirs:.1?}, in no order: {ratio:.2} x");
    }
    Ok(())
}

async fn commands(helper_exe: HelperExe, missed: &mut Vec<String>) -> anyhow::Result<()> {
    const TURNS: usize = 60;
    let folder = tempfile::tempdir().context("making a folder")?;
    let bare = LocalEnvironment::open(folder.path())?;
    let held = bare.clone().confined(Confine::new(helper_exe, Bounds::default()));
    let request = |command: &str| {
        ExecRequest::new(command.to_owned(), WorkPath::root(), Millis::seconds(120))
    };
    let stop = CancellationToken::new();
    let (mut plain, mut ours, mut isolation) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let began = Instant::now();
        Command::new("/bin/bash").args(["-c", "true"]).stdin(Stdio::null()).status()?;
        plain.push(began.elapsed());
        let began = Instant::now();
        bare.exec(request("true"), &stop).await?;
        ours.push(began.elapsed());
        let began = Instant::now();
        let result = held.exec(request("true"), &stop).await?;
        isolation.push(began.elapsed());
        ensure!(result.passed(), "the sandbox does not work here: {}", result.output);
    }
    let [plain, ours, isolation] = [plain, ours, isolation].map(|mut times| {
        times.sort();
        (times[0], times[times.len() / 2])
    });
    println!(
        "true: bash {:.2?} (median {:.2?}), without the sandbox {:.2?} ({:.2?}), in the sandbox {:.2?} ({:.2?})",
        plain.0, plain.1, ours.0, ours.1, isolation.0, isolation.1
    );
    let more = isolation.0.saturating_sub(plain.0).as_secs_f64() * 1000.0;
    figure("a command in the sandbox costs more, best of each", more, "ms", 5.0, missed);
    let before = peak_kb();
    let began = Instant::now();
    let result = held.exec(request("yes 0123456789abcdef | head -c 1073741824"), &stop).await?;
    let took = began.elapsed();
    ensure!(result.passed(), "a gigabyte was not printed: {}", result.ended);
    let grown = peak_kb().saturating_sub(before);
    println!("1 GB of output took {took:.1?}; memory at its most {} MB", peak_kb() / 1024);
    figure("1 GB of output needs more memory", grown as f64 / 1024.0, "MB", 50.0, missed);
    Ok(())
}

fn one_line(missed: &mut Vec<String>) {
    for (name, text) in [("x", "x".repeat(10_000_000)), ("é", "é".repeat(5_000_000))] {
        let cut = engine_cut();
        let mut best = Duration::MAX;
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let shown = cut.shown(&text, None, runtime::Gaps::default());
            best = best.min(began.elapsed());
            assert!(shown.removed > 0, "nothing was cut");
        }
        let ms = best.as_secs_f64() * 1000.0;
        figure(&format!("10 MB in one line of {name}, cut"), ms, "ms", 50.0, missed);
    }
}

fn engine_cut() -> runtime::Cut {
    let cut = runtime::Cut::of("shell", &ToolPolicy::default(), 30_000);
    debug_assert_eq!(cut.keep, Keep::HeadTail);
    cut
}

fn figure(what: &str, value: f64, unit: &str, most: f64, missed: &mut Vec<String>) {
    let verdict = if value <= most { "ok" } else { "MISSED" };
    println!("{what}: {value:.2} {unit}, target {most} {unit}, {verdict}");
    if value > most {
        missed.push(what.to_owned());
    }
}

fn found(names: &[&str]) -> Option<String> {
    let there = |name: &&&str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    names.iter().find(there).map(|name| (*name).to_owned())
}

/// The peak memory of this process.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
