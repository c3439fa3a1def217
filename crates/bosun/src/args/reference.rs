//! `docs/commands.md`, generated from the argument parser: `UPDATE=1 cargo test -p bosun reference` writes it, and the
//! test fails if it is out of date.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Arg, Command, CommandFactory as _};

use super::Cli;

const HEAD: &str = "# Commands

Generated from the program's help by `UPDATE=1 cargo test -p bosun reference`; do not edit. `bosun help COMMAND` prints
the same text. A run is named by its id, a unique prefix of it (`r_` may be omitted), or `newest`.
";

fn reference() -> String {
    let mut command = Cli::command().term_width(100);
    command.build();
    let mut out = HEAD.to_owned();
    out.push_str("\n## Global options\n\n");
    let global: Vec<&Arg> = command.get_arguments().filter(|arg| arg.is_global_set()).collect();
    global.iter().for_each(|arg| argument(&mut out, arg));
    for below in command.get_subcommands() {
        section(&mut out, "bosun", below, 2);
    }
    out
}

fn section(out: &mut String, above: &str, command: &Command, depth: usize) {
    if command.get_name() == "help" {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(out, "\n{} {name}\n\n{about}.\n\n", "#".repeat(depth));
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    if !aliases.is_empty() {
        let _ = write!(out, "Alias: `bosun {}`.\n\n", aliases.join("`, `"));
    }
    let own = |arg: &&Arg| !arg.is_global_set() && arg.get_id() != "help" && !arg.is_hide_set();
    command.get_arguments().filter(own).for_each(|arg| argument(out, arg));
    if let Some(help) = command.get_after_help() {
        let _ = write!(out, "\n```text\n{}\n```\n", help.to_string().trim_end());
    }
    for below in command.get_subcommands() {
        section(out, &name, below, depth + 1);
    }
}

fn argument(out: &mut String, arg: &Arg) {
    let values: Vec<String> =
        arg.get_value_names().into_iter().flatten().map(ToString::to_string).collect();
    let values = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    let long = arg.get_long().map(|long| format!("--{long}"));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let name = format!("{} {values}", names.join(", ")).trim().to_owned();
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let possible: Vec<String> = match arg.get_action().takes_values() {
        true => arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
        false => vec![],
    };
    let possible = match possible.as_slice() {
        [] => String::new(),
        values => format!(" ({})", values.join(", ")),
    };
    let default: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| arg.get_action().takes_values() && !arg.is_hide_default_value_set())
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let default = match default.as_slice() {
        [] => String::new(),
        values => format!(" [default: {}]", values.join(" ")),
    };
    let _ = writeln!(out, "- `{name}` {help}{possible}{default}");
}

#[test]
fn the_reference_of_all_commands_is_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let wanted = reference();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &wanted).expect("it can be written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == wanted,
        "docs/commands.md is out of date: UPDATE=1 cargo test -p bosun reference"
    );
}
