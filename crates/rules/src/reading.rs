//! A request's text as the rules see it: its words in order, the pauses between them, and its mentions of code.
//! Recognition is by form alone; no word's meaning is known here. Of an overlong text, such as a pasted log, only the
//! beginning and the end are read.

mod mention;
mod names;
mod scan;
mod word;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use types::{Budget, Hint, Mention, Money, Request};

pub use word::{Pause, Voice, Word};

/// How many bytes of a text are read at most: from its beginning, and from its end.
const FRONT: usize = 64 * 1024;
const BACK: usize = 16 * 1024;

/// What a request is, apart from its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub hint: Option<Hint>,
    pub attached: bool,
    pub project_type: Option<String>,
    /// Why the person wants it done whatever the rules say.
    pub insists: Option<String>,
    /// What it may spend.
    pub tokens: Option<u64>,
    pub seconds: Option<u64>,
    pub money: Option<Money>,
    /// What it is expected to take.
    pub estimate: Option<u64>,
    pub estimate_seconds: Option<u64>,
    /// Only where the price of its model is known.
    pub estimate_money: Option<Money>,
}

/// The files that a text names, by the form of their names, as far as they can lie in a workspace.
pub fn files(text: &str) -> Vec<types::WorkPath> {
    let chunks = text.split(|c: char| c.is_whitespace() || "`\"'()[]{}<>,;".contains(c));
    let named =
        chunks.filter(|chunk| mention::form(chunk) == mention::Form::Mention(Mention::File));
    let paths = named.filter_map(|chunk| {
        let bare = chunk.split(':').next().unwrap_or(chunk).trim_end_matches(['.', '!', '?', '…']);
        bare.parse().ok()
    });
    paths.collect()
}

/// A text that was read.
#[derive(Debug)]
pub struct Reading {
    words: Vec<Word>,
    /// Where each word stands.
    places: BTreeMap<String, Vec<usize>>,
    mentions: BTreeSet<Mention>,
    /// Where the sentence of each word begins.
    sentences: Vec<usize>,
    /// How many bytes in the middle of the text were not read.
    passed_over: usize,
    pub facts: Facts,
}

impl Reading {
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

    pub fn of_request(request: &Request, text: &str, budget: Budget) -> Self {
        let mut reading = Self::of_text(text);
        reading.facts = Facts {
            hint: request.hint,
            attached: !request.attachments.is_empty(),
            project_type: request.project_type.clone(),
            insists: request.insist.clone(),
            tokens: budget.tokens,
            seconds: budget.time_ms.map(|time| time.0 / 1_000),
            estimate: None,
            estimate_seconds: None,
            money: budget.money,
            estimate_money: None,
        };
        reading
    }

    /// The same text without what is only named in it: paths, code, quotations.
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

    /// How many bytes in the middle of the text were not read, because it is too long.
    pub fn passed_over(&self) -> usize {
        self.passed_over
    }

    /// Where the sentence begins in which a word stands.
    pub fn sentence_of(&self, place: usize) -> usize {
        self.sentences.get(place).copied().unwrap_or_default()
    }

    pub fn words(&self) -> &[Word] {
        &self.words
    }

    pub fn mentions(&self, mention: Mention) -> bool {
        self.mentions.contains(&mention)
    }

    /// Whether it mentions anything of the code.
    pub fn is_about_code(&self) -> bool {
        self.mentions.iter().any(|mention| !matches!(mention, Mention::Version | Mention::Blank))
    }

    /// Where this word stands; with a star at its end, words that begin like this.
    pub fn places_of(&self, word: &str) -> Vec<usize> {
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

/// The beginning and the end of a text: all of it and nothing, unless it is very long.
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
