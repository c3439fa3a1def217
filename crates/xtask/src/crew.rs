//! The text of the default policy, from the files of this working tree rather than from a binary.

use std::path::Path;

use anyhow::Context as _;

/// The rules about requests, then the rest, as the product joins them.
pub(crate) fn policy(root: &Path) -> anyhow::Result<String> {
    let read = |name: &str| {
        let file = root.join("policies").join(name);
        std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))
    };
    Ok(read("requests.toml")? + &read("crew.toml")?)
}
