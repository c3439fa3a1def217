//! Makes text from files and commands safe to read: control sequences, direction marks and hidden characters
//! never reach a model or a screen as such. They are shown by code point, so nothing is lost.

use std::borrow::Cow;

/// Escapes every character that would act instead of being displayed.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Strips terminal escape sequences such as colours, and replaces carriage returns that redraw a line by line feeds.
pub(crate) fn without_colours(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' if rest.peek() == Some(&'[') => {
                // Parameters, then the character that ends the sequence.
                rest.next();
                while rest.next_if(|c| matches!(c, '0'..='?' | ' '..='/')).is_some() {}
                rest.next_if(|c| matches!(c, '@'..='~'));
            }
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => plain.push('\n'),
            c => plain.push(c),
        }
    }
    plain
}

/// Output of a command without colours; its last line has an end.
pub(crate) fn plain_lines(output: &str) -> String {
    let mut text = without_colours(output);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn acts(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Direction marks, invisible spaces, tags, and byte order marks inside a text. Joiners are left alone:
        // names in many languages, and emoji, are written with them.
        '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_is_shown_by_its_number_and_the_rest_stays() {
        let evil = "a\u{1b}]52;c;x\u{7}\u{202e}b\u{9b}\u{200b}\u{e0041}\u{8}é\tc\n";
        let shown = visible(evil);
        assert_eq!(shown, "a\\u{1b}]52;c;x\\u{7}\\u{202e}b\\u{9b}\\u{200b}\\u{e0041}\\u{8}é\tc\n");
        assert!(matches!(visible("plain\n\tté"), Cow::Borrowed(_)));
    }

    #[test]
    fn colours_and_redrawn_lines_become_plain_lines() {
        assert_eq!(without_colours("\u{1b}[1;31mred\u{1b}[0m\r\n1%\r2%"), "red\n1%\n2%");
        assert_eq!(without_colours("\u{1b}[2"), "");
        assert_eq!(without_colours("\u{1b}]0;t"), "\u{1b}]0;t");
    }

    #[test]
    fn ten_megabytes_in_one_line_are_no_matter() {
        let long = "x".repeat(10_000_000);
        assert_eq!(visible(&long).len(), long.len());
        assert_eq!(without_colours(&long).len(), long.len());
    }
}
