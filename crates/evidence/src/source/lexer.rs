//! The comments and strings of a text. One pass over its bytes; an unterminated string or comment extends to the end.

use std::ops::Range;

use super::language::Language;

/// How deep command substitutions in quotes are followed.
const DEEPEST: u32 = 64;

type Spans = (Vec<Range<usize>>, Vec<Range<usize>>);

/// Strings with prefix and quotation marks, and comments.
pub(crate) fn spans(language: Language, text: &str) -> Spans {
    let bytes = text.as_bytes();
    let (mut strings, mut comments) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = comment(language, bytes, at) {
            comments.push(at..end);
            at = end;
        } else if let Some(end) = string(language, bytes, at) {
            let end = end.min(bytes.len());
            strings.push(at..end);
            at = end;
        } else {
            at += 1;
        }
    }
    (strings, comments)
}

fn comment(language: Language, bytes: &[u8], at: usize) -> Option<usize> {
    use Language::{Php, Python, Ruby, Shell};
    let rest = &bytes[at..];
    if matches!(language, Python | Ruby | Shell | Php) && rest[0] == b'#' {
        let begins_word = at == 0 || matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b';' | b'(');
        let attribute = language == Php && rest.starts_with(b"#[");
        return ((language != Shell || begins_word) && !attribute).then(|| line_end(bytes, at));
    }
    if matches!(language, Python | Ruby | Shell) {
        let block = language == Ruby && rest.starts_with(b"=begin");
        let begins_line = at == 0 || bytes[at - 1] == b'\n';
        return (block && begins_line).then(|| after(bytes, at, b"\n=end"));
    }
    if rest.starts_with(b"//") {
        return Some(line_end(bytes, at));
    }
    if !rest.starts_with(b"/*") {
        return None;
    }
    if language == Language::Rust {
        return Some(nested_comment(bytes, at));
    }
    Some(after(bytes, at + 2, b"*/"))
}

fn nested_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_u32;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

fn string(language: Language, bytes: &[u8], at: usize) -> Option<usize> {
    let quote_at = prefix(language, bytes, at)?;
    let quote = bytes[quote_at];
    let rest = &bytes[quote_at..];
    match (language, quote) {
        (Language::Rust, b'"') if bytes[at..quote_at].contains(&b'r') => {
            let hashes = bytes[at..quote_at].iter().filter(|byte| **byte == b'#').count();
            let mut close = vec![b'"'];
            close.resize(hashes + 1, b'#');
            Some(after(bytes, quote_at + 1, &close))
        }
        (Language::Rust, b'\'') => character(bytes, quote_at),
        (Language::Shell, b'\'') => Some(after(bytes, quote_at + 1, b"'")),
        (Language::Shell, b'"') => Some(shell_quoted(bytes, quote_at, 0)),
        (Language::Shell, b'<') => heredoc(bytes, quote_at),
        (Language::JavaScript, b'`') => Some(template(bytes, quote_at)),
        (Language::Go, b'`') => Some(after(bytes, quote_at + 1, b"`")),
        (Language::JavaScript, b'/') => expression(bytes, quote_at),
        _ if is_triple(language, rest) => Some(escaped(bytes, quote_at + 3, &[quote; 3])),
        _ => Some(one_line(language, bytes, quote_at)),
    }
}

fn is_triple(language: Language, rest: &[u8]) -> bool {
    use Language::{CSharp, Java, Kotlin, Python};
    let known = matches!(language, Python | Java | Kotlin | CSharp);
    known && (rest.starts_with(b"\"\"\"") || language == Python && rest.starts_with(b"'''"))
}

/// The opening quotation mark of a string that starts here, after its prefix.
fn prefix(language: Language, bytes: &[u8], at: usize) -> Option<usize> {
    let quotes: &[u8] = match language {
        Language::JavaScript => b"\"'`/",
        Language::Go => b"\"'`",
        Language::Shell => b"\"'<",
        _ => b"\"'",
    };
    if quotes.contains(&bytes[at]) {
        return Some(at);
    }
    let letters: &[u8] = match language {
        Language::Python => b"rRbBfFuU",
        Language::Rust => b"brc#",
        Language::CSharp => b"$@",
        _ => return None,
    };
    let inside_word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    if inside_word || bytes[at] == b'#' {
        return None;
    }
    let length = bytes[at..].iter().take_while(|byte| letters.contains(byte)).take(8).count();
    let quote = bytes.get(at + length)?;
    let fits = match language {
        Language::Rust => *quote == b'"' || (*quote == b'\'' && length == 1 && bytes[at] == b'b'),
        _ => length <= 2 && matches!(quote, b'"' | b'\''),
    };
    (length > 0 && fits).then_some(at + length)
}

