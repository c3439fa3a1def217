//! Names that a goal asks to add, and those missing in a result. Recognised by form: calls, names in backticks, names
//! in a programmer's spelling. Prose is not understood.

use crate::pattern::pattern;

/// Identifiers that a goal asks to add.
#[must_use]
pub fn named_things(goal: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for sentence in pattern!(r"[.;!?](?:\s+|$)|\n").split(goal) {
        if !pattern!(r"(?i)\b(?:add|implement|create|write|introduce|provide|build|make|define|expose|support)\b").is_match(sentence)
            || pattern!(r"(?i)\b(?:remove|delete|drop|rename|replace|get rid|deprecate|instead of|do not|don't|must not|without|move)\b").is_match(sentence)
        {
            continue;
        }
        let verb =
            pattern!(r"(?i)\b(?:add|implement|create|write|introduce|provide|define|expose)\b")
                .find(sentence);
        let start = verb.map_or(sentence.len(), |verb| verb.end());
        let name = pattern!(
            r"(?P<call>\b[A-Za-z_]\w*)\((?P<args>[^()]*)\)|`(?P<tick>[A-Za-z_]\w*)(?:\([^`]*\))?`|(?P<flag>--[a-z][\w-]+)|\b(?P<snake>[a-z]+(?:_[a-z0-9]+)+)\b|\b(?P<camel>[a-z]+(?:[A-Z][a-z0-9]+)+)\b"
        );
        for part in name.captures_iter(sentence) {
            let Some(whole) = part.get(0) else { continue };
            let call = part.name("call");
            let plural =
                part.name("args").is_some_and(|args| matches!(args.as_str(), "s" | "es" | "ies"));
            let word = ["call", "tick", "flag", "snake", "camel"]
                .iter()
                .find_map(|group| part.name(group));
            let Some(word) = word else { continue };
            if plural
                || is_reference(sentence, whole.start())
                || is_part_of_path(sentence, whole.start(), whole.end())
            {
                continue;
            }
            let after_verb = whole.start() >= start;
            let tick = part.name("tick").is_some();
            let shaped = word.as_str().contains('_')
                || word.as_str().chars().skip(1).any(char::is_uppercase);
            let introduced = pattern!(
                r"(?i)\b(?:function|method|class|command|flag|option|field|helper|endpoint|type|struct|module|named|called)\s+`?$"
            )
            .is_match(&sentence[..whole.start()]);
            let counts = after_verb && (call.is_some() || !tick || shaped || introduced);
            if counts
                && word.as_str().len() > 2
                && !found.iter().any(|known| known == word.as_str())
            {
                found.push(word.as_str().to_owned());
            }
        }
    }
    found
}

/// Whether a name is only a reference.
fn is_reference(sentence: &str, at: usize) -> bool {
    pattern!(r"(?i)\b(?:like|about|as|to|similar to|such as|using|use|uses|via|with|calls?|from|in|of|by|behind|e\.g\.|than|for|when|if|after|before|until|while|that|which|where|on|into|per)\s+(?:the\s+|a\s+|an\s+)?(?:existing\s+)?(?:function\s+|method\s+)?`?$")
        .is_match(&sentence[..at])
}

fn is_part_of_path(sentence: &str, start: usize, end: usize) -> bool {
    let before = sentence[..start].ends_with(['/', '.', '-', '"', '\'']);
    let behind = &sentence[end..];
    let file = pattern!(r"^(?:\.[a-z]{1,5}\b|/)").is_match(behind);
    before || file
}

/// The named things that occur nowhere in a result, in any joining of their words.
#[must_use]
pub fn left_out(goal: &str, result_texts: &[&str]) -> Vec<String> {
    let plain = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let texts: Vec<String> = result_texts
        .iter()
        .map(|text| {
            text.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
        })
        .collect();
    let is_there = |name: &String| texts.iter().any(|text| text.contains(&plain(name)));
    named_things(goal).into_iter().filter(|name| !is_there(name)).collect()
}

#[cfg(test)]
mod tests;
