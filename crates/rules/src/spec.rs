//! Specs: strict validation with path and line of every problem, and the life cycle. A status only moves forward, and
//! every change is a new version that names its predecessor.

mod criteria;
mod diff;
pub mod intent;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use types::yaml::{self, NotYaml};
use types::{
    BlockerStatus, Decision, Problem, Request, RuleId, RunId, SPEC_FORMAT, Spec, SpecStatus,
    Timestamp,
};

use crate::ledger::narrower;

pub use diff::{Difference, diff};

/// Why a text is not a spec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadSpec {
    /// It is not YAML.
    Parse(NotYaml),
    /// It can be parsed, but is not a valid spec.
    Validation(Vec<Problem>),
}

/// Reads a spec from a file's text.
pub fn read(text: &str) -> Result<Spec, BadSpec> {
    let read = yaml::read(text).map_err(BadSpec::Parse)?;
    of_value(&read.value).map_err(|problems| {
        BadSpec::Validation(problems.into_iter().map(|one| one.in_file(&read)).collect())
    })
}

/// Reads a spec from plain data.
fn of_value(value: &Value) -> Result<Spec, Vec<Problem>> {
    let mut spec: Spec = SPEC_FORMAT.read_as(value)?;
    count_ids(&mut spec);
    let problems = problems(&spec);
    if problems.is_empty() { Ok(spec) } else { Err(problems) }
}

/// Whether a text is a spec in canonical form, as approval or a run writes it.
#[must_use]
pub fn is_ours(text: &str) -> bool {
    read(text).is_ok_and(|spec| spec.text() == text)
}

/// The title in the template.
pub const TITLE: &str = "The goal, in one line";
/// The intent in the template.
pub const INTENT: &str = "The goal, and the reason for it.";

/// The fields that are still as in the template.
#[must_use]
pub fn unfilled(spec: &Spec) -> Vec<Problem> {
    let fields = [("title", &spec.title, TITLE), ("intent", &spec.intent, INTENT)];
    let same = fields.into_iter().filter(|(_, text, template)| text.trim() == *template);
    let message = "is still the text of the template; replace it";
    same.map(|(path, ..)| Problem::new(path, "template", message)).collect()
}

/// Valid but questionable parts.
#[must_use]
pub fn warnings(spec: &Spec) -> Vec<Problem> {
    let message = "is empty, so the checks alone decide whether it is done";
    let empty = spec.verification.criteria.is_empty();
    empty.then(|| Problem::new("verification.criteria", "empty", message)).into_iter().collect()
}

/// The JSON Schema of the format.
#[must_use]
pub fn schema() -> Value {
    let mut schema = SPEC_FORMAT.schema();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        object.insert("title".to_owned(), json!("Bosun spec"));
    }
    schema
}

/// A request for a spec: its text, checks and budget, narrowed by the request's own.
#[must_use]
pub fn request(spec: Spec, base: Request) -> Request {
    let (shown_by, criteria) = criteria::split(&spec, &spec.verification.checks);
    let mut checks =
        if base.checks.is_empty() { spec.verification.checks.clone() } else { base.checks };
    checks.extend(shown_by);
    let title = spec.title.trim();
    let stop = if title.ends_with(['.', '!', '?', ':', ';']) { "" } else { "." };
    Request {
        text: format!("{title}{stop}\n\n{}", spec.intent.trim()),
        checks,
        criteria,
        budget: spec.budget.map_or(base.budget, |budget| narrower(budget, base.budget)),
        spec: Some(Box::new(spec)),
        ..base
    }
}

/// Numbers entries without an id by position, skipping ids in use.
fn count_ids(spec: &mut Spec) {
    number("REQ", spec.requirements.iter_mut().map(|one| &mut one.id).collect());
    number("CON", spec.constraints.iter_mut().map(|one| &mut one.id).collect());
    number("ASM", spec.assumptions.iter_mut().map(|one| &mut one.id).collect());
}

fn number(prefix: &str, ids: Vec<&mut String>) {
    let taken: BTreeSet<String> = ids.iter().map(|id| (**id).clone()).collect();
    let mut free = (1_u32..).map(|n| format!("{prefix}-{n:03}")).filter(|id| !taken.contains(id));
    for id in ids.into_iter().filter(|id| id.is_empty()) {
        *id = free.next().unwrap_or_default();
    }
}

