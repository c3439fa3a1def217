//! The mind: the examples `decisions` and `line` of testkit, because the engine itself has no clock.

use std::path::Path;

pub(super) const ABOUT: &str = "deterministic decisions: admission and routing, gates, the report of 1,000 tasks, a plan of 10,000";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    super::example(root, "testkit", "decisions")?;
    super::example(root, "testkit", "line")
}
