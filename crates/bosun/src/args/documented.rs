//! The argument parser accepts every `bosun` command that the README and docs/ show, in a block or in a sentence.
//! `tests/it/documented.rs` runs them and checks their exit codes.

use std::path::Path;

use clap::Parser as _;
use clap::error::ErrorKind;
use testkit::documents::{pages, simple_commands};

use super::Cli;

fn top() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The `bosun` commands of a line.
fn own(line: &str) -> impl Iterator<Item = Vec<String>> {
    simple_commands(line).into_iter().filter(|words| words[0] == "bosun")
}

#[test]
fn every_command_in_a_block_is_understood() {
    let mut wrong = Vec::new();
    let mut parsed = 0;
    for block in
        pages(&top()).expect("the documents").iter().flat_map(testkit::documents::Page::blocks)
    {
        for words in block.commands().iter().flat_map(|line| own(line)) {
            parsed += 1;
            if let Err(error) = Cli::try_parse_from(&words) {
                wrong.push(format!("{}:{}: {}\n{error}", block.page, block.line, words.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(parsed > 150, "only {parsed} commands were found");
}

/// Commands in sentences may be incomplete; forms with brackets are skipped.
#[test]
fn every_command_in_a_sentence_is_there() {
    let incomplete = [
        ErrorKind::MissingRequiredArgument,
        // Words in capitals stand for numbers, and options may lack their values.
        ErrorKind::InvalidValue,
        ErrorKind::ValueValidation,
        ErrorKind::DisplayVersion,
        ErrorKind::DisplayHelp,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::MissingSubcommand,
    ];
    let mut wrong = Vec::new();
    for page in pages(&top()).expect("the documents") {
        let spans = page.inline().into_iter();
        let whole = |span: &String| {
            !span.contains(['[', '|', '…', '\\', '<'])
                && !span.contains("...")
                && !span.contains("COMMAND")
        };
        for words in spans.filter(whole).flat_map(|span| own(&span).collect::<Vec<_>>()) {
            match Cli::try_parse_from(&words) {
                Err(error) if !incomplete.contains(&error.kind()) => {
                    wrong.push(format!("{}: {}\n{error}", page.name, words.join(" ")));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
