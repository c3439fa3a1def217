//! The format of a spec and an Intent Spec: keys, types, limits. Spellings of other programs are accepted and
//! normalised.

use crate::shape::{YEAR, money, parsed, time};
use crate::{Artifact, Digest, Field, RunId, Shape, TaskId, Uuid};

/// Maximum length of a text field, in bytes.
const LONG: usize = 65_536;
const LINE: usize = 500;
/// Maximum length of a list.
const MANY: usize = 1_000;

static UUID: Shape = Shape::Parsed("a uuid", parsed::<Uuid>);
static TIME: Shape = Shape::Parsed("a time in UTC, such as 2026-01-31T09:00:00Z", time);
static DIGEST: Shape = Shape::Parsed("64 hexadecimal digits", parsed::<Digest>);
static RUN: Shape = Shape::Parsed("the id of a run", parsed::<RunId>);
static TASK: Shape = Shape::Parsed("the id of a task in a plan", parsed::<TaskId>);
static PATH: Shape = Shape::Parsed("a path in the repository", parsed::<Artifact>);
static MONEY: Shape = Shape::Parsed("dollars, such as \"1.50\"", money);
static TITLE: Shape = Shape::Text(LINE);
static TEXT: Shape = Shape::Text(LONG);
static ID: Shape = Shape::Text(40);
static TEXTS: Shape = Shape::List(&TEXT, MANY);
static COUNT: Shape = Shape::Number(0, u64::MAX);

/// The living spec.
pub static SPEC_FORMAT: Shape = Shape::Map(&[
    Field::needed("id", &UUID, "the spec, in all its versions"),
    Field::needed("team_id", &UUID, "whose it is").or(&["teamId"]),
    Field::needed("title", &TITLE, "one line"),
    Field::needed(
        "status",
        &Shape::Word(&["draft", "approved", "in_progress", "verifying", "done", "failed"], &[]),
        "where it stands; only approved specs are worked on",
    ),
    Field::needed("meta", &META, "which version this is"),
    Field::needed("intent", &TEXT, "what is wanted, and why"),
    Field::may("requirements", &Shape::List(&REQUIREMENT, MANY), "what must be true in the end"),
    Field::needed("constraints", &Shape::List(&CONSTRAINT, MANY), "what must be kept to"),
    Field::may("out_of_scope", &TEXTS, "what is not to be done").or(&["outOfScope"]),
    Field::may("assumptions", &Shape::List(&ASSUMPTION, MANY), "what is taken for granted"),
    Field::may("context_refs", &TEXTS, "documents that it rests on").or(&["contextRefs"]),
    Field::needed("verification", &VERIFICATION, "how one will see that it is there"),
    Field::may("budget", &BUDGET, "what may be spent on it"),
    Field::needed(
        "tasks",
        &Shape::List(&Shape::Short("id", &SPEC_TASK), MANY),
        "filled in by runs",
    )
    .or(&["taskIds", "task_ids"]),
    Field::needed("decisions", &Shape::List(&DECISION, MANY), "what was decided on the way"),
    Field::needed("blockers", &Shape::List(&BLOCKER, MANY), "what stands in the way"),
    Field::needed("created_by", &UUID, "who wrote it").or(&["createdBy"]),
]);

static META: Shape = Shape::Map(&[
    Field::needed("version", &Shape::Number(1, u64::MAX), "counts from 1"),
    Field::needed("created_at", &TIME, "").or(&["createdAt"]),
    Field::needed("updated_at", &TIME, "").or(&["updatedAt"]),
    Field::may("previous", &DIGEST, "the version before this one"),
    Field::may("run", &RUN, "the run that wrote this version"),
]);

static REQUIREMENT: Shape = Shape::Short(
    "description",
    &Shape::Map(&[
        Field::may("id", &ID, "REQ-001, REQ-002, ...; counted if left out"),
        Field::needed("description", &TEXT, "what must be true").or(&["text"]),
        Field::may(
            "priority",
            &Shape::Word(
                &["must", "should", "could"],
                &[("could", "nice"), ("could", "nice_to_have"), ("must", "must_have")],
            ),
            "must, if nothing is said",
        ),
        Field::may("verification", &TEXT, "how one will see that it holds"),
    ]),
);

static CONSTRAINT: Shape = Shape::Short(
    "description",
    &Shape::Map(&[
        Field::may("id", &ID, "CON-001, CON-002, ...; counted if left out"),
        Field::needed("description", &TEXT, "what must be kept to").or(&["text"]),
    ]),
);

static ASSUMPTION: Shape = Shape::Map(&[
    Field::may("id", &ID, "ASM-001, ASM-002, ...; counted if left out"),
    Field::needed("statement", &TEXT, "what is taken for granted").or(&["text"]),
    Field::needed("source", &TITLE, "a document, or operator_input"),
]);

pub(crate) static CHECK: Shape = Shape::Map(&[
    Field::needed("name", &TITLE, "what it is called"),
    Field::needed("command", &Shape::Text(8_192), "it exits with 0 only if all is well"),
    Field::may("timeout_ms", &Shape::Number(1, YEAR), "how long it may take, in milliseconds"),
]);

static SPEC_CHECK: Shape = Shape::Map(&[
    Field::needed("name", &TITLE, "what it is called"),
    Field::needed("command", &Shape::Text(8_192), "it exits with 0 only if all is well"),
    Field::may("timeout_ms", &Shape::Number(1, YEAR), "how long it may take, in milliseconds"),
    Field::may(
        "hidden",
        &Shape::Flag,
        "whether no agent is told of it; it runs on the merged tree",
    ),
]);

