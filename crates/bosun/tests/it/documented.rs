//! Runs every command in a code block of the README and docs/, in a repository of its own with a model server on the
//! loopback interface, unless `documented/listed.rs` lists it with a reason. `src/args/documented.rs` checks that the
//! argument parser accepts all of them, including those that are not run. Their output is checked elsewhere.

mod files;
mod listed;
mod scratch;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use testkit::documents::{Block, Page, pages, simple_commands};

use crate::binary::{Place, stderr, stdout};
use crate::stage::has;
use listed::{ENDS, NOT_RUN, OTHER_PROGRAMS};
use scratch::{Line, Scratch};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// How a line is handled.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Run,
    /// Not run; the parser accepts it.
    Parsed,
    /// Belongs to another program.
    Left,
    /// Not covered by any list.
    Unknown,
}

fn fate(line: &str) -> Fate {
    let commands = simple_commands(line);
    let first = |words: &Vec<String>| words[0].clone();
    let programs: Vec<String> = commands.iter().map(first).collect();
    let listed = |program: &String| OTHER_PROGRAMS.iter().any(|(other, _)| other == program);
    let ours = programs.iter().any(|program| program == "bosun");
    if programs.iter().any(listed) {
        return if ours { Fate::Parsed } else { Fate::Left };
    }
    if !programs
        .iter()
        .all(|program| ["bosun", "cd", "git", "mkdir", "export"].contains(&program.as_str()))
    {
        return Fate::Unknown;
    }
    if NOT_RUN.iter().any(|(start, _)| line.starts_with(start)) { Fate::Parsed } else { Fate::Run }
}

/// The blocks with commands on the selected pages.
fn blocks(wanted: impl Fn(&str) -> bool) -> Vec<Block> {
    let pages = pages(&top()).expect("the documents");
    let wanted = pages.iter().filter(|page| wanted(&page.name));
    wanted.flat_map(Page::blocks).filter(|block| !block.commands().is_empty()).collect()
}

fn code_of(line: &str) -> &'static [i32] {
    ENDS.iter().find(|(start, ..)| line.starts_with(start)).map_or(&[0], |(_, codes, _)| codes)
}

/// Runs the blocks in sequence, each in a fresh copy of the scratch repository.
#[expect(clippy::print_stdout, reason = "how much is run is for people to see")]
fn all_run(blocks: &[Block]) {
    // The repository's check is `make test`, as in the examples.
    if !["make", "timeout"].into_iter().all(has) {
        return;
    }
    let scratch = Scratch::new();
    let (mut run, mut parsed, mut left, mut wrong) = (0, 0, 0, Vec::new());
    for block in blocks {
        let mut lines = Vec::new();
        for line in block.commands() {
            match fate(&line) {
                Fate::Run => lines.push(line),
                Fate::Parsed => parsed += 1,
                Fate::Left => left += 1,
                Fate::Unknown => wrong.push(format!("{}: unknown program: {line}", block.page)),
            }
        }
        run += lines.len();
        for Line { shown, code, said } in scratch.run(&lines) {
            if !code_of(&shown).contains(&code) {
                let place = format!("{}:{}", block.page, block.line);
                wrong.push(format!("{place}: exit {code}: {shown}\n{said}"));
            }
        }
    }
    println!("{run} lines run, {parsed} parsed only, {left} of other programs left");
    assert!(wrong.is_empty(), "{} lines are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run > 20, "only {run} lines were run");
}

#[test]
fn the_commands_of_the_readme_and_the_pages_work() {
    all_run(&blocks(|page| page != "docs/commands.md"));
}

#[test]
fn the_examples_of_the_commands_work() {
    all_run(&blocks(|page| page == "docs/commands.md"));
}

/// Only a block that names its language can be run.
#[test]
fn every_block_names_its_language() {
    let known = BTreeSet::from(["sh", "console", "text", "toml", "yaml", "python"]);
    for block in pages(&top()).expect("the documents").iter().flat_map(Page::blocks) {
        let language = block.language.as_str();
        assert!(known.contains(language), "{}:{}: {language:?}", block.page, block.line);
    }
}

/// Whether the TOML blocks of a page belong to config.toml; those of other pages belong to a policy.
fn is_config(page: &str) -> bool {
    let pages = ["configuration", "providers", "session-with-a-small-model", "terminal"];
    pages.iter().any(|name| page == format!("docs/{name}.md"))
}

/// The program can read the files that the documents show, as they are.
#[test]
fn the_files_in_the_documents_can_be_read() {
    let place = Place::new();
    let blocks: Vec<Block> =
        pages(&top()).expect("the documents").iter().flat_map(Page::blocks).collect();
    // Chat grants and scripts have readers with their own tests; a role with only some of its keys is part of a file.
    let part = |block: &Block| block.text.contains("[roles.") && !is_config(&block.page);
    let others = ["docs/chat.md", "docs/scripts.md"];
    let other = |block: &Block| others.contains(&block.page.as_str()) || part(block);
    let toml = |block: &&Block| block.language == "toml" && !other(block);
    let mut read = 0;
    for block in blocks.iter().filter(toml) {
        let file = place.path().join("shown.toml");
        std::fs::write(&file, &block.text).expect("a file");
        let output = if is_config(&block.page) {
            let mut command = place.command(&["config", "show"]);
            command.env("BOSUN_CONFIG", &file).output().expect("the binary runs")
        } else {
            place.run(&["policy", "check", "shown.toml"])
        };
        let said = stdout(&output) + &stderr(&output);
        assert!(output.status.success(), "{}:{}: {said}", block.page, block.line);
        read += 1;
    }
    for block in blocks.iter().filter(|block| block.language == "yaml") {
        let file = place.path().join("shown.yaml");
        std::fs::write(&file, &block.text).expect("a file");
        let output = place.run(&["spec", "check", "shown.yaml"]);
        assert!(output.status.success(), "{}: {}", block.page, stderr(&output));
        read += 1;
    }
    assert!(read > 10, "only {read} were found");
}
