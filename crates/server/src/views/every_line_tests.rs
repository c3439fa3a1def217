//! Every view after every line of recorded runs: it can be computed, and it matches its schema.

use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::json;

use super::source::Recorded;
use super::testing::{played, recorded};
use super::{artifacts, checks, diff, events, gate, graph, money, spec, task, timeline, why};

/// Runs with retries, questions, reviews, a spec, blocked gates, and every kind of end.
const WORK: [&str; 4] = [
    "schedule/parallel_then_dependant",
    "verify/fixed_with_feedback",
    "merge/broken_together",
    "spec/done",
];
const TROUBLE: [&str; 5] = [
    "failure/model_overloaded",
    "failure/somebody_else",
    "gate/merged_checks_fail",
    "intake/attack",
    "budget/task_share",
];
const PEOPLE: [&str; 3] = ["human/asked_and_denied", "human/cancelled", "audited/technical"];

/// A schema for serialized values.
struct Schema {
    name: &'static str,
    validator: jsonschema::Validator,
}

impl Schema {
    fn of<T: JsonSchema>(name: &'static str) -> Self {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
        let validator = jsonschema::validator_for(schema.as_value()).expect("a schema");
        Self { name, validator }
    }

    fn holds(&self, value: &impl Serialize, place: &str) {
        let value = serde_json::to_value(value).expect("JSON");
        if let Err(error) = self.validator.validate(&value) {
            panic!("{} at {place}: {error} at {}", self.name, error.instance_path());
        }
    }
}

struct Schemas {
    graph: Schema,
    timeline: Schema,
    money: Schema,
    task: Schema,
    gates: Schema,
    checks: Schema,
    why: Schema,
    spec: Schema,
    artifacts: Schema,
}

fn schemas() -> Schemas {
    Schemas {
        graph: Schema::of::<graph::Graph>("graph"),
        timeline: Schema::of::<timeline::Timeline>("timeline"),
        money: Schema::of::<money::MoneyReport>("money"),
        task: Schema::of::<task::TaskDetail>("task"),
        gates: Schema::of::<Vec<gate::GateDetail>>("gates"),
        checks: Schema::of::<Vec<checks::CheckItem>>("checks"),
        why: Schema::of::<Vec<why::WhyItem>>("why"),
        spec: Schema::of::<spec::SpecMatrix>("spec"),
        artifacts: Schema::of::<Vec<artifacts::ArtifactItem>>("artifacts"),
    }
}

fn assert_views(schemas: &Schemas, recorded: &Recorded, place: &str) {
    schemas.graph.holds(&graph::graph(recorded), place);
    let timeline = timeline::timeline(recorded);
    for bar in timeline.rows.iter().flat_map(|row| &row.bars) {
        let to = bar.to.unwrap_or(recorded.now);
        assert!(bar.from <= to && to <= recorded.now, "{place}: {bar:?} at {:?}", recorded.now);
    }
    schemas.timeline.holds(&timeline, place);
    schemas.money.holds(&money::money(recorded), place);
    for id in recorded.tasks() {
        let detail = task::task(recorded, &id).unwrap_or_else(|| panic!("{place}: no task {id}"));
        schemas.task.holds(&detail, place);
    }
    schemas.gates.holds(&gate::gates(recorded), place);
    schemas.checks.holds(&checks::checks(recorded), place);
    schemas.why.holds(&why::list(recorded), place);
    schemas.spec.holds(&spec::spec(recorded), place);
    schemas.artifacts.holds(&artifacts::artifacts(recorded), place);
}

#[test]
fn every_view_of_work_can_be_computed_after_every_line() {
    assert_after_every_line(&WORK);
}

#[test]
fn every_view_of_trouble_can_be_computed_after_every_line() {
    assert_after_every_line(&TROUBLE);
}

#[test]
fn every_view_of_runs_with_people_can_be_computed_after_every_line() {
    assert_after_every_line(&PEOPLE);
}

fn assert_after_every_line(scenarios: &[&str]) {
    let schemas = schemas();
    for name in scenarios {
        let (blank, lines) = played(name);
        let end = lines.last().map(|line| line.at).unwrap_or_default();
        let last = lines.iter().filter(|line| line.attempt.is_none()).map(|line| line.seq).max();
        for at in 0..=last.unwrap_or(0) {
            let recorded = Recorded::at(&blank, lines.clone(), Some(at), end);
            assert_eq!(recorded.at, at, "{name}");
            assert_views(&schemas, &recorded, &format!("{name} after {at}"));
        }
    }
}

#[test]
fn lines_explanations_and_entries_are_what_their_schemas_say() {
    let lines = Schema::of::<events::EventLine>("line");
    let explained = Schema::of::<why::Explanation>("explanation");
    let entry = Schema::of::<engine::export::TranscriptEntry>("entry");
    let recorded = recorded("human/asked_and_denied", None);
    let mut reader = engine::export::TranscriptReader::default();
    for line in &recorded.lines {
        let place = format!("{} {}", line.event.kind(), line.seq);
        lines.holds(&events::EventLine::of(line, None), &place);
        lines.holds(&events::EventLine::of(line, Some(7)), &place);
        for one in reader.line(line) {
            entry.holds(&one, &place);
        }
    }
    for item in why::list(&recorded) {
        let found = why::explain(&recorded, &item.place);
        assert_eq!(found.len(), 1, "{}", item.place);
        explained.holds(&found[0], &item.place);
    }
    let patch = b"diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-let a\n+let b\n\\ No newline\n";
    let commit = |name: &str| types::CommitId(name.to_owned());
    let change = runtime::RunDiff {
        from: commit("a"),
        to: commit("b"),
        changes: types::Changes::default(),
        patch: patch.to_vec(),
    };
    Schema::of::<diff::DiffView>("diff").holds(&diff::diff(&change), "a patch");
}

/// A schema that accepts everything would make the tests above worthless.
#[test]
fn a_schema_refuses_what_is_not_a_view() {
    let schema = Schema::of::<graph::Graph>("graph");
    let right = json!({ "width": 1, "height": 1, "proposed": false, "nodes": [], "edges": [] });
    let mut text = right.clone();
    text["width"] = json!("1");
    for wrong in [json!({}), json!([]), text] {
        assert!(!schema.validator.is_valid(&wrong), "{wrong}");
    }
    assert!(schema.validator.is_valid(&right));
}
