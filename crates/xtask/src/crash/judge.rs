//! Invariants after a crash and a recovery: nothing acknowledged is lost, no finished call was repeated, the result is
//! whole, no leftovers. Checked from outside, with a person's commands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::stage::Stage;
use super::tracer::OUTPUT;

/// The names of files and references after an undisturbed command.
pub(super) type Names = BTreeSet<String>;

/// The guarantee for a kind of crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// It continues as if nothing had happened.
    Kill,
    /// The same, but the person's own files are as safe as git makes them.
    PowerCut,
    /// It may end as failed or with a question, but never falsely as done.
    DiskError,
}

/// All violations, a sentence each.
pub(super) fn judge(
    stage: &Stage,
    command: &str,
    promise: Promise,
    calls: &[String],
    usual: Option<&Names>,
) -> anyhow::Result<Vec<String>> {
    let listed = stage.play(&words(&["list", "--json"]))?;
    let runs: Vec<Value> = lines(&listed.out);
    let [one] = &runs[..] else {
        return Ok(vec![format!("list shows {} runs: {}", runs.len(), listed.err.trim())]);
    };
    let run = one["run"].as_str().unwrap_or_default().to_owned();
    let mut wrong = vec![];
    let state = one["status"].as_str().or_else(|| one["session"]["state"].as_str());
    let done = matches!(state, Some("done" | "IDLE"));
    if !done && promise != Promise::DiskError {
        wrong.push(format!("it ended as {}", state.unwrap_or("nothing known")));
    }
    let verified = stage.play(&words(&["log", &run, "--verify"]))?;
    if verified.exit != Some(0) {
        wrong.push(format!("log --verify: {}", verified.err.trim()));
    }
    let log = whole_log(stage, &run, done && command != "chat")?;
    wrong.extend(lost(stage, &log)?);
    wrong.extend(repeated(&log, calls, promise));
    // A session reports whether each call failed, and is never done.
    if !done || (command == "chat" && promise == Promise::DiskError) {
        return Ok(wrong);
    }
    wrong.extend(result(stage, command, &run, promise)?);
    if let Some(usual) = usual {
        let left = names(stage)?;
        wrong.extend(left.difference(usual).map(|name| format!("left behind: {name}")));
    }
    Ok(wrong)
}

