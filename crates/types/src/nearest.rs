//! Suggestions for misspelt words: the edit distance of two words, and the nearest of the known words. Whether a
//! suggestion is worth an error is up to the caller.

/// The most likely intended word, if one is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (lower.chars().count() / 3).clamp(1, 3);
    let measured =
        known.into_iter().map(|other| (edit_distance(&lower, &other.to_lowercase()), other));
    let near = measured.filter(|(distance, _)| *distance <= allowed);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Number of characters to insert, remove, replace or swap with their neighbour to turn one word into the other.
#[must_use]
pub fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_distant_one_is_not() {
        let known = ["anthropic", "openai", "ollama"];
        assert_eq!(nearest("antropic", known), Some("anthropic"));
        assert_eq!(nearest("opneai", known), Some("openai"));
        assert_eq!(nearest("OLAMA", known), Some("ollama"));
        assert_eq!(nearest("mistral", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn words_are_apart_by_what_was_mistyped() {
        let pairs = [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "ac", 1)];
        let more = [("kitten", "sitting", 3), ("", "ab", 2), ("ab", "ba", 1), ("", "abc", 3)];
        for (a, b, apart) in pairs.into_iter().chain(more) {
            assert_eq!(edit_distance(a, b), apart, "{a} {b}");
        }
    }
}
