//! Conditions of rules: whether one holds for a request. Matches whole words and structure, never substrings.

pub mod clauses;
mod opposed;

use std::cell::OnceCell;

use types::{Condition, Money};

use crate::phrase::{BadPhrase, Lists, Phrase, is_start, stands_before};
use crate::reading::{Reading, Word};

pub use clauses::holds;

/// The largest distance in words between the patterns of a combination: two or three sentences.
const TOGETHER: usize = 30;

/// The invalid patterns of a condition, each with its cause.
pub(crate) fn problems(condition: &Condition, lists: &Lists) -> Vec<(String, BadPhrase)> {
    let Condition { any_phrase, also_phrase, unless_phrase, unless_before, nothing_but, .. } =
        condition;
    let all = [any_phrase, also_phrase, unless_phrase, unless_before, nothing_but];
    let combined = condition.together.iter().flatten().chain(condition.opposed.iter().flatten());
    let broken = |text: &String| problem(text, lists).map(|error| (text.clone(), error));
    all.into_iter().flatten().chain(combined).filter_map(broken).collect()
}

/// Why a pattern is invalid, if it is.
pub(crate) fn problem(text: &str, lists: &Lists) -> Option<BadPhrase> {
    match Phrase::parse(text, lists) {
        Ok(phrase) => phrase.fault(),
        Err(error) => Some(error),
    }
}

/// Whether one of these patterns is found with no excuse before it.
pub(crate) fn found(
    phrases: &[String],
    excuses: &[String],
    lists: &Lists,
    reading: &Reading,
) -> bool {
    let excuses = Excuses::new(excuses, lists, reading);
    parsed(phrases, lists).any(|phrase| !excuses.unexcused(&phrase).is_empty())
}

/// Whether all patterns of one of these combinations are found near each other with no excuse before them.
fn together(
    combinations: &[Vec<String>],
    excuses: &[String],
    lists: &Lists,
    reading: &Reading,
) -> bool {
    let excuses = Excuses::new(excuses, lists, reading);
    combinations.iter().any(|combination| {
        let phrases: Option<Vec<Phrase<'_>>> =
            combination.iter().map(|text| Phrase::parse(text, lists).ok()).collect();
        let mut parts = Vec::new();
        for phrase in phrases.into_iter().flatten() {
            let places = excuses.unexcused(&phrase);
            if places.is_empty() {
                return false;
            }
            parts.push(places);
        }
        let Some((first, others)) = parts.split_first() else { return false };
        let near = |place: usize, part: &Vec<usize>| {
            let first = part.partition_point(|other| other + TOGETHER < place);
            part.get(first).is_some_and(|other| *other <= place + TOGETHER)
        };
        first.iter().any(|place| others.iter().all(|part| near(*place, part)))
    })
}

/// Patterns that excuse a match after them. Searched for once, when the first match is found.
struct Excuses<'a> {
    patterns: &'a [String],
    lists: &'a Lists,
    reading: &'a Reading,
    places: OnceCell<Vec<usize>>,
}

impl<'a> Excuses<'a> {
    fn new(patterns: &'a [String], lists: &'a Lists, reading: &'a Reading) -> Self {
        Self { patterns, lists, reading, places: OnceCell::new() }
    }

    /// The matches of a pattern that have no excuse before them. Where there are excuses, names in code do not match.
    fn unexcused(&self, phrase: &Phrase<'_>) -> Vec<usize> {
        let reading = self.reading;
        let mut places = phrase.places(reading);
        places.retain(|place| {
            if !self.patterns.is_empty() && reading.words()[*place].is_part_of_a_name() {
                return false;
            }
            is_start(reading.words(), *place) || !stands_before(self.places(), reading, *place)
        });
        places
    }

    fn places(&self) -> &[usize] {
        self.places.get_or_init(|| {
            let found = parsed(self.patterns, self.lists);
            let mut places: Vec<usize> =
                found.flat_map(|phrase| phrase.places(self.reading)).collect();
            places.sort_unstable();
            places
        })
    }
}

/// Whether a text consists of these words alone and is not about code.
fn nothing_but(phrases: &[String], lists: &Lists, reading: &Reading) -> bool {
    let phrases: Vec<Phrase<'_>> = parsed(phrases, lists).collect();
    let named = |word: &Word| !word.tied && phrases.iter().any(|phrase| phrase.is_word(word));
    !reading.is_about_code() && reading.words().iter().all(named)
}

/// The valid patterns.
fn parsed<'a>(phrases: &'a [String], lists: &'a Lists) -> impl Iterator<Item = Phrase<'a>> {
    phrases.iter().filter_map(|text| Phrase::parse(text, lists).ok())
}

/// Whether any estimate exceeds its budget.
fn over_budget(reading: &Reading) -> bool {
    over_tokens(reading).is_some() || over_time(reading).is_some() || over_money(reading).is_some()
}

/// The estimate of tokens and the budget that it exceeds.
pub(crate) fn over_tokens(reading: &Reading) -> Option<(u64, u64)> {
    reading.facts.estimate.zip(reading.facts.tokens).filter(|(estimate, most)| estimate > most)
}

/// The same for seconds.
pub(crate) fn over_time(reading: &Reading) -> Option<(u64, u64)> {
    let facts = &reading.facts;
    facts.estimate_seconds.zip(facts.seconds).filter(|(estimate, most)| estimate > most)
}

/// The same for money.
pub(crate) fn over_money(reading: &Reading) -> Option<(Money, Money)> {
    let facts = &reading.facts;
    facts.estimate_money.zip(facts.money).filter(|(estimate, most)| estimate > most)
}