/// The lines of a run and of its attempts.
fn whole_log(stage: &Stage, run: &str, over: bool) -> anyhow::Result<Vec<Value>> {
    if over {
        // All of them at once; for an unfinished run this would wait for its end.
        return Ok(lines(&stage.play(&words(&["log", run, "--json", "--follow"]))?.out));
    }
    let mut log = lines(&stage.play(&words(&["log", run, "--json"]))?.out);
    let started = log.iter().filter(|line| line["event"] == "attempt.started");
    let mut attempts: Vec<String> =
        started.filter_map(|line| line["data"]["attempt"].as_str().map(str::to_owned)).collect();
    attempts.dedup();
    for attempt in attempts {
        log.extend(lines(&stage.play(&words(&["log", run, "--attempt", &attempt, "--json"]))?.out));
    }
    Ok(log)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The complete lines.
fn lines(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Printed lines that are not recorded as printed.
fn lost(stage: &Stage, log: &[Value]) -> anyhow::Result<Vec<String>> {
    let printed = std::fs::read(stage.place().join(OUTPUT)).unwrap_or_default();
    let key = |line: &Value| {
        (line["attempt"].as_str().unwrap_or_default().to_owned(), line["seq"].as_u64())
    };
    let log: BTreeMap<_, &Value> = log.iter().map(|line| (key(line), line)).collect();
    let printed = lines(&String::from_utf8_lossy(&printed));
    let events = printed.iter().filter(|line| line["seq"].is_u64());
    let lost = events.filter(|line| log.get(&key(line)) != Some(line)).map(|line| {
        let (attempt, seq) = key(line);
        let event = line["event"].as_str().unwrap_or_default();
        format!("acknowledged and lost: {attempt} line {} {event}", seq.unwrap_or_default())
    });
    Ok(lost.collect())
}

/// Calls whose number of executions differs from the log.
fn repeated(log: &[Value], calls: &[String], promise: Promise) -> Vec<String> {
    let mut labels: BTreeMap<(String, String), String> = BTreeMap::new();
    // For each label: how often it finished, and how often its outcome is unknown.
    let mut ends: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for line in log {
        let call = line["data"]["call"].to_string();
        let key = (line["attempt"].as_str().unwrap_or_default().to_owned(), call);
        match line["event"].as_str() {
            Some("tool.started") => {
                let seen = line["data"]["decision"]["seen"].to_string();
                if let Some((_, rest)) = seen.split_once("count.sh ") {
                    let label = rest.split(['"', ' ']).next().unwrap_or_default().to_owned();
                    ends.entry(label.clone()).or_default();
                    labels.insert(key, label);
                }
            }
            Some("tool.finished") => {
                if let Some(label) = labels.remove(&key) {
                    ends.entry(label).or_default().0 += 1;
                }
            }
            Some("tool.lost") => {
                if let Some(label) = labels.remove(&key) {
                    ends.entry(label).or_default().1 += 1;
                }
            }
            _ => {}
        }
    }
    let mut wrong = vec![];
    let mut made: BTreeMap<&str, usize> = BTreeMap::new();
    for label in calls {
        *made.entry(label).or_default() += 1;
    }
    for (label, (finished, unknown)) in &ends {
        let made = made.remove(label.as_str()).unwrap_or(0);
        // On a broken disk a call may fail before anything runs.
        let at_least = if promise == Promise::DiskError { 0 } else { *finished };
        if made < at_least || made > finished + unknown {
            wrong.push(format!(
                "the call {label} was made {made} times; {finished} finished, {unknown} lost"
            ));
        }
    }
    for (label, made) in made {
        wrong.push(format!("the call {label} was made {made} times and is not on record"));
    }
    wrong
}

fn result(
    stage: &Stage,
    command: &str,
    run: &str,
    promise: Promise,
) -> anyhow::Result<Vec<String>> {
    let mut wrong = vec![];
    let branch = if command == "accept" { "main".to_owned() } else { format!("bosun/{run}") };
    let files: &[&str] = match command {
        "chat" | "answer" => &["one"],
        _ => &["one", "two", "three"],
    };
    let said = if command == "chat" {
        std::fs::read_to_string(stage.place().join("repo/one.txt")).unwrap_or_default()
    } else {
        let names: Vec<String> = files.iter().map(|name| format!("{branch}:{name}.txt")).collect();
        stage
            .git(&[&["show"][..], &names.iter().map(String::as_str).collect::<Vec<_>>()].concat())?
            .out
    };
    if said != files.iter().map(|name| format!("{name}\n")).collect::<String>() {
        wrong.push(format!("the files of the result, {files:?}, are {said:?}"));
    }
    if command != "chat" && promise != Promise::PowerCut {
        let status = stage.git(&["status", "--porcelain"])?;
        if status.exit != Some(0) || !status.out.is_empty() {
            wrong.push(format!("git status: {}{}", status.out.trim(), status.err.trim()));
        }
    }
    let once = match command {
        "accept" => Some("result.settled"),
        "answer" => Some("question.answered"),
        _ => None,
    };
    if let Some(event) = once {
        // Following ends with the run, and its result is settled after that.
        let own = lines(&stage.play(&words(&["log", run, "--json"]))?.out);
        let count = own.iter().filter(|line| line["event"] == event).count();
        let again = count > 1 && promise != Promise::Kill && command == "answer";
        if count != 1 && !again {
            wrong.push(format!("{event} is on record {count} times"));
        }
    }
    Ok(wrong)
}

/// The names of everything present, without the parts that vary.
pub(super) fn names(stage: &Stage) -> anyhow::Result<Names> {
    let mut names = Names::new();
    for top in ["repo", "state", "tmp", "home"] {
        collect(&stage.place(), Path::new(top), &mut names)?;
    }
    let refs = stage.git(&["for-each-ref", "--format=reference %(refname)"])?;
    let trees = stage.git(&["worktree", "list", "--porcelain"])?;
    let trees = trees.out.lines().filter(|line| line.starts_with("worktree "));
    let place = stage.place().display().to_string();
    names.extend(refs.out.lines().chain(trees).map(|line| plain(line).replace(&place, "")));
    Ok(names)
}

fn collect(top: &Path, folder: &Path, names: &mut Names) -> anyhow::Result<()> {
    let Ok(entries) = std::fs::read_dir(top.join(folder)) else { return Ok(()) };
    for entry in entries {
        let name = folder.join(entry?.file_name());
        let kind = top.join(&name).symlink_metadata().context("looking at a file")?;
        // The journal's own files, and git's objects, come and go by their own rules.
        let text = plain(&name.display().to_string());
        if text == "repo/.git/objects" || text.ends_with("-wal") || text.ends_with("-shm") {
            continue;
        }
        names.insert(text);
        if kind.is_dir() {
            collect(top, &name, names)?;
        }
    }
    Ok(())
}

/// Replaces run ids and random parts of names by fixed words.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for part in text.split_inclusive(['/', '.', '-', ' ']) {
        let word = part.trim_end_matches(['/', '.', '-', ' ']);
        let hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let run = word.strip_prefix("r_").is_some_and(|rest| rest.len() == 8 && hex(rest));
        if run {
            plain.push_str(&part.replace(word, "RUN"));
        } else if plain.ends_with("pack-") || (matches!(word.len(), 12 | 40) && hex(word)) {
            plain.push_str(&part.replace(word, "*"));
        } else {
            plain.push_str(part);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(event: &str, call: &str, seen: &str) -> Value {
        json!({"event": event, "attempt": "T1.1", "data": {"call": call, "decision": {"seen": [seen]}}})
    }

    #[test]
    fn a_finished_call_is_made_once_and_a_lost_one_at_most_once() {
        let begun = event("tool.started", "s1.t1.c0", "shell sh count.sh first");
        let finished = [begun.clone(), event("tool.finished", "s1.t1.c0", "")];
        let lost = [begun, event("tool.lost", "s1.t1.c0", "")];
        let calls = |n: usize| vec!["first".to_owned(); n];
        assert_eq!(repeated(&finished, &calls(1), Promise::Kill), Vec::<String>::new());
        assert_eq!(repeated(&lost, &calls(0), Promise::Kill), Vec::<String>::new());
        assert_eq!(repeated(&lost, &calls(1), Promise::Kill), Vec::<String>::new());
        assert_eq!(repeated(&finished, &calls(0), Promise::Kill).len(), 1);
        assert_eq!(repeated(&finished, &calls(2), Promise::Kill).len(), 1);
        assert_eq!(repeated(&lost, &calls(2), Promise::Kill).len(), 1);
        assert_eq!(repeated(&[], &calls(1), Promise::Kill).len(), 1);
    }

    #[test]
    fn names_are_compared_without_what_is_random() {
        assert_eq!(plain("state/worktrees/r_1a2b3c4d/T1.1"), "state/worktrees/RUN/T1.1");
        assert_eq!(plain("state/snapshots/7005b8ed1e0d/pack-FaSFO9"), "state/snapshots/*/pack-*");
        let store = "state/history/7005b8ed1e0d/0135d7030d93198fb83153cb332e23aff987dab7/pack";
        assert_eq!(plain(store), "state/history/*/*/pack");
    }
}
