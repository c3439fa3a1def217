//! The model layer: the example `speed` of llm.

use std::path::Path;

use super::build::example;

pub(super) const ABOUT: &str =
    "decoding in every dialect, a call over the loopback, 200 streams at once: speed and memory";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    example(root, "llm", "speed")
}
