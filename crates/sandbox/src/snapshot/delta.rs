//! A large content told by what differs from the one before it: how much they begin and end with in common, and the bytes
//! between. An edited line of a file of megabytes costs the line. Several edits far apart in one step cost all that is
//! between them; nothing here looks for more than one difference.

use types::Digest;

/// Smaller contents are kept whole: little is gained.
pub(super) const LARGE: usize = 64 * 1024;
/// How many contents are told by one another in a row before one is whole again, so that none takes long to read.
pub(super) const LONGEST_CHAIN: usize = 32;
/// Before the bytes that differ stand the digest of the other content and how much is in common:
/// `<64 digits> <10 digits> <10 digits>\n`.
pub(super) const HEADER: usize = 64 + 1 + 10 + 1 + 10 + 1;

/// What is in common with another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SharedEnds {
    pub(super) base: Digest,
    before: usize,
    after: usize,
}

/// The record of a content by another one, if that is much shorter than the content.
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

/// What the beginning of a record says.
pub(super) fn common(header: &[u8]) -> Option<SharedEnds> {
    let text = std::str::from_utf8(header.get(..HEADER)?).ok()?.strip_suffix('\n')?;
    let mut words = text.split_whitespace();
    let base = words.next()?.parse().ok()?;
    let (before, after) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(SharedEnds { base, before, after })
}

/// The content that a record tells, by the other one. Nothing if they do not fit.
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
