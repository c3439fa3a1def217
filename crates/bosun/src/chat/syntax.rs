//! Changed lines with syntax colours on top of those for added and removed lines. Uses the terminal's own sixteen
//! colours, so it follows the terminal's theme. The signs carry the meaning: nothing is lost without colours.

use evidence::highlight::{self, Class};
use ratatui::style::{Color, Style};
use ratatui::text::Span;

use super::look::{ADDED, DIM, REMOVED};

/// Spans of lines that are safe for a terminal, each with its sign: `+`, `-`, or a blank for an unchanged line.
pub(crate) fn coloured(path: &str, lines: &[(char, String)]) -> Vec<Vec<Span<'static>>> {
    let rows = lines.iter().zip(highlight::hunk(path, lines));
    rows.map(|((sign, _), pieces)| spans(format!("    {sign} "), *sign, pieces)).collect()
}

/// The spans of one line.
pub(crate) fn spans(head: String, sign: char, pieces: Vec<(Class, String)>) -> Vec<Span<'static>> {
    let whole = match sign {
        '+' => ADDED,
        '-' => REMOVED,
        _ => DIM,
    };
    let mut spans = vec![Span::styled(head, whole)];
    spans.extend(pieces.into_iter().map(|(class, text)| Span::styled(text, style(class, whole))));
    spans
}

/// Green and red are reserved for added and removed lines.
fn style(class: Class, whole: Style) -> Style {
    match class {
        Class::Plain => whole,
        Class::Keyword => whole.fg(Color::Magenta),
        Class::String => whole.fg(Color::Yellow),
        Class::Number => whole.fg(Color::Cyan),
        Class::Comment => whole.fg(Color::DarkGray),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(texts: &[&str]) -> Vec<(char, String)> {
        texts.iter().map(|text| (text.as_bytes()[0].into(), text[1..].to_owned())).collect()
    }

    fn painted<'a>(spans: &'a [Span<'static>]) -> Vec<(&'a str, Option<Color>)> {
        spans.iter().map(|span| (span.content.as_ref(), span.style.fg)).collect()
    }

    #[test]
    fn words_have_colours_and_the_sign_keeps_its_own() {
        let rows = coloured("a.rs", &lines(&["-fn a", "+let x = \"y\"; // z"]));
        let (green, red) = (Some(Color::Green), Some(Color::Red));
        assert_eq!(painted(&rows[0]), [("    - ", red), ("fn", Some(Color::Magenta)), (" a", red)]);
        let expected = [
            ("    + ", green),
            ("let", Some(Color::Magenta)),
            (" x = ", green),
            ("\"y\"", Some(Color::Yellow)),
            ("; ", green),
            ("// z", Some(Color::DarkGray)),
        ];
        assert_eq!(painted(&rows[1]), expected);
    }

    #[test]
    fn each_side_is_read_by_itself() {
        let rows = coloured("a.rs", &lines(&["-/* a", "+b", " c", "-d */"]));
        assert_eq!(painted(&rows[0])[1].1, Some(Color::DarkGray), "the old side is a comment");
        assert_eq!(painted(&rows[1])[1].1, Some(Color::Green), "the new side is not");
        assert_eq!(painted(&rows[3])[1].1, Some(Color::DarkGray));
    }

    #[test]
    fn a_text_of_no_known_language_is_as_it_was() {
        let rows = coloured("notes", &lines(&["+let it be", " x", "-"]));
        let green = Some(Color::Green);
        assert_eq!(painted(&rows[0]), [("    + ", green), ("let it be", green)]);
        assert_eq!(painted(&rows[2]), [("    - ", Some(Color::Red))]);
        assert_eq!(rows[1][1].style, DIM);
    }
}