static VERIFICATION: Shape = Shape::Map(&[
    Field::needed(
        "criteria",
        &TEXTS,
        "commands that must exit with 0, and sentences that a check is named after or a person confirms",
    ),
    Field::may("checks", &Shape::List(&SPEC_CHECK, MANY), "commands that decide"),
    Field::may("test_plan", &TEXT, "how a person would try it").or(&["testPlan"]),
    Field::may("results", &Shape::List(&VERIFIED, MANY), "what the checks said in the end"),
]);

static VERIFIED: Shape = Shape::Map(&[
    Field::needed("check", &TITLE, ""),
    Field::needed("passed", &Shape::Flag, ""),
    Field::needed("ended", &TITLE, ""),
]);

static BUDGET: Shape = Shape::Map(&[
    Field::may("tokens", &COUNT, "the most tokens"),
    Field::may("money", &MONEY, "the most money, in dollars"),
    Field::may("calls", &COUNT, "the most calls to a model"),
    Field::may("time_ms", &Shape::Number(1, YEAR), "the most time, in milliseconds"),
]);

static TASK_STATUS: Shape =
    Shape::Word(&["pending", "assigned", "running", "completed", "failed", "skipped"], &[]);

static SPEC_TASK: Shape = Shape::Map(&[
    Field::needed("id", &UUID, ""),
    Field::may("name", &TASK, "its id in the plan"),
    Field::may("title", &TITLE, ""),
    Field::may("status", &TASK_STATUS, ""),
    Field::may("depends_on", &Shape::List(&UUID, MANY), "").or(&["dependsOn"]),
    Field::may("result", &TASK_RESULT, "what came of it"),
]);

static TASK_RESULT: Shape = Shape::Map(&[
    Field::needed("status", &TASK_STATUS, ""),
    Field::needed("artifacts", &Shape::List(&PATH, 10 * MANY), "the files that it changed"),
    Field::needed("decisions", &TEXTS, "what was decided on the way"),
]);

static DECISION: Shape = Shape::Map(&[
    Field::needed("id", &UUID, ""),
    Field::needed("description", &TEXT, ""),
    Field::needed("decided_by", &TITLE, "").or(&["decidedBy"]),
    Field::needed("decided_at", &TIME, "").or(&["decidedAt"]),
    Field::may("rationale", &TEXT, ""),
]);

static BLOCKER: Shape = Shape::Map(&[
    Field::needed("id", &UUID, ""),
    Field::needed("description", &TEXT, ""),
    Field::needed("status", &Shape::Word(&["open", "resolved"], &[]), ""),
    Field::needed("reported_at", &TIME, "").or(&["reportedAt"]),
    Field::may("resolved_at", &TIME, "there if and only if it is resolved").or(&["resolvedAt"]),
    Field::may("resolution", &TEXT, "what resolved it, such as the answer"),
]);

/// The Intent Spec, as a product agent submits it.
pub static INTENT_FORMAT: Shape = Shape::Map(&[
    Field::needed("spec_id", &TITLE, "names this spec").or(&["specId"]),
    Field::needed("task_id", &TITLE, "the request that it answers").or(&["taskId"]),
    Field::needed("objective", &TEXT, "what is wanted, in one sentence"),
    Field::needed("requirements", &Shape::Some(&INTENT_REQUIREMENT, MANY), "what must be true"),
    Field::needed("constraints", &Shape::List(&INTENT_CONSTRAINT, MANY), "what must be kept to"),
    Field::needed("out_of_scope", &Shape::Some(&TEXT, MANY), "what is not to be done; never empty")
        .or(&["outOfScope"]),
    Field::needed(
        "assumptions",
        &Shape::List(&INTENT_ASSUMPTION, MANY),
        "what is taken for granted",
    ),
    Field::needed("context_refs", &TEXTS, "the documents that were used").or(&["contextRefs"]),
]);

static INTENT_REQUIREMENT: Shape = Shape::Map(&[
    Field::needed("id", &REQ, "REQ-001, REQ-002, ..."),
    Field::needed("description", &TEXT, "what must be true"),
    Field::needed("verification", &TEXT, "how it is evaluated, mechanically"),
]);

static INTENT_CONSTRAINT: Shape = Shape::Map(&[
    Field::needed("id", &CON, "CON-001, CON-002, ..."),
    Field::needed("description", &TEXT, "what must be kept to"),
]);

static INTENT_ASSUMPTION: Shape = Shape::Map(&[
    Field::needed("id", &ASM, "ASM-001, ASM-002, ..."),
    Field::needed("statement", &TEXT, "what is taken for granted"),
    Field::needed("source", &TITLE, "the ref of a document that was given, or operator_input"),
]);

static REQ: Shape = Shape::Parsed("REQ-001", |text| counted("REQ", text));
static CON: Shape = Shape::Parsed("CON-001", |text| counted("CON", text));
static ASM: Shape = Shape::Parsed("ASM-001", |text| counted("ASM", text));

fn counted(prefix: &str, text: &str) -> Result<(), String> {
    let digits = text.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
    let good = |digits: &str| {
        (3..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    };
    if digits.is_some_and(good) {
        return Ok(());
    }
    Err(format!("{:?} is not an id such as {prefix}-001", crate::one_line(text, 40)))
}
