//! `bosun spec`: write, check, format, compare and approve specs. The engine decides what is valid; this file reads,
//! writes and prints.

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use rules::spec::{self, BadSpec};
use runtime::{Clock as _, RealClock};
use serde_json::json;
use types::{Problem, Spec, SpecMeta, SpecStatus, Uuid, Verification, one_line};

use crate::args::{self, SpecCommand};
use crate::exit::{CliError, Exit};
use crate::files::{read as read_file, write};
use crate::print;

pub(crate) fn spec(args: &args::Spec) -> anyhow::Result<Exit> {
    match &args.command {
        SpecCommand::Init { file, title, intent } => init(file, title, intent),
        SpecCommand::Check { file, intent, json } => check(file, *intent, *json),
        SpecCommand::Fmt { file, write, check } => fmt(file, *write, *check),
        SpecCommand::Diff { old, new, json } => diff(old, new, *json),
        SpecCommand::Schema { intent } => {
            print::json(&if *intent { spec::intent::schema() } else { spec::schema() })?;
            Ok(Exit::Done)
        }
        SpecCommand::Approve { file, json } => approve(file, *json),
    }
}

/// Loads a spec; the error lists all its problems.
fn load(path: &Path) -> Result<Spec, CliError> {
    parsed(&read_file(path)?).map_err(not_a_spec(path))
}

/// Like `load`, but rejects a template that is not filled in.
pub(crate) fn load_filled(path: &Path) -> Result<Spec, CliError> {
    filled(&read_file(path)?).map_err(not_a_spec(path))
}

/// Parses a spec that must be filled in; the error lists all its problems.
pub(crate) fn filled(text: &str) -> Result<Spec, String> {
    let spec = parsed(text)?;
    match spec::unfilled(&spec).as_slice() {
        [] => Ok(spec),
        problems => Err(joined(problems)),
    }
}

fn parsed(text: &str) -> Result<Spec, String> {
    spec::read(text).map_err(|bad| match bad {
        BadSpec::Parse(error) => error.to_string(),
        BadSpec::Validation(problems) => joined(&problems),
    })
}

fn not_a_spec(path: &Path) -> impl FnOnce(String) -> CliError {
    let path = path.display().to_string();
    |cause| CliError::NotASpec { path, cause }
}

