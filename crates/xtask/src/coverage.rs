//! Coverage of requirements. `docs/requirements.txt` has the ids; they are shown by tests whose doc comment names them,
//! scenarios that name them in `shows` or `story`, and benchmarks that name them at their top. If the product
//! deliberately differs, `docs/differences.md` has a row for it. Readers judge the quality of a test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, bail};
use toml::{Table, Value};

use crate::scenarios;
use crate::tree::Tree;

const TABLE: &str = "docs/requirements.txt";
const DIFFERENCES: &str = "docs/differences.md";
const BENCHES: &str = "crates/testkit/examples/";
/// The sources, in the order of their documents.
const SOURCES: &str = "KPMACX";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id {
    /// Its index among the sources, for sorting.
    source: usize,
    number: u32,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let letter = SOURCES.chars().nth(self.source).unwrap_or('?');
        f.pad(&format!("{letter}{}", self.number))
    }
}

/// The ids, each with its level, and the claimed ones.
#[derive(Debug, Default)]
struct Requirements {
    all: BTreeMap<Id, char>,
    claimed: BTreeSet<Id>,
}

pub(crate) fn run(root: &Path, words: &[&str]) -> anyhow::Result<()> {
    let only_missing = match words {
        [] => false,
        ["--missing"] => true,
        _ => bail!("usage: cargo xtask coverage [--missing]"),
    };
    let tree = Tree::read(root)?;
    let requirements = requirements(tree.file(TABLE).context("docs/requirements.txt is missing")?)?;
    let shown = shown(&tree);
    let differences = differences(tree.file(DIFFERENCES).unwrap_or_default());
    for line in listed(&requirements, &shown, &differences, only_missing) {
        println!("{line}");
    }
    let owed = owed(&requirements, &shown, &differences);
    let without: Vec<String> = owed.iter().map(Id::to_string).collect();
    let unknown: Vec<String> =
        shown.keys().filter(|id| !requirements.all.contains_key(id)).map(Id::to_string).collect();
    let covered = requirements.all.keys().filter(|id| shown.contains_key(id)).count();
    println!("coverage: {covered} of {} ids are shown somewhere", requirements.all.len());
    if !unknown.is_empty() {
        println!("coverage: named, but not in the table: {}", unknown.join(", "));
    }
    if without.is_empty() {
        println!("coverage: every id that is claimed is shown, or is a difference with its reason");
        return Ok(());
    }
    bail!("coverage: claimed, shown nowhere, and no difference: {}", without.join(", "))
}

/// A line for each id with its evidence, or only for ids with neither evidence nor a difference.
fn listed(
    requirements: &Requirements,
    shown: &BTreeMap<Id, BTreeSet<String>>,
    differences: &BTreeSet<Id>,
    only_missing: bool,
) -> Vec<String> {
    let line = |(id, tag): (&Id, &char)| {
        let claimed = if requirements.claimed.contains(id) { "" } else { " (not claimed)" };
        let place = match shown.get(id) {
            Some(places) => places.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
            None if differences.contains(id) => DIFFERENCES.to_owned(),
            None => return Some(format!("{id:<5} {tag}  -{claimed}")),
        };
        (!only_missing).then(|| format!("{id:<5} {tag}  {place}"))
    };
    requirements.all.iter().filter_map(line).collect()
}

/// Claimed ids with neither evidence nor a difference.
fn owed(
    requirements: &Requirements,
    shown: &BTreeMap<Id, BTreeSet<String>>,
    differences: &BTreeSet<Id>,
) -> Vec<Id> {
    let owed = |id: &&Id| !shown.contains_key(id) && !differences.contains(id);
    requirements.claimed.iter().filter(owed).copied().collect()
}

/// The ids at the start of rows in the tables of differences.
fn differences(text: &str) -> BTreeSet<Id> {
    let cells = text.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    cells.flat_map(ids_in).collect()
}

/// Lines such as `K S 1 10-12`, and `claimed K37-K47 P1-P60`.
fn requirements(text: &str) -> anyhow::Result<Requirements> {
    let mut requirements = Requirements::default();
    for (line, place) in text.lines().zip(1..) {
        let mut words = line.split_whitespace().take_while(|word| !word.starts_with('#'));
        let wrong = || format!("{TABLE}:{place}: {line:?} is not a line of ids");
        match words.next() {
            None => {}
            Some("claimed") => {
                for word in words {
                    requirements.claimed.extend(ids_in(word));
                }
            }
            Some(source) => {
                let tag = words.next().and_then(|tag| tag.chars().next()).with_context(wrong)?;
                for word in words {
                    let whole = match word.split_once('-') {
                        Some((first, last)) => format!("{source}{first}-{source}{last}"),
                        None => format!("{source}{word}"),
                    };
                    let ids = ids_in(&whole);
                    if ids.is_empty() {
                        bail!(wrong());
                    }
                    requirements.all.extend(ids.into_iter().map(|id| (id, tag)));
                }
            }
        }
    }
    // A range may include numbers that were never assigned.
    requirements.claimed.retain(|id| requirements.all.contains_key(id));
    Ok(requirements)
}

