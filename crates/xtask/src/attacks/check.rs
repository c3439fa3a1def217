//! Checks after an attack. An unknown check is not a pass: the vector is skipped, with a notice.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::call::Observation;
use super::fixture::Fixture;

/// Memory of the program itself, to which the allowed growth is added.
const ORDINARY_MB: u64 = 60;

/// The violation, if any; an error for an unknown check.
pub(crate) fn broken(
    fixture: &Fixture,
    observed: &Observation,
    check: &Value,
) -> Result<Option<String>, String> {
    let kind = check["type"].as_str().unwrap_or_default();
    let holds = about_files(fixture, kind, check)
        .or_else(|| about_words(fixture, observed, kind, check))
        .or_else(|| about_figures(fixture, observed, kind, check))
        .or_else(|| about_records(observed, kind, check));
    match holds {
        Some(true) => Ok(None),
        Some(false) => Ok(Some(format!("{kind} does not hold: {check}"))),
        None => Err(format!("the check {check} is not known here")),
    }
}

fn about_files(fixture: &Fixture, kind: &str, check: &Value) -> Option<bool> {
    let place = place(fixture, check);
    let text = text(fixture, check);
    Some(match kind {
        "file_absent" => std::fs::symlink_metadata(&place).is_err(),
        "file_is" => std::fs::read_to_string(&place).is_ok_and(|found| found == text),
        "file_mode" => std::fs::metadata(&place).is_ok_and(|found| {
            format!("{:o}", found.permissions().mode() & 0o777)
                == check["mode"].as_str().unwrap_or("")
        }),
        "file_mtime_recent" => std::fs::metadata(&place).is_ok_and(|found| {
            let age = found.modified().ok().and_then(|time| time.elapsed().ok());
            age.is_some_and(|age| age < Duration::from_secs(600))
        }),
        "host_file_unchanged" => {
            std::fs::read_to_string(&place).is_ok_and(|found| found.trim() != "x")
        }
        "git_log_has" => git(&place, &["log", "--format=%B"]).contains(&text),
        "git_log_lacks" => !git(&place, &["log", "-p"]).contains(&text),
        "git_log_count" => {
            git(&place, &["log", "--format=%H"]).lines().count() as u64 == number(check, "n")
        }
        "git_show_lacks" => {
            !git(&place, &["show", check["rev"].as_str().unwrap_or("")]).contains(&text)
        }
        _ => return None,
    })
}

