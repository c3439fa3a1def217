//! What must hold after an attack.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

use crate::ground::{Ground, Seen};

/// What is wrong, if anything is. Checks on logs, prompts and screens belong to other parts and hold here.
pub(crate) fn broken(ground: &Ground, seen: &Seen, check: &Value) -> Option<String> {
    let kind = check["type"].as_str().unwrap_or_default();
    let text = ground.filled(check["text"].as_str().unwrap_or_default());
    let number = |name: &str| check[name].as_u64().unwrap_or(0);
    let holds = match kind {
        "result" => {
            let word = if seen.success { "ok" } else { "error" };
            check["any_of"].as_array().is_some_and(|words| words.iter().any(|one| one == word))
        }
        "file_absent" => !ground.place(check).exists(),
        "file_is" => std::fs::read_to_string(ground.place(check)).is_ok_and(|found| found == text),
        "file_mode" => std::fs::metadata(ground.place(check)).is_ok_and(|found| {
            format!("{:o}", found.permissions().mode() & 0o777)
                == check["mode"].as_str().unwrap_or("")
        }),
        "file_mtime_recent" => std::fs::metadata(ground.place(check)).is_ok_and(|found| {
            let age = found.modified().ok().and_then(|time| time.elapsed().ok());
            age.is_some_and(|age| age < Duration::from_secs(600))
        }),
        "host_file_unchanged" => {
            std::fs::read_to_string(ground.place(check)).is_ok_and(|found| found.trim() != "x")
        }
        "output_has" => seen.output.contains(&text),
        "output_lacks" | "terminal_lacks" | "prompt_lacks" => !seen.output.contains(&text),
        "max_seconds" => seen.elapsed <= Duration::from_secs(number("s")),
        "max_rss_growth_mb" => seen.rss_growth_mb <= number("mb"),
        "max_output_bytes" => seen.output.len() as u64 <= number("n"),
        "no_connection" => !ground.reached.load(Ordering::SeqCst),
        "no_process" => !running(&check["argv"]),
        "timed_out" => seen.output.contains("timed out"),
        "open_fds_only" => {
            let line = seen.output.lines().next().unwrap_or_default();
            let numbers: Vec<u64> =
                line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let allowed = check["fds"].as_array().map_or(0, Vec::len) as u64 + number("tolerance");
            !numbers.is_empty() && numbers.len() as u64 <= allowed
        }
        "git_log_has" => git(ground, check, &["log", "--format=%B"]).contains(&text),
        "git_log_lacks" => !git(ground, check, &["log", "-p"]).contains(&text),
        "git_log_count" => {
            git(ground, check, &["log", "--format=%H"]).lines().count() as u64 == number("n")
        }
        "git_show_lacks" => {
            !git(ground, check, &["show", check["rev"].as_str().unwrap_or("")]).contains(&text)
        }
        _ => true,
    };
    (!holds).then(|| format!("{kind} {check}"))
}

fn running(argv: &Value) -> bool {
    let wanted: Vec<&str> =
        argv.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes.into_iter().any(|process| {
        let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).into_owned();
        words.split('\0').filter(|word| !word.is_empty()).eq(wanted.iter().copied())
    })
}

fn git(ground: &Ground, check: &Value, args: &[&str]) -> String {
    let output =
        std::process::Command::new("git").args(args).current_dir(ground.place(check)).output();
    String::from_utf8_lossy(&output.expect("git runs").stdout).into_owned()
}
