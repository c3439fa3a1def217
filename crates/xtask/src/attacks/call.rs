//! The attack itself: a neutral vector, translated for the real program, one process per call.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::fixture::Fixture;
use super::watch::Watch;

/// The observations, for the checks.
#[derive(Debug, Default)]
pub(crate) struct Observation {
    /// The outcome of each call: `ok`, `error`, `denied`, `asked`, or `died`.
    pub(crate) outcomes: Vec<String>,
    /// The output as shown to a model, all calls together.
    pub(crate) output: String,
    /// The output for a person, if requested.
    pub(crate) terminal: Vec<u8>,
    /// The objects printed for programs, one per call.
    pub(crate) objects: Vec<Value>,
    /// Whether each call printed exactly one line of JSON.
    pub(crate) well_formed: bool,
    pub(crate) elapsed: Duration,
    pub(crate) peak_mb: u64,
    pub(crate) most_processes: usize,
}

pub(crate) fn attack(fixture: &Fixture, vector: &Value) -> anyhow::Result<Observation> {
    let mut observed = Observation { well_formed: true, ..Observation::default() };
    if let Some(line) = before(vector) {
        make(fixture, "shell", &json!({ "command": line }), vector, &mut Observation::default())?;
    }
    let began = Instant::now();
    let action = &vector["action"];
    step(fixture, action, vector, &mut observed)?;
    observed.elapsed = began.elapsed();
    if vector["expected"].to_string().contains("terminal_") {
        at_a_terminal(fixture, action, vector, &mut observed)?;
    }
    Ok(observed)
}

/// Commands that another task should run before, by the vector's note.
fn before(vector: &Value) -> Option<&str> {
    let note = vector["note"].as_str()?.split_once("runs shell_exec '")?.1;
    note.split_once("' in task 1").map(|(line, _)| line)
}

fn step(
    fixture: &Fixture,
    step: &Value,
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    let params = &step["params"];
    match step["tool"].as_str().unwrap_or_default() {
        "sequence" => sequence(
            fixture,
            params["steps"].as_array().map_or(&[][..], Vec::as_slice),
            vector,
            observed,
        ),
        "repeat" => {
            let times = params["times"].as_u64().unwrap_or(1);
            let (tool, arguments) = ours(&params["step"])?;
            run(fixture, &tool, &arguments, vector, times, observed)
        }
        "policy" => permit(fixture, params["command"].as_str().unwrap_or_default(), observed),
        "session" if params["op"] == "run_smoke" => smoke(fixture, observed),
        "session" if params["op"] == "open" => opened(fixture),
        _ => {
            let racing = step["between_verify_and_apply"].as_str();
            if let Some(line) = racing {
                return raced(fixture, step, line, vector, observed);
            }
            let (tool, arguments) = ours(step)?;
            match step["between_approval_and_exec"].as_str() {
                Some(line) => approved(fixture, &tool, &arguments, line, vector, observed),
                None => make(fixture, &tool, &arguments, vector, observed),
            }
        }
    }
}

/// A call that a person approves, with a change of the fixture between question and answer. Only the first question is
/// answered.
fn approved(
    fixture: &Fixture,
    tool: &str,
    arguments: &Value,
    line: &str,
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    let mut program = program(fixture, tool, vector, 1);
    program.arg("--args").arg(fixture.filled_json(arguments, 0).to_string());
    program.args(["--ask", "--json"]);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().context("starting the program")?;
    let watch = Watch::over(child.id());
    let mut errors = BufReader::new(child.stderr.take().context("its questions")?);
    let mut question = String::new();
    errors.read_line(&mut question).context("waiting for the question")?;
    fixture.shell(line);
    let mut input = child.stdin.take().context("its standard input")?;
    // A program that does not read the answer gives the reason in its output.
    input.write_all(b"allow\n").ok();
    drop(input);
    // Drains further output, so that it cannot block.
    std::io::copy(&mut errors, &mut std::io::sink()).context("hearing it out")?;
    Running { child, watch }.finish(observed)
}

/// Several calls, some of which keep running during the next step.
fn sequence(
    fixture: &Fixture,
    steps: &[Value],
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    let mut running: Option<Running> = None;
    for one in steps {
        if one["async"] == true {
            let (tool, arguments) = ours(one)?;
            let started = Running::start(fixture, &tool, &arguments, vector, 1)?;
            started.until_it_works();
            running = Some(started);
        } else if let Some(line) = one["host"].as_str() {
            let pid = running.as_ref().map_or(0, Running::pid);
            fixture.shell(&fixture.filled(line, pid));
        } else if one["tool"] == "session" && one["params"]["op"] == "abort" {
            let pid = running.as_ref().map_or(0, Running::pid);
            Command::new("kill").arg("-INT").arg(pid.to_string()).status().context("aborting")?;
        } else {
            step(fixture, one, vector, observed)?;
        }
    }
    match running {
        Some(running) => running.finish(observed),
        None => Ok(()),
    }
}