fn joined(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Prints the warnings about a spec.
fn warn(name: &str, spec: &Spec) {
    for warning in spec::warnings(spec) {
        print::note(&format!("{name}: {warning}"));
    }
}

fn init(file: &Path, title: &str, intent: &str) -> anyhow::Result<Exit> {
    let now = RealClock.now();
    let nobody = Uuid::of("nobody");
    let first = Spec {
        // A run's id is random, and so is the UUID derived from it.
        id: Uuid::of(runtime::draw_run_id().as_str()),
        team_id: nobody.clone(),
        title: title.to_owned(),
        status: SpecStatus::Draft,
        meta: SpecMeta { version: 1, created_at: now, updated_at: now, previous: None, run: None },
        intent: intent.to_owned(),
        requirements: vec![],
        constraints: vec![],
        out_of_scope: vec![],
        assumptions: vec![],
        context_refs: vec![],
        verification: Verification::default(),
        budget: None,
        tasks: vec![],
        decisions: vec![],
        blockers: vec![],
        created_by: nobody,
    };
    let text = format!("{HEAD}{}", first.text());
    let writing = || format!("writing {}", file.display());
    let mut new = std::fs::File::create_new(file).with_context(writing)?;
    new.write_all(text.as_bytes()).with_context(writing)?;
    let name = file.display();
    print::line(&format!("wrote  {name}"))?;
    print::line(&format!(
        "next   fill it in, then: bosun spec check {name} && bosun spec approve {name}"
    ))?;
    Ok(Exit::Done)
}

/// Comment for the author of a new spec. The canonical form has no comments.
const HEAD: &str = "\
# Describes a change and how to verify it. `bosun spec check` lists problems in this file.
# Optional keys:
#   requirements: [{description: ..., priority: must | should | could, verification: ...}]
#   out_of_scope: [...]
#   assumptions: [{statement: ..., source: a document, or operator_input}]
#   verification: {criteria: [...], checks: [{name: tests, command: make test}], test_plan: ...}
#   budget: {tokens: 200000, time_ms: 600000, money: \"1.50\"}
";

fn check(file: &Path, intent: bool, as_json: bool) -> anyhow::Result<Exit> {
    let read = spec::read(&read_file(file)?).and_then(|spec| {
        let mut missing = spec::unfilled(&spec);
        missing.extend(if intent { spec::intent::missing(&spec) } else { vec![] });
        if missing.is_empty() { Ok(spec) } else { Err(BadSpec::Validation(missing)) }
    });
    let name = file.display();
    let (object, lines, exit) = match &read {
        Ok(spec) => {
            let (version, digest, status) =
                (spec.meta.version, spec.digest(), spec.status.as_str());
            let warnings = spec::warnings(spec);
            let object = json!({
                "ok": true, "status": status, "version": version, "digest": digest, "warnings": warnings,
            });
            let line = format!("{name} is valid: version {version}, {status}, {}", digest.short());
            (object, vec![line], Exit::Done)
        }
        Err(BadSpec::Parse(error)) => {
            let object = json!({ "ok": false, "kind": "parse", "message": error.to_string() });
            (object, vec![format!("{name}: {error}")], Exit::BadFile)
        }
        Err(BadSpec::Validation(problems)) => {
            let message = types::count(problems.len(), "problem");
            let object = json!({ "ok": false, "kind": "validation", "message": message, "issues": problems });
            (object, problems.iter().map(|one| format!("{name}: {one}")).collect(), Exit::BadFile)
        }
    };
    if as_json {
        print::json(&object)?;
        return Ok(exit);
    }
    lines.iter().try_for_each(|line| print::line(line))?;
    if let Ok(spec) = &read {
        warn(&name.to_string(), spec);
    }
    Ok(exit)
}

fn fmt(file: &Path, in_place: bool, only_check: bool) -> anyhow::Result<Exit> {
    let text = load(file)?.text();
    if only_check {
        let same = read_file(file)? == text;
        return Ok(if same { Exit::Done } else { Exit::Failed });
    }
    if in_place {
        write(file, &text)?;
    } else {
        print::text(&text)?;
    }
    Ok(Exit::Done)
}

fn diff(old: &Path, new: &Path, as_json: bool) -> anyhow::Result<Exit> {
    for one in spec::diff(&load(old)?, &load(new)?) {
        let shown = |value: &Option<serde_json::Value>| {
            value.as_ref().map(|value| one_line(&value.to_string(), 80)).unwrap_or_default()
        };
        let (from, to) = (shown(&one.old_value), shown(&one.new_value));
        let change = match one.kind {
            "added" => to,
            "removed" => from,
            _ => format!("{from} -> {to}"),
        };
        print::result(as_json, &one, &format!("{:<8} {}  {change}\n", one.kind, one.path))?;
    }
    Ok(Exit::Done)
}

fn approve(file: &Path, as_json: bool) -> anyhow::Result<Exit> {
    let draft = load_filled(file)?;
    let approved = spec::moved(&draft, SpecStatus::Approved, RealClock.now(), None)
        .map_err(|step| CliError::NoSuchStep { path: file.display().to_string(), step })?;
    write(file, &approved.text())?;
    let (version, digest) = (approved.meta.version, approved.digest());
    if as_json {
        print::json(&json!({ "status": "approved", "version": version, "digest": digest }))?;
    } else {
        let name = file.display();
        print::line(&format!("approved  {name}, version {version}, {}", digest.short()))?;
        print::line(&format!("next      bosun run --spec {}", print::path(file)))?;
        warn(&name.to_string(), &approved);
    }
    Ok(Exit::Done)
}
