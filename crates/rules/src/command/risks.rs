//! What each part does beside being called what it is called: where it writes, what it sets, whose output it runs.

use std::collections::BTreeMap;

use types::Deed;

use super::shells::{self, Given};
use super::{Direction, Part, Stands, Word, assign, dangerous_flags, place};

/// Programs whose plain words are all written, changed or deleted.
const CHANGES_ALL: [&str; 12] = [
    "chgrp", "chmod", "chown", "mkdir", "rm", "rmdir", "setfacl", "shred", "tee", "touch",
    "truncate", "unlink",
];
/// Programs that write to the last of their words.
const CHANGES_LAST: [&str; 5] = ["cp", "install", "ln", "mv", "rsync"];

/// Puts every deed on record.
pub(super) fn note(parts: &mut [Part], documents: &[Word]) {
    debug_assert!(documents.len() <= super::MOST_BYTES, "a document takes at least a character");
    let network: Vec<(usize, usize)> = parts
        .iter()
        .enumerate()
        .filter(|(_, part)| {
            part.is_network() || part.risks.contains(&Deed::Connects) || connects(part)
        })
        .map(|(place, part)| (place, part.origin))
        .collect();
    let fed = |ranges: &[std::ops::Range<usize>]| {
        network.iter().any(|(place, origin)| {
            ranges.iter().any(|range| range.contains(place) || range.contains(origin))
        })
    };
    note_places(parts);
    for part in parts.iter_mut() {
        let mut risks = alone(part);
        if let Some(runs) = runs(part) {
            let piped = runs == Runs::Input && !part.upstream.is_empty();
            if piped && shells::is_shell(&part.name().unwrap_or_default()) {
                risks.push(Deed::PipeToShell);
            }
            if (piped && fed(&part.upstream)) || fed(std::slice::from_ref(&part.inside)) {
                risks.push(Deed::NetworkToShell);
            }
            risks.extend((runs != Runs::Text).then_some(Deed::RunsCode));
        }
        part.risks.extend(risks);
    }
}

/// Notes where each part stands. Who goes somewhere takes along what comes after him in the same shell, and in those
/// that it starts from then on.
fn note_places(parts: &mut [Part]) {
    // By shell; the line's own is 0.
    let mut places = BTreeMap::from([(0, Stands::default())]);
    for place in 0..parts.len() {
        let part = &parts[place];
        let mut stands = places.get(&0).copied().unwrap_or_default();
        let carrier = part.carrier.map(|carrier| &parts[carrier]);
        for (depth, shell) in part.shells.iter().rev().enumerate() {
            // What another command starts begins where that one stands, wherever the line has gone since.
            let started = carrier.filter(|carrier| carrier.shells.len() == depth);
            let begins = started.map_or(stands, |carrier| carrier.stands);
            stands = *places.entry(*shell).or_insert(begins);
        }
        if matches!(part.name().as_deref(), Some("cd" | "pushd")) {
            let target = part.words.iter().skip(1).find(|word| !word.shown().starts_with('-'));
            let shell = part.shells.first().copied().unwrap_or(0);
            places.insert(shell, place::after(stands, target));
        }
        parts[place].stands = stands;
    }
}

/// What can be said of a part without looking at others.
fn alone(part: &Part) -> Vec<Deed> {
    let mut risks = Vec::new();
    let mut note = |deed: Deed, so: bool| risks.extend(so.then_some(deed));
    let written: Vec<&Word> = written(part);
    let by_redirection =
        part.redirections.iter().filter(|redirection| redirection.direction == Direction::Writes);
    let to_files = by_redirection.filter(|redirection| !place::is_nowhere(&redirection.target));
    note(Deed::Opaque, part.words.first().is_some_and(|word| word.known().is_none()));
    note(Deed::Redirects, to_files.count() > 0);
    note(Deed::WritesDevice, written.iter().any(|word| place::is_device(word)));
    note(
        Deed::WritesOutside,
        written
            .iter()
            .any(|word| !place::is_nowhere(word) && place::is_outside_from(part.stands, word)),
    );
    note(Deed::Connects, connects(part));
    note(Deed::SetsVariable, part.assigns.iter().any(|(name, _)| assign::is_telling(name)));
    let name = part.name().unwrap_or_default();
    let again = part.functions.contains(&name) && (part.background || !part.upstream.is_empty());
    note(Deed::ForkBomb, again);
    let arguments = part.words.get(1..).unwrap_or_default();
    note(Deed::SideDoor, dangerous_flags::opened(&name, arguments, &[]).is_some());
    risks
}

fn connects(part: &Part) -> bool {
    part.redirections.iter().any(|redirection| place::is_connection(&redirection.target))
}

/// Everything that a part certainly writes to, by redirections and by what its program is for.
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
    /// A text in its words, which was read.
    Text,
    /// A file, or a text in another language.
    Code,
    Input,
}

/// What code this part runs, if it is a program that does.
fn runs(part: &Part) -> Option<Runs> {
    let name = part.name()?;
    if shells::is_shell(&name) {
        return Some(match shells::given(&part.words).0 {
            Given::Text(_) => Runs::Text,
            Given::File => Runs::Code,
            Given::Input if part.carries && part.upstream.is_empty() => Runs::Text,
            Given::Input => Runs::Input,
        });
    }
    match name.as_str() {
        "eval" => return Some(Runs::Text),
        "source" | "." => return Some(Runs::Code),
        _ => {}
    }
    if !shells::is_interpreter(&name) {
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
