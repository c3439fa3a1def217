//! Does a rule's condition hold for a request? Whole words and structure, never substrings.

pub mod clauses;
mod opposed;

use std::cell::OnceCell;

use types::{Condition, Money, Policy};

use crate::phrase::{BadPhrase, Lists, Phrase, begins_a_clause, stands_before};
use crate::reading::{Reading, Word};

pub use opposed::opposed;

/// How many words apart the patterns of a combination may stand: two or three sentences.
const TOGETHER: usize = 30;

/// Everything that the condition names must hold. A pattern that cannot be read is found nowhere; a policy with one
/// is refused before it is used.
pub fn holds(condition: &Condition, policy: &Policy, reading: &Reading) -> bool {
    let lists = &policy.words;
    let facts = &reading.facts;
    condition.fewer_words_than.is_none_or(|limit| reading.words().len() < limit)
        && condition.hint.is_none_or(|hint| facts.hint == Some(hint))
        && condition.attached.is_none_or(|wanted| facts.attached == wanted)
        && condition.over_budget.is_none_or(|wanted| over_budget(reading) == wanted)
        && condition.known_project_type.is_none_or(|wanted| {
            let named = facts.project_type.as_ref();
            named.is_some_and(|name| policy.project_types.iter().any(|t| t.name == *name) == wanted)
        })
        && condition.about_code.is_none_or(|wanted| reading.is_about_code() == wanted)
        && (condition.mentions.is_empty()
            || condition.mentions.iter().any(|mention| reading.mentions(*mention)))
        && (condition.nothing_but.is_empty() || nothing_but(&condition.nothing_but, lists, reading))
        && (condition.any_phrase.is_empty()
            || found(&condition.any_phrase, &condition.unless_before, lists, reading))
        && (condition.also_phrase.is_empty() || found(&condition.also_phrase, &[], lists, reading))
        && (condition.together.is_empty()
            || together(&condition.together, &condition.unless_before, lists, reading))
        && (condition.opposed.is_empty() || opposed(&condition.opposed, lists, reading))
        && !found(&condition.unless_phrase, &[], lists, reading)
}

/// What is wrong with the patterns of a condition, each with its cause.
pub fn problems(condition: &Condition, lists: &Lists) -> Vec<(String, BadPhrase)> {
    let Condition { any_phrase, also_phrase, unless_phrase, unless_before, nothing_but, .. } =
        condition;
    let all = [any_phrase, also_phrase, unless_phrase, unless_before, nothing_but];
    let combined = condition.together.iter().flatten().chain(condition.opposed.iter().flatten());
    let broken = |text: &String| problem(text, lists).map(|error| (text.clone(), error));
    all.into_iter().flatten().chain(combined).filter_map(broken).collect()
}

/// What is wrong with a pattern.
pub fn problem(text: &str, lists: &Lists) -> Option<BadPhrase> {
    match Phrase::parse(text, lists) {
        Ok(phrase) => phrase.fault(),
        Err(error) => Some(error),
    }
}

/// Whether one of these is found where nothing before it excuses it.
pub fn found(phrases: &[String], excuses: &[String], lists: &Lists, reading: &Reading) -> bool {
    let excuses = Excuses::new(excuses, lists, reading);
    parsed(phrases, lists).any(|phrase| !excuses.leave(&phrase).is_empty())
}

/// Whether all patterns of one of these combinations are found near each other, where nothing excuses them.
pub fn together(
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
            let places = excuses.leave(&phrase);
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

/// What excuses a pattern that is found after it. It is looked for when the first pattern is found, and then once.
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

    /// Where a pattern is found with nothing before it that excuses it. Where excuses count, so does how it is said:
    /// names in the code are not meant.
    fn leave(&self, phrase: &Phrase<'_>) -> Vec<usize> {
        let reading = self.reading;
        let mut places = phrase.places(reading);
        places.retain(|place| {
            if !self.patterns.is_empty() && reading.words()[*place].is_part_of_a_name() {
                return false;
            }
            begins_a_clause(reading, *place) || !stands_before(self.places(), reading, *place)
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

/// Where a pattern is found, whatever stands before it.
pub fn places(pattern: &str, lists: &Lists, reading: &Reading) -> Vec<usize> {
    let phrase = Phrase::parse(pattern, lists);
    phrase.map(|phrase| phrase.places(reading)).unwrap_or_default()
}

pub fn nothing_but(phrases: &[String], lists: &Lists, reading: &Reading) -> bool {
    let phrases: Vec<Phrase<'_>> = parsed(phrases, lists).collect();
    let named = |word: &Word| !word.tied && phrases.iter().any(|phrase| phrase.is_word(word));
    !reading.is_about_code() && reading.words().iter().all(named)
}

/// The patterns that can be read.
fn parsed<'a>(phrases: &'a [String], lists: &'a Lists) -> impl Iterator<Item = Phrase<'a>> {
    phrases.iter().filter_map(|text| Phrase::parse(text, lists).ok())
}

pub fn over_budget(reading: &Reading) -> bool {
    over_tokens(reading).is_some() || over_time(reading).is_some() || over_money(reading).is_some()
}

/// The estimate of tokens and the budget that it is above.
pub fn over_tokens(reading: &Reading) -> Option<(u64, u64)> {
    reading.facts.estimate.zip(reading.facts.tokens).filter(|(estimate, most)| estimate > most)
}

/// The same for seconds.
pub fn over_time(reading: &Reading) -> Option<(u64, u64)> {
    let facts = &reading.facts;
    facts.estimate_seconds.zip(facts.seconds).filter(|(estimate, most)| estimate > most)
}

/// The same for money.
pub fn over_money(reading: &Reading) -> Option<(Money, Money)> {
    let facts = &reading.facts;
    facts.estimate_money.zip(facts.money).filter(|(estimate, most)| estimate > most)
}
