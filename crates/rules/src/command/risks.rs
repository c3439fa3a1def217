//! Risks of each part: where it writes, which variables it sets, whose output it runs. Which risks are permitted is
//! for the rules.

use std::collections::BTreeMap;

use types::CommandRisk;

use super::dangerous_flags;
use super::part::{Direction, Part};
use super::paths::{self, Cwd};
use super::programs::{self, Given};
use super::source::MOST_BYTES;
use super::word::Word;

/// Programs that write, change or delete all of their plain arguments.
const CHANGES_ALL: [&str; 12] = [
    "chgrp", "chmod", "chown", "mkdir", "rm", "rmdir", "setfacl", "shred", "tee", "touch",
    "truncate", "unlink",
];
/// Programs that write to their last argument.
const CHANGES_LAST: [&str; 5] = ["cp", "install", "ln", "mv", "rsync"];

/// Variables that make programs load or run something, or say where to find it. A `*` at the end matches any suffix.
const LOADS_CODE: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "CARGO_*",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "CURL_HOME",
    "CXX",
    "DOCKER_*",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GEM_*",
    "GIT_*",
    "GLIBC_TUNABLES",
    "GOFLAGS",
    "GREP_OPTIONS",
    "GZIP",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_*",
    "LESSCLOSE",
    "LESSOPEN",
    "LOCPATH",
    "LUA_*",
    "MAKEFLAGS",
    "MAKEFILES",
    "MALLOC_*",
    "MANPAGER",
    "NLSPATH",
    "NODE_*",
    "NPM_CONFIG_*",
    "OPENSSL_*",
    "PAGER",
    "PATH",
    "PERL*",
    "PIP_*",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "PYTHON*",
    "RES_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    "RUBY*",
    "RUSTC*",
    "RUSTDOC*",
    "RUSTFLAGS",
    "SHELL",
    "SHELLOPTS",
    "SSH_*",
    "SUDO_*",
    "SYSTEMD_*",
    "TAPE",
    "TAR_OPTIONS",
    "TERMINFO*",
    "VISUAL",
    "WGETRC",
    "XDG_*",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
    "npm_config_*",
];

/// Adds the risks of every part.
pub(super) fn note(parts: &mut [Part], documents: &[Word]) {
    debug_assert!(documents.len() <= MOST_BYTES, "a document takes at least a character");
    let network: Vec<(usize, usize)> = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| {
            part.is_network() || part.risks.contains(&CommandRisk::Connects) || connects(part)
        })
        .map(|(place, part)| (place, part.origin))
        .collect();
    let fed = |ranges: &[std::ops::Range<usize>]| {
        network.iter().any(|(place, origin)| {
            ranges.iter().any(|range| range.contains(place) || range.contains(origin))
        })
    };
    note_cwd(parts);
    for part in parts.iter_mut() {
        let mut risks = alone(part);
        if let Some(runs) = runs(part) {
            let piped = runs == Runs::Input && !part.upstream.is_empty();
            if piped && programs::is_shell(&part.name().unwrap_or_default()) {
                risks.push(CommandRisk::PipeToShell);
            }
            if (piped && fed(&part.upstream)) || fed(std::slice::from_ref(&part.inside)) {
                risks.push(CommandRisk::NetworkToShell);
            }
            risks.extend((runs != Runs::Text).then_some(CommandRisk::RunsCode));
        }
        part.risks.extend(risks);
    }
}

/// Notes the working directory of each part. A `cd` applies to later commands of the same shell, and to the subshells
/// that it starts from then on.
fn note_cwd(parts: &mut [Part]) {
    // By shell; the line itself is 0.
    let mut dirs = BTreeMap::from([(0, Cwd::default())]);
    for index in 0..parts.len() {
        let part = &parts[index];
        let mut cwd = dirs.get(&0).copied().unwrap_or_default();
        let starter = part.started_by.map(|starter| &parts[starter]);
        for (depth, shell) in part.shells.iter().rev().enumerate() {
            // A command that another one starts begins in the directory of its starter, even if the line has changed
            // directory since.
            let started = starter.filter(|starter| starter.shells.len() == depth);
            let begins = started.map_or(cwd, |starter| starter.cwd);
            cwd = *dirs.entry(*shell).or_insert(begins);
        }
        if matches!(part.name().as_deref(), Some("cd" | "pushd")) {
            let target = part.words.iter().skip(1).find(|word| !word.shown().starts_with('-'));
            let shell = part.shells.first().copied().unwrap_or(0);
            dirs.insert(shell, paths::after_cd(cwd, target));
        }
        parts[index].cwd = cwd;
    }
}

