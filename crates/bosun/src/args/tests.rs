//! Tests of the whole command line: every command has help with examples, and every argument is described.

use clap::{Command, CommandFactory as _};

use super::Cli;

fn each(command: &Command, name: &str, look: &mut impl FnMut(&str, &Command)) {
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let name = format!("{name} {}", below.get_name());
        look(&name, below);
        each(below, &name, look);
    }
}

#[test]
fn the_command_line_makes_sense() {
    Cli::command().debug_assert();
}

#[test]
fn every_argument_is_described() {
    let mut command = Cli::command();
    command.build();
    each(&command, "bosun", &mut |name, command| {
        assert!(command.get_about().is_some(), "{name} has no help");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{} of {name} is not described", arg.get_id());
        }
    });
}

/// A command with subcommands may use those in its examples.
#[test]
fn every_command_has_an_example_that_can_be_typed() {
    let command = Cli::command();
    for below in command.get_subcommands() {
        let name = below.get_name();
        let help = below.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Example"), "bosun {name} has no example: {help}");
        assert!(help.contains(&format!("bosun {name}")), "bosun {name}: {help}");
    }
}