/// Changes the fixture during the call. There is no hook between check and use, so the fixture is changed back and
/// forth all the while and the call is repeated often.
fn raced(
    fixture: &Fixture,
    one: &Value,
    line: &str,
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    let (tool, arguments) = ours(one)?;
    let racer = format!(
        "( cp -r . ../saved; for i in $(seq 40); do {line}; rm -rf ./* ; cp -r ../saved/. . ; done ) & echo $! > ../racer"
    );
    fixture.shell(&racer);
    let done = run(fixture, &tool, &arguments, vector, 300, observed);
    fixture.shell("kill $(cat ../racer) 2>/dev/null; wait 2>/dev/null; true");
    done
}

fn make(
    fixture: &Fixture,
    tool: &str,
    arguments: &Value,
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    run(fixture, tool, arguments, vector, 1, observed)
}

fn run(
    fixture: &Fixture,
    tool: &str,
    arguments: &Value,
    vector: &Value,
    times: u64,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    Running::start(fixture, tool, arguments, vector, times)?.finish(observed)
}

/// A neutral call in our names and arguments. A text represents arguments that are not even JSON.
fn ours(step: &Value) -> anyhow::Result<(String, Value)> {
    let params = &step["params"];
    let (name, arguments) = match step["tool"].as_str().unwrap_or_default() {
        "file_read" => ("read_file", json!({ "path": params["path"] })),
        "file_write" => {
            let mut arguments = json!({ "path": params["path"], "content": params["content"] });
            if !params["create_dirs"].is_null() {
                arguments["create_dirs"] = params["create_dirs"].clone();
            }
            ("write_file", arguments)
        }
        "edit" => (
            "edit_file",
            json!({ "path": params["path"], "old_string": params["old"], "new_string": params["new"] }),
        ),
        "shell_exec" => ("shell", params.clone()),
        "http" => ("web_fetch", json!({ "url": params["url"] })),
        "provider" => return provider(&params["tool_call"]),
        name @ ("apply_patch" | "grep" | "glob" | "git_clone" | "git_diff" | "git_commit") => {
            (name, params.clone())
        }
        other => bail!("the tool {other:?} is not known here"),
    };
    Ok((name.to_owned(), arguments))
}

/// A call as a model wrote it. `X*N` in the list means X, N times.
fn provider(call: &Value) -> anyhow::Result<(String, Value)> {
    let (name, _) = ours(&json!({ "tool": call["name"], "params": {} }))?;
    let raw = call["arguments_raw"].as_str().unwrap_or_default();
    let repeated = |text: &str| {
        let (what, times) = text.rsplit_once('*')?;
        let times: usize = times.trim_end_matches(['"', '}']).parse().ok()?;
        let (head, one) = what.split_at(what.len().checked_sub(1)?);
        let tail = text
            .trim_start_matches(|c| c != '*')
            .trim_start_matches(|c: char| c == '*' || c.is_ascii_digit());
        Some(format!("{head}{}{tail}", one.repeat(times)))
    };
    Ok((name, Value::String(repeated(raw).unwrap_or_else(|| raw.to_owned()))))
}

/// The rules' decision on a command, which is never run.
fn permit(fixture: &Fixture, command: &str, observed: &mut Observation) -> anyhow::Result<()> {
    let mut program = fixture.user.command(&fixture.binary);
    program.args(["permit", "--json", "--policy"]).arg(&fixture.policy).arg("--").arg(command);
    program.env_clear().envs(fixture.variables()).env("BOSUN_HOME", fixture.state());
    let output = program.current_dir(&fixture.ws).stdin(Stdio::null()).output()?;
    let object: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("it said {:?}", String::from_utf8_lossy(&output.stderr).trim()))?;
    let word = match object["verdict"].as_str() {
        Some("allow") => "allowed",
        Some("ask") => "ask",
        Some("deny") => "forbidden",
        _ => "died",
    };
    observed.outcomes.push(word.to_owned());
    observed.objects.push(object);
    Ok(())
}

/// A whole run, recording the files it opens.
fn smoke(fixture: &Fixture, observed: &mut Observation) -> anyhow::Result<()> {
    let mut program = fixture.user.command("/usr/bin/strace".as_ref());
    program.args(["-f", "-qq", "-e", "trace=openat,open,creat", "-s", "4096", "--"]);
    program.arg(&fixture.binary).arg("demo").env_clear().envs(fixture.variables());
    program.env("BOSUN_HOME", fixture.state()).current_dir(&fixture.ws).stdin(Stdio::null());
    let output = program.output().context("running strace")?;
    observed.output = String::from_utf8_lossy(&output.stderr).into_owned();
    observed.outcomes.push(if output.status.success() { "ok" } else { "error" }.to_owned());
    Ok(())
}

