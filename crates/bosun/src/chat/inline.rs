//! Inline Markdown: code, bold, italic, strikethrough, links. Unclosed markers stay as written, so a line is readable
//! while it is still streaming in.

use ratatui::style::Style;
use ratatui::text::Span;

use super::look::{BOLD, CODE, DIM, ITALIC, LINK, STRUCK};

/// Maximum nesting of markers.
const DEEPEST: usize = 4;

/// The spans of one line.
pub(crate) fn spans(text: &str, style: Style) -> Vec<Span<'static>> {
    let mut out = Out { spans: vec![], plain: String::new(), style };
    inside(text, style, 0, &mut out);
    out.flush();
    out.spans
}

struct Out {
    spans: Vec<Span<'static>>,
    plain: String,
    style: Style,
}

impl Out {
    fn flush(&mut self) {
        if !self.plain.is_empty() {
            self.spans.push(Span::styled(std::mem::take(&mut self.plain), self.style));
        }
    }

    fn push(&mut self, text: &str, style: Style) {
        if style != self.style {
            self.flush();
            self.style = style;
        }
        self.plain.push_str(text);
    }
}

fn inside(text: &str, style: Style, depth: usize, out: &mut Out) {
    let mut rest = text;
    let mut before = None;
    while let Some(c) = rest.chars().next() {
        let taken = if depth < DEEPEST { marked(rest, before, style, depth, out) } else { None };
        let step = taken.unwrap_or_else(|| {
            let step = c.len_utf8();
            out.push(&rest[..step], style);
            step
        });
        before = rest[..step].chars().next_back();
        rest = &rest[step..];
    }
}

/// Writes the marked element at the start of the text, if there is one. Returns its length.
fn marked(
    text: &str,
    before: Option<char>,
    style: Style,
    depth: usize,
    out: &mut Out,
) -> Option<usize> {
    match text.as_bytes().first()? {
        b'\\' => {
            let next = text[1..].chars().next().filter(char::is_ascii_punctuation)?;
            out.push(&text[1..=next.len_utf8()], style);
            Some(1 + next.len_utf8())
        }
        b'`' => code(text, style, out),
        b'[' => link(text, style, depth, out),
        b'*' | b'_' | b'~' => emphasis(text, before, style, depth, out),
        _ => None,
    }
}

fn code(text: &str, style: Style, out: &mut Out) -> Option<usize> {
    let marks = text.bytes().take_while(|b| *b == b'`').count();
    let (mark, rest) = text.split_at(marks);
    let end = rest.find(mark)?;
    let body = &rest[..end];
    let bare = body.strip_prefix(' ').and_then(|body| body.strip_suffix(' '));
    out.push(bare.filter(|bare| !bare.trim().is_empty()).unwrap_or(body), style.patch(CODE));
    Some(marks + end + marks)
}

fn link(text: &str, style: Style, depth: usize, out: &mut Out) -> Option<usize> {
    let close = text.find("](")?;
    let label = &text[1..close];
    let end = close + text[close..].find(')')?;
    let target = &text[close + 2..end];
    if label.is_empty() || label.contains('[') || target.contains(' ') {
        return None;
    }
    inside(label, style.patch(LINK), depth + 1, out);
    // The target is always shown: a label can claim anything.
    if label != target {
        out.push(&format!(" ({target})"), style.patch(DIM));
    }
    Some(end + 1)
}

fn emphasis(
    text: &str,
    before: Option<char>,
    style: Style,
    depth: usize,
    out: &mut Out,
) -> Option<usize> {
    let (mark, more) = ["**", "__", "~~", "*", "_"].into_iter().find_map(|mark| {
        let style = match mark {
            "**" | "__" => BOLD,
            "~~" => STRUCK,
            _ => ITALIC,
        };
        text.starts_with(mark).then_some((mark, style))
    })?;
    // An underscore within a word is part of a name.
    if mark.starts_with('_') && before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let rest = &text[mark.len()..];
    let end = closing(rest, mark)?;
    inside(&rest[..end], style.patch(more), depth + 1, out);
    Some(mark.len() + end + mark.len())
}

fn closing(rest: &str, mark: &str) -> Option<usize> {
    if rest.starts_with(char::is_whitespace) {
        return None;
    }
    let fits = |at: usize| {
        let (body, after) = (&rest[..at], &rest[at + mark.len()..]);
        let word_goes_on = mark.starts_with('_') && after.starts_with(char::is_alphanumeric);
        let longer = mark.len() == 1 && (after.starts_with(mark) || body.ends_with(mark));
        !body.is_empty() && !body.ends_with(char::is_whitespace) && !word_goes_on && !longer
    };
    let found = rest.match_indices(mark).map(|(at, _)| at).find(|at| fits(*at))?;
    // In a run longer than the marker, the last characters close it: the others belong to the contents.
    let more = rest[found + mark.len()..].bytes().take_while(|b| mark.as_bytes()[0] == *b).count();
    Some(if mark.len() > 1 { found + more } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::look::PLAIN;

    fn drawn(text: &str) -> String {
        let mark = |span: &Span<'_>| {
            let style = span.style;
            let mut mark = String::new();
            for (known, sign) in
                [(BOLD, "b"), (ITALIC, "i"), (STRUCK, "s"), (LINK, "l"), (DIM, "d")]
            {
                if style.add_modifier.contains(known.add_modifier) {
                    mark.push_str(sign);
                }
            }
            if style.fg == CODE.fg {
                mark.push('c');
            }
            if mark.is_empty() {
                span.content.to_string()
            } else {
                format!("<{mark}:{}>", span.content)
            }
        };
        spans(text, PLAIN).iter().map(mark).collect()
    }

    #[test]
    fn marks_become_styles() {
        assert_eq!(drawn("a **b *c*** `d_e` ~~f~~"), "a <b:b ><bi:c> <c:d_e> <s:f>");
        assert_eq!(
            drawn("see [the *book*](http://x.test)!"),
            "see <l:the ><il:book><d: (http://x.test)>!"
        );
        assert_eq!(drawn("``a`b`` and \\*not\\*"), "<c:a`b> and *not*");
    }

    #[test]
    fn what_is_not_closed_or_not_a_mark_stays_as_it_is() {
        for text in ["a **b", "2 * 3 * 4", "snake_case_name", "`open", "[x] todo", "a_b_", "***"] {
            assert_eq!(drawn(text), text);
        }
    }

    #[test]
    fn deep_nesting_ends() {
        let deep = "*a ".repeat(2_000) + &" b*".repeat(2_000);
        assert!(!spans(&deep, PLAIN).is_empty());
    }
}
