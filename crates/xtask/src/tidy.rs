//! Tidy checks that no compiler or lint provides, as functions from the tree to findings. They also run in `cargo test
//! -p xtask`, so a finding fails like any other test.

mod clippy_conf;
mod event_rules;
mod forgotten;
mod hygiene;
mod length;
mod module_docs;
mod names;

use std::path::Path;

use crate::finding::Finding;
use crate::tree::Tree;
use crate::{docs, layers, modules, scenarios};

type Check = fn(&Tree) -> Vec<Finding>;

/// To add a check, write a file in `tidy/` and a line here.
const CHECKS: &[Check] = &[
    layers::check,
    modules::check,
    clippy_conf::check,
    length::check,
    module_docs::check,
    names::check,
    forgotten::check,
    event_rules::check,
    hygiene::check,
    docs::check,
];

pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    for note in notes(&tree) {
        println!("tidy: {note}");
    }
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} checks, nothing found", CHECKS.len());
            Ok(())
        }
        1 => anyhow::bail!("tidy: one finding, see above"),
        many => anyhow::bail!("tidy: {many} findings, see above"),
    }
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings
}

/// Checks that were skipped, so that silence is not mistaken for a pass.
fn notes(tree: &Tree) -> Vec<String> {
    let mut notes = Vec::new();
    if tree.under(scenarios::FOLDER).next().is_none() {
        notes.push(format!(
            "there is no folder {} yet, so it is NOT checked that every event is shown in one",
            scenarios::FOLDER
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        let tree = Tree::read(&crate::root()).unwrap();
        let found: Vec<String> = findings(&tree).iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "\n{}", found.join("\n"));
    }

    #[test]
    fn a_check_that_is_left_out_is_said() {
        assert_eq!(notes(&Tree::of(&[])).len(), 1);
        assert_eq!(notes(&Tree::of(&[("scenarios/gate/a.toml", "")])).len(), 0);
    }
}
