//! Text for people: escaping for terminals, numbers with their noun, quoting for a shell, suggestions for misspelt
//! words. Independent of the types of this crate.

/// Replacement for a tab.
const TAB: &str = "    ";

/// A text on one line, without control characters, at most `most` characters long.
#[must_use]
pub fn one_line(text: &str, most: usize) -> String {
    let hidden = |c: &char| {
        // Bidirectional control characters can disguise a line.
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

/// The start of a text on one line, in quotes.
#[must_use]
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", one_line(text, 60))
}

/// The first paragraph of a text on one line: a person's own words, without what Bosun adds below them.
#[must_use]
pub fn headline(text: &str, most: usize) -> String {
    let lines = text.trim_start().lines().take_while(|line| !line.trim().is_empty());
    one_line(&lines.collect::<Vec<_>>().join(" "), most)
}

/// A number with its noun: `1 retry`, `2 retries`, `2 lists of files`.
#[must_use]
pub fn count(number: impl std::fmt::Display, one: &str) -> String {
    let number = number.to_string();
    if let Some((one, rest)) = one.split_once(" of ") {
        return format!("{} of {rest}", count(number, one));
    }
    match one.strip_suffix("ry") {
        _ if number == "1" => format!("1 {one}"),
        Some(stem) => format!("{number} {stem}ries"),
        None if one.ends_with("ch") => format!("{number} {one}es"),
        None => format!("{number} {one}s"),
    }
}

/// A multi-line text with every control character replaced by a visible symbol, so that a terminal acts on none.
#[must_use]
pub fn visible(text: &str) -> String {
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
            // Zero-width characters; dropping them changes nothing on a screen.
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

/// Quotes a word for a shell, if necessary.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The most likely intended word, if one is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let allowed = (lower.chars().count() / 3).clamp(1, 3);
    let measured =
        known.into_iter().map(|other| (edit_distance(&lower, &other.to_lowercase()), other));
    let near = measured.filter(|(distance, _)| *distance <= allowed);
    near.min_by_key(|(distance, _)| *distance).map(|(_, other)| other)
}

/// Number of characters to insert, remove, replace or swap with their neighbour to turn one word into the other.
#[must_use]
pub fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = vec![];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, right) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(left != right);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
    fn a_headline_is_the_first_paragraph() {
        assert_eq!(headline("\nFix the\nbug\r\n\r\nWhat follows", 80), "Fix the bug");
        assert_eq!((headline("", 9).as_str(), headline("abcdef", 4).as_str()), ("", "abc…"));
    }

    #[test]
    fn one_of_something_is_not_several() {
        let told = |number: u64| ["model call", "retry", "match"].map(|one| count(number, one));
        assert_eq!(told(0), ["0 model calls", "0 retries", "0 matches"]);
        assert_eq!(told(1), ["1 model call", "1 retry", "1 match"]);
        assert_eq!(told(21), ["21 model calls", "21 retries", "21 matches"]);
        assert_eq!(count(0, "folder of files"), "0 folders of files");
        assert_eq!(count(1, "folder of files"), "1 folder of files");
    }

    #[test]
    fn what_a_terminal_would_act_on_is_shown_and_never_sent() {
        let hostile = "a\x1b]0;owned\x07b\x1b[2Jc\u{9b}31md\u{202e}e\x7f\x08";
        let shown = visible(hostile);
        assert_eq!(shown, "a␛]0;owned␇b␛[2Jc\u{fffd}31md\u{fffd}e␡␈");
        assert!(!shown.chars().any(char::is_control));
        assert_eq!(visible("a\tb\r\nc\rd"), "a    b\nc␍d");
    }

    #[test]
    fn a_shell_reads_a_word_back_as_it_was() {
        assert_eq!(shell_word("/srv/a-b_c.d"), "/srv/a-b_c.d");
        assert_eq!(shell_word("/srv/my repo"), "'/srv/my repo'");
        assert_eq!(shell_word("it's $HOME; `x`"), "'it'\\''s $HOME; `x`'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn the_nearest_word_is_found_and_a_distant_one_is_not() {
        let known = ["anthropic", "openai", "ollama"];
        assert_eq!(nearest("antropic", known), Some("anthropic"));
        assert_eq!(nearest("opneai", known), Some("openai"));
        assert_eq!(nearest("OLAMA", known), Some("ollama"));
        assert_eq!(nearest("mistral", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn words_are_apart_by_what_was_mistyped() {
        let pairs = [("", "", 0), ("abc", "abc", 0), ("abc", "abd", 1), ("abc", "ac", 1)];
        let more = [("kitten", "sitting", 3), ("", "ab", 2), ("ab", "ba", 1), ("", "abc", 3)];
        for (a, b, apart) in pairs.into_iter().chain(more) {
            assert_eq!(edit_distance(a, b), apart, "{a} {b}");
        }
    }
}
