//! The brief of a role with a contract: one JSON object, with exactly the keys that its document names. A pure function
//! of the run; the runtime inserts file contents.

use serde_json::{Value, json};
use types::{
    About, Attachment, AttachmentKind, AttemptId, Contract, Contracts, NetworkLeave, Side, Task,
    TaskId, VerifyPolicy, WorkPath,
};

use crate::stages::{intent, review};
use crate::state::{Run, Running};
use rules::contract::outside;
use rules::manifest;

/// Whether a role with this contract is given the request itself, with its images.
pub(crate) fn has_request(run: &Run, contract: Contract) -> bool {
    match contract {
        Contract::IntentSpec => intent::passes_request(run),
        Contract::DevOutput | Contract::Verdict => {
            intent::is_inline(run) && intent::passes_request(run)
        }
        Contract::Plan | Contract::Advice | Contract::Edits | Contract::Report => false,
    }
}

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
        "input": input(run),
        "injected_context": injected(run, Side::Product),
        "scope": child_scope(run, running),
    })
}

fn dev(run: &Run, attempt: &AttemptId, running: &Running) -> Value {
    let mut message = commission(run, &attempt.task);
    message["injected_context"] = injected(run, Side::Dev).into();
    message["workspace"] = json!({ "root": ".", "files": [] });
    message["scope"] = child_scope(run, running);
    message
}

fn judge(run: &Run, attempt: &AttemptId, running: &Running) -> Value {
    let Some(task) = run.reviewed_task(&attempt.task) else { return json!({}) };
    let mut message = commission(run, &task);
    message["dev_output"] = json!(run.handed_in(&task));
    message["injected_context"] = injected(run, Side::Dev).into();
    message["scope"] = child_scope(run, running);
    message
}

/// The task and its spec. A spec that code wrote only says how to verify the request, so the request comes with it.
fn commission(run: &Run, task: &TaskId) -> Value {
    let mut message = json!({ "task_id": task });
    if has_request(run, Contract::DevOutput) {
        message["input"] = input(run);
    }
    message["intent_spec"] = json!(run.spec());
    message
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

/// The request as received, with the answers to questions about it, and its attachments.
fn input(run: &Run) -> Value {
    if !intent::passes_request(run) {
        return json!({ "body": run.full_text() });
    }
    let mut input = json!({ "body": run.goal() });
    let answers = run.answered_about_the_request();
    let answers: Vec<Value> = answers
        .map(|(question, answer)| json!({ "question": question, "answer": answer }))
        .collect();
    if !answers.is_empty() {
        input["answers"] = answers.into();
    }
    let attachments = run.request().map(|request| request.attachments.as_slice());
    let attachments: Vec<Value> = attachments.unwrap_or_default().iter().map(attached).collect();
    if !attachments.is_empty() {
        input["attachments"] = attachments.into();
    }
    input
}

/// An attachment. An image is sent beside the message, if it can be shown at all.
fn attached(attachment: &Attachment) -> Value {
    let mut value = json!({ "type": attachment.kind, "description": attachment.description });
    match attachment.kind {
        AttachmentKind::File | AttachmentKind::Url => {
            value["content"] = attachment.content.as_str().into();
        }
        AttachmentKind::Image => value["shown"] = attachment.picture().is_some().into(),
    }
    value
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
