//! Tests of the whole command line: every command has help with examples, and every argument is described.

use clap::{Command, CommandFactory as _, Parser as _};

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
fn a_goal_may_be_several_words() {
    let cli = Cli::try_parse_from(["bosun", "run", "fix", "the", "bug", "--json"]);
    match cli.expect("a command line").command {
        super::Command::Run(args) => assert_eq!(args.goal_words, ["fix", "the", "bug"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_environment_fills_in_options_that_are_not_given() {
    let set = |name: &str, value: &'static str| {
        let name = name.to_owned();
        move |asked: &str| (asked == name).then(|| value.into())
    };
    let parsed = |words: &[&str]| Cli::try_parse_from(words).expect("a command line");
    let home =
        |words: &[&str], value| parsed(words).with_environment(set("BOSUN_HOME", value)).home;
    assert_eq!(home(&["bosun", "list"], "/a"), Some("/a".into()));
    assert_eq!(home(&["bosun", "list", "--home", "/b"], "/a"), Some("/b".into()));
    assert_eq!(home(&["bosun", "list"], ""), None);
    let ignored =
        |value| parsed(&["bosun", "list"]).with_environment(set("BOSUN_NO_PROJECT", value));
    assert!(ignored("1").no_project && !ignored("0").no_project && !ignored("Off").no_project);
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
