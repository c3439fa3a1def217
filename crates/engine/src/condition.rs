//! Does a rule's condition hold for a request? Whole words and structure, never substrings.

use types::{Condition, Policy};

use crate::phrase::{BadPhrase, Lists, Phrase, begins_a_clause};
use crate::reading::Reading;

/// Everything that the condition names must hold. A pattern that cannot be read is found nowhere; a policy with one
/// is refused before it is used.
pub(crate) fn holds(condition: &Condition, policy: &Policy, reading: &Reading) -> bool {
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
        && (condition.mentions.is_empty()
            || condition.mentions.iter().any(|mention| reading.mentions(*mention)))
        && (condition.nothing_but.is_empty() || nothing_but(&condition.nothing_but, lists, reading))
        && (condition.any_phrase.is_empty()
            || found(&condition.any_phrase, &condition.unless_before, lists, reading))
        && (condition.also_phrase.is_empty() || found(&condition.also_phrase, &[], lists, reading))
        && !found(&condition.unless_phrase, &[], lists, reading)
}

/// What is wrong with the patterns of a condition, each with its cause.
pub(crate) fn problems(condition: &Condition, lists: &Lists) -> Vec<(String, BadPhrase)> {
    let Condition { any_phrase, also_phrase, unless_phrase, unless_before, nothing_but, .. } =
        condition;
    let all = [any_phrase, also_phrase, unless_phrase, unless_before, nothing_but];
    let broken = |text: &String| problem(text, lists).map(|error| (text.clone(), error));
    all.into_iter().flatten().filter_map(broken).collect()
}

/// What is wrong with a pattern.
pub(crate) fn problem(text: &str, lists: &Lists) -> Option<BadPhrase> {
    match Phrase::parse(text, lists) {
        Ok(phrase) => phrase.fault(),
        Err(error) => Some(error),
    }
}

/// Whether one of these is found where nothing before it excuses it.
pub(crate) fn found(
    phrases: &[String],
    excuses: &[String],
    lists: &Lists,
    reading: &Reading,
) -> bool {
    let excused = |place: usize| {
        !begins_a_clause(reading, place)
            && parsed(excuses, lists).any(|excuse| excuse.stands_before(reading, place))
    };
    parsed(phrases, lists)
        .any(|phrase| phrase.places(reading).into_iter().any(|place| !excused(place)))
}

/// Where a pattern is found, whatever stands before it.
pub(crate) fn places(pattern: &str, lists: &Lists, reading: &Reading) -> Vec<usize> {
    Phrase::parse(pattern, lists).map(|phrase| phrase.places(reading)).unwrap_or_default()
}

pub(crate) fn nothing_but(phrases: &[String], lists: &Lists, reading: &Reading) -> bool {
    let phrases: Vec<Phrase<'_>> = parsed(phrases, lists).collect();
    !reading.is_about_code()
        && reading
            .words()
            .iter()
            .all(|word| !word.tied && phrases.iter().any(|phrase| phrase.is_word(word)))
}

fn parsed<'a>(phrases: &'a [String], lists: &'a Lists) -> impl Iterator<Item = Phrase<'a>> {
    phrases.iter().filter_map(|text| Phrase::parse(text, lists).ok())
}

pub(crate) fn over_budget(reading: &Reading) -> bool {
    let facts = &reading.facts;
    matches!((facts.estimate, facts.tokens), (Some(estimate), Some(tokens)) if estimate > tokens)
}
