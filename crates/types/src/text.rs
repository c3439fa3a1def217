//! Text for people: a line that is safe for a terminal, and numbers with their noun. Knows no type of this crate.

/// A text on one line, without control characters, at most `most` characters long.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let hidden = |c: &char| {
        // Bidirectional control characters can make a line read as something else.
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let mut line: String = text
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    line.retain(|c| !hidden(&c));
    if line.chars().count() > most {
        line = line.chars().take(most.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}

/// A number with its noun: `1 retry`, `2 retries`.
#[must_use]
pub fn count(number: impl std::fmt::Display, one: &str) -> String {
    let number = number.to_string();
    match one.strip_suffix("ry") {
        _ if number == "1" => format!("1 {one}"),
        Some(stem) => format!("{number} {stem}ries"),
        None if one.ends_with("ch") => format!("{number} {one}es"),
        None => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_cannot_act_on_a_terminal() {
        assert_eq!(one_line("a\u{1b}[2Jb\r\nc\u{202e}d  e", 80), "a [2Jb cd e");
        assert_eq!(one_line("abcdef", 4), "abc…");
    }

    #[test]
    fn one_of_something_is_not_several() {
        let told = |number: u64| ["model call", "retry", "match"].map(|one| count(number, one));
        assert_eq!(told(0), ["0 model calls", "0 retries", "0 matches"]);
        assert_eq!(told(1), ["1 model call", "1 retry", "1 match"]);
        assert_eq!(told(21), ["21 model calls", "21 retries", "21 matches"]);
    }
}
