//! Text from outside, made fit for a screen: what a terminal would act on is shown as a sign and never sent, and marks
//! that turn the direction of writing are shown too. Line breaks stay; everything else stays one character per character.

/// How wide a tab is shown.
const TAB: &str = "    ";

/// The text with every control character as a sign that stands for it.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\n' => out.push('\n'),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\t' => out.push_str(TAB),
            '\0'..='\x1f' => out.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
            '\x7f' => out.push('\u{2421}'),
            '\u{80}'..='\u{9f}' => out.push('\u{fffd}'),
            // They have no width of their own, so nothing is lost on a screen.
            '\u{200b}'..='\u{200d}' | '\u{feff}' => {}
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown_and_never_sent() {
        let hostile = "a\x1b]0;owned\x07b\x1b[2Jc\u{9b}31md\u{202e}e\x7f\x08";
        let shown = visible(hostile);
        assert_eq!(shown, "a␛]0;owned␇b␛[2Jc\u{fffd}31md\u{fffd}e␡␈");
        assert!(!shown.chars().any(char::is_control));
    }

    #[test]
    fn line_breaks_stay_and_tabs_become_blanks() {
        assert_eq!(visible("a\tb\r\nc\rd"), "a    b\nc␍d");
    }
}
