//! Shells and interpreters: programs that are given other programs to run, as a text, a file or their input.

use super::source::Found;
use super::{Direction, Part, Word, unwrap};

const SHELLS: [&str; 10] =
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish", "csh"];

/// Interpreters, by the beginning of their names.
const INTERPRETERS: [&str; 19] = [
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "rscript",
    "tclsh",
    "wish",
    "osascript",
    "expect",
    "groovy",
    "julia",
    "guile",
];

/// Options of shells that take a value.
const VALUED: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

pub(super) fn is_shell(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    SHELLS.contains(&plain.strip_suffix("-static").unwrap_or(plain))
}

pub(super) fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.iter().any(|known| {
        name.strip_prefix(known)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
    })
}

/// What a shell is given to run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Given<'a> {
    Text(&'a Word),
    File,
    /// Its own input.
    Input,
}

/// What the words of a shell say that it runs, and whether they say anything else.
pub(super) fn given(words: &[Word]) -> (Given<'_>, bool) {
    let (mut text, mut input, mut odd) = (false, false, false);
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let option = word.shown();
        if !option.starts_with(['-', '+']) || option.len() < 2 {
            if option == "-" {
                continue;
            }
            let otherwise = if input { Given::Input } else { Given::File };
            return (if text { Given::Text(word) } else { otherwise }, odd);
        }
        if option == "--" {
            let next = words.next();
            return match (text, next) {
                (true, Some(word)) => (Given::Text(word), odd),
                (false, Some(_)) if !input => (Given::File, odd),
                _ => (Given::Input, odd),
            };
        }
        text |= !option.starts_with("--") && option.starts_with('-') && option.contains('c');
        input |= !option.starts_with("--") && option.contains('s');
        // Options that make it read other files first, such as those of a login.
        odd |= option.starts_with("--") || option.contains(['l', 'i', 's']);
        if VALUED.contains(&option.as_str()) || (option.ends_with('o') && !option.starts_with("--"))
        {
            words.next();
        }
    }
    (Given::Input, odd)
}

/// Adds the commands of a shell's text or input, and says whether running them is all that it does.
pub(super) fn unwrap(found: &mut Found, part: &Part) -> bool {
    let (given, odd) = given(&part.words);
    match given {
        Given::Text(word) => {
            unwrap::script(found, part, std::slice::from_ref(word));
            !odd
        }
        Given::File => false,
        Given::Input => {
            let Some(document) = document(part) else { return false };
            let Some(body) = found.documents.get(document).cloned() else { return false };
            unwrap::script(found, part, &[body]);
            !odd
        }
    }
}

/// The text in the line that is its input, by its number: the last redirection of an input wins.
fn document(part: &Part) -> Option<usize> {
    let inputs = part.redirections.iter().rev();
    let last = inputs
        .map(|redirection| redirection.direction)
        .find(|direction| matches!(direction, Direction::Reads | Direction::Document(_)));
    match last {
        Some(Direction::Document(number)) => Some(number),
        _ => None,
    }
}
