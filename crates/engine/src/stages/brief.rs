//! The brief of an attempt: the role's prompt, the documents that the rules selected, the task, and the handover from
//! earlier attempts. A pure function of the run: the same run gives the same bytes.

use std::fmt::Write as _;

use types::{
    Assignment, AttachmentKind, AttemptId, Brief, Check, Ending, ReplyRule, Request, RoleId,
    Sensitive, Spec, Task, WorkPath,
};

use crate::stages::{baseline, brief_json, intent};
use crate::state::{Run, Running};
use rules::manifest;

/// Maximum number of characters of an attachment in a planner's brief.
const MOST_ATTACHED: usize = 20_000;
/// Maximum number of failing tests listed in a brief.
const MOST_FAILING: usize = 20;

pub(crate) fn compose(run: &Run, attempt: &AttemptId, running: &Running) -> Brief {
    let role = run.policy().roles.get(&running.role);
    let (told, shows) = said(run, attempt, running);
    let task = task_of(run, attempt);
    Brief {
        run: run.id().clone(),
        attempt: attempt.clone(),
        role: running.role.clone(),
        model: run.model_for(&running.role, running.model.as_ref()),
        server: run.request().and_then(|request| request.server.clone()),
        system: match role {
            // A role with a contract gets everything in its first message.
            Some(role) if role.reply.is_some() => role.prompt.clone(),
            role => {
                let prompt = role.map(|role| role.prompt.as_str()).unwrap_or_default();
                system(run, running, prompt, task)
            }
        },
        task: told,
        images: pictures(run, role.and_then(|role| role.reply)),
        tools: role.map(manifest::effective_tools).unwrap_or_default(),
        tool_specs: vec![],
        ending: Ending::Submission,
        effort: role.and_then(|role| role.effort),
        window: None,
        reply: role.and_then(|role| role.reply),
        shows,
        files: vec![],
        price: None,
        folder: None,
        policy: None,
        forked: None,
        output: None,
        instruction: None,
        scope: running.scope.clone(),
        isolation: run.isolation(),
        start: running.start.clone(),
        assignment: Assignment {
            base: run
                .task_state(&attempt.task)
                .and_then(|task_state| task_state.base.as_ref())
                .cloned(),
            goal: goal(run, task.map(|(_, task)| task)),
            test_files: run.test_files(),
            setup: run.check_results().setup.clone(),
        },
        budget: running.budget,
        max_turns: role.map_or(1, |role| role.max_turns),
        // The runtime knows the model's own output limit.
        max_output_tokens: rules::ledger::output_limit(
            role.and_then(|role| role.max_output_tokens),
            None,
        ),
        output_chars: run.policy().limits.output_chars,
    }
}

/// The first message of an attempt.
pub(crate) fn told(run: &Run, attempt: &AttemptId, running: &Running) -> String {
    said(run, attempt, running).0
}

fn said(run: &Run, attempt: &AttemptId, running: &Running) -> (String, Vec<WorkPath>) {
    let task = task_of(run, attempt);
    let reply = run.policy().roles.get(&running.role).and_then(|role| role.reply);
    match (reply, task) {
        (Some(reply), _) => brief_json::compose(run, attempt, running, reply.contract),
        (None, Some((place, task))) => {
            let places = match run.tested_task(&attempt.task) {
                None => format!("# Writable paths\n\n{}", running.scope),
                Some(_) => format!("# Files that its coder may write\n\n{}", task.scope()),
            };
            (task_text(run, (place, task), &places, running), shown(run, task))
        }
        (None, None) => (plan_text(run, running), vec![]),
    }
}

/// The task of an attempt, or the one that it writes tests for, with its place in the plan.
fn task_of<'a>(run: &'a Run, attempt: &AttemptId) -> Option<(usize, &'a Task)> {
    let tested = run.tested_task(&attempt.task);
    let place = run.place(tested.as_ref().unwrap_or(&attempt.task))?;
    Some((place, run.task(place)?))
}

/// The files of a task that are shown to its agent; which of them there are, and fit, the runtime finds out.
fn shown(run: &Run, task: &Task) -> Vec<WorkPath> {
    if run.policy().session.shown_bytes == 0 {
        return vec![];
    }
    let files = task.artifacts.iter().filter(|artifact| !artifact.whole_folder);
    let files = files.map(|artifact| &artifact.path);
    files.filter(|path| Sensitive::of(path).is_none()).cloned().collect()
}

/// The goals of the run and the task.
fn goal(run: &Run, task: Option<&Task>) -> String {
    let mut text = run.full_text();
    if let Some(task) = task {
        let _ =
            write!(text, "\n{}\n{}\n{}", task.title, task.description, task.acceptance.join("\n"));
    }
    text
}

/// The documents for an agent in this role, of those that the rules selected.
#[must_use]
pub fn documents(run: &Run, role: &RoleId) -> Vec<WorkPath> {
    intent::given(run, intent::side(run, role)).into_iter().cloned().collect()
}

fn system(run: &Run, running: &Running, prompt: &str, task: Option<(usize, &Task)>) -> String {
    let mut text = prompt.trim_end().to_owned();
    if let Some((place, task)) = task {
        let count = run.plan().map_or(0, |plan| plan.tasks.len());
        let title = types::one_line(&task.title, 200);
        let _ = write!(text, "\n\nThis is task {} of {count}: {title}", place + 1);
    }
    let selected = documents(run, &running.role);
    let documents = run.asked().map(|asked| asked.survey.documents.as_slice()).unwrap_or_default();
    for document in documents.iter().filter(|document| selected.contains(&document.path)) {
        let _ = write!(text, "{}{}", heading(&document.path), document.text.trim_end());
    }
    text
}

/// The heading of a document in a prompt.
pub(crate) fn heading(path: &WorkPath) -> String {
    format!("\n\n# {path}\n\n")
}

