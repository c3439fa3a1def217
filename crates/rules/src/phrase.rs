//! Patterns on words in policies: whole words in order, with gaps that respect clauses and noun phrases.
//!
//! `a|b` is either, `a_b` one after the other, `w*` a word that begins so, `<list>` one of the policy's words; `..`
//! skips words of the same noun phrase, `...` words of the same sentence; `^` is the start of a clause, `$` the end of
//! a noun phrase.

mod grammar;

use std::collections::BTreeMap;
use std::fmt;

use crate::reading::{Pause, Reading, Word};
use grammar::is_joint;
pub(crate) use grammar::is_start;

/// How many words `..` and `...` may skip.
const NEAR: usize = 6;
const FAR: usize = 14;

/// Maximum number of positions at which a pattern is tried; bounds the time for repetitive texts.
const MOST_PLACES: usize = 4_000;

/// The word lists of a policy.
pub(crate) type Lists = BTreeMap<String, Vec<String>>;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phrase<'a> {
    items: Vec<Item<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Item<'a> {
    Start,
    End,
    Near,
    Far,
    /// One of these entries, each of one or more words.
    Any(Vec<&'a str>),
}

/// Why a pattern is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BadPhrase {
    NoWord,
    NoSuchList(String),
    NotAWord(String),
}

impl fmt::Display for BadPhrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWord => write!(f, "contains no word"),
            Self::NoSuchList(name) => write!(f, "names the unknown list <{name}>"),
            Self::NotAWord(text) => {
                write!(f, "contains {text:?}, which is not a lower-case word")
            }
        }
    }
}

impl<'a> Phrase<'a> {
    pub(crate) fn parse(text: &'a str, lists: &'a Lists) -> Result<Self, BadPhrase> {
        let items: Vec<Item<'a>> = text
            .split_whitespace()
            .map(|item| parse_item(item, lists))
            .collect::<Result<_, _>>()?;
        if items.iter().any(|item| matches!(item, Item::Any(_))) {
            Ok(Self { items })
        } else {
            Err(BadPhrase::NoWord)
        }
    }

    /// The problem with its words, if there is one. Checked when a policy is loaded, not for every request.
    pub(crate) fn fault(&self) -> Option<BadPhrase> {
        let words = self.items.iter().flat_map(|item| match item {
            Item::Any(words) => words.as_slice(),
            _ => &[],
        });
        let bad = |word: &&str| !is_plain(word);
        words.copied().find(bad).map(|word| BadPhrase::NotAWord(word.to_owned()))
    }

    /// The matches, by the index of the first word, in order.
    pub(crate) fn places(&self, reading: &Reading) -> Vec<usize> {
        let first = self.items.iter().find_map(|item| match item {
            Item::Any(words) => Some(words),
            _ => None,
        });
        let starts = first.into_iter().flatten().filter_map(|entry| pieces(entry).next());
        let mut places: Vec<usize> = starts.flat_map(|word| reading.places_of(word)).collect();
        places.sort_unstable();
        places.dedup();
        places.truncate(MOST_PLACES);
        places.retain(|place| matches(&self.items, reading.words(), *place, Pause::Sentence));
        places
    }

    /// Whether the pattern matches this single word.
    pub(crate) fn is_word(&self, word: &Word) -> bool {
        matches!(self.items.as_slice(), [Item::Any(words)] if words.iter().any(|wanted| word.is(wanted)))
    }
}

/// The matches of a pattern; none for an invalid one.
pub(crate) fn places(pattern: &str, lists: &Lists, reading: &Reading) -> Vec<usize> {
    let phrase = Phrase::parse(pattern, lists);
    phrase.map(|phrase| phrase.places(reading)).unwrap_or_default()
}

/// Whether one of these sorted positions precedes that one in the same sentence.
pub(crate) fn stands_before(found: &[usize], reading: &Reading, place: usize) -> bool {
    let sentence = reading.sentence_of(place);
    let first = found.partition_point(|found| *found < sentence);
    found.get(first).is_some_and(|found| *found < place)
}

