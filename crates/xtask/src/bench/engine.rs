//! The mind: the example `speed` of engine.

use std::path::Path;

pub(super) const ABOUT: &str =
    "deterministic decisions: admission and routing of every labelled request";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    super::example(root, "engine", "speed")
}