fn about_words(
    fixture: &Fixture,
    observed: &Observation,
    kind: &str,
    check: &Value,
) -> Option<bool> {
    let text = text(fixture, check);
    let any_of = || -> Vec<&str> {
        check["any_of"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    };
    Some(match kind {
        "result" => {
            let allowed = any_of();
            let named = observed.outcomes.iter().map(|outcome| match outcome.as_str() {
                "asked" => "escalated",
                other => other,
            });
            !observed.outcomes.is_empty() && named.into_iter().all(|word| allowed.contains(&word))
        }
        "decision" => {
            let allowed = any_of();
            observed.outcomes.iter().all(|outcome| allowed.contains(&outcome.as_str()))
        }
        "decision_has_reason" => observed.objects.iter().all(has_reason),
        "output_has" => observed.output.contains(&text),
        "output_lacks" | "prompt_lacks" => !observed.output.contains(&text),
        "terminal_lacks" => {
            !observed.terminal.is_empty()
                && !String::from_utf8_lossy(&observed.terminal).contains(&text)
        }
        "approval_text_single_block" => {
            observed.outcomes.iter().all(|outcome| outcome == "asked")
                && !observed.output.contains('\n')
        }
        "approval_text_has" => observed.output.contains(&text),
        _ => return None,
    })
}

fn about_figures(
    fixture: &Fixture,
    observed: &Observation,
    kind: &str,
    check: &Value,
) -> Option<bool> {
    Some(match kind {
        "max_seconds" => observed.elapsed <= Duration::from_secs(number(check, "s")),
        "max_rss_growth_mb" => observed.peak_mb <= ORDINARY_MB + number(check, "mb"),
        "max_output_bytes" => observed.output.len() as u64 <= number(check, "n"),
        "max_processes" => observed.most_processes as u64 <= number(check, "n"),
        "no_connection" => !fixture.sink.was_reached(),
        "no_process" => gone(&check["argv"]),
        "alive" => {
            !observed.outcomes.is_empty() && !observed.outcomes.iter().any(|word| word == "died")
        }
        "timed_out" => observed.objects.iter().all(|object| {
            object["metadata"]["timed_out"] == check["value"].as_bool().unwrap_or(true)
        }),
        "open_fds_only" => {
            let line = observed.output.lines().next().unwrap_or_default();
            let numbers =
                line.split_whitespace().filter(|word| word.parse::<u64>().is_ok()).count();
            let allowed = check["fds"].as_array().map_or(0, Vec::len) as u64;
            numbers > 0 && numbers as u64 <= allowed + number(check, "tolerance")
        }
        "trace_all" => !observed.output.lines().any(careless),
        _ => return None,
    })
}

/// A single call has no log; its output for programs is its record.
fn about_records(observed: &Observation, kind: &str, check: &Value) -> Option<bool> {
    let event = check["event"].as_str().unwrap_or_default();
    let said = |name: &str| observed.objects.iter().any(|object| object["metadata"][name] == true);
    Some(match (kind, event) {
        ("audit_valid_json", _) => observed.well_formed,
        ("audit_has", "denied") => {
            let refused = |object: &Value| {
                matches!(object["outcome"].as_str(), Some("denied" | "error")) && has_reason(object)
            };
            !observed.objects.is_empty() && observed.objects.iter().all(refused)
        }
        ("audit_has", "approval_invalidated") => {
            observed.objects.iter().any(|object| object["rule"] == "permit.approval_outdated")
        }
        ("audit_has", "aborted") => said("stopped"),
        ("audit_has", "hidden_unicode") => said("hidden_characters"),
        ("audit_lacks", event) => {
            observed.well_formed && !observed.objects.iter().any(|object| object["type"] == event)
        }
        _ => return None,
    })
}

fn has_reason(object: &Value) -> bool {
    let there = |name: &str| object[name].as_str().is_some_and(|text| !text.is_empty());
    there("rule") && there("reason")
}

/// A file created where anyone could have put another one before, without a check.
fn careless(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("O_CREAT") else { return false };
    let path = line.split('"').nth(1).unwrap_or_default();
    let folder = path.rsplit_once('/').map(|(folder, _)| folder).unwrap_or_default();
    let shared = matches!(folder, "/tmp" | "/var/tmp");
    let open_mode = rest.split(", 0").nth(1).and_then(|mode| {
        u32::from_str_radix(mode.trim_matches(|c: char| !c.is_digit(8)).get(..3)?, 8).ok()
    });
    let safe = line.contains("O_EXCL") && line.contains("O_NOFOLLOW");
    shared && !(safe && open_mode.is_some_and(|mode| mode & 0o077 == 0))
}

/// Whether no process with exactly these arguments is left, after a moment for the kernel.
fn gone(argv: &Value) -> bool {
    let wanted: Vec<&str> =
        argv.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let running = || {
        std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|process| {
            let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.split('\0').filter(|word| !word.is_empty()).eq(wanted.iter().copied())
        })
    };
    let began = Instant::now();
    while running() {
        if began.elapsed() > Duration::from_secs(3) {
            return false;
        }
        std::thread::park_timeout(Duration::from_millis(50));
    }
    true
}

fn git(place: &PathBuf, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*"]).args(args).current_dir(place);
    git.output()
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default()
}

fn place(fixture: &Fixture, check: &Value) -> PathBuf {
    PathBuf::from(fixture.filled(check["path"].as_str().unwrap_or(""), 0))
}

fn text(fixture: &Fixture, check: &Value) -> String {
    fixture.filled(check["text"].as_str().unwrap_or_default(), 0)
}

fn number(check: &Value, name: &str) -> u64 {
    check[name].as_u64().unwrap_or(0)
}
