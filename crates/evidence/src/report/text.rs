//! A check's output prepared for reading line by line: bounded, without terminal sequences and control characters.
//! Knows no runner.

/// Maximum amount of output that is read, counted from its end, where runners put their summaries.
const MOST_BYTES: usize = 16 << 20;
/// A longer line is not a runner's; only `go test -json` writes long ones.
const LONGEST_LINE: usize = 8 << 10;

/// The output without colours, cursor movements and other control characters.
pub(super) fn plain(output: &str) -> String {
    let start = output.ceil_char_boundary(output.len().saturating_sub(MOST_BYTES));
    let mut chars = output[start..].chars().peekable();
    let mut text = String::with_capacity(output.len() - start);
    while let Some(char) = chars.next() {
        match char {
            '\u{1b}' => skip_sequence(&mut chars),
            '\u{9b}' => skip_parameters(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => text.push('\n'),
            '\n' | '\t' => text.push(char),
            char if char.is_control() => {}
            char => text.push(char),
        }
    }
    text
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_sequence(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_parameters(chars);
        }
        Some(']') => {
            while let Some(char) = chars.next_if(|char| *char != '\n') {
                if char == '\u{7}' {
                    return;
                }
                if char == '\u{1b}' {
                    chars.next_if_eq(&'\\');
                    return;
                }
            }
        }
        Some('(' | ')') => {
            chars.next();
            chars.next_if(|char| *char != '\n');
        }
        _ => {
            chars.next_if(|char| *char != '\n');
        }
    }
}

fn skip_parameters(chars: &mut Chars<'_>) {
    while chars.next_if(|char| matches!(char, ' '..='?')).is_some() {}
    chars.next_if(|char| matches!(char, '@'..='~'));
}

/// The lines that a runner may have written.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.len() <= LONGEST_LINE || line.starts_with('{')).collect()
}

/// A number in a text, saturating.
pub(super) fn number(digits: &str) -> u32 {
    digits.parse().unwrap_or(if digits.is_empty() { 0 } else { u32::MAX })
}
