//! Contradictions: whether two clauses of a text ask for opposite things. Patterns recognise the wishes; words that
//! both clauses share identify the object. Clauses that name a condition do not contradict each other.

use crate::phrase::{Lists, ends_a_phrase, places};
use crate::reading::{Pause, Reading, Word, listed};

/// How many words of a clause count, on both sides of a match.
const AROUND: usize = 8;
/// How many matches of each pattern are compared.
const MOST_WISHES: usize = 40;
/// Words that restrict a clause to a case; the opposite may hold in another case.
const CONDITIONS: &str = "when if unless until while once only_if whenever except";
/// Words that do not identify an object.
const EMPTY: &str = "the and but also not dont never must should shall have has are was that this them they you our your all any \
    every for with from into make get let use set add now always again please completely exactly";

/// Whether both patterns of one of these pairs are found in clauses about the same object.
pub(super) fn opposed(pairs: &[[String; 2]], lists: &Lists, reading: &Reading) -> bool {
    pairs.iter().any(|pair| {
        let [one, other] = pair.each_ref().map(|text| {
            let mut places = places(text, lists, reading);
            places.truncate(MOST_WISHES);
            places
        });
        one.iter().any(|one| other.iter().any(|other| clash(reading.words(), *one, *other)))
    })
}

/// Whether the same object follows both, or the clauses share two words, or half of the shorter one.
fn clash(words: &[Word], one: usize, other: usize) -> bool {
    let (first, second) = (clause(words, one), clause(words, other));
    if first.contains(&other) || second.contains(&one) {
        return false;
    }
    let conditional = |word: &&Word| listed(CONDITIONS, &word.text);
    let both = || words[first.clone()].iter().chain(&words[second.clone()]);
    if both().any(|word| conditional(&word)) {
        return false;
    }
    let (left, right) = (object(words, one), object(words, other));
    if telling(left).next().is_some() && telling(left).eq(telling(right)) {
        return true;
    }
    let (first, second) = (&words[first], &words[second]);
    // Both name the wish; only the object counts.
    let verbs = [one, other, other + 1];
    let verb =
        |text: &str| verbs.iter().any(|at| words.get(*at).is_some_and(|word| word.text == text));
    let shared = telling(first)
        .filter(|word| !verb(word) && telling(second).any(|same| same == *word))
        .count();
    shared >= 2 || shared == 1 && telling(first).count().min(telling(second).count()) <= 2
}

/// The words around this position up to the next pause or coordination.
fn clause(words: &[Word], place: usize) -> std::ops::Range<usize> {
    let breaks =
        |at: usize| words[at].pause != Pause::None || listed("and but und et y e", &words[at].text);
    let start = (place.saturating_sub(AROUND)..=place).rev().find(|at| breaks(*at));
    let last = (place + AROUND).min(words.len());
    let end = (place + 1..last).find(|at| breaks(*at)).unwrap_or(last);
    start.unwrap_or(place.saturating_sub(AROUND))..end
}

/// The noun phrase that follows.
fn object(words: &[Word], place: usize) -> &[Word] {
    let last = (place + AROUND).min(words.len());
    let end = (place + 1..last).find(|at| ends_a_phrase(words, *at)).unwrap_or(last);
    &words[(place + 1).min(end)..end]
}

/// The words that identify the object.
fn telling(words: &[Word]) -> impl Iterator<Item = &str> {
    let texts = words.iter().map(|word| word.text.as_str());
    texts.filter(|text| text.chars().count() >= 3 && !listed(EMPTY, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> bool {
        let pairs =
            [["remove|delete", "keep"], ["touch", "set"]].map(|pair| pair.map(str::to_owned));
        opposed(&pairs, &Lists::new(), &Reading::of_text(text))
    }

    #[test]
    fn opposite_wishes_for_one_thing_are_a_contradiction() {
        assert!(says("Remove the dark mode. Also keep dark mode as it is."));
        assert!(says("Do not touch the file config.toml. Set timeout = 30 in config.toml."));
    }

    #[test]
    fn opposite_wishes_for_two_things_or_two_cases_are_none() {
        assert!(!says("Remove the dark mode and keep the tests green"));
        assert!(!says("Delete the account if it is empty, keep the account if it is not"));
        assert!(!says("Remove dark mode"));
    }
}
