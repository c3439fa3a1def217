//! The brief of a role with a contract: one JSON object, with exactly the keys that its document names. A pure function
//! of the run; the runtime inserts file contents.

use serde_json::{Value, json};
use types::{
    About, AttemptId, Contract, Contracts, NetworkLeave, Side, Task, TaskId, VerifyPolicy, WorkPath,
};

use crate::stages::{intent, review};
use crate::state::{Run, Running};
use rules::contract::outside;
use rules::manifest;

/// The first message to a role with a contract, and the files whose contents it includes.
pub(crate) fn compose(
    run: &Run,
    attempt: &AttemptId,
    running: &Running,
    contract: Contract,
) -> (String, Vec<WorkPath>) {
    let policy = &run.policy().contracts;
    let task = run.planned(&attempt.task);
    let (input, shows) = match contract {
        Contract::Plan => (planner(run, policy), vec![]),
        // As a planner without a fixed plan id gets it.
        Contract::Advice => (planner(run, &Contracts { plan_id: None, ..policy.clone() }), vec![]),
        Contract::Edits => coder(task, running, policy),
        Contract::Report => (tester(run, attempt), vec![]),
        Contract::IntentSpec => {
            let input = product(run, running);
            (with_words(input, run, running, &[&attempt.task]), vec![])
        }
        Contract::DevOutput => {
            let input = dev(run, attempt, running);
            (with_words(input, run, running, &[&attempt.task]), intent::shown(run))
        }
        Contract::Verdict => {
            let judged = run.reviewed_task(&attempt.task);
            let about: Vec<&TaskId> = judged.iter().chain([&attempt.task]).collect();
            (with_words(judge(run, attempt, running), run, running, &about), vec![])
        }
    };
    (input.to_string(), shows)
}

/// The request and the files.
fn planner(run: &Run, policy: &Contracts) -> Value {
    let survey = run.survey();
    let all = survey.map(|survey| survey.files.as_slice()).unwrap_or_default();
    let mut names: Vec<&str> = all.iter().filter_map(|path| outside(policy, path)).collect();
    names.sort_unstable();
    names.truncate(policy.summary_files);
    let lines = names.iter().map(|name| match note(name, &run.policy().verify) {
        Some(note) => format!("{name} ({note})"),
        None => (*name).to_owned(),
    });
    let mut input = json!({
        "goal": run.full_text().trim_end(),
        "repo_summary": lines.collect::<Vec<_>>().join("\n"),
    });
    if let Some(id) = &policy.plan_id {
        input["plan_id"] = id.as_str().into();
    }
    input
}

/// A short note on a file whose name reveals its purpose.
fn note(path: &str, tests: &VerifyPolicy) -> Option<&'static str> {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        _ if rules::findings::is_test(path, tests) => Some("tests"),
        Some("md" | "txt" | "rst" | "tex") => Some("text"),
        Some("json" | "yaml" | "yml" | "toml" | "ini" | "cfg") => Some("settings"),
        _ => None,
    }
}

fn coder(task: Option<&Task>, running: &Running, policy: &Contracts) -> (Value, Vec<WorkPath>) {
    let Some(task) = task else { return (json!({}), vec![]) };
    let files = task.artifacts.iter().filter(|artifact| !artifact.whole_folder);
    let files: Vec<WorkPath> = files.map(|artifact| artifact.path.clone()).collect();
    let artifacts = task.artifacts.iter().filter_map(|artifact| outside(policy, &artifact.path));
    let title = match running.feedback {
        Some(_) => format!("Fix failing tests for: {}", task.title),
        None => task.title.clone(),
    };
    let mut input = json!({ "task": {
        "id": task.id,
        "title": title,
        "rationale": task.rationale,
        "acceptance": task.acceptance.join("\n"),
        "artifacts": artifacts.collect::<Vec<_>>(),
    }});
    if let Some(feedback) = &running.feedback {
        input["task"]["feedback"] =
            rules::truncate::report(feedback, policy.text_chars, None).text.into();
    }
    (input, files)
}

fn tester(run: &Run, attempt: &AttemptId) -> Value {
    let Some(task) = run.reviewed_task(&attempt.task) else { return json!({}) };
    let (code, output) = review::said(run, &task);
    json!({ "task_id": task, "pytest_exit_code": code, "pytest_output": output })
}

fn product(run: &Run, running: &Running) -> Value {
    json!({
        "task_id": intent::TASK,
        "input": { "body": body(run) },
        "injected_context": injected(run, Side::Product),
        "scope": child_scope(run, running),
    })
}

fn dev(run: &Run, attempt: &AttemptId, running: &Running) -> Value {
    json!({
        "task_id": attempt.task,
        "intent_spec": run.spec(),
        "injected_context": injected(run, Side::Dev),
        "workspace": { "root": ".", "files": [] },
        "scope": child_scope(run, running),
    })
}

fn judge(run: &Run, attempt: &AttemptId, running: &Running) -> Value {
    let task = run.reviewed_task(&attempt.task);
    json!({
        "task_id": task,
        "intent_spec": run.spec(),
        "dev_output": task.as_ref().and_then(|task| run.handed_in(task)),
        "injected_context": injected(run, Side::Dev),
        "scope": child_scope(run, running),
    })
}

/// Adds the operator's answers to escalations of these tasks, verbatim and for every later attempt, so that a fresh
/// instance has them too; without any, the other handover of the rules.
fn with_words(mut input: Value, run: &Run, running: &Running, tasks: &[&TaskId]) -> Value {
    let concerns = |about: Option<&About>| match about {
        Some(About::Task(task)) => tasks.contains(&task),
        Some(About::Gate(_)) => true,
        _ => false,
    };
    let asked = run.questions().iter().filter(|question| concerns(question.about()));
    let words: Vec<String> = asked.filter_map(|question| question.words()).collect();
    match &running.feedback {
        _ if !words.is_empty() => input["operator_input"] = words.into(),
        Some(feedback) => input["feedback"] = feedback.as_str().into(),
        None => {}
    }
    input
}

/// The request as received, with any answers.
fn body(run: &Run) -> String {
    match run.asked() {
        Some(asked) if run.questions().is_empty() => asked.request.text.clone(),
        _ => run.full_text(),
    }
}

fn injected(run: &Run, side: Side) -> Vec<Value> {
    let given = intent::given(run, side);
    let documents = run.survey().map(|survey| survey.documents.as_slice()).unwrap_or_default();
    let documents = documents.iter().filter(|document| given.contains(&&document.path));
    documents.map(|one| json!({ "ref": one.path, "content": one.text })).collect()
}

/// The scope of the child, as enforced.
fn child_scope(run: &Run, running: &Running) -> Value {
    let role = run.policy().roles.get(&running.role);
    let hosts = match role.and_then(|role| role.manifest.as_ref()).map(|leave| &leave.network) {
        Some(NetworkLeave::Hosts(hosts)) => hosts.clone(),
        _ => vec![],
    };
    json!({
        "allowed_tools": role.map(manifest::effective_tools).unwrap_or_default(),
        "write_paths": running.scope,
        "network_whitelist": hosts,
        "time_limit_ms": running.budget.time_ms,
        "output_size_limit_bytes": run.policy().contracts.reply_chars,
    })
}
