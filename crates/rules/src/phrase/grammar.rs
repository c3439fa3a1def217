//! The minimal grammar for patterns: words that join phrases, and words of politeness. Closed classes of English words;
//! the topic of a request is not decided here.

use crate::reading::{Pause, Word, listed};

/// Words that end one phrase and begin another.
const JOINTS: &str = "for in with that which who whose to from of on onto at against about by and or but so when where while \
    if because using via into as than without under over between during through like then is are was were this it now \
    please asap today disguised targeting designed";

/// Polite words before the actual request.
const POLITE: &str = "please kindly can could would will you i we want need d like to me us just hey hi hello lets let ok \
    okay now help id ill im going so well try and";

/// Words after which a new clause begins.
const COORDINATES: &str = "and then but also plus";

/// Maximum number of polite words skipped at the start of a clause.
const MOST_POLITE: usize = 20;

pub(super) fn is_joint(word: &str) -> bool {
    listed(JOINTS, word)
}

/// Whether a clause begins with this word, skipping polite words.
pub(crate) fn is_start(words: &[Word], place: usize) -> bool {
    let Some(word) = words.get(place) else { return false };
    let mut at = place;
    while at > place.saturating_sub(MOST_POLITE) && words[at].pause == Pause::None {
        let before = words[at - 1].text.as_str();
        let command = !word.text.ends_with("ing") || before == "by";
        if (listed(COORDINATES, before) || before == "by") && command {
            return true;
        }
        if !listed(POLITE, before) {
            return false;
        }
        at -= 1;
    }
    true
}
