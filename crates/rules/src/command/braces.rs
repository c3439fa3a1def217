//! `{a,b}` and `{1..3}`: one word that becomes several, before anything else happens to it.

use super::source::{Read, Unclear};
use super::word::Atom;

/// The most words that one word may become.
const MOST: usize = 512;
/// The most braces that one word may hold.
const MOST_BRACES: usize = 64;
/// The most characters that they may become.
const MOST_ATOMS: usize = 200_000;

/// What a word becomes.
pub(super) fn braces(atoms: &[Atom]) -> Read<Vec<Vec<Atom>>> {
    if atoms.iter().filter(|atom| atom.is_bare('{')).count() > MOST_BRACES {
        return Err(Unclear("there are too many braces in a word"));
    }
    let mut left = 4_096;
    expand(atoms, &mut left)
}

fn expand(atoms: &[Atom], left: &mut usize) -> Read<Vec<Vec<Atom>>> {
    *left = left.checked_sub(1).ok_or(Unclear("braces become too many words"))?;
    for (open, atom) in atoms.iter().enumerate() {
        if !atom.is_bare('{') {
            continue;
        }
        let Some((close, commas)) = matching(atoms, open) else { continue };
        let inside = &atoms[open + 1..close];
        let choices: Vec<Vec<Atom>> = if commas.is_empty() {
            match sequence(inside)? {
                Some(choices) => choices,
                None => continue,
            }
        } else {
            let mut choices = Vec::new();
            let mut from = open + 1;
            for comma in commas.iter().copied().chain([close]) {
                choices.extend(expand(&atoms[from..comma], left)?);
                from = comma + 1;
            }
            choices
        };
        let ends = expand(&atoms[close + 1..], left)?;
        let words = choices.len().saturating_mul(ends.len());
        if words > MOST || words.saturating_mul(atoms.len()) > MOST_ATOMS {
            return Err(Unclear("braces become too many words"));
        }
        let start = &atoms[..open];
        let joined = |choice: &Vec<Atom>, end: &Vec<Atom>| [start, choice, end].concat();
        return Ok(choices
            .iter()
            .flat_map(|choice| ends.iter().map(move |end| joined(choice, end)))
            .collect());
    }
    Ok(vec![atoms.to_vec()])
}

/// Where an open brace is closed, and the commas on its own level.
fn matching(atoms: &[Atom], open: usize) -> Option<(usize, Vec<usize>)> {
    let (mut level, mut commas) = (0_u32, Vec::new());
    for (place, atom) in atoms.iter().enumerate().skip(open + 1) {
        match atom {
            _ if atom.is_bare('{') => level += 1,
            _ if atom.is_bare('}') && level == 0 => return Some((place, commas)),
            _ if atom.is_bare('}') => level -= 1,
            _ if atom.is_bare(',') && level == 0 => commas.push(place),
            _ => {}
        }
    }
    None
}

/// `1..5` and `a..e`.
fn sequence(inside: &[Atom]) -> Read<Option<Vec<Vec<Atom>>>> {
    let bare = |atom: &Atom| match atom {
        Atom::Char { c, quoted: false } => Some(*c),
        _ => None,
    };
    let Some(text) = inside.iter().map(bare).collect::<Option<String>>() else {
        // Variables are not expanded yet when braces are, so they never make a sequence.
        return Ok(None);
    };
    let Some((from, to)) = text.split_once("..") else { return Ok(None) };
    let word = |text: String| text.chars().map(Atom::bare).collect::<Vec<_>>();
    let plain = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits == "0" || !digits.starts_with('0')
    };
    if let (Ok(a), Ok(b)) = (from.parse::<i64>(), to.parse::<i64>()) {
        if !plain(from) || !plain(to) || a.abs_diff(b) >= MOST as u64 {
            return Err(Unclear("braces become too many words"));
        }
        let numbers: Vec<i64> = if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() };
        return Ok(Some(numbers.into_iter().map(|n| word(n.to_string())).collect()));
    }
    let letter = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
    };
    match (letter(from), letter(to)) {
        (Some(a), Some(b)) if a.is_ascii_lowercase() == b.is_ascii_lowercase() => {
            let letters: Vec<char> =
                if a <= b { (a..=b).collect() } else { (b..=a).rev().collect() };
            Ok(Some(letters.into_iter().map(|c| word(c.to_string())).collect()))
        }
        (None, _) | (_, None) if !to.contains("..") => Ok(None),
        _ => Err(Unclear("a sequence in braces cannot be read")),
    }
}
