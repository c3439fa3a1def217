//! `bosun completions` and `bosun man`: both are generated from the argument parser, so they cannot differ from it.

use std::path::Path;

use anyhow::Context as _;
use clap::{Command, CommandFactory as _};

use crate::args::{self, Cli};
use crate::exit::Exit;
use crate::print;

pub(crate) fn completions(args: &args::Completions) -> anyhow::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bosun", &mut text);
    print::bytes(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn man(args: &args::Man) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.folder else {
        print::bytes(&page(command)?)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let written = pages(folder, "bosun", command)?;
    let folder = crate::print::path(folder);
    print::note(&format!("wrote {} to {folder}", types::count(written, "page")));
    Ok(Exit::Done)
}

/// Writes the pages of a command and its subcommands; returns their number.
fn pages(folder: &Path, name: &str, command: Command) -> anyhow::Result<usize> {
    let below: Vec<Command> = command.get_subcommands().cloned().collect();
    let path = folder.join(format!("{name}.1"));
    let titled = command.display_name(name.to_owned());
    std::fs::write(&path, page(titled)?).with_context(|| format!("writing {}", path.display()))?;
    let mut written = 1;
    for command in below.into_iter().filter(|command| command.get_name() != "help") {
        let name = format!("{name}-{}", command.get_name());
        written += pages(folder, &name, command)?;
    }
    Ok(written)
}

fn page(command: Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}
