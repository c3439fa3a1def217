//! Streaming Markdown: each complete line is drawn once; the last, incomplete line is redrawn each time. Line by line
//! on purpose: rows that have scrolled away cannot be redrawn.
//!
//! Not pulldown-cmark: it parses whole documents, where a later line may change an earlier one (an underlined heading,
//! the target of a link), and would have to parse again for every delta.

use ratatui::text::Span;
use types::visible;

use super::inline;
use super::look::{BOLD, CODE, DIM, HEADING, PLAIN};
use super::table;
use super::wrap::Row;

/// Longer lines are broken, to bound the buffer.
const LONGEST: usize = 4 * 1024;

/// A text that is streaming in.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    /// The incomplete line, as received.
    last: String,
    fence: Option<Fence>,
    /// The rows of an incomplete table.
    table: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl Markdown {
    /// Adds a delta. Returns the rows of the lines that are complete now.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<Row> {
        let mut rows = vec![];
        for part in piece.split_inclusive('\n') {
            self.last.push_str(part);
            while self.last.len() > LONGEST {
                let rest = self.last.split_off(end_of_word(&self.last));
                let line = std::mem::replace(&mut self.last, rest);
                self.line(&line, &mut rows);
            }
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.last);
                self.line(line.trim_end_matches(['\n', '\r']), &mut rows);
            }
        }
        rows
    }

    /// Draws a complete line. The rows of a table are held back: its column widths are known only at its end.
    fn line(&mut self, line: &str, rows: &mut Vec<Row>) {
        if self.fence.is_none() && table::is_row(line) && self.table.len() < table::MOST_ROWS {
            self.table.push(visible(line));
            return;
        }
        rows.extend(table::rows(&std::mem::take(&mut self.table)));
        rows.extend(draw(&mut self.fence, line));
    }

    /// The incomplete lines, as they look now.
    pub(crate) fn rest(&self) -> Vec<Row> {
        let mut fence = self.fence;
        let mut rows = table::rows(&self.table);
        rows.extend((!self.last.is_empty()).then(|| draw(&mut fence, &self.last)).flatten());
        rows
    }

    /// Ends the text. Returns the remaining rows.
    pub(crate) fn finish(&mut self) -> Vec<Row> {
        let mut rows = vec![];
        let line = std::mem::take(&mut self.last);
        if !line.is_empty() {
            self.line(&line, &mut rows);
        }
        rows.extend(table::rows(&std::mem::take(&mut self.table)));
        self.fence = None;
        rows
    }
}

/// Where an overlong line is broken: after a blank, or anywhere.
fn end_of_word(line: &str) -> usize {
    let most = line.floor_char_boundary(LONGEST);
    line[..most].rfind(' ').map_or(most, |at| at + 1)
}

/// Draws a whole text.
pub(crate) fn rows(text: &str) -> Vec<Row> {
    let mut markdown = Markdown::default();
    let mut rows = markdown.push(text);
    rows.extend(markdown.finish());
    rows
}

fn draw(fence: &mut Option<Fence>, line: &str) -> Option<Row> {
    let line = visible(line);
    let line = line.as_str();
    match (*fence, fence_of(line)) {
        (Some(open), Some((close, "")))
            if close.mark == open.mark && close.length >= open.length =>
        {
            *fence = None;
            None
        }
        (Some(_), _) => {
            Some(Row::new(vec![Span::styled(format!("  {line}"), CODE)]).hang(2).exact())
        }
        (None, Some((open, language))) => {
            *fence = Some(open);
            let title = if language.is_empty() { "code" } else { language };
            Some(Row::text(format!("  {title}"), DIM))
        }
        (None, None) => Some(outside(line)),
    }
}

/// A line that opens or closes a code block, with its language.
fn fence_of(line: &str) -> Option<(Fence, &str)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    let language = line[length..].trim();
    (length >= 3 && !language.contains('`')).then_some((Fence { mark, length }, language))
}

fn outside(line: &str) -> Row {
    let trimmed = line.trim_start();
    let margin = line.len() - trimmed.len();
    let hashes = trimmed.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && trimmed[hashes..].starts_with(' ') {
        let style = if hashes <= 2 { HEADING } else { BOLD };
        return Row::new(inline::spans(trimmed[hashes..].trim(), style));
    }
    if is_rule(trimmed) {
        return Row::text("───", DIM);
    }
    if let Some(quoted) = trimmed.strip_prefix('>') {
        let mut spans = vec![Span::styled("│ ", DIM)];
        spans.extend(inline::spans(quoted.trim_start(), DIM));
        return Row::new(spans).hang(2);
    }
    if let Some((sign, item)) = item(trimmed) {
        let head = format!("{}{sign} ", " ".repeat(margin));
        let hang = head.chars().count();
        let mut spans = vec![Span::styled(head, DIM)];
        spans.extend(inline::spans(item, PLAIN));
        return Row::new(spans).hang(hang);
    }
    let mut spans = vec![];
    if margin > 0 {
        spans.push(Span::raw(" ".repeat(margin)));
    }
    spans.extend(inline::spans(trimmed, PLAIN));
    Row::new(spans).hang(margin)
}

