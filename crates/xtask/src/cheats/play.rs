//! One case against the built program: a scripted model, everything else real. The result is evaluated by the exit code
//! and, if that says done, by the truth of the case.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::case::{Case, Source};
use super::case_dir::CaseDir;
use super::environment::Environment;
use super::server::Server;
use super::{script, truth};

const LIMIT: Duration = Duration::from_secs(900);
/// The possible exit codes of a run.
const EXITS: [i32; 6] = [0, 1, 3, 4, 5, 6];
const WAITS: i32 = 3;

/// The outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    AcceptedFalsely,
    Asked,
    Refused,
    DoneHonestly,
    /// In a self-test: the case is as claimed.
    Sound,
    /// In a self-test: it is not.
    Unsound,
    Broken,
    Skipped,
}

impl Outcome {
    pub(crate) const ALL: [Self; 8] = [
        Self::AcceptedFalsely,
        Self::Asked,
        Self::Refused,
        Self::DoneHonestly,
        Self::Sound,
        Self::Unsound,
        Self::Broken,
        Self::Skipped,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::AcceptedFalsely => "accepted falsely",
            Self::Asked => "asked",
            Self::Refused => "refused",
            Self::DoneHonestly => "done honestly",
            Self::Sound => "sound",
            Self::Unsound => "unsound",
            Self::Broken => "broken",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) outcome: Outcome,
    pub(crate) reason: String,
    pub(crate) exit: Option<i32>,
    pub(crate) seconds: f64,
    /// Calls of the script that failed.
    pub(crate) slips: Vec<String>,
    /// Missing tools that the case needs.
    pub(crate) missing: Vec<String>,
}

impl Played {
    pub(crate) const fn new(outcome: Outcome, reason: String) -> Self {
        Self { outcome, reason, exit: None, seconds: 0.0, slips: vec![], missing: vec![] }
    }
}

/// Prepares the case and passes it to `work`, unless a tool is missing.
pub(crate) fn with_case(
    environment: &Environment,
    source: &Source,
    folder: &Path,
    work: impl Fn(&Case, &CaseDir) -> anyhow::Result<Played>,
) -> anyhow::Result<Played> {
    let mut case = source.case(&[])?;
    let missing = environment.missing(&case.needs)?;
    if !missing.is_empty() {
        let reason = format!("not here: {}", missing.join(", "));
        return Ok(Played { missing, ..Played::new(Outcome::Skipped, reason) });
    }
    let server = case.serves.clone().map(Server::start).transpose()?;
    if let Some(server) = &server {
        case = source.case(&[("@PORT@", server.port.to_string())])?;
    }
    let case_dir = CaseDir::new(folder.to_path_buf(), environment.variables.clone())?;
    let began = Instant::now();
    let mut played = work(&case, &case_dir)?;
    played.seconds = began.elapsed().as_secs_f64();
    Ok(played)
}

/// Runs the program on the case.
pub(crate) fn play(binary: &Path, case: &Case, case_dir: &CaseDir) -> anyhow::Result<Played> {
    let repo = case_dir.repository(case)?;
    let (out, err) = (case_dir.path("out.jsonl"), case_dir.path("err.txt"));
    let code = case_dir.run(command(binary, case, case_dir, &repo)?, &out, Some(&err), LIMIT)?;
    let told = told(&text(&out), &text(&err), &log(binary, case_dir)?);
    let outcome = match code {
        0 => {
            let branch = told.branch.as_deref().context("done, and no branch is named")?;
            let tree = case_dir.checkout(&repo, "result", branch)?;
            let (good, said) = truth::holds(case_dir, case, &tree)?;
            case_dir.write("truth.txt", &said)?;
            if good { Outcome::DoneHonestly } else { Outcome::AcceptedFalsely }
        }
        WAITS => Outcome::Asked,
        code if EXITS.contains(&code) => Outcome::Refused,
        _ => Outcome::Broken,
    };
    Ok(Played { exit: Some(code), slips: told.slips, ..Played::new(outcome, told.reason) })
}

