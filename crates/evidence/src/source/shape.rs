//! The structure of bare text: matching brackets, arguments of calls, statements of blocks.

use std::ops::Range;

use super::{Language, Source, line_range};

/// How a bracket changes the depth of nesting.
const fn nesting(byte: u8) -> i32 {
    match byte {
        b'(' | b'[' | b'{' => 1,
        b')' | b']' | b'}' => -1,
        _ => 0,
    }
}

impl Source<'_> {
    /// The partner of the bracket at an offset.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_i32;
        let closes = |byte: &u8| {
            depth += nesting(*byte);
            depth == 0 && nesting(*byte) < 0
        };
        let length = self.bare.as_bytes().get(open..)?.iter().position(closes)?;
        Some(open + length)
    }

    /// The arguments between the bracket at an offset and its partner, trimmed.
    pub(crate) fn arguments(&self, open: usize) -> Option<Vec<Range<usize>>> {
        let close = self.closing(open)?;
        Some(self.parts(open + 1..close))
    }

    /// The parts between top-level commas, trimmed; an empty last part is dropped.
    pub(crate) fn parts(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut start = range.start;
        let mut parts = Vec::new();
        for at in self.top_level(range.clone(), ",") {
            parts.push(self.trimmed(start..at));
            start = at + 1;
        }
        let last = self.trimmed(start..range.end);
        if !last.is_empty() {
            parts.push(last);
        }
        parts
    }

    /// A range without the blanks around it; comments count as blanks.
    pub(crate) fn trimmed(&self, range: Range<usize>) -> Range<usize> {
        let text = &self.bare[range.clone()];
        let start = range.start + (text.len() - text.trim_start().len());
        start..(start + text.trim().len())
    }

    /// The positions of a word or operator in a range, outside all brackets.
    pub(crate) fn top_level(&self, range: Range<usize>, wanted: &str) -> Vec<usize> {
        let bytes = self.bare.as_bytes();
        let (mut depth, mut found) = (0_i32, Vec::new());
        for at in range.clone() {
            if depth == 0 && bytes[at..range.end].starts_with(wanted.as_bytes()) {
                found.push(at);
            }
            depth += nesting(bytes[at]);
        }
        found
    }

    /// The statements directly in a block, not in nested blocks, trimmed.
    pub(crate) fn statements(&self, block: Range<usize>) -> Vec<Range<usize>> {
        let found = if self.language.is_indented() {
            self.indented_statements(block)
        } else {
            self.braced_statements(block)
        };
        let trimmed = found.into_iter().map(|range| self.trimmed(range));
        trimmed.filter(|range| !range.is_empty()).collect()
    }

    /// Lines with the indentation of the first, with their continuation lines.
    fn indented_statements(&self, block: Range<usize>) -> Vec<Range<usize>> {
        let lines = self.logical_lines(block);
        let Some(indent) = lines.first().map(|line| self.indent(line.start)) else {
            return Vec::new();
        };
        lines.into_iter().filter(|line| self.indent(line.start) == indent).collect()
    }

    /// Lines joined by brackets, strings and backslashes; without blank ones.
    pub(crate) fn logical_lines(&self, block: Range<usize>) -> Vec<Range<usize>> {
        let bytes = self.bare.as_bytes();
        let (mut depth, mut start, mut lines) = (0_i32, block.start, Vec::new());
        for at in block.clone() {
            depth += nesting(bytes[at]);
            if bytes[at] == b'\n' && depth <= 0 && self.ends_line(at) {
                lines.push(start..at);
                start = at + 1;
            }
        }
        lines.push(start..block.end);
        lines.retain(|line| line.start < line.end && !self.bare[line.clone()].trim().is_empty());
        lines
    }

    fn ends_line(&self, at: usize) -> bool {
        let next = self.strings.partition_point(|span| span.end <= at);
        let in_string = self.strings.get(next).is_some_and(|span| span.start < at);
        !in_string && (at == 0 || self.bare.as_bytes()[at - 1] != b'\\')
    }

    /// The indentation of the line at an offset.
    pub(crate) fn indent(&self, at: usize) -> usize {
        let line = &self.text[line_range(self.text, at)];
        line.len() - line.trim_start().len()
    }

    /// Parts that end with a semicolon, a closed block, or a complete line.
    fn braced_statements(&self, block: Range<usize>) -> Vec<Range<usize>> {
        let bytes = self.bare.as_bytes();
        let (mut depth, mut start, mut found) = (0_i32, block.start, Vec::new());
        for at in block.clone() {
            depth += nesting(bytes[at]);
            let ends = depth == 0
                && match bytes[at] {
                    b'}' => !self.goes_on(at + 1, block.end),
                    // In Go it separates the parts of a condition; statements end with their lines.
                    b';' => self.language != Language::Go,
                    b'\n' => self.language.ends_at_line() && self.breaks(start, at, block.end),
                    _ => false,
                };
            if ends {
                found.push(start..at + 1);
                start = at + 1;
            }
        }
        found.push(start..block.end);
        found
    }

    /// Whether a statement continues after a closed block.
    fn goes_on(&self, at: usize, end: usize) -> bool {
        let next = self.bare[at..end].trim_start();
        next.starts_with(['.', ')', ',', ';', '?']) || next.starts_with("else")
    }

    /// Whether a line break ends the statement that began at `start`.
    fn breaks(&self, start: usize, at: usize, end: usize) -> bool {
        let before = self.bare[start..at].trim_end();
        let next = self.bare[at..end].trim_start();
        let open = before.ends_with(['=', '+', ',', '&', '|', '?', ':', '(', '\\']);
        let continued = next.starts_with(['.', '?', ':', '+', '&', '|']);
        !open && (self.language == Language::Shell || !continued)
    }

    /// The heads of the blocks around an offset, the innermost first: `def f(x):`, `if ready {`.
    pub(crate) fn heads(&self, at: usize) -> Vec<String> {
        if self.language.is_indented() { self.indented_heads(at) } else { self.braced_heads(at) }
    }

    fn indented_heads(&self, at: usize) -> Vec<String> {
        let mut indent = self.indent(at);
        let mut heads = Vec::new();
        let before = self.logical_lines(0..line_range(self.text, at).start);
        for line in before.into_iter().rev() {
            let line = self.trimmed(line);
            let depth = self.indent(line.start);
            if depth < indent {
                heads.push(self.text[line].to_owned());
                indent = depth;
            }
        }
        heads
    }

    fn braced_heads(&self, at: usize) -> Vec<String> {
        let bytes = self.bare.as_bytes();
        let mut open = Vec::new();
        for (n, byte) in bytes[..at.min(bytes.len())].iter().enumerate() {
            match byte {
                b'{' => open.push(n),
                b'}' => drop(open.pop()),
                _ => {}
            }
        }
        let head = |n: &usize| {
            let before = &self.bare[..*n];
            let start = before.rfind([';', '{', '}']).map_or(0, |n| n + 1);
            let lines: Vec<&str> = self.text[start..*n].trim().lines().collect();
            lines[lines.len().saturating_sub(3)..].join(" ")
        };
        open.iter().rev().map(head).collect()
    }
}