/// A scripted single agent in the workspace with one message.
fn opened(fixture: &Fixture) -> anyhow::Result<()> {
    let script = fixture.state().join("script.toml");
    let text = "[[attempt]]\nrole = \"solo\"\n[[attempt.reply]]\nsay = \"hi\"\n";
    std::fs::write(&script, text).context("writing the script")?;
    let mut program = fixture.user.command(&fixture.binary);
    program.args(["run", "hi", "--preset", "solo", "--headless", "--script"]).arg(&script);
    program.env_clear().envs(fixture.variables()).env("BOSUN_HOME", fixture.state());
    let output = program.current_dir(&fixture.ws).stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "it was not opened: {said}");
    Ok(())
}

/// The same at a terminal: everything printed, verbatim.
fn at_a_terminal(
    fixture: &Fixture,
    action: &Value,
    vector: &Value,
    observed: &mut Observation,
) -> anyhow::Result<()> {
    let one = std::slice::from_ref(action);
    let steps = action["params"]["steps"].as_array().map_or(one, Vec::as_slice);
    for step in steps {
        let (tool, arguments) = ours(step)?;
        let mut program = program(fixture, &tool, vector, 1);
        program
            .args(["--args", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = program.spawn().context("starting the program")?;
        send(&mut child, &arguments, fixture)?;
        let output = child.wait_with_output()?;
        observed.terminal.extend(output.stdout);
        observed.terminal.extend(output.stderr);
    }
    Ok(())
}

fn program(fixture: &Fixture, tool: &str, vector: &Value, times: u64) -> Command {
    let mut program = fixture.user.command(&fixture.binary);
    program.args(["tool", tool, "--times", &times.to_string(), "--workspace"]);
    let named = vector["workspace"].as_str().map(|place| fixture.filled(place, 0).into());
    program
        .arg(named.unwrap_or_else(|| fixture.opened.clone()))
        .arg("--policy")
        .arg(&fixture.policy);
    program.env_clear().envs(fixture.variables()).env("BOSUN_HOME", fixture.state());
    for (name, value) in vector["env"].as_object().into_iter().flatten() {
        program.env(name, fixture.filled(value.as_str().unwrap_or_default(), 0));
    }
    program.current_dir(&fixture.ws);
    program
}

/// Sends the arguments once the process exists, so that they can name it.
fn send(child: &mut Child, arguments: &Value, fixture: &Fixture) -> anyhow::Result<()> {
    let pid = child.id();
    let text = match arguments {
        Value::String(raw) => raw.clone(),
        arguments => fixture.filled_json(arguments, pid).to_string(),
    };
    let mut input = child.stdin.take().context("its standard input")?;
    // A program that exits without reading everything gives the reason in its output.
    input.write_all(text.as_bytes()).ok();
    Ok(())
}

/// A call in progress.
struct Running {
    child: Child,
    watch: Watch,
}

impl Running {
    fn start(
        fixture: &Fixture,
        tool: &str,
        arguments: &Value,
        vector: &Value,
        times: u64,
    ) -> anyhow::Result<Self> {
        let mut program = program(fixture, tool, vector, times);
        program
            .args(["--args", "-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = program.spawn().context("starting the program")?;
        let watch = Watch::over(child.id());
        send(&mut child, arguments, fixture)?;
        Ok(Self { child, watch })
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until its command has started processes.
    fn until_it_works(&self) {
        self.watch.until(Duration::from_secs(10), |most| most >= 4);
    }

    fn finish(self, observed: &mut Observation) -> anyhow::Result<()> {
        let output = self.child.wait_with_output().context("waiting for the program")?;
        let (peak_mb, most) = self.watch.end();
        observed.peak_mb = observed.peak_mb.max(peak_mb);
        observed.most_processes = observed.most_processes.max(most);
        let mut lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let object: Option<Value> = lines.next().and_then(|line| serde_json::from_slice(line).ok());
        observed.well_formed &= object.is_some() && lines.next().is_none();
        let Some(object) = object else {
            let mut said = String::new();
            output.stderr.as_slice().take(500).read_to_string(&mut said).ok();
            // Refused before any call: no acceptable sandbox, or an invalid policy.
            let refused = matches!(output.status.code(), Some(5 | 65));
            observed.outcomes.push(if refused { "denied" } else { "died" }.to_owned());
            observed.output.push_str(&said);
            return Ok(());
        };
        observed.outcomes.push(object["outcome"].as_str().unwrap_or("died").to_owned());
        observed.output.push_str(object["content"].as_str().unwrap_or_default());
        observed.objects.push(object);
        Ok(())
    }
}