fn plan_text(run: &Run, running: &Running) -> String {
    // A planner's message starts with the spec as written.
    let mut text = match spec(run) {
        Some(spec) => format!("{}{}", spec.text(), answers(run)),
        None => format!("# Goal\n\n{}\n", run.full_text().trim_end()),
    };
    if let Some(asked) = run.asked() {
        append_attachments(&mut text, &asked.request);
        let survey = &asked.survey;
        let _ = write!(text, "\n# Files ({} in all)\n\n", survey.file_count);
        for file in
            survey.files.iter().filter(|file| !rules::context::is_of_registry(file.as_str()))
        {
            let _ = writeln!(text, "{file}");
        }
        text.push_str("\n# Checks that must pass\n\n");
        let dropped = |check: &&Check| run.check_results().is_dropped(check);
        for check in run.project_checks().iter().filter(|check| !dropped(check)) {
            let _ = writeln!(text, "{}: `{}`", check.name, check.command);
        }
    }
    append_baseline(&mut text, run);
    append_feedback(&mut text, running);
    text
}

/// Lists existing failures, so that agents do not look for them in their own work.
fn append_baseline(text: &mut String, run: &Run) {
    let failing = baseline::failing(run);
    if failing.is_empty() {
        return;
    }
    text.push_str("\n# Failing before any change\n\n");
    for (check, tests) in failing {
        let _ = writeln!(
            text,
            "{}: `{}` does not pass on the untouched tree",
            check.name, check.command
        );
        for test in tests.iter().take(MOST_FAILING) {
            let _ = writeln!(text, "- {}", types::one_line(test, 200));
        }
    }
    text.push_str("Failures unrelated to your task do not count against it.\n");
}

fn spec(run: &Run) -> Option<&Spec> {
    run.request()?.spec.as_deref()
}

/// The answers to questions about the spec.
fn answers(run: &Run) -> String {
    let asked = run.goal();
    match run.full_text().strip_prefix(asked).map(str::trim) {
        None | Some("") => String::new(),
        Some(answers) => format!("\n# Answers to questions about the spec\n\n{answers}\n"),
    }
}

/// The constraints on every task of a spec.
fn append_bounds(text: &mut String, run: &Run) {
    let Some(spec) = spec(run) else { return };
    let constraints = spec.constraints.iter();
    let constraints = constraints.map(|one| format!("- {}: {}", one.id, one.description));
    append_list(text, "Constraints", constraints);
    append_list(text, "Out of scope", spec.out_of_scope.iter().map(|what| format!("- {what}")));
}

/// Adds a list with its heading, unless it is empty.
fn append_list(text: &mut String, heading: &str, lines: impl Iterator<Item = String>) {
    for (place, line) in lines.enumerate() {
        if place == 0 {
            let _ = write!(text, "\n# {heading}\n\n");
        }
        let _ = writeln!(text, "{line}");
    }
}

fn task_text(run: &Run, (place, task): (usize, &Task), places: &str, running: &Running) -> String {
    let count = run.plan().map_or(0, |plan| plan.tasks.len());
    let mut text = format!("# Task {} of {count}: {}\n", place + 1, task.title);
    let _ = write!(text, "\nPart of this goal: {}\n", run.full_text().trim_end());
    if !task.description.is_empty() {
        let _ = write!(text, "\n{}\n", task.description.trim_end());
    }
    if !task.rationale.is_empty() {
        let _ = write!(text, "\nWhy it is a separate task: {}\n", task.rationale.trim_end());
    }
    let criteria = task.acceptance.iter().map(|criterion| format!("- {criterion}"));
    append_list(&mut text, "Acceptance criteria", criteria);
    append_bounds(&mut text, run);
    let _ = write!(text, "\n{places}\n");
    let checks = if task.checks.is_empty() { run.project_checks() } else { &task.checks };
    let checks = checks.iter().filter(|check| !run.check_results().is_dropped(check));
    let checks = checks.map(|check| format!("{}: `{}`", check.name, check.command));
    append_list(&mut text, "Checks that must pass", checks);
    append_baseline(&mut text, run);
    append_feedback(&mut text, running);
    text
}

/// The images of the request, for planners and executors. A role with a contract gets only the inputs named in it.
fn pictures(run: &Run, reply: Option<ReplyRule>) -> Vec<types::Source> {
    let given = reply.is_none_or(|reply| brief_json::has_request(run, reply.contract));
    let attached = run.request().filter(|_| given).map(|request| &request.attachments);
    attached.into_iter().flatten().filter_map(types::Attachment::picture).collect()
}

/// The attachments of the request: files as text, pages by address, images by description.
fn append_attachments(text: &mut String, request: &Request) {
    for attachment in &request.attachments {
        let description = attachment.description.trim();
        let content = attachment.content.trim_end();
        let shown: String = content.chars().take(MOST_ATTACHED).collect();
        let _ = match attachment.kind {
            AttachmentKind::File => write!(text, "\n# Attached: {description}\n\n{shown}\n"),
            AttachmentKind::Url => write!(text, "\n# Attached: {description}\n\nSee {shown}\n"),
            AttachmentKind::Image if attachment.picture().is_some() => {
                write!(text, "\n# Attached image, shown below: {description}\n")
            }
            AttachmentKind::Image => {
                write!(text, "\n# Attached image, which cannot be shown here: {description}\n")
            }
        };
        if shown.len() < content.len() && attachment.kind != AttachmentKind::Image {
            text.push_str("[truncated]\n");
        }
    }
}

fn append_feedback(text: &mut String, running: &Running) {
    if let Some(feedback) = &running.feedback {
        let _ = write!(text, "\n# Feedback on the previous attempt\n\n{feedback}\n");
    }
}