/// Problems across fields.
fn problems(spec: &Spec) -> Vec<Problem> {
    let mut found = Vec::new();
    if spec.meta.updated_at < spec.meta.created_at {
        let message = "is earlier than meta.created_at";
        found.push(Problem::new("meta.updated_at", "order", message));
    }
    for (place, blocker) in spec.blockers.iter().enumerate() {
        let message = match (blocker.status, blocker.resolved_at) {
            (BlockerStatus::Open, Some(_)) => "is set, but the blocker is open",
            (BlockerStatus::Resolved, None) => "is missing, but the blocker is resolved",
            _ => continue,
        };
        found.push(Problem::new(format!("blockers.{place}.resolved_at"), "blocker", message));
    }
    repeated("requirements", spec.requirements.iter().map(|one| one.id.as_str()), &mut found);
    repeated("constraints", spec.constraints.iter().map(|one| one.id.as_str()), &mut found);
    repeated("assumptions", spec.assumptions.iter().map(|one| one.id.as_str()), &mut found);
    repeated("tasks", spec.tasks.iter().map(|one| one.id.as_str()), &mut found);
    repeated("decisions", spec.decisions.iter().map(|one| one.id.as_str()), &mut found);
    repeated("blockers", spec.blockers.iter().map(|one| one.id.as_str()), &mut found);
    let known: BTreeSet<_> = spec.tasks.iter().map(|task| &task.id).collect();
    for (place, task) in spec.tasks.iter().enumerate() {
        for missing in task.depends_on.iter().filter(|id| !known.contains(id)) {
            let path = format!("tasks.{place}.depends_on");
            found.push(Problem::new(path, "dangling", format!("{missing} is not in tasks")));
        }
    }
    found
}

/// Reports ids that occur twice in a list.
fn repeated<'a>(list: &str, ids: impl Iterator<Item = &'a str>, found: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for (place, id) in ids.enumerate().filter(|(_, id)| !seen.insert(*id)) {
        let message = format!("{id} is already in use");
        found.push(Problem::new(format!("{list}.{place}.id"), "twice", message));
    }
}

/// An invalid change of status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoSuchStep {
    pub from: SpecStatus,
    pub to: SpecStatus,
    pub allowed: &'static [SpecStatus],
}

impl std::fmt::Display for NoSuchStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<&str> = self.allowed.iter().map(|status| status.as_str()).collect();
        let allowed = if words.is_empty() { "none".to_owned() } else { words.join(" or ") };
        let (from, to) = (self.from.as_str(), self.to.as_str());
        write!(f, "a spec cannot change from {from} to {to}; allowed from {from}: {allowed}")
    }
}

impl std::error::Error for NoSuchStep {}

/// The statuses that may follow one. These five transitions, and no others.
const fn next(from: SpecStatus) -> &'static [SpecStatus] {
    match from {
        SpecStatus::Draft => &[SpecStatus::Approved],
        SpecStatus::Approved => &[SpecStatus::InProgress],
        SpecStatus::InProgress => &[SpecStatus::Verifying],
        SpecStatus::Verifying => &[SpecStatus::Done, SpecStatus::Failed],
        SpecStatus::Done | SpecStatus::Failed => &[],
    }
}

/// The next version of a spec, with another status.
pub fn moved(
    spec: &Spec,
    to: SpecStatus,
    at: Timestamp,
    by: Option<&RunId>,
) -> Result<Spec, NoSuchStep> {
    let allowed = next(spec.status);
    if !allowed.contains(&to) {
        return Err(NoSuchStep { from: spec.status, to, allowed });
    }
    let mut moved = Spec { status: to, ..spec.clone() };
    moved.meta.version = spec.meta.version.saturating_add(1);
    moved.meta.updated_at = at.max(spec.meta.updated_at);
    moved.meta.previous = Some(spec.digest());
    moved.meta.run = by.cloned();
    Ok(moved)
}

/// The refusal of a spec that is not approved.
#[must_use]
pub fn not_approved(spec: &Spec) -> Option<Decision> {
    if spec.status == SpecStatus::Approved {
        return None;
    }
    let how = match spec.status {
        SpecStatus::Draft => "approve it with `bosun spec approve FILE`",
        _ => "write a new version as a draft, and approve it with `bosun spec approve FILE`",
    };
    let reason = format!("the spec must be approved, but is {}: {how}", spec.status.as_str());
    Some(Decision::new(RuleId::fixed("intake.spec_not_approved"), reason))
}

#[cfg(test)]
mod tests;
