//! Whole runs per second: the example `runs` of testkit.

use std::path::Path;

pub(super) const ABOUT: &str =
    "1,000 scripted runs of ten tool calls, 100 at a time: runs and events per second, memory";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    super::example(root, "testkit", "runs")
}