/// For each id: the tests and scenarios that name it.
fn shown(tree: &Tree) -> BTreeMap<Id, BTreeSet<String>> {
    let mut shown: BTreeMap<Id, BTreeSet<String>> = BTreeMap::new();
    let mut show = |text: &str, place: &str| {
        for id in ids_in(text) {
            shown.entry(id).or_default().insert(place.to_owned());
        }
    };
    for (path, text) in tree.rust() {
        let short = path.trim_start_matches("crates/");
        for (doc, name) in documented_tests(text) {
            show(&doc, &format!("{short}::{name}"));
        }
        // A benchmark is an example of testkit and names its ids at its top.
        if path.starts_with(BENCHES) {
            let top = text.lines().take_while(|line| line.starts_with("//!"));
            top.for_each(|line| show(line, short));
        }
    }
    for (path, text) in scenarios::files(tree) {
        let Ok(table) = text.parse::<Table>() else { continue };
        let story = table.get("story").and_then(Value::as_str).unwrap_or_default();
        show(story, path);
        let shows = table.get("shows").and_then(Value::as_array).into_iter().flatten();
        for named in shows.filter_map(Value::as_str).filter(|named| !named.contains(':')) {
            show(named, path);
        }
    }
    shown
}

/// The doc comments right above tests, with the tests' names.
fn documented_tests(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let (mut doc, mut is_test) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("///") {
            doc.push_str(said);
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]") || line.contains("::test");
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.push((std::mem::take(&mut doc), name));
            is_test = false;
        } else if !line.starts_with("//") {
            doc.clear();
            is_test = false;
        }
    }
    found
}

/// Every id in a text, including those inside ranges such as `P24-P27`.
fn ids_in(text: &str) -> Vec<Id> {
    let mut ids: Vec<Id> = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        match word.split_once('-') {
            None => ids.extend(id(word)),
            Some((first, last)) => match (id(first), id(last)) {
                (Some(first), Some(last)) if first.source == last.source => ids.extend(
                    (first.number..=last.number).map(|number| Id { source: first.source, number }),
                ),
                (first, last) => ids.extend(first.into_iter().chain(last)),
            },
        }
    }
    ids
}

fn id(word: &str) -> Option<Id> {
    let letter = word.chars().next()?;
    let source = SOURCES.find(letter)?;
    let digits = &word[1..];
    let plain = !digits.is_empty() && digits.len() <= 3 && !digits.starts_with('0');
    Some(Id { source, number: digits.parse().ok().filter(|_| plain)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "/// P2, P4-P5: it works.\n#[test]\nfn it_works() {\n}\n/// P7: not a test.\nfn other() {}\n";

    #[test]
    fn ids_are_found_alone_and_in_ranges() {
        let words: Vec<String> = ids_in("K2, P10-P12: as X1 says; not P0, A1000 or PATH2")
            .iter()
            .map(Id::to_string)
            .collect();
        assert_eq!(words, ["K2", "P10", "P11", "P12", "X1"]);
    }

    #[test]
    fn only_doc_comments_above_tests_and_scenarios_show_something() {
        let scenario = "story = \"Asked (M3).\"\nshows = [\"rule:P9\", \"C1\"]\n";
        let tree = Tree::of(&[("crates/a/src/b.rs", TEST), ("scenarios/x/y.toml", scenario)]);
        let shown: Vec<String> = shown(&tree).keys().map(Id::to_string).collect();
        assert_eq!(shown, ["P2", "P4", "P5", "M3", "C1"]);
    }

    #[test]
    fn what_is_claimed_and_neither_shown_nor_a_difference_is_owed() {
        let requirements = requirements("P S 1-3\nP W 4 8-9\n\n# words\nclaimed P2-P9\n").unwrap();
        let tree = Tree::of(&[("crates/a/src/b.rs", TEST)]);
        let table = "| id | Why |\n|---|---|\n| P9 | as P8 says |\n";
        let owed = owed(&requirements, &shown(&tree), &differences(table));
        let owed: Vec<String> = owed.iter().map(Id::to_string).collect();
        assert_eq!(
            owed,
            ["P3", "P8"],
            "P1 is not claimed, P2 and P4 are shown, P9 is a difference"
        );
        assert!(super::requirements("P S one\n").is_err());
    }

    #[test]
    fn a_difference_is_not_missing() {
        let requirements = requirements("P S 1-3\nP W 8-9\nclaimed P2-P9\n").unwrap();
        let (tree, table) = (Tree::of(&[("crates/a/src/b.rs", TEST)]), "| P9 | so | so | so |\n");
        let lines = |only_missing| {
            listed(&requirements, &shown(&tree), &differences(table), only_missing).join("\n")
        };
        assert_eq!(lines(true), "P1    S  - (not claimed)\nP3    S  -\nP8    W  -");
        assert!(lines(false).contains("P9    W  docs/differences.md"), "{}", lines(false));
    }

    #[test]
    fn the_table_of_this_repository_can_be_read() {
        let tree = Tree::read(&crate::root()).unwrap();
        let requirements = requirements(tree.file(TABLE).unwrap()).unwrap();
        assert!(requirements.all.len() > 300 && requirements.claimed.len() > 100);
    }
}
