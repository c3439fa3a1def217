//! The mind: the example `decisions` of testkit, because the engine itself has no clock.

use std::path::Path;

pub(super) const ABOUT: &str =
    "deterministic decisions: admission and routing of every labelled request";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    super::example(root, "testkit", "decisions")
}
