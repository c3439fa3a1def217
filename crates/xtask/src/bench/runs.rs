//! Whole runs, and many at once: the examples `runs` and `projects` of testkit.

use std::path::Path;

use super::build::example;

pub(super) const ABOUT: &str = "1,000 scripted runs of ten tool calls, 100 at a time; 10 projects and 100 requests of 20 turns at once; memory";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    example(root, "testkit", "runs")?;
    example(root, "testkit", "projects")
}
