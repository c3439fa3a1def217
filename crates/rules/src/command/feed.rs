//! Words that a command is given only when it runs: what `xargs` reads, what `find` finds. What is likely is guessed,
//! so that rules that forbid see it; nothing of it is certain, so that rules that allow do not.

use super::source::Found;
use super::{Part, Piece, Word};

/// The most words that are guessed.
const MOST: usize = 64;

/// The word as a guess.
pub(super) fn guess(word: &Word) -> Word {
    Word(vec![Piece::Guess(word.shown())])
}

/// The word as something that nobody knows.
pub(super) fn unknown(word: &Word) -> Word {
    Word(vec![Piece::Unknown { text: word.shown(), splits: false }])
}

/// What stands for the words that `xargs` puts in.
pub(super) fn mark(words: &[Word]) -> String {
    let texts: Vec<String> = words.iter().map(Word::shown).collect();
    let place = texts.iter().position(|text| text.starts_with("-I"));
    let mark = place.and_then(|place| match texts.get(place)?.strip_prefix("-I") {
        Some("") => texts.get(place + 1).cloned(),
        glued => glued.map(str::to_owned),
    });
    mark.filter(|mark| !mark.is_empty()).unwrap_or_else(|| "{}".to_owned())
}

/// A word in which something is put at the mark.
pub(super) fn fill(word: &Word, mark: &str) -> Word {
    if word.shown().contains(mark) { unknown(word) } else { word.clone() }
}

/// The words that may come from the commands before it: what `echo` says, where `find` looks, and whatever else.
pub(super) fn fed(found: &Found, part: &Part) -> Vec<Word> {
    let before =
        part.upstream.iter().flat_map(|range| found.parts.get(range.clone()).unwrap_or_default());
    let speaks = before.filter(|part| {
        matches!(part.name().as_deref(), Some("echo" | "printf" | "find" | "ls" | "fd"))
    });
    let said = speaks.flat_map(|part| part.words.iter().skip(1)).take(MOST).map(guess);
    said.chain([Word::unknown("…".to_owned())]).collect()
}
