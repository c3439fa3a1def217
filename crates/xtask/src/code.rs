//! A minimal reader of Rust for the tidy checks: code without comments and strings, and blocks. It relies on rustfmt's
//! regular layout and is not a parser; anything it cannot follow is left alone.

use std::ops::Range;

/// The text with the contents of comments, strings and character literals blanked. Lines stay in place.
pub(crate) fn without_prose(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = prose_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let quote = if chars[at] == '/' { ' ' } else { '"' };
            out.push(quote);
            out.extend(chars[at + 1..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            if quote == '"' && out.ends_with(' ') {
                out.pop();
                out.push('"');
            }
            at = end;
        }
    }
    out
}

/// The lines, counted from zero, of each `#[cfg(test)] mod … { … }`.
pub(crate) fn test_blocks(code: &[&str]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut line = 0;
    while line < code.len() {
        if code[line].trim() == "#[cfg(test)]" {
            let item = (line + 1..code.len()).find(|at| !code[*at].trim().starts_with("#["));
            let end = item
                .filter(|at| code[*at].trim().contains("mod "))
                .and_then(|at| block_end(code, at));
            if let Some(end) = end {
                blocks.push(line..end + 1);
                line = end;
            }
        }
        line += 1;
    }
    blocks
}

/// Whether a file holds nothing but tests.
pub(crate) fn is_test_file(path: &str) -> bool {
    let stem = stem(path);
    stem == "tests" || stem.ends_with("_tests") || path.contains("/tests/")
}

/// The file's name without folder and extension.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split_once('.').map_or(name, |(stem, _)| stem)
}

/// The closing line of the block that opens on line `start` or after it; `None` for an item that ends in a semicolon
/// first.
pub(crate) fn block_end(code: &[&str], start: usize) -> Option<usize> {
    let (mut braces, mut brackets) = (0usize, 0usize);
    for (number, line) in code.iter().enumerate().skip(start) {
        for c in line.chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets = brackets.saturating_sub(1),
                '{' => braces += 1,
                '}' if braces <= 1 => return Some(number),
                '}' => braces -= 1,
                ';' if braces == 0 && brackets == 0 => return None,
                _ => {}
            }
        }
    }
    None
}

/// The functions outside of tests: the line of each, counted from zero, its name and its length.
pub(crate) fn functions<'a>(code: &[&'a str]) -> Vec<(usize, &'a str, usize)> {
    let tests = test_blocks(code);
    let declared =
        code.iter().enumerate().filter_map(|(at, line)| Some((at, function_name(line)?)));
    let product = declared.filter(|(at, _)| !tests.iter().any(|block| block.contains(at)));
    let length = |at| block_end(code, at).map_or(1, |end| end - at + 1);
    product.map(|(at, name)| (at, name, length(at))).collect()
}

/// The name of the function that a line declares.
fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(name) = rest.strip_prefix("fn ") {
            return name.split(|c: char| !c.is_alphanumeric() && c != '_').next();
        }
        let (word, after) = rest.split_once(' ')?;
        let qualifier = matches!(word, "pub" | "const" | "async" | "unsafe" | "extern")
            || word.starts_with("pub(")
            || word.starts_with('"');
        rest = if qualifier { after.trim_start() } else { return None };
    }
}

/// The end of the comment, string or character literal at `at`; `at` itself if there is none.
fn prose_end(chars: &[char], at: usize) -> usize {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => find(chars, at, |c| c == '\n'),
        '/' if next == Some('*') => block_comment_end(chars, at),
        '"' => string_end(chars, at),
        '\'' if next == Some('\\') => find(chars, at + 3, |c| c == '\'') + 1,
        '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
        'r' if !continues_word(chars, at) => raw_string_end(chars, at).unwrap_or(at),
        _ => at,
    }
    .min(chars.len())
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| wanted(chars[*at])).unwrap_or(chars.len())
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (1, start + 2);
    while depth > 0 && at < chars.len() {
        let step = match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                2
            }
            ('*', Some('/')) => {
                depth -= 1;
                2
            }
            _ => 1,
        };
        at += step;
    }
    at
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// `None` if the `r` starts a raw identifier or an ordinary word.
fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let quote = find(chars, start + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return None;
    }
    let hashes = quote - start - 1;
    let closes = |at: &usize| {
        chars[*at] == '"'
            && chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    };
    Some((quote + 1..chars.len()).find(closes).map_or(chars.len(), |at| at + 1 + hashes))
}

/// Whether the character at `at` continues a word; the `b` of a byte string is not a word.
fn continues_word(chars: &[char], at: usize) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    match at.checked_sub(1).map(|before| chars[before]) {
        Some('b' | 'c') => at >= 2 && word(chars[at - 2]),
        Some(c) => word(c),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_blanked_and_lines_stay() {
        let text =
            "let a = \"x { \\\" y\"; // {\nlet b = '{'; /* { /* { */\n{ */ let c: &'a str;\n";
        let code = without_prose(text);
        assert!(!code.contains('{'), "{code}");
        assert_eq!(code.lines().count(), text.lines().count());
        assert!(code.contains("let c: &'a str;"), "{code}");
    }

    #[test]
    fn raw_strings_and_raw_names_are_told_apart() {
        let code = without_prose("let r#type = r#\"a \" { b\"#; br\"{\"; var\"{\";");
        assert!(code.contains("r#type"), "{code}");
        assert!(!code.contains('{'), "{code}");
    }

    #[test]
    fn escaped_quotes_in_characters_do_not_open_a_string() {
        let code = without_prose("'\\'' '\"' '\\\\' fn");
        assert!(code.ends_with("fn"), "{code}");
    }

    #[test]
    fn a_block_ends_where_its_brace_closes() {
        let code = ["fn a(x: [u8; 4])", "where", "    T: B,", "{", "    { }", "}", "fn b() {}"];
        assert_eq!(block_end(&code, 0), Some(5));
        assert_eq!(block_end(&code, 6), Some(6));
        assert_eq!(block_end(&["fn c();", "fn d() {}"], 0), None);
    }

    #[test]
    fn functions_are_recognised_with_all_their_qualifiers() {
        assert_eq!(function_name("    pub(crate) const unsafe fn one<T>("), Some("one"));
        assert_eq!(function_name("pub async fn two() {"), Some("two"));
        assert_eq!(function_name("let f: fn (u8);"), None);
        assert_eq!(function_name("pub struct Three;"), None);
    }

    #[test]
    fn test_modules_are_found_whole() {
        let code = ["fn a() {}", "#[cfg(test)]", "#[allow(x)]", "mod tests {", "    {}", "}", "x"];
        assert_eq!(test_blocks(&code), vec![Range { start: 1, end: 6 }]);
        assert!(test_blocks(&["#[cfg(test)]", "mod tests;", "fn a() {", "}"]).is_empty());
    }
}
