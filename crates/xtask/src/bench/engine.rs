//! The engine: the examples `decisions` and `line` of testkit, because the engine itself has no clock.

use std::path::Path;

use super::build::example;

pub(super) const ABOUT: &str = "deterministic decisions: admission and routing, gates, the report of 1,000 tasks, a plan of 10,000";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    example(root, "testkit", "decisions")?;
    example(root, "testkit", "line")
}