fn command(binary: &Path, case: &Case, case_dir: &CaseDir, repo: &Path) -> anyhow::Result<Command> {
    let script = case_dir.write("script.toml", &script::script(case)?)?;
    let mut command = Command::new(binary);
    command.env_clear().envs(&case_dir.variables).current_dir(&case_dir.folder);
    command.arg("run").arg("--home").arg(case_dir.path("state")).arg("--repo").arg(repo);
    command.arg("--json").arg("--script").arg(script);
    if script::plan_is_given(case) {
        let plan = case_dir.write("plan.json", &script::plan(case)?.to_string())?;
        command.arg("--plan").arg(plan);
    }
    if let Some(policy) = &case.policy {
        command.arg("--policy").arg(case_dir.write("policy.toml", policy)?);
    }
    if let Some(preset) = &case.preset {
        command.args(["--preset", preset]);
    }
    for check in &case.check {
        command.args(["--check", check]);
    }
    command.arg(&case.goal);
    Ok(command)
}

fn log(binary: &Path, case_dir: &CaseDir) -> anyhow::Result<String> {
    let mut log = Command::new(binary);
    log.env_clear().envs(&case_dir.variables).current_dir(&case_dir.folder);
    log.arg("log").arg("--home").arg(case_dir.path("state")).arg("--json");
    let done = log.stdin(Stdio::null()).output().context("reading the log")?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn text(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The program's report on the run.
struct Told {
    branch: Option<String>,
    /// Why it ended as it did, in one line.
    reason: String,
    slips: Vec<String>,
}

fn told(out: &str, err: &str, log: &str) -> Told {
    let reason = err.trim().lines().next_back().unwrap_or_default().to_owned();
    let mut told = Told { branch: None, reason, slips: vec![] };
    let mut tools: BTreeMap<(String, String), String> = BTreeMap::new();
    let events = out.lines().chain(log.lines());
    for event in events.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let data = &event["data"];
        let attempt = word(&event["attempt"]);
        let call = (attempt.clone(), data["call"].to_string());
        match event["event"].as_str() {
            Some("tool.started") => {
                tools.insert(call, word(&data["tool"]));
            }
            Some("tool.finished") if data["outcome"] != "ok" => {
                let tool = tools.get(&call).map_or("", String::as_str);
                let said: String = word(&data["output"]["text"]).chars().take(200).collect();
                // Reading a file that is yet to be written is not a slip.
                if tool != "read_file" {
                    told.slips.push(format!("{attempt} {tool}: {said}"));
                }
            }
            Some("tool.refused") => {
                told.slips.push(format!("{attempt} {} refused", word(&data["tool"])));
            }
            Some("question.asked") => {
                let asked = data["text"].as_str().map(str::to_owned);
                told.reason = asked.unwrap_or_else(|| data.to_string().chars().take(300).collect());
            }
            Some("run.finished") => {
                let decision = &data["decision"];
                told.reason = format!("{}: {}", word(&decision["rule"]), word(&decision["reason"]));
            }
            _ => {}
        }
        if let Some(branch) = event["report"]["branch"].as_str() {
            told.branch = Some(branch.to_owned());
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_the_program_said_last() {
        let out = r#"{"event":"tool.started","attempt":"T1","data":{"call":"c1","tool":"write_file"}}
{"event":"tool.finished","attempt":"T1","data":{"call":"c1","outcome":"failed","output":{"text":"no"}}}
not JSON
{"event":"question.asked","data":{"text":"Which?"}}
{"report":{"branch":"bosun/a"}}"#;
        let told = told(out, "first\nlast\n", "");
        assert_eq!(told.reason, "Which?");
        assert_eq!(told.branch.as_deref(), Some("bosun/a"));
        assert_eq!(told.slips, ["T1 write_file: no"]);
    }

    #[test]
    fn without_events_the_last_line_of_the_error_output_is_the_reason() {
        assert_eq!(super::told("", "first\nlast\n", "").reason, "last");
    }
}
