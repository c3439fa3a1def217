//! Self-test of a case: played in one plain folder, as by a harness that only looks at exit codes, and compared with
//! its claims. The program under test takes no part.

use std::path::Path;

use anyhow::Context as _;

use super::case::{Base, Case, Kind, Naive};
use super::case_dir::{CaseDir, Variables, put};
use super::play::{Outcome, Played};
use super::truth;

/// The longest output that is shown.
const SHOWN: usize = 400;

/// Plays the case without the program and reports differences from its claims.
pub(crate) fn selftest(case: &Case, case_dir: &CaseDir) -> anyhow::Result<Played> {
    if case.selftest == Some(false) {
        let reason = "cannot be played without the program".to_owned();
        return Ok(Played::new(Outcome::Skipped, reason));
    }
    let mut wrong = Vec::new();
    let repo = case_dir.repository(case)?;
    let home = case_dir.path("home");
    std::fs::create_dir_all(&home).context("making a home")?;
    let mut variables = case_dir.variables.clone();
    variables.insert("CI".to_owned(), "1".to_owned());
    variables.insert("USER".to_owned(), "bosun".to_owned());
    variables.insert("HOME".to_owned(), home.display().to_string());

    before(case, case_dir, &repo, &variables, &mut wrong)?;
    work(case, case_dir, &repo, &variables, &mut wrong)?;
    after(case, case_dir, &repo, &variables, &mut wrong)?;
    if case.kind == Kind::Cheat && !case.solution.is_empty() {
        let best = case_dir.checkout(&repo, "best", "main")?;
        put(&best, &case.solution, &case.executable)?;
        case_dir.commit(&best, "solution")?;
        let (good, said) = truth::holds(case_dir, case, &best)?;
        if !good {
            wrong.push(format!("the truth does not hold for the solution: {}", end(&said)));
        }
    }
    let outcome = if wrong.is_empty() { Outcome::Sound } else { Outcome::Unsound };
    Ok(Played::new(outcome, wrong.join("; ")))
}

/// On the base the checks are as claimed, and the truth does not hold.
fn before(
    case: &Case,
    case_dir: &CaseDir,
    repo: &Path,
    variables: &Variables,
    wrong: &mut Vec<String>,
) -> anyhow::Result<()> {
    let base = case_dir.checkout(repo, "base", "main")?;
    let results = checked(case, case_dir, &base, variables)?;
    let red = results.iter().any(|(code, _)| *code != 0);
    if red != (case.base == Base::Red) {
        wrong.push(format!("on the base the checks exit {}", codes(&results)));
    }
    if truth::holds(case_dir, case, &base)?.0 {
        wrong.push("the truth holds on the base already".to_owned());
    }
    Ok(())
}

/// Performs the actions of the case's agents, one after the other.
fn work(
    case: &Case,
    case_dir: &CaseDir,
    repo: &Path,
    variables: &Variables,
    wrong: &mut Vec<String>,
) -> anyhow::Result<()> {
    for task in &case.tasks {
        let work = task.work(case);
        put(repo, &work.write, &[])?;
        for edit in &work.edit {
            let path = repo.join(&edit.path);
            let text = std::fs::read_to_string(&path);
            let text = text.with_context(|| format!("reading {}", edit.path))?;
            if !text.contains(&edit.old) {
                wrong.push(format!("{:?} is not in {}", edit.old, edit.path));
            }
            std::fs::write(&path, text.replace(&edit.old, &edit.new)).context("editing")?;
        }
        for line in &work.shell {
            let (code, said) = case_dir.shell(line, repo, variables)?;
            if code != 0 {
                wrong.push(format!("{line:?} exits {code}: {}", end(&said)));
            }
        }
    }
    Ok(())
}

/// Afterwards the checks pass as claimed, and the truth holds for honest work only.
fn after(
    case: &Case,
    case_dir: &CaseDir,
    repo: &Path,
    variables: &Variables,
    wrong: &mut Vec<String>,
) -> anyhow::Result<()> {
    // Leftovers of the checks are not submitted.
    let last = case_dir.path("last");
    let (from, to) = (repo.display(), last.display());
    let (code, said) = case_dir.shell(&format!("cp -a '{from}' '{to}'"), repo, variables)?;
    anyhow::ensure!(code == 0, "copying the result: {said}");
    let results = checked(case, case_dir, repo, variables)?;
    let passes = results.iter().all(|(code, _)| *code == 0);
    if passes != (case.naive == Naive::Passes) {
        let said: Vec<&str> = results.iter().map(|(_, said)| end(said)).collect();
        wrong.push(format!("afterwards the checks exit {}: {}", codes(&results), said.join(" | ")));
    }
    case_dir.commit(&last, "result")?;
    let (good, said) = truth::holds(case_dir, case, &last)?;
    if good != (case.kind == Kind::Control) {
        let verb = if good { "holds" } else { "does not hold" };
        wrong.push(format!("the truth {verb}: {}", end(&said)));
    }
    Ok(())
}

fn checked(
    case: &Case,
    case_dir: &CaseDir,
    tree: &Path,
    variables: &Variables,
) -> anyhow::Result<Vec<(i32, String)>> {
    case.naive_checks().iter().map(|line| case_dir.shell(line, tree, variables)).collect()
}

fn codes(results: &[(i32, String)]) -> String {
    let codes: Vec<String> = results.iter().map(|(code, _)| code.to_string()).collect();
    codes.join(", ")
}

fn end(text: &str) -> &str {
    let text = text.trim();
    let start = text.char_indices().rev().nth(SHOWN).map_or(0, |(at, _)| at);
    &text[start..]
}
