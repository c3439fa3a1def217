//! The cost of tools compared with common programs: the example `tools` of testkit, which prints its own figures and
//! fails if a target is missed.

use std::path::Path;

use super::build;

pub(super) const ABOUT: &str = "grep against rg, glob against fd and find, commands with and without the sandbox, large outputs";

pub(super) fn run(root: &Path) -> anyhow::Result<()> {
    build::example(root, "testkit", "tools")
}
