//! A request's text as the rules see it: its words in order, the pauses between them, and its mentions of code.
//! Recognition is by form alone, not by meaning. Of an overlong text, such as a pasted log, only the beginning and the
//! end are read.

mod mention;
mod names;
mod scan;
mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use types::{Budget, Hint, Mention, Money, Request};

pub(crate) use names::listed;
pub use word::Word;
pub(crate) use word::{Pause, Voice};

/// Maximum number of bytes of a text that are read from its beginning and from its end.
const FRONT: usize = 64 * 1024;
const BACK: usize = 16 * 1024;

/// The facts of a request other than its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub hint: Option<Hint>,
    pub attached: bool,
    pub project_type: Option<String>,
    /// The reason of a person who insists on it.
    pub insists: Option<String>,
    /// The budget.
    pub tokens: Option<u64>,
    pub seconds: Option<u64>,
    pub money: Option<Money>,
    /// The estimate.
    pub estimate: Option<u64>,
    pub estimate_seconds: Option<u64>,
    /// None if the price of its model is unknown.
    pub estimate_money: Option<Money>,
}

/// The files that a text names, recognised by form, as far as they can lie in a workspace.
pub(crate) fn files(text: &str) -> Vec<types::WorkPath> {
    let chunks = text.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>,;".contains(c));
    let named =
        chunks.filter(|chunk| mention::form(chunk) == mention::Form::Mention(Mention::File));
    let paths = named.filter_map(|chunk| {
        let bare = chunk.split(':').next().unwrap_or(chunk).trim_end_matches(['.', '!', '?', '…']);
        bare.parse().ok()
    });
    paths.collect()
}

/// A text as rules see it.
#[derive(Debug)]
pub struct Reading {
    words: Vec<Word>,
    /// The positions of each word.
    places: BTreeMap<String, Vec<usize>>,
    mentions: BTreeSet<Mention>,
    /// The start of each word's sentence.
    sentences: Vec<usize>,
    /// The number of unread bytes in the middle of an overlong text.
    pub(crate) passed_over: usize,
    pub facts: Facts,
}

impl Reading {
    /// Reads a text.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let (front, back) = ends(text);
        let (mut words, mut mentions) = scan::scan(front);
        if !back.is_empty() {
            let (more, mentioned) = scan::scan(back);
            let first = words.len();
            words.extend(more);
            words.get_mut(first).into_iter().for_each(|word| word.pause = Pause::Sentence);
            mentions.extend(mentioned);
        }
        let passed_over = text.len() - front.len() - back.len();
        Self { passed_over, ..Self::of(words, mentions, Facts::default()) }
    }

    /// Reads the text of a request, with its facts and budget.
    #[must_use]
    pub fn of_request(request: &Request, text: &str, budget: Budget) -> Self {
        let mut reading = Self::of_text(text);
        reading.facts = Facts {
            hint: request.hint,
            attached: !request.attachments.is_empty(),
            project_type: request.project_type.clone(),
            insists: request.insist.clone(),
            tokens: budget.tokens,
            seconds: budget.time_ms.map(|time| time.0 / 1_000),
            money: budget.money,
            ..Facts::default()
        };
        reading
    }

    /// The same text without paths, code and quotations.
    #[must_use]
    pub fn prose(&self) -> Self {
        let mut words = Vec::new();
        let mut pause = Pause::None;
        for word in &self.words {
            pause = pause.max(word.pause);
            if word.voice == Voice::Prose {
                words.push(Word { pause, ..word.clone() });
                pause = Pause::None;
            }
        }
        let passed_over = self.passed_over;
        Self { passed_over, ..Self::of(words, self.mentions.clone(), self.facts.clone()) }
    }

    /// The start of a word's sentence.
    pub(crate) fn sentence_of(&self, place: usize) -> usize {
        self.sentences.get(place).copied().unwrap_or_default()
    }

    /// The words in order.
    #[must_use]
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    pub(crate) fn mentions(&self, mention: Mention) -> bool {
        self.mentions.contains(&mention)
    }

    /// Whether it mentions code.
    pub(crate) fn is_about_code(&self) -> bool {
        self.mentions.iter().any(|mention| !matches!(mention, Mention::Version | Mention::Blank))
    }

    /// The positions of a word; with a star at its end, of words that begin so.
    pub(crate) fn places_of(&self, word: &str) -> Vec<usize> {
        match word.strip_suffix('*') {
            None => self.places.get(word).cloned().unwrap_or_default(),
            Some(start) => {
                let from = self.places.range::<str, _>((Bound::Included(start), Bound::Unbounded));
                let alike = from.take_while(|(text, _)| text.starts_with(start));
                alike.flat_map(|(_, places)| places.iter().copied()).collect()
            }
        }
    }

    fn of(words: Vec<Word>, mentions: BTreeSet<Mention>, facts: Facts) -> Self {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, word) in words.iter().enumerate() {
            places.entry(word.text.clone()).or_default().push(place);
        }
        let mut start = 0;
        let sentence = |(place, word): (usize, &Word)| {
            if word.pause == Pause::Sentence {
                start = place;
            }
            start
        };
        let sentences = words.iter().enumerate().map(sentence).collect();
        Self { words, places, mentions, sentences, passed_over: 0, facts }
    }
}

/// The parts of a text to read: all of it and nothing, or the beginning and the end of an overlong one.
fn ends(text: &str) -> (&str, &str) {
    if text.len() <= FRONT + BACK {
        return (text, "");
    }
    let front = text.floor_char_boundary(FRONT);
    let back = text.floor_char_boundary(text.len() - BACK);
    (&text[..front], &text[back..])
}

#[cfg(test)]
mod tests;
