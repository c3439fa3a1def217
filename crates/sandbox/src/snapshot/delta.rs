//! Stores a large content as its difference to the previous one: the lengths of the common prefix and suffix, and the
//! bytes between. One edited line in a file of megabytes costs one line. Several distant edits in one step cost
//! everything between them; only a single difference is looked for.

use types::Digest;

/// Smaller contents are stored whole: a delta would save little.
pub(super) const LARGE: usize = 64 * 1024;
/// Maximum number of deltas in a row before a content is stored whole again, which bounds the time to read one.
pub(super) const LONGEST_CHAIN: usize = 32;
/// Length of the header before the differing bytes: digest of the base, and lengths of the common prefix and suffix,
/// `<64 digits> <10 digits> <10 digits>\n`.
pub(super) const HEADER: usize = 64 + 1 + 10 + 1 + 10 + 1;

/// Prefix and suffix that a content has in common with its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedEnds {
    pub(super) base: Digest,
    before: usize,
    after: usize,
}

/// Delta of a content to a base, if that is much shorter than the content.
pub(super) fn record(base: Digest, old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    let before = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let ends = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = ends.take_while(|(one, other)| one == other).count();
    let between = &new[before..new.len() - after];
    if between.len() > new.len() / 2 {
        return None;
    }
    let header = format!("{base} {before:>10} {after:>10}\n");
    Some([header.as_bytes(), between].concat())
}

/// Parses the header of a delta.
pub(super) fn common(header: &[u8]) -> Option<SharedEnds> {
    let text = std::str::from_utf8(header.get(..HEADER)?).ok()?.strip_suffix('\n')?;
    let mut words = text.split_whitespace();
    let base = words.next()?.parse().ok()?;
    let (before, after) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(SharedEnds { base, before, after })
}

/// Rebuilds the content from a delta and its base; `None` if they do not fit.
pub(super) fn content(common: SharedEnds, record: &[u8], old: &[u8]) -> Option<Vec<u8>> {
    let start = old.get(..common.before)?;
    let end = old.get(old.len().checked_sub(common.after)?..)?;
    Some([start, record.get(HEADER..)?, end].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_comes_back_from_what_differs() {
        let base = Digest::of(b"base");
        for (old, new) in [
            ("aaaabbbbcccc", "aaaaXcccc"),
            ("aaaa", "aaaaaaa"),
            ("aaaaaaa", "aaaa"),
            ("abcabcabc", "abcabcabc"),
            ("one two three", "one two and three"),
            ("abab", "ababab"),
        ] {
            let record = record(base, old.as_bytes(), new.as_bytes()).expect("much in common");
            let found = common(&record).expect("a header");
            assert_eq!(found.base, base);
            let back = content(found, &record, old.as_bytes()).expect("a content");
            assert_eq!(String::from_utf8_lossy(&back), new, "from {old}");
            assert!(content(found, &record, b"").is_none() || new.len() == record.len() - HEADER);
        }
        assert!(record(base, b"abc", b"xyz").is_none(), "nothing in common");
        assert!(common(b"short").is_none());
    }
}