/// The end of a line, or of the text.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |n| at + n)
}

/// The position after the next `close`.
pub(crate) fn after(bytes: &[u8], at: usize, close: &[u8]) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest.windows(close.len()).position(|part| part == close);
    found.map_or(bytes.len(), |n| at + n + close.len())
}

/// The position after the next unescaped `close`.
fn escaped(bytes: &[u8], mut at: usize, close: &[u8]) -> usize {
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at..].starts_with(close) {
            return at + close.len();
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// A string that ends in its line, unless the language lets it continue or the line ends in a backslash.
fn one_line(language: Language, bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    if matches!(language, Language::Rust | Language::Ruby | Language::Php) {
        return escaped(bytes, at + 1, &[quote]);
    }
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 1,
            b'\n' => return end,
            byte if byte == quote => return end + 1,
            _ => {}
        }
        end += 1;
    }
    bytes.len()
}

/// A character literal; `None` if the quote starts a lifetime.
fn character(bytes: &[u8], at: usize) -> Option<usize> {
    let next = *bytes.get(at + 1)?;
    if next == b'\\' {
        return Some(escaped(bytes, at + 1, b"'"));
    }
    let width = match next {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    (bytes.get(at + 1 + width) == Some(&b'\'')).then_some(at + 2 + width)
}

/// A double-quoted text, with command substitutions, which have their own quotes. Nested deeper than `DEEPEST` they are
/// read as plain text: the text may be hostile, and the stack is finite.
fn shell_quoted(bytes: &[u8], at: usize, depth: u32) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'$' if bytes.get(at + 1) == Some(&b'(') && depth < DEEPEST => {
                at = substitution(bytes, at + 2, depth + 1);
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The position after the closing bracket of a command substitution.
fn substitution(bytes: &[u8], mut at: usize, nested: u32) -> usize {
    let mut depth = 1_u32;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' => at = after(bytes, at + 1, b"'") - 1,
            b'"' => at = shell_quoted(bytes, at, nested) - 1,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// A here-document.
fn heredoc(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes[at..].strip_prefix(b"<<").filter(|rest| rest.first() != Some(&b'<'))?;
    let line = &rest[..line_end(rest, 0)];
    let is_mark = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let skipped = line.iter().take_while(|byte| matches!(byte, b'-' | b'\'' | b'"' | b' ')).count();
    let mark: Vec<u8> = line[skipped..].iter().copied().take_while(is_mark).collect();
    if mark.is_empty() || mark[0].is_ascii_digit() {
        return None;
    }
    let mut start = line_end(bytes, at) + 1;
    while start < bytes.len() {
        let end = line_end(bytes, start);
        if bytes[start..end].trim_ascii() == mark.as_slice() {
            return Some(end);
        }
        start = end + 1;
    }
    Some(bytes.len())
}

/// A template with expressions in it.
fn template(bytes: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at + 1, 0_u32);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                depth += 1;
                at += 1;
            }
            b'}' if depth > 0 => depth -= 1,
            b'`' if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// A regular expression, if one can occur here and not a division.
fn expression(bytes: &[u8], at: usize) -> Option<usize> {
    let before = bytes[..at].trim_ascii_end();
    let opens = match before.last() {
        None => true,
        Some(last) => b"(,=:[!&|?{};+<>".contains(last) || before.ends_with(b"return"),
    };
    let (mut end, mut class) = (at + 1, false);
    let line = if opens { line_end(bytes, at) } else { at };
    while end < line {
        match bytes[end] {
            b'\\' => end += 1,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => return Some(end + 1),
            _ => {}
        }
        end += 1;
    }
    None
}
