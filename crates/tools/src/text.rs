//! Files as lines that keep their own endings, and search for a block of lines in them. Works on bytes, not
//! text: a file in any encoding passes through unchanged except where it is edited.

/// Byte order mark; not part of the first line.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A file split into lines, each with its own ending.
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    mark: &'a [u8],
    pub(crate) all: Vec<&'a [u8]>,
}

/// How far two lines may differ and still match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    Exact,
    /// Trailing whitespace may differ.
    LineEnds,
    /// Leading whitespace may differ, too.
    Indentation,
}

impl Likeness {
    pub(crate) const ALL: [Self; 3] = [Self::Exact, Self::LineEnds, Self::Indentation];

    fn same(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            Self::Exact => bare(a) == bare(b),
            Self::LineEnds => a.trim_ascii_end() == b.trim_ascii_end(),
            Self::Indentation => a.trim_ascii() == b.trim_ascii(),
        }
    }

    /// Remark on a match for the reader; `None` if it was exact.
    pub(crate) const fn remark(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEnds => Some("matched except for blanks at line ends"),
            Self::Indentation => Some("matched except for indentation"),
        }
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let (mark, body) = bytes.split_at(if bytes.starts_with(MARK) { MARK.len() } else { 0 });
        Self { mark, all: body.split_inclusive(|byte| *byte == b'\n').collect() }
    }

    /// Line ending of this file, judged by its first line.
    pub(crate) fn ending(&self) -> &'static [u8] {
        if self.all.first().is_some_and(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" }
    }

    /// All positions, from a line on, at which a block of lines matches.
    pub(crate) fn find<'b>(
        &'b self,
        block: &'b [&'b [u8]],
        from: usize,
        likeness: Likeness,
    ) -> impl Iterator<Item = usize> + 'b {
        let last = (self.all.len() + 1).saturating_sub(block.len());
        (from..last.max(from)).filter(move |at| {
            let here = self.all.get(*at..at + block.len());
            here.is_some_and(|here| here.iter().zip(block).all(|(a, b)| likeness.same(a, b)))
        })
    }

    /// The file without some of its lines; every other byte is unchanged.
    pub(crate) fn without(&self, from: usize, count: usize) -> Vec<u8> {
        let (before, after) = (&self.all[..from], &self.all[from + count..]);
        [self.mark, &before.concat(), &after.concat()].concat()
    }

    /// Joins new lines into a file. Inner lines without an ending get one; a file without a
    /// final line ending stays without.
    pub(crate) fn join(&self, lines: &[Vec<u8>]) -> Vec<u8> {
        let ended = self.all.last().is_none_or(|line| line.ends_with(b"\n"));
        let mut bytes = self.mark.to_vec();
        for (place, line) in lines.iter().enumerate() {
            let last = place + 1 == lines.len();
            if last && !ended {
                bytes.extend_from_slice(bare(line));
            } else {
                bytes.extend_from_slice(line);
                if !last && !line.ends_with(b"\n") {
                    bytes.extend_from_slice(self.ending());
                }
            }
        }
        bytes
    }
}

/// A line without its ending. A carriage return that is not followed by a line feed is not an ending.
pub(crate) fn bare(line: &[u8]) -> &[u8] {
    match line.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_survives_being_cut_and_joined() {
        for text in ["", "a", "a\n", "a\r\nb", "\u{feff}a\nb\n", "\n\n", "a\rb\n"] {
            let lines = Lines::of(text.as_bytes());
            let same: Vec<Vec<u8>> = lines.all.iter().map(|line| line.to_vec()).collect();
            assert_eq!(lines.join(&same), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn a_block_is_found_at_every_likeness_and_never_beyond_the_end() {
        let lines = Lines::of(b"a\n  b \nc");
        let block: [&[u8]; 2] = [b"b", b"c"];
        let at = |likeness| lines.find(&block, 0, likeness).collect::<Vec<_>>();
        assert_eq!(at(Likeness::Exact), Vec::<usize>::new());
        assert_eq!(at(Likeness::Indentation), [1]);
        let long: [&[u8]; 4] = [b"a", b"a", b"a", b"a"];
        assert_eq!(lines.find(&long, 0, Likeness::Exact).count(), 0);
        assert_eq!(lines.find(&block, 9, Likeness::Exact).count(), 0);
    }
}