fn is_rule(line: &str) -> bool {
    let bare: Vec<char> = line.chars().filter(|c| *c != ' ').collect();
    bare.len() >= 3 && matches!(bare[0], '-' | '*' | '_') && bare.iter().all(|c| *c == bare[0])
}

/// Marker and text of a list item.
fn item(line: &str) -> Option<(String, &str)> {
    if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|sign| line.strip_prefix(sign)) {
        return Some(("•".to_owned(), rest.trim_start()));
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line[digits..].strip_prefix(['.', ')'])?.strip_prefix(' ')?;
    (1..=9).contains(&digits).then(|| (line[..=digits].to_owned(), rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Vec<String> {
        rows(text).iter().map(Row::content).collect()
    }

    #[test]
    fn blocks_are_drawn_by_what_they_are() {
        let text =
            "# Title\n\n- one **x**\n  1. two\n> said\n---\n```rust\nlet a = \"**\";\n```\nend";
        let expected = [
            "Title",
            "",
            "• one x",
            "  1. two",
            "│ said",
            "───",
            "  rust",
            "  let a = \"**\";",
            "end",
        ];
        assert_eq!(drawn(text), expected);
    }

    #[test]
    fn a_text_looks_the_same_however_it_was_cut_into_pieces() {
        let text = "## A\nsome *text* with `code`\n~~~~\n```\nx\n~~~\n~~~~\n1) done\r\n|a|\n|-|\n|b|\nlast";
        let whole = rows(text);
        for size in 1..9 {
            let mut markdown = Markdown::default();
            let characters: Vec<char> = text.chars().collect();
            let mut pieces: Vec<Row> = vec![];
            for piece in characters.chunks(size) {
                pieces.extend(markdown.push(&piece.iter().collect::<String>()));
            }
            pieces.extend(markdown.finish());
            assert_eq!(pieces, whole, "pieces of {size}");
        }
    }

    #[test]
    fn the_line_that_is_still_coming_is_shown_and_changes_nothing() {
        let mut markdown = Markdown::default();
        assert!(markdown.push("a **b").is_empty());
        assert_eq!(markdown.rest()[0].content(), "a **b");
        assert_eq!(markdown.push("** c\n")[0].content(), "a b c");
        assert!(markdown.rest().is_empty());
    }

    #[test]
    fn a_table_is_drawn_when_it_is_whole() {
        let mut markdown = Markdown::default();
        assert!(markdown.push("|a|b|\n|-|-|\n|long|x|\n").is_empty());
        assert_eq!(markdown.rest().len(), 3, "it is shown while it comes");
        let drawn: Vec<String> = markdown.push("after\n").iter().map(Row::content).collect();
        assert_eq!(drawn, [" a    │ b ", "──────┼───", " long │ x ", "after"]);
    }

    #[test]
    fn escapes_of_a_hostile_model_are_signs() {
        assert_eq!(drawn("x \x1b[31m`\x1b]8;;y`"), ["x ␛[31m␛]8;;y"]);
    }

    #[test]
    fn a_line_without_an_end_is_broken() {
        let mut markdown = Markdown::default();
        let rows: usize = (0..100).map(|_| markdown.push(&"x".repeat(1_000)).len()).sum();
        assert!(rows >= 5, "{rows}");
    }

    proptest::proptest! {
        /// Whatever a model says, in whatever pieces, it is drawn, once, and nothing in it reaches the terminal.
        #[test]
        fn anything_can_be_drawn(text in "[-#>|*_~`\\\\\\[\\]() a1.é日\u{1b}\u{202e}\n]{0,200}", size in 1_usize..20) {
            let whole = rows(&text);
            let mut markdown = Markdown::default();
            let mut pieces = vec![];
            let characters: Vec<char> = text.chars().collect();
            for piece in characters.chunks(size) {
                pieces.extend(markdown.push(&piece.iter().collect::<String>()));
                markdown.rest();
            }
            pieces.extend(markdown.finish());
            proptest::prop_assert_eq!(&pieces, &whole);
            for row in &whole {
                proptest::prop_assert!(!row.content().chars().any(char::is_control));
                for width in [1, 8, 40] {
                    for line in crate::chat::wrap::wrap(row, width) {
                        proptest::prop_assert!(line.width() <= width.max(4));
                    }
                }
            }
        }
    }
}