/// The risks of a part that do not depend on others.
fn alone(part: &Part) -> Vec<CommandRisk> {
    let mut risks = Vec::new();
    let mut note = |risk: CommandRisk, holds: bool| risks.extend(holds.then_some(risk));
    let written: Vec<&Word> = written(part);
    let by_redirection =
        part.redirections.iter().filter(|redirection| redirection.direction == Direction::Writes);
    let to_files = by_redirection.filter(|redirection| !paths::is_nowhere(&redirection.target));
    note(CommandRisk::Opaque, part.words.first().is_some_and(|word| word.known().is_none()));
    note(CommandRisk::Redirects, to_files.count() > 0);
    note(CommandRisk::WritesDevice, written.iter().any(|word| paths::is_device(word)));
    note(
        CommandRisk::WritesOutside,
        written
            .iter()
            .any(|word| !paths::is_nowhere(word) && paths::is_outside_from(part.cwd, word)),
    );
    note(CommandRisk::Connects, connects(part));
    note(CommandRisk::SetsVariable, part.assigns.iter().any(|(name, _)| changes_what_runs(name)));
    let name = part.name().unwrap_or_default();
    let again = part.functions.contains(&name) && (part.background || !part.upstream.is_empty());
    note(CommandRisk::ForkBomb, again);
    let arguments = part.words.get(1..).unwrap_or_default();
    note(CommandRisk::SideDoor, dangerous_flags::find(&name, arguments, &[]).is_some());
    risks
}

fn connects(part: &Part) -> bool {
    part.redirections.iter().any(|redirection| paths::is_connection(&redirection.target))
}

/// Everything that a part certainly writes to: its redirections, and the files that its program changes.
fn written(part: &Part) -> Vec<&Word> {
    let redirections = part.redirections.iter();
    let mut written: Vec<&Word> = redirections
        .filter(|redirection| redirection.direction == Direction::Writes)
        .map(|redirection| &redirection.target)
        .collect();
    let name = part.name().unwrap_or_default();
    let mut plain = part.words.iter().skip(1).filter(|word| !word.shown().starts_with('-'));
    let in_place =
        |word: &Word| word.shown().starts_with("-i") || word.shown().starts_with("--in-place");
    let edits = name == "sed" && part.words.iter().any(in_place);
    if CHANGES_ALL.contains(&name.as_str()) || edits {
        written.extend(plain);
    } else if CHANGES_LAST.contains(&name.as_str()) {
        written.extend(plain.next_back());
    }
    written
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// A script in its words, which was read.
    Text,
    /// A file, or a program in another language.
    Code,
    Input,
}

/// The code that this part runs, if it is a shell or an interpreter.
fn runs(part: &Part) -> Option<Runs> {
    let name = part.name()?;
    if programs::is_shell(&name) {
        return Some(match programs::given(&part.words).0 {
            Given::Text(_) => Runs::Text,
            Given::File => Runs::Code,
            Given::Input if part.is_wrapper && part.upstream.is_empty() => Runs::Text,
            Given::Input => Runs::Input,
        });
    }
    match name.as_str() {
        "eval" => return Some(Runs::Text),
        "source" | "." => return Some(Runs::Code),
        _ => {}
    }
    if !programs::is_interpreter(&name) {
        return None;
    }
    let asks =
        |word: &Word| matches!(word.shown().as_str(), "--version" | "-V" | "-v" | "--help" | "-h");
    let arguments = part.words.get(1..).unwrap_or_default();
    match arguments {
        [only] if asks(only) => None,
        _ if arguments.iter().all(|word| {
            word.shown().starts_with('-') && word.shown() != "-c" && word.shown() != "-e"
        }) =>
        {
            Some(Runs::Input)
        }
        _ => Some(Runs::Code),
    }
}

/// Whether setting this variable may make a program run something else.
fn changes_what_runs(name: &str) -> bool {
    LOADS_CODE.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}
