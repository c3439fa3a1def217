//! Does a rule's condition hold for a request? Whole words and structure, never substrings.

use types::{Condition, Hint, Request};

/// A request as the rules see it.
#[derive(Debug)]
pub(crate) struct Reading {
    words: Vec<String>,
    names_a_file: bool,
    hint: Option<Hint>,
    tokens: Option<u64>,
}

impl Reading {
    pub(crate) fn of_text(text: &str) -> Self {
        Self {
            words: words(text),
            names_a_file: text.split_whitespace().any(looks_like_a_file),
            hint: None,
            tokens: None,
        }
    }

    pub(crate) fn of_request(request: &Request, text: &str, tokens: Option<u64>) -> Self {
        Self { hint: request.hint, tokens, ..Self::of_text(text) }
    }

    pub(crate) fn word_count(&self) -> usize {
        self.words.len()
    }
}

pub(crate) fn holds(condition: &Condition, reading: &Reading) -> bool {
    let any = |phrases: &[String]| phrases.is_empty() || phrases.iter().any(|p| has(reading, p));
    condition.fewer_words_than.is_none_or(|limit| reading.words.len() < limit)
        && any(&condition.any_phrase)
        && any(&condition.also_phrase)
        && condition.names_a_file.is_none_or(|wanted| reading.names_a_file == wanted)
        && condition.hint.is_none_or(|hint| reading.hint == Some(hint))
        && condition.tokens_below.is_none_or(|limit| reading.tokens.is_some_and(|t| t < limit))
}

fn has(reading: &Reading, phrase: &str) -> bool {
    let wanted = words(phrase);
    !wanted.is_empty() && reading.words.windows(wanted.len()).any(|seen| seen == wanted)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// `src/a.rs`, `Makefile.am`, `./x/y`; not `e.g.`, `1.5`, `and/or`.
fn looks_like_a_file(token: &str) -> bool {
    let token = token.trim_matches(|c: char| !(c.is_alphanumeric() || "./_-".contains(c)));
    let token = token.trim_end_matches('.');
    let Some((stem, ending)) = token.rsplit_once('.') else { return false };
    let name = stem.rsplit('/').next().unwrap_or(stem);
    (1..=5).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && ending.chars().any(|c| c.is_ascii_alphabetic())
        && !name.contains('.')
        && (token.contains('/') || name.chars().filter(|c| c.is_alphabetic()).count() >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(phrase: &str) -> Condition {
        Condition { any_phrase: vec![phrase.to_owned()], ..Condition::default() }
    }

    #[test]
    fn phrases_are_whole_words_in_order() {
        let reading = Reading::of_text("Build a guide; the UI comes later");
        assert!(holds(&phrase("ui"), &reading));
        assert!(holds(&phrase("a guide"), &reading));
        assert!(!holds(&phrase("guid"), &reading));
        assert!(!holds(&phrase("guide a"), &reading));
    }

    #[test]
    fn a_file_is_told_from_an_abbreviation() {
        for text in ["fix src/a.rs", "see `main.py`, please", "(lib/tide.sh)"] {
            assert!(Reading::of_text(text).names_a_file, "{text}");
        }
        for text in ["e.g. this", "version 1.5", "and/or", "the end.", "..."] {
            assert!(!Reading::of_text(text).names_a_file, "{text}");
        }
    }

    #[test]
    fn an_empty_condition_holds_for_everything() {
        assert!(holds(&Condition::default(), &Reading::of_text("")));
    }
}
