//! Large journals: the example `lives` of testkit.

use std::path::Path;

use super::build::example;

pub(super) const ABOUT: &str = "10,000 runs and 100,000 events: to list them, to count them, what gc would remove, what to resume; a run of 100,000 events and a chat of 5,000 turns: to load them";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    example(root, "testkit", "lives")
}
