//! The shapes of well-known keys and tokens. Each needs a word boundary before it and something random in it, so that
//! code, hashes, ids, placeholders and encoded images stay unchanged: agents work on the recorded text.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// The largest distance between the first and last line of a private key.
const PEM_WINDOW: usize = 16 * 1024;

/// Whether a text could hold one of the shapes, also with JSON escapes around it.
pub(super) fn suspects(text: &str) -> bool {
    SUSPECT.is_match(text)
}

/// Adds the positions of the shapes in a text.
pub(super) fn find(text: &str, found: &mut Found) {
    keys(text, found);
    credentials(text, found);
    private_keys(text, found);
}

const KEY: &str = r"(?x)
    (?P<loose> sk-[A-Za-z0-9_-]{20,} | xox[abeoprs]-[A-Za-z0-9-]{20,} | xapp-[A-Za-z0-9-]{20,} )
    | gh[pousr]_[A-Za-z0-9]{30,}
    | github_pat_[A-Za-z0-9_]{22,}
    | glpat-[A-Za-z0-9_-]{20,}
    | A(?:KIA|SIA)[A-Z0-9]{16}
    | AIza[A-Za-z0-9_-]{35}
    | ya29\.[A-Za-z0-9_-]{30,}
    | [sr]k_(?:live|test)_[A-Za-z0-9]{16,}
    | (?:gsk|hf|npm)_[A-Za-z0-9]{30,}
    | xai-[A-Za-z0-9]{40,}
    | pypi-[A-Za-z0-9_-]{60,}
    | SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}";

const CREDENTIAL: &str = r#"(?ix)
    \b bearer \s+ (?P<token> [a-z0-9._~+/=-]{20,} )
    | \b authorization ["'\\]* \s* [:=] \s* ["'\\]* basic \s+ (?P<basic> [a-z0-9+/]{12,} ={0,2} )"#;

const PEM_BEGIN: &str = r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----";
const PEM_END: &str = r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----";
/// The characters of a private key whose end was cut off: its lines, their numbers, quotes and escapes.
const PEM_REST: &str = r#"^[A-Za-z0-9+/=\s\\|:,."'-]*"#;

static SUSPECT: LazyLock<Regex> =
    LazyLock::new(|| regex(&format!(r"(?:{KEY})|{PEM_BEGIN}|(?i:bearer|basic)[\s\\]")));
static KEYS: LazyLock<Regex> = LazyLock::new(|| regex(KEY));
static CREDENTIALS: LazyLock<Regex> = LazyLock::new(|| regex(CREDENTIAL));
static BEGINS: LazyLock<Regex> = LazyLock::new(|| regex(PEM_BEGIN));
static ENDS: LazyLock<Regex> = LazyLock::new(|| regex(PEM_END));
static REST: LazyLock<Regex> = LazyLock::new(|| regex(PEM_REST));

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and the tests use each of them"
)]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}

pub(super) type Found = Vec<(usize, usize)>;

fn keys(text: &str, found: &mut Found) {
    let mut from = 0;
    while let Some(caught) = KEYS.captures_at(text, from) {
        let Some(key) = caught.get(0) else { return };
        let fits = starts_a_word(&text[..key.start()])
            && !text[key.end()..].starts_with(|c: char| c.is_ascii_alphanumeric())
            && (caught.name("loose").is_none() || looks_random(key.as_str(), 12));
        if fits {
            found.push((key.start(), key.end()));
            from = key.end();
        } else {
            // All alternatives start with a letter, so the next byte is a character boundary.
            from = key.start() + 1;
        }
    }
}

fn credentials(text: &str, found: &mut Found) {
    let token = |caught: Captures<'_>| {
        let part = caught.name("token").or_else(|| caught.name("basic"))?;
        looks_random(part.as_str(), 8).then(|| (part.start(), part.end()))
    };
    found.extend(CREDENTIALS.captures_iter(text).filter_map(token));
}

fn private_keys(text: &str, found: &mut Found) {
    let mut from = 0;
    while let Some(begin) = BEGINS.find_at(text, from) {
        let rest = &text[begin.end()..];
        let window = &rest[..rest.floor_char_boundary(PEM_WINDOW)];
        let (body, length) = match ENDS.find(window) {
            Some(end) => (&window[..end.start()], end.end()),
            None => {
                let length = REST.find(window).map_or(0, |body| body.end());
                (&window[..length], length)
            }
        };
        // Code about private keys has no line of one between its begin and its end.
        if longest_run(body, |c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/')) >= 40 {
            found.push((begin.start(), begin.end() + length));
            from = begin.end() + length;
        } else {
            from = begin.end();
        }
    }
}

/// Whether a word starts after this text. An escape sequence or a terminal colour may precede it.
fn starts_a_word(before: &str) -> bool {
    let Some(last) = before.chars().next_back().filter(char::is_ascii_alphanumeric) else {
        return true;
    };
    let rest = &before[..before.len() - 1];
    match last {
        'n' | 'r' | 't' if rest.ends_with('\\') => true,
        'm' => {
            let colour = rest.trim_end_matches(|c: char| c.is_ascii_digit() || c == ';');
            colour.ends_with("\u{1b}[") || colour.ends_with("u001b[") || colour.ends_with("x1b[")
        }
        _ => false,
    }
}

/// Whether there is a run of letters and digits, with both among them, that no word or placeholder has.
fn looks_random(text: &str, length: usize) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        run.len() >= length
            && run.bytes().any(|b| b.is_ascii_digit())
            && run.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

fn longest_run(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.split(|c| !belongs(c)).map(str::len).max().unwrap_or(0)
}
