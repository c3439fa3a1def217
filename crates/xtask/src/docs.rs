//! `docs/events.md`: every event with its meaning, its fields and the scenarios that show it. Generated from the
//! sources alone, so it can be checked by comparison.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;

use crate::events::{self, Field, Kind};
use crate::finding::Finding;
use crate::scenarios;
use crate::tree::Tree;

const PAGE: &str = "docs/events.md";
/// How many scenarios a row names before it only counts them.
const NAMED: usize = 3;

/// Rewrites the page if it is outdated.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read(root)?;
    let page = page(&tree);
    if tree.file(PAGE) == Some(page.as_str()) {
        println!("docs: {PAGE} is up to date");
        return Ok(());
    }
    let path = root.join(PAGE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(&path, page).with_context(|| format!("writing {}", path.display()))?;
    println!("docs: wrote {PAGE}");
    Ok(())
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let wanted = page(tree);
    let written = tree.file(PAGE).unwrap_or_default();
    if written == wanted {
        return Vec::new();
    }
    let same = written.lines().zip(wanted.lines()).take_while(|(a, b)| a == b).count();
    let what = "the page is not up to date; run `cargo xtask docs` and commit it";
    vec![Finding::new(PAGE, same + 1, what)]
}

fn page(tree: &Tree) -> String {
    let kinds = events::kinds(tree.file(events::SOURCE).unwrap_or_default());
    let shown = scenarios::shown(tree);
    let mut nouns: Vec<&str> = Vec::new();
    for kind in &kinds {
        if !nouns.contains(&kind.noun()) {
            nouns.push(kind.noun());
        }
    }
    let mut page = format!(
        "# Events\n\n\
         Made from `{}` and the traces in `{}` by `cargo xtask docs`; do not edit.\n\n\
         An event is a fact that happened, and the only thing that is stored. There are {} kinds. \
         A field with `?` may be absent; `[T]` is a list of `T`.\n",
        events::SOURCE,
        scenarios::FOLDER,
        kinds.len()
    );
    for noun in nouns {
        page.push_str(&format!(
            "\n## {noun}\n\n| kind | meaning | fields | shown by |\n|---|---|---|---|\n"
        ));
        for kind in kinds.iter().filter(|kind| kind.noun() == noun) {
            page.push_str(&row(kind, &shown));
        }
    }
    page
}

fn row(kind: &Kind, shown: &BTreeMap<String, BTreeSet<String>>) -> String {
    let fields: Vec<String> = kind.fields.iter().map(field).collect();
    let by = shown.get(&kind.name).map_or_else(|| "-".to_owned(), scenario_links);
    let meaning = kind.meaning.replace('|', "\\|");
    format!("| `{}` | {meaning} | {} | {by} |\n", kind.name, fields.join(", "))
}

fn field(field: &Field) -> String {
    let mark = if field.optional { "?" } else { "" };
    format!("`{}{mark}: {}`", field.name, field.kind)
}

fn scenario_links(paths: &BTreeSet<String>) -> String {
    let link = |path: &String| {
        let name = path.trim_start_matches(scenarios::FOLDER).trim_end_matches(".toml");
        format!("[{name}](../{path})")
    };
    let links: Vec<String> = paths.iter().take(NAMED).map(link).collect();
    let links = links.join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => links,
        more => format!("{links} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "pub enum Event {\n    /// It ended, a|b.\n    \
        #[serde(rename = \"run.ended\")]\n    RunEnded { why: Option<Reason> },\n}\n";

    fn tree(page: &str) -> Tree {
        let trace = "trace = \"run.ended done\"\n";
        Tree::of(&[
            (events::SOURCE, SOURCE),
            (PAGE, page),
            ("scenarios/gate/a.toml", trace),
            ("scenarios/gate/b.toml", trace),
            ("scenarios/gate/c.toml", trace),
            ("scenarios/gate/d.toml", trace),
        ])
    }

    #[test]
    fn the_page_tells_meaning_fields_and_scenarios() {
        let page = page(&tree(""));
        assert!(page.contains("## run\n"), "{page}");
        let row = "| `run.ended` | It ended, a\\|b. | `why?: Reason` | \
                   [gate/a](../scenarios/gate/a.toml), [gate/b](../scenarios/gate/b.toml), \
                   [gate/c](../scenarios/gate/c.toml) and 1 more |";
        assert!(page.contains(row), "{page}");
    }

    #[test]
    fn a_page_that_is_not_up_to_date_is_found_at_its_first_wrong_line() {
        let right = page(&tree(""));
        assert_eq!(check(&tree(&right)), []);
        let found = check(&tree(&right.replace("It ended", "It began")));
        assert_eq!(found[0].line, 11);
        assert!(found[0].what.contains("cargo xtask docs"));
        assert_eq!(check(&tree("")).len(), 1);
    }
}