fn parse_item<'a>(item: &'a str, lists: &'a Lists) -> Result<Item<'a>, BadPhrase> {
    Ok(match item {
        "^" => Item::Start,
        "$" => Item::End,
        ".." => Item::Near,
        "..." => Item::Far,
        _ => {
            let mut words = Vec::new();
            for word in item.split('|') {
                match word.strip_prefix('<').and_then(|list| list.strip_suffix('>')) {
                    Some(name) => {
                        let list = lists.get(name);
                        let list = list.ok_or_else(|| BadPhrase::NoSuchList(name.to_owned()))?;
                        words.extend(list.iter().map(String::as_str));
                    }
                    None => words.push(word),
                }
            }
            Item::Any(words)
        }
    })
}

/// Whether these are lower-case words, with a star only at the end of one.
fn is_plain(words: &str) -> bool {
    let word = |word: &str| {
        let word = word.strip_suffix('*').unwrap_or(word);
        !word.is_empty()
            && word.chars().all(|c| c.is_alphanumeric())
            && word.chars().all(|c| !c.is_uppercase())
    };
    words.split([' ', '_']).all(word)
}

/// The words of an entry; in scripts without blanks, each character is a word.
fn pieces(words: &str) -> impl Iterator<Item = &str> {
    words.split([' ', '_']).filter(|word| !word.is_empty()).flat_map(|word| {
        let wide = word.chars().all(|c| ('\u{3040}'..='\u{9fff}').contains(&c));
        let step = if wide { word.chars().next().map_or(1, char::len_utf8) } else { word.len() };
        (0..word.len()).step_by(step.max(1)).filter_map(move |at| word.get(at..at + step))
    })
}

/// Whether the items match from here on, the first word after at most this pause.
fn matches(items: &[Item<'_>], words: &[Word], at: usize, pause: Pause) -> bool {
    let Some((item, rest)) = items.split_first() else { return true };
    match item {
        Item::Start => is_start(words, at) && matches(rest, words, at, pause),
        Item::End => ends_a_phrase(words, at) && matches(rest, words, at, pause),
        Item::Near => skips(
            at,
            NEAR,
            |at| ends_a_phrase(words, at),
            |at| matches(rest, words, at, Pause::None),
        ),
        Item::Far => skips(
            at,
            FAR,
            |at| ends_a_sentence(words, at),
            |at| matches(rest, words, at, Pause::Clause),
        ),
        Item::Any(wanted) => wanted.iter().any(|wanted| {
            length(wanted, words, at, pause)
                .is_some_and(|length| matches(rest, words, at + length, Pause::None))
        }),
    }
}

/// The number of words that an entry matches here, if it does.
fn length(wanted: &str, words: &[Word], at: usize, pause: Pause) -> Option<usize> {
    let first = words.get(at)?;
    if first.text.as_bytes().first() != wanted.as_bytes().first() {
        return None;
    }
    let mut count = 0;
    for piece in pieces(wanted) {
        let word = words.get(at + count)?;
        let longest = if count == 0 { pause } else { Pause::None };
        if word.pause > longest || !word.is(piece) {
            return None;
        }
        count += 1;
    }
    (count > 0).then_some(count)
}

/// Whether the rest matches after skipping at most this many words, none of them beyond an end.
fn skips(
    at: usize,
    most: usize,
    is_end: impl Fn(usize) -> bool,
    matches: impl Fn(usize) -> bool,
) -> bool {
    let end = (at..at + most).find(|at| is_end(*at)).unwrap_or(at + most);
    (at..=end).any(matches)
}

fn ends_a_sentence(words: &[Word], at: usize) -> bool {
    words.get(at).is_none_or(|word| word.pause == Pause::Sentence)
}

/// Whether the noun phrase ends before this word.
pub(crate) fn ends_a_phrase(words: &[Word], at: usize) -> bool {
    words.get(at).is_none_or(|word| word.pause != Pause::None || is_joint(&word.text))
}

#[cfg(test)]
mod tests;
