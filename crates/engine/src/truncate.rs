//! Cutting long texts: the beginning and the end stay, the middle goes, and the cut says how much is gone.

use types::{BlobRef, Shown};

/// The text itself if it has at most `max` characters; otherwise its first and last `max / 2`.
#[must_use]
pub fn head_and_tail(text: &str, max: usize, blob: Option<BlobRef>) -> Shown {
    // A text is never shorter in bytes than in characters, so most need no counting.
    if text.len() <= max {
        return Shown { text: text.to_owned(), removed: 0, blob };
    }
    let count = text.chars().count();
    if count <= max {
        return Shown { text: text.to_owned(), removed: 0, blob };
    }
    let half = max / 2;
    let removed = count - 2 * half;
    let head_end = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let tail_start = match half {
        0 => text.len(),
        _ => text.char_indices().rev().nth(half - 1).map_or(0, |(at, _)| at),
    };
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    let text =
        format!("{head}\n[... {removed} characters left out; the whole is in the log ...]\n{tail}");
    Shown { text, removed: removed as u64, blob }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_left_alone() {
        let shown = head_and_tail("äöü", 3, None);
        assert_eq!((shown.text.as_str(), shown.removed), ("äöü", 0));
    }

    #[test]
    fn a_long_text_loses_its_middle_by_characters_not_bytes() {
        let shown = head_and_tail("ääääbbbbbböööö", 8, None);
        assert_eq!(shown.removed, 6);
        assert!(shown.text.starts_with("ääää\n") && shown.text.ends_with("\nöööö"), "{shown:?}");
    }

    #[test]
    fn nothing_at_all_may_be_kept() {
        assert_eq!(head_and_tail("abc", 0, None).removed, 3);
    }

    #[test]
    fn ten_megabytes_in_one_line_are_cut() {
        let shown = head_and_tail(&"é".repeat(5_000_000), 30_000, None);
        assert_eq!(shown.removed, 4_970_000);
    }
}
