//! Bounded capture of a command's output: keeps the beginning and the end, and counts the bytes dropped between them.

use std::collections::VecDeque;

/// How much of a command's output is held in memory.
pub(crate) const CAP_BYTES: usize = 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Capture {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    pub(crate) fn new(cap: usize) -> Self {
        Self { half: cap / 2, head: Vec::new(), tail: VecDeque::new(), dropped: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..over);
        self.dropped = self.dropped.saturating_add(over as u64);
    }

    /// Returns the text, and the number of bytes dropped from the middle, where a marker replaces them.
    pub(crate) fn finish(self) -> (String, u64) {
        let tail: Vec<u8> = self.tail.into();
        if self.dropped == 0 {
            return (String::from_utf8_lossy(&[self.head, tail].concat()).into_owned(), 0);
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        let dropped = self.dropped;
        (format!("{head}\n[{dropped} bytes of output are not shown here]\n{tail}"), dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_whole_also_when_a_character_lies_across_the_halves() {
        let mut capture = Capture::new(8);
        for byte in "abcéfg".as_bytes() {
            capture.push(&[*byte]);
        }
        assert_eq!(capture.finish(), ("abcéfg".to_owned(), 0));
    }

    #[test]
    fn head_and_tail_are_kept_and_the_middle_is_counted() {
        let mut capture = Capture::new(8);
        capture.push(b"0123456789");
        capture.push(b"abcdef");
        let (text, dropped) = capture.finish();
        assert_eq!(dropped, 8);
        assert_eq!(text, "0123\n[8 bytes of output are not shown here]\ncdef");
    }

    #[test]
    fn one_huge_push_is_bounded_too() {
        let mut capture = Capture::new(1024);
        capture.push(&vec![b'x'; 10_000_000]);
        assert_eq!(capture.dropped, 10_000_000 - 1024);
        assert_eq!(capture.head.len() + capture.tail.len(), 1024);
    }
}
